/** Big-endian word at `offset`, NaN past the end: nothing equals it. */
export function wordOf(bytes: Uint8Array, offset: number): number {
  const [high, low] = [bytes[offset], bytes[offset + 1]];
  return high === undefined || low === undefined ? Number.NaN : (high << 8) | low;
}

/** A part of a file as the bytes of a request name it. */
interface NamedPart {
  readonly file: number;
  readonly record: number;
  readonly length: number;
}

/** The parts that a request of function 20 or 21 names. */
export function namedParts(pdu: Uint8Array): NamedPart[] {
  const parts: NamedPart[] = [];
  for (let at = 2; at + 7 <= pdu.length; ) {
    const part = { file: wordOf(pdu, at + 1), record: wordOf(pdu, at + 3), length: wordOf(pdu, at + 5) };
    parts.push(part);
    at += 7 + (pdu[0] === 21 ? 2 * part.length : 0);
  }
  return parts;
}

/** Bytes of a success response as they follow from the request alone; undefined where they don't. */
function lengthOf(request: Uint8Array): number | undefined {
  const quantity = wordOf(request, 3);
  switch (request[0]) {
    case 1:
    case 2:
      return 2 + Math.ceil(quantity / 8);
    case 3:
    case 4:
    case 23:
      return 2 + 2 * quantity;
    case 7:
      return 2;
    case 8:
    case 21:
      return request.length;
    case 20:
      return namedParts(request).reduce((sum, { length }) => sum + 2 + 2 * length, 2);
    case 22:
      return 7;
    case 5:
    case 6:
    case 11:
    case 15:
    case 16:
      return 5;
    default:
      return undefined;
  }
}

/** Functions whose response repeats the beginning of the request, and how many bytes of it; 0 for all. */
const ECHOED: ReadonlyMap<number, number> = new Map([
  [5, 5],
  [6, 5],
  [8, 3],
  [15, 5],
  [16, 5],
  [21, 0],
  [22, 7],
  [43, 3],
]);

/** Functions whose response has a byte count of one byte. */
const COUNTED: ReadonlySet<number> = new Set([1, 2, 3, 4, 12, 17, 20, 21, 23]);

/**
 * What is wrong with a success response, by the formats of Application Protocol V1.1b3, 6, from the bytes alone;
 * undefined when nothing is.
 */
export function wrongWith(request: Uint8Array, response: Uint8Array): string | undefined {
  const [code = 0] = request;
  const length = lengthOf(request);
  if (response[0] !== code) return 'the function code';
  if (response.length > 253) return 'longer than a PDU';
  if (length !== undefined && response.length !== length) return `${length} bytes expected`;
  if (COUNTED.has(code) && response[1] !== response.length - 2) return 'the byte count';
  const echoed = ECHOED.get(code);
  if (echoed !== undefined) {
    const repeated = request.slice(0, echoed || request.length);
    if (repeated.some((byte, i) => response[i] !== byte)) return 'not the echo of the request';
  }
  switch (code) {
    case 12:
      return response.length >= 8 && response.length <= 72 ? undefined : '0 to 64 events expected';
    case 17:
      return [0x00, 0xff].includes(response[3] as number) ? undefined : 'the run indicator';
    case 20:
      return wrongParts(request, response);
    case 24:
      return wrongQueue(response);
    case 43:
      return wrongObjects(request, response);
    default:
      return undefined;
  }
}

function wrongParts(request: Uint8Array, response: Uint8Array): string | undefined {
  let at = 2;
  for (const { length } of namedParts(request)) {
    if (response[at] !== 1 + 2 * length || response[at + 1] !== 6) return `the part at byte ${at}`;
    at += 2 + 2 * length;
  }
  return undefined;
}

function wrongQueue(response: Uint8Array): string | undefined {
  const count = wordOf(response, 3);
  if (!(count <= 31)) return 'more than 31 values';
  if (wordOf(response, 1) !== 2 + 2 * count) return 'the byte count';
  return response.length === 5 + 2 * count ? undefined : 'the number of values';
}

function wrongObjects(request: Uint8Array, response: Uint8Array): string | undefined {
  const [, , access = 0, level, more = 0, next, count = 0] = response;
  if (level === undefined || ![0x81, 0x82, 0x83].includes(level)) return 'the conformity level';
  if (more !== 0 && more !== 0xff) return 'the byte for more objects';
  if (more === 0 && next !== 0) return 'a next object, but no more';
  if (count === 0 || (access === 4 && (count !== 1 || more !== 0))) return 'the number of objects';
  const ids: number[] = [];
  let at = 7;
  for (let i = 0; i < count; i++) {
    ids.push(response[at] as number);
    at += 2 + (response[at + 1] as number);
  }
  if (at !== response.length) return 'the lengths of the objects';
  if (access === 4 && ids[0] !== request[3]) return 'another object';
  return ids.some((id, i) => i > 0 && id <= (ids[i - 1] as number)) ? 'the order of the objects' : undefined;
}
