import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { sentFrames } from '../../modbus/protocol/reply-plan.js';
import { type Exchange, repliedFrom } from '../client/heard/exchange.js';
import { pduOf } from '../tested-line.js';
import { countText } from './move.js';

/**
 * Describes what a client met instead of good replies during a move: `no reply to 4 of 6 requests`.
 * @param exchanges those that the move may have affected
 * @returns undefined if all replies were good
 */
export function metIn(exchanges: readonly Exchange[]): string | undefined {
  const counts = new Map<string, number>();
  for (const exchange of exchanges) {
    const what = metBy(exchange);
    if (what !== undefined) counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  if (counts.size === 0) return undefined;
  const { length } = exchanges;
  return [...counts]
    .map(
      ([what, count]) =>
        `${what} to ${count === length ? countText(count) : `${count} of ${countText(length)}`}`,
    )
    .join(', ');
}

/** What the client got instead of a good reply; undefined if the reply was good, or is unknown. */
function metBy(exchange: Exchange): string | undefined {
  const { reply, next } = exchange;
  if (!reply) return undefined;
  const from = repliedFrom(exchange);
  if (from === undefined || sentFrames(reply.plan, reply.report).length === 0) return 'no reply';
  if (next && next.at < from) return 'a late reply';
  const pdu = pduOf(reply);
  if (!pdu) return 'a damaged reply';
  const [code = 0, second] = pdu;
  if (((code ^ (exchange.pdu[0] ?? 0)) & ~EXCEPTION_FLAG) !== 0) return 'a reply to another function';
  return (code & EXCEPTION_FLAG) === 0 ? undefined : `exception ${second}`;
}
