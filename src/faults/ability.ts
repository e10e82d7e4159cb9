import type { Framing } from '../protocol/framing.js';

/** What only some lines can do; a rule that needs it is refused for the others. */
export type Ability = 'break' | 'close' | 'crc' | 'transaction' | 'turnaround' | 'characterTime';

/** Why a line can't do it, after "line x". */
const LACKS: Readonly<Record<Ability, string>> = {
  break: 'has no break state',
  close: 'has no connection to close',
  crc: 'has no CRC',
  transaction: 'has no transaction identifiers',
  turnaround: 'has no turnaround to cut short',
  characterTime: 'has no character times',
};

/** What the bytes travel on: a real serial port, a pseudo-terminal or a kind of socket. */
export type Medium = 'serial' | 'virtual' | 'tcp' | 'tls' | 'udp';

/** A pseudo-terminal carries bytes, but no break. */
const BY_MEDIUM: Readonly<Record<Medium, readonly Ability[]>> = {
  serial: ['turnaround', 'characterTime', 'break'],
  virtual: ['turnaround', 'characterTime'],
  tcp: ['close'],
  tls: ['close'],
  udp: [],
};

const BY_FRAMING: Readonly<Record<Framing['name'], readonly Ability[]>> = {
  rtu: ['crc'],
  ascii: ['crc'],
  socket: ['transaction'],
};

/** What can be done on a line. */
export function abilities(medium: Medium, framing: Framing['name']): ReadonlySet<Ability> {
  return new Set([...BY_MEDIUM[medium], ...BY_FRAMING[framing]]);
}

/** A line as far as faults are concerned. */
export interface FaultLine {
  readonly name: string;
  readonly abilities: ReadonlySet<Ability>;
}

/** What keeps a line from doing something: `line lan has no CRC`; undefined when it can. */
export function lackOf({ name, abilities }: FaultLine, needed: Ability | undefined): string | undefined {
  return needed === undefined || abilities.has(needed) ? undefined : `line ${name} ${LACKS[needed]}`;
}
