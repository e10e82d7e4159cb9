import { counted } from '../../common/words.js';
import { hex } from '../../modbus/protocol/bytes.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import type { LoggedExchange } from './exchanges.js';
import { spanOf } from './recording.js';
import type { Counts } from './second-reading.js';
import { type Learned, lineName } from './write.js';

/** A comparison of the learned devices' replies with the log's, request by request. */
export interface Check {
  readonly asked: number;
  /** How many requests got the same reply, byte for byte. */
  readonly same: number;
  /** The other requests, one sentence each with the line of the request. */
  readonly others: readonly string[];
}

/**
 * Sends learned devices the requests in the log.
 * @param ask returns the reply of a line of the learned file at a time in ms after the first request; empty
 * for silence
 */
export function checkLearned(
  { conversation, lines, isCapture }: Learned,
  ask: (line: string, request: LoggedExchange['request'], ms: number) => Uint8Array,
): Check {
  const { exchanges, framing } = conversation;
  const servers = [...new Set(exchanges.map(({ server }) => server))];
  const place = isCapture ? 'packet' : 'line';
  const others: string[] = [];
  const [start] = spanOf(exchanges);
  for (const { line, request, reply, server, at = start } of exchanges) {
    const name = lineName(framing, lines.length > 1 ? servers.indexOf(server) : 0);
    const got = ask(name, request, at - start);
    if (Buffer.compare(got, reply) !== 0)
      others.push(
        `${place} ${line}: ${hex(request.pdu)} to unit ${request.unitId}: ${shown(got)}, not ${shown(reply)}`,
      );
  }
  return { asked: exchanges.length, same: exchanges.length - others.length, others };
}

/**
 * Compares what was learned with a second reading of the log. @returns a sentence, even if they agree
 */
export function compared({ conversation, isCapture }: Learned, { requests, replies }: Counts): string {
  const { exchanges, unlearned, strays } = conversation;
  const all = [...exchanges, ...unlearned].sort((a, b) => a.file - b.file || a.line - b.line);
  const learned = isCapture ? readsOf(all, conversation.framing) : distinct(all);
  const what = isCapture
    ? `according to its headers, the capture has ${counted(requests, 'different read')} and ${counted(replies, 'different reply', 'different replies')} to them`
    : `according to its text, the log has ${counted(requests, 'request')} and ${counted(replies, 'reply', 'replies')}`;
  // Frames that belong to no exchange, such as a reply without its request, are in the log nevertheless.
  const isSame =
    Math.abs(learned.requests - requests) <= strays && Math.abs(learned.replies - replies) <= strays;
  return isSame
    ? `${what}, as many as were learned`
    : `${what}, but ${learned.requests} and ${learned.replies} were learned: check the written file before you use it`;
}

/** Counts equal consecutive requests without a reply once, because programs log them again. */
function distinct(all: readonly LoggedExchange[]): Counts {
  const requests = all.filter(({ request }, i) => {
    const before = all[i - 1];
    const isAgain = before !== undefined && before.reply.length === 0;
    return (
      !isAgain ||
      hex(before.request.pdu) !== hex(request.pdu) ||
      before.request.transactionId !== request.transactionId
    );
  });
  return { requests: requests.length, replies: all.filter(({ reply }) => reply.length > 0).length };
}

/** Counts the distinct reads of registers and coils, and the distinct replies to them. */
function readsOf(all: readonly LoggedExchange[], framing: Framing): Counts {
  const isRead = ([code = 0, second]: Uint8Array) => code >= 1 && code <= 4 && !(code < 3 && second === 3);
  const reads = all.filter(({ request }) => isRead(request.pdu) && request.pdu.length === 5);
  const replies = all.filter(({ reply }) => isRead(framing.decode(reply)?.pdu ?? new Uint8Array()));
  return {
    requests: new Set(reads.map(({ request }) => hex(framing.encode(request)))).size,
    replies: new Set(replies.map(({ reply }) => hex(reply))).size,
  };
}

function shown(bytes: Uint8Array): string {
  return bytes.length === 0 ? 'no reply' : hex(bytes);
}
