import type { Framing } from '../../modbus/protocol/framing.js';

/** An ability that only some lines have. A rule that needs it is refused for the other lines. */
export type Ability =
  | 'break'
  | 'close'
  | 'crc'
  | 'transaction'
  | 'mbap'
  | 'stream'
  | 'turnaround'
  | 'characterTime';

/** Why a line lacks the ability. The message puts this after "line x". */
const LACKS: Readonly<Record<Ability, string>> = {
  break: 'has no break state',
  close: 'has no connection to close',
  crc: 'has no CRC',
  transaction: 'has no transaction identifiers',
  mbap: 'has no MBAP header',
  stream: 'has no connection on which replies follow each other',
  turnaround: 'has no turnaround to cut short',
  characterTime: 'has no character times',
};

/** What the bytes travel on: a real serial port, a pseudo-terminal or a kind of socket. */
export type Medium = 'serial' | 'virtual' | 'tcp' | 'tls' | 'udp';

/** The abilities by medium. A pseudo-terminal carries bytes, but no break. */
const BY_MEDIUM: Readonly<Record<Medium, readonly Ability[]>> = {
  serial: ['turnaround', 'characterTime', 'break'],
  virtual: ['turnaround', 'characterTime'],
  tcp: ['close', 'stream'],
  tls: ['close', 'stream'],
  udp: [],
};

const BY_FRAMING: Readonly<Record<Framing['name'], readonly Ability[]>> = {
  rtu: ['crc'],
  ascii: ['crc'],
  socket: ['transaction', 'mbap'],
};

/** Returns the abilities of a line. */
export function abilities(medium: Medium, framing: Framing['name']): ReadonlySet<Ability> {
  return new Set([...BY_MEDIUM[medium], ...BY_FRAMING[framing]]);
}

/** What faults need to know about a line. */
export interface FaultLine {
  readonly name: string;
  readonly abilities: ReadonlySet<Ability>;
}

/** Returns why a line can't do something, such as `line lan has no CRC`; undefined when it can. */
export function lackOf({ name, abilities }: FaultLine, needed: Ability | undefined): string | undefined {
  return needed === undefined || abilities.has(needed) ? undefined : `line ${name} ${LACKS[needed]}`;
}
