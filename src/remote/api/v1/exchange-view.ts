import { z } from 'zod';
import { hex } from '../../../modbus/protocol/bytes.js';
import type { ReplyEvent } from '../../../simulator/traffic/event.js';
import { replySchema, replyView } from '../../../simulator/traffic/reply-view.js';
import { isoTime } from '../../../simulator/traffic/words.js';

export const exchangeViewSchema = z
  .object({
    id: z.number().describe('Sequence number of the end of the exchange in the traffic.'),
    requestId: z.number().describe('Sequence number of the request in the traffic.'),
    time: z.string().describe('When the request was received.'),
    line: z.string(),
    client: z.string().nullable(),
    host: z
      .string()
      .optional()
      .describe('The address of ours that the client came to, on a line that has several.'),
    unit: z.number().describe('Unit identifier of the request, as in events of the traffic.'),
    function: z.number().describe('Function code of the request, as in events of the traffic.'),
    unitId: z.number().describe('The same as `unit`, for clients that know this name.'),
    request: z.string(),
    ...replySchema,
  })
  .meta({ id: 'Exchange', description: 'A request and what became of it.' });

export function exchangeView(exchange: ReplyEvent): z.infer<typeof exchangeViewSchema> {
  const { seq, request, line, client, host, unitId, functionCode, requestAdu, requestedAt, at, time } =
    exchange;
  return {
    id: seq,
    requestId: request,
    time: isoTime(time - at + requestedAt),
    line,
    client: client ?? null,
    ...(host !== undefined && { host }),
    unit: unitId,
    function: functionCode,
    unitId,
    request: hex(requestAdu),
    ...replyView(exchange),
  };
}
