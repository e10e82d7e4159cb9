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

export type LineKind = 'serial' | 'virtual' | 'tcp';

/** What each kind of line can do. A pseudo-terminal carries bytes, but no break. */
export const ABILITIES: Readonly<Record<LineKind, ReadonlySet<Ability>>> = {
  serial: new Set(['crc', 'turnaround', 'characterTime', 'break']),
  virtual: new Set(['crc', 'turnaround', 'characterTime']),
  tcp: new Set(['close', 'transaction']),
};

/** A line as far as faults are concerned. */
export interface FaultLine {
  readonly name: string;
  readonly abilities: ReadonlySet<Ability>;
}

/** What keeps a line from doing something: `line lan has no CRC`; undefined when it can. */
export function lackOf({ name, abilities }: FaultLine, needed: Ability | undefined): string | undefined {
  return needed === undefined || abilities.has(needed) ? undefined : `line ${name} ${LACKS[needed]}`;
}
