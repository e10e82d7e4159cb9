/** A device and its lines for tests of the whole program; every port is any free one. */
export const METER = {
  meter: { registers: { holding: [{ address: 0, value: [1, 2, 3], write: true }] } },
};

export const VIRTUAL_LINE = {
  serial: { path: 'virtual', baudRate: 9600, parity: 'none' },
  units: { 1: 'meter' },
} as const;

/** A line on a port of the machine. */
export function lineOn(path: string) {
  return { ...VIRTUAL_LINE, serial: { ...VIRTUAL_LINE.serial, path } };
}

export const TCP_LINE = { tcp: { port: 0 }, units: { 1: 'meter' } } as const;
