import { z } from 'zod';
import { hex } from '../../protocol/bytes.js';
import type { ReplyEvent } from '../../traffic/event.js';
import { replyView } from '../../traffic/reply-view.js';
import { isoTime } from '../../traffic/time.js';

/** One step of a reply. Times are in µs since the last byte of the request was received. */
const stepSchema = z.object({
  kind: z.enum(['bytes', 'break', 'close']),
  /** Hexadecimal bytes of a `bytes` step. */
  bytes: z.string().optional(),
  plannedUs: z.number(),
  achievedUs: z.number().nullable(),
  /** The true moment is between `achievedUs` and this many µs later; null when nothing is known about the port. */
  uncertaintyUs: z.number().nullable(),
  outcome: z.enum(['achieved', 'not achieved']),
  reason: z.string().optional(),
});

/** What became of a reply. */
export const replySchema = {
  /** Why nothing was sent; null when a reply was sent. */
  silence: z.string().nullable(),
  /** The faults that were to act on the reply, in order. */
  faults: z.array(
    z.object({
      rule: z.string(),
      kind: z.string(),
      outcome: z.enum(['applied', 'not achieved']),
      reason: z.string().optional(),
    }),
  ),
  /** Faults that are not shown: those between the 63rd and the last one. */
  omittedFaults: z.number(),
  steps: z.array(stepSchema),
  /** Steps that are not shown: those after the 64th. */
  omittedSteps: z.number(),
  /** Bytes omitted from the shown steps: those after the 1024th. */
  omittedBytes: z.number(),
  /** `not sent`: the plan was played to its end, but no byte of it was sent. */
  ended: z.enum(['complete', 'not sent', 'superseded', 'disconnected']),
};

export const exchangeViewSchema = z.object({
  /** Sequence number of the end of the exchange in the traffic. */
  id: z.number(),
  /** Sequence number of the request in the traffic. */
  requestId: z.number(),
  /** When the request was received. */
  time: z.string(),
  line: z.string(),
  client: z.string().nullable(),
  unitId: z.number(),
  request: z.string(),
  ...replySchema,
});

export function exchangeView(exchange: ReplyEvent): z.infer<typeof exchangeViewSchema> {
  const { seq, request, line, client, unitId, requestAdu, requestedAt, at, time } = exchange;
  return {
    id: seq,
    requestId: request,
    time: isoTime(time - at + requestedAt),
    line,
    client: client ?? null,
    unitId,
    request: hex(requestAdu),
    ...replyView(exchange),
  };
}
