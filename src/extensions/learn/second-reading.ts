/**
 * Counts the requests and replies in a log by its words, or in a capture by Modbus TCP transaction
 * identifiers. It imports nothing and shares no code with the reading that devices are learned from, so that
 * a mistake in that reading shows.
 */

/** The number of requests and replies or, in a capture, of reads of registers and coils. */
export interface Counts {
  readonly requests: number;
  readonly replies: number;
}

const ASKING = /request|quer|\b(?:send|sent|tx)|->|→/i;
const ANSWERING = /respon|repl|\b(?:recv|receiv|rx)|<-|←/i;
/** Five bytes or more. The longest match in a line is the frame. */
const BYTES =
  /\b(?:(?:0x)?[0-9a-f]{1,3}(?:[ ,.:-]{1,2}|\b)){5,}|(?:[[<][0-9a-f]{2}[\]>]){5,}|\b(?:[0-9a-f]{2}){5,}\b/gi;

/**
 * Counts the frames in a log whose lines name their direction. Unlike in the other reading, the first word
 * counts. Undefined if the log does not have both directions.
 */
export function countsOfLog(text: string): Counts | undefined {
  let [requests, replies] = [0, 0];
  let before = { isRequest: false, bytes: '' };
  for (const line of text.split('\n')) {
    const [found] = [...line.slice(0, 8000).matchAll(BYTES)].sort((a, b) => b[0].length - a[0].length);
    // libmodbus has no words: it shows sent bytes as [00], and received bytes as <00>.
    const words = line.slice(0, found?.index ?? 0) || { '[': 'send', '<': 'recv' }[line[0] ?? ''] || '';
    const [asks, answers] = [words.search(ASKING), words.search(ANSWERING)];
    if (!found || asks === answers) continue;
    const isRequest = answers < 0 || (asks >= 0 && asks < answers);
    const bytes = found[0].toLowerCase().replace(/0x|[^0-9a-f]/g, '');
    if (isRequest && !(before.isRequest && before.bytes === bytes)) requests++;
    if (!isRequest && before.isRequest) replies++;
    before = { isRequest, bytes };
  }
  return requests > 0 && replies > 0 ? { requests, replies } : undefined;
}

/**
 * Counts the distinct Modbus TCP reads in the bytes of a capture, and the distinct replies to them, using the
 * header and the length of each. Undefined if there are none.
 */
export function countsOfCapture(file: Uint8Array): Counts | undefined {
  const [requests, replies] = [new Set<string>(), new Set<string>()];
  for (let at = 0; at + 9 <= file.length; at++) {
    if (file[at + 2] !== 0 || file[at + 3] !== 0 || file[at + 4] !== 0) continue;
    const [length = 0, , code = 0, count = 0] = file.subarray(at + 5, at + 9);
    const isEither = length === 6 && code < 3 && count === 3;
    if (code < 1 || code > 4 || isEither || at + 6 + length > file.length) continue;
    const isRequest = length === 6;
    if (!isRequest && (length !== 3 + count || count === 0)) continue;
    (isRequest ? requests : replies).add(file.subarray(at, at + 6 + length).join());
    at += 5 + length;
  }
  return requests.size > 0 ? { requests: requests.size, replies: replies.size } : undefined;
}
