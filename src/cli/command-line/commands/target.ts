import { failure, type Result, success } from '../../../common/result.js';
import type { RealTarget } from '../../../files/config/configuration.js';
import type { Values } from './scan.js';
import { numberFrom, option, text, wholeNumber, wordOf } from './values.js';

const SERIAL_ONLY = ['baud', 'parity', 'stop-bits'] as const;

/** The options that say how a real device is reached. */
export const TARGET_OPTIONS = {
  serial: text('PATH', 'the serial port that the device is on'),
  tcp: option('HOST:PORT', 'or its address', 'HOST:PORT', hostPort),
  framing: wordOf('of the frames (default: socket on TCP, rtu on a serial port)', ['socket', 'rtu', 'ascii']),
  baud: numberFrom('N', 'of the port (default 19200)', 'a number', [50, 4_000_000]),
  parity: wordOf('of the port (default even)', ['none', 'even', 'odd']),
  'stop-bits': wordOf('of the port (default 1)', ['1', '2']),
};

/**
 * Reads from the options how the device is reached.
 * @param name of the command, for messages
 * @returns what is wrong, as a sentence
 */
export function targetOf(values: Values<typeof TARGET_OPTIONS>, name: string): Result<RealTarget> {
  const { serial, tcp, framing, baud = 19200, parity = 'even', 'stop-bits': stopBits = '1' } = values;
  if (tcp !== undefined && serial === undefined) {
    const [only] = SERIAL_ONLY.filter((name) => values[name] !== undefined);
    return only
      ? failure(`--${only} is for --serial`)
      : success({ kind: 'tcp', ...tcp, framing: framing ?? 'socket' });
  }
  if (serial === undefined || tcp) return failure(`${name} needs --serial PATH or --tcp HOST:PORT`);
  if (framing === 'socket') return failure('--framing: expected rtu or ascii with --serial');
  return success({
    kind: 'serial',
    path: serial,
    baudRate: baud,
    parity,
    stopBits: stopBits === '1' ? 1 : 2,
    dataBits: framing === 'ascii' ? 7 : 8,
    framing: framing ?? 'rtu',
  });
}

/** Splits an address such as `10.0.0.7:502`, `bench` or `[::1]:502`. */
function hostPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits = '502'] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const [host, port] = [bracketed ?? plain, wholeNumber(digits)];
  return host !== undefined && port > 0 && port <= 65535 ? { host, port } : undefined;
}
