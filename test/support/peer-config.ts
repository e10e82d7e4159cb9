/** The contents of 125 registers, the maximum for one request (Application Protocol V1.1b3, 6.3). */
export const MANY = Array.from({ length: 125 }, (_, i) => 1000 + 37 * i);

/** The meter's initial values, by table, from address 0 on. */
export const METER = {
  coils: [1, 0, 1, 1, 0, 0, 0, 1, 1, 0],
  discrete: [0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1],
  holding: [1, 2, 3, 65535],
  input: [5, 500, 65535],
} as const;

/** The addresses that tests with other masters use. All others answer exception 02. */
export const AT = {
  /** One coil and one register that are read-only for clients; two floats with different word orders; an int32. */
  readOnlyCoil: 20,
  readOnlyRegister: 20,
  /** float32 230.1, high word first. */
  bigFloat: 10,
  /** float32 -1.5, low word first; writable. */
  littleFloat: 12,
  /** The input registers that contain the int32 -123456, low word first. */
  littleInt: 10,
  /** 16 coils and 16 registers to write to, all initially 0. */
  scratch: 32,
  /** {@link MANY} */
  many: 200,
  undefined: 5000,
} as const;

const meter = {
  identity: { vendorName: 'Example Co', productCode: 'EX-1', majorMinorRevision: '1.2' },
  registers: {
    coils: [
      { address: 0, value: [...METER.coils], write: true },
      { address: AT.readOnlyCoil, value: 1 },
      { address: AT.scratch, quantity: 16, write: true },
    ],
    discrete: [{ address: 0, value: [...METER.discrete] }],
    holding: [
      { address: 0, value: [...METER.holding], write: true },
      { address: AT.bigFloat, type: 'float32', value: 230.1 },
      { address: AT.littleFloat, type: 'float32', value: -1.5, wordOrder: 'little', write: true },
      { address: AT.readOnlyRegister, value: 7 },
      { address: AT.scratch, quantity: 16, write: true },
      { address: AT.many, value: MANY, write: true },
    ],
    input: [
      { address: 0, value: [...METER.input] },
      { address: AT.littleInt, type: 'int32', value: -123456, wordOrder: 'little' },
    ],
  },
};

const valve = { registers: { holding: [{ address: 0, value: [71, 72], write: true }] } };

/** Two devices that share two virtual serial lines and one socket. */
export const PEER_CONFIG = {
  devices: { meter, valve },
  lines: {
    slow: {
      serial: { path: 'virtual', baudRate: 9600, parity: 'none' },
      units: { 1: 'meter', 17: 'valve' },
    },
    fast: {
      serial: { path: 'virtual', baudRate: 115200, parity: 'even' },
      units: { 1: 'meter', 17: 'valve' },
    },
    lan: { tcp: { port: 0 }, units: { 1: 'meter', 17: 'valve' } },
  },
};
