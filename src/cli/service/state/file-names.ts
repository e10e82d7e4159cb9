import { createHash } from 'node:crypto';

export const SIMULATOR_FILE = 'bench.json';
export const CLOCK_FILE = 'clock.json';

/** The name of the file of a device. It is a digest, because names of devices may have any characters. */
export function deviceFile(device: string): string {
  const readable = device.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 32);
  return `device-${readable}-${createHash('sha256').update(device).digest('hex').slice(0, 8)}.json`;
}

export function isDeviceFile(name: string): boolean {
  return /^device-.*\.json$/.test(name);
}
