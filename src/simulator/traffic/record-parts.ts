import type { Framing } from '../../modbus/protocol/framing.js';
import { FRAMINGS } from '../../modbus/protocol/framings.js';
import { type Reader, sizeOfText, type Writer } from './bytes.js';
import type { ClientOf } from './event.js';

/** Parts that several kinds of records have. */

/** The names of framings. The code of a framing is its place in this list. */
const FRAMING_NAMES = ['rtu', 'ascii', 'socket'] as const satisfies readonly Framing['name'][];

export function writeFraming(w: Writer, { name, delimiter = 0 }: Framing): void {
  w.byte(FRAMING_NAMES.indexOf(name));
  w.byte(delimiter);
}

export function readFraming(r: Reader): Framing {
  const framing = FRAMINGS[itemAt(FRAMING_NAMES, r.byte())];
  const delimiter = r.byte();
  return delimiter === framing.delimiter ? framing : (framing.withDelimiter?.(delimiter) ?? framing);
}

/** The most bytes that the texts of `writeClient` can take. */
export function sizeOfClient({ client = '', host = '' }: ClientOf): number {
  return sizeOfText(client) + sizeOfText(host);
}

export function writeClient(w: Writer, { client, clientId, host }: ClientOf): void {
  w.long(clientId);
  if (clientId === 0) return;
  w.text(client ?? '');
  w.text(host ?? '');
}

export function readClient(r: Reader): ClientOf {
  const clientId = r.long();
  if (clientId === 0) return { clientId, client: undefined, host: undefined };
  return { clientId, client: r.text(), host: r.text() || undefined };
}

/** The item of a list that a code stands for. */
export function itemAt<Item>(items: readonly Item[], code: number): Item {
  const item = items[code];
  if (item === undefined) throw new Error(`a record has an unknown code: ${code}`);
  return item;
}
