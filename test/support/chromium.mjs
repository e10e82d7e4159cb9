import { existsSync } from 'node:fs';

/** Where Debian, and others who follow it, have Chromium. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of Chromium; undefined where it is not installed. */
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
