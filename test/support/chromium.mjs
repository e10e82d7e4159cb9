import { existsSync } from 'node:fs';

/** Where Debian and derived distributions install Chromium. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of Chromium; undefined if it is not installed. */
export const chromiumPath = PLACES.find((path) => existsSync(path));

export const CHROMIUM_MISSING = 'Chromium is missing: apt-get install chromium';

export const CHROMIUM_ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
