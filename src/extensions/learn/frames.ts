import { AsciiFraming } from '../../modbus/protocol/ascii.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import { type AduContent, type Framing, RTU, SOCKET } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { decodeMbap } from '../../modbus/protocol/mbap.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { type PredictedLength, requestLength, responseLength } from '../../modbus/protocol/rtu.js';
import { MOST_BYTES } from './bytes-shown.js';
import type { LoggedBytes } from './logged-bytes.js';

/** Finds the framing of the bytes in a log, and where its frames begin and end. */

/**
 * A frame that gateway logs show without its check value, as unit identifier and PDU. It is converted to
 * Modbus TCP.
 */
const BARE: Pick<Framing, 'decode'> = {
  decode: ([unitId, ...pdu]) =>
    unitId !== undefined && pdu.length > 1
      ? { transactionId: 0, unitId, pdu: Uint8Array.from(pdu) }
      : undefined,
};
/** The framings whose frames have a check value. */
export const CHECKED: readonly Framing[] = [RTU, new AsciiFraming()];
const FRAMINGS: readonly Framing[] = [...CHECKED, SOCKET];

/**
 * Finds the framing of most frames, and the frames in that framing. Frames without check values come from a
 * gateway.
 */
export function framed(logged: readonly LoggedBytes[]): {
  framing: Framing;
  frames: readonly LoggedBytes[];
} {
  const all = FRAMINGS.map((framing) => {
    const frames = wholeFrames(logged, framing);
    return { framing, frames, count: frames.filter(({ bytes }) => framing.decode(bytes)).length };
  });
  const [best] = all.toSorted((a, b) => b.count - a.count);
  if (best && best.count > 0) return best;
  const bare = logged.map((frame) => {
    const content = BARE.decode(frame.bytes);
    return content ? { ...frame, bytes: SOCKET.encode(content) } : frame;
  });
  const isPlain = logged.some(({ bytes }) => {
    const content = BARE.decode(bytes);
    return content !== undefined && decodeRequest(content.pdu).ok;
  });
  return isPlain ? { framing: SOCKET, frames: bare } : { framing: RTU, frames: logged };
}

type LoggedPiece = Pick<LoggedBytes, 'bytes' | 'channel' | 'direction' | 'words' | 'isAfterGap' | 'isCut'>;

/**
 * Joins the pieces of a frame, and splits a piece that contains several frames. Pieces of one frame have the
 * same direction and the same words before them, and the other end says nothing between them.
 */
export function wholeFrames<Piece extends LoggedPiece>(
  logged: readonly Piece[],
  framing: Framing,
): readonly Piece[] {
  const made: (readonly Piece[])[] = logged.map((frame) => [frame]);
  /** The pieces of incomplete frames, by channel and direction, then by the words before them. */
  const pending = new Map<string, Map<string, readonly number[]>>();
  for (const [i, frame] of logged.entries()) {
    const { channel = '', direction = '', words = '', bytes, isAfterGap, isCut } = frame;
    const side = `${channel} ${direction}`;
    if (direction === 'in') pending.delete(`${channel} out`);
    if (direction === 'out') for (const other of ['in', '']) pending.delete(`${channel} ${other}`);
    const begun = pending.get(side) ?? new Map<string, readonly number[]>();
    pending.set(side, begun);
    if (framing.decode(bytes) || isAfterGap || isCut) begun.delete(words);
    if (framing.decode(bytes) || isCut) continue;
    const pieces = [...(begun.get(words) ?? []), i];
    const together = concatBytes(...pieces.map((piece) => logged[piece]?.bytes ?? []));
    const cut = adusIn(together, framing);
    if (cut) {
      for (const piece of pieces) made[piece] = [];
      made[i] = cut.map((adu) => ({ ...frame, bytes: adu }));
      begun.delete(words);
    } else if (together.length <= MOST_BYTES) begun.set(words, pieces);
    else begun.delete(words);
  }
  return made.flat();
}

/** Splits bytes into frames, in any framing; undefined if there is anything else. */
export function framesIn(bytes: Uint8Array): readonly Uint8Array[] | undefined {
  for (const framing of FRAMINGS) {
    const adus = framing.decode(bytes) ? [bytes] : adusIn(bytes, framing);
    if (adus) return adus;
  }
  return undefined;
}

/** Splits bytes into consecutive ADUs; undefined if there is anything else. */
function adusIn(bytes: Uint8Array, framing: Framing): readonly Uint8Array[] | undefined {
  const adus: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = LENGTHS[framing.name](bytes, at).find(
      (each) =>
        typeof each === 'number' &&
        at + each <= bytes.length &&
        framing.decode(bytes.subarray(at, at + each)),
    );
    if (typeof length !== 'number') return undefined;
    adus.push(bytes.subarray(at, at + length));
    at += length;
  }
  return adus.length > 0 ? adus : undefined;
}

/** The possible lengths of an ADU at an offset, by framing. */
const LENGTHS: Readonly<
  Record<Framing['name'], (bytes: Uint8Array, at: number) => readonly PredictedLength[]>
> = {
  rtu: (bytes, at) => [
    requestLength(bytes, at, bytes.length),
    responseLength(bytes, at, bytes.length),
    bytes.length - at,
  ],
  ascii: (bytes, at) => [bytes.indexOf(0x0a, at) + 1 - at],
  socket: (bytes, at) => {
    const decoded = decodeMbap(bytes, at);
    return decoded.kind === 'frame' ? [decoded.length] : ['more'];
  },
};

/** True if bytes are the beginning of a reply whose header or byte count says that more follow. */
export function isBegun(bytes: Uint8Array, framing: Framing): boolean {
  if (framing === SOCKET) return decodeMbap(bytes).kind === 'more';
  if (framing !== RTU) return !bytes.includes(0x0a);
  const length = responseLength(bytes, 0, bytes.length);
  return length === 'more' || (typeof length === 'number' && length > bytes.length);
}

/**
 * What a PDU can be, judging by its function, length and quantities. Some, such as those of function 6, can
 * be either.
 */
export type Form = 'request' | 'reply' | 'either' | 'neither';

export function formOf({ pdu }: AduContent): Form {
  const [code = 0] = pdu;
  if (code >= EXCEPTION_FLAG) return pdu.length === 2 ? 'reply' : 'neither';
  const row = functionOf(code);
  if (!row) return 'either';
  const { length } = row.response;
  const expected = typeof length === 'object' ? length.plus + (pdu[length.countAt] ?? 0) : length;
  const answers = expected === undefined || expected === pdu.length;
  if (!decodeRequest(pdu).ok) return answers ? 'reply' : 'neither';
  return answers ? 'either' : 'request';
}
