import { hex } from '../../modbus/protocol/bytes.js';
import type { LoggedExchange } from './exchanges.js';
import { type Learned, lineName } from './write.js';

/** What the learned devices answered to the requests of the log, in their order. */
export interface Check {
  readonly asked: number;
  /** How many of them got the same reply, byte for byte. */
  readonly same: number;
  /** The others, a sentence each with the line of the request. */
  readonly others: readonly string[];
}

/**
 * Asks learned devices the requests of the log.
 * @param ask gives the bytes that a line of the learned file answers; none for silence
 */
export function checkLearned(
  { conversation, lines, isCapture }: Learned,
  ask: (line: string, request: LoggedExchange['request']) => Uint8Array,
): Check {
  const { exchanges, framing } = conversation;
  const servers = [...new Set(exchanges.map(({ server }) => server))];
  const place = isCapture ? 'packet' : 'line';
  const others: string[] = [];
  for (const { line, request, reply, server } of exchanges) {
    const name = lineName(framing, lines.length > 1 ? servers.indexOf(server) : 0);
    const got = ask(name, request);
    if (Buffer.compare(got, reply) !== 0)
      others.push(
        `${place} ${line}: ${hex(request.pdu)} to unit ${request.unitId}: ${shown(got)}, not ${shown(reply)}`,
      );
  }
  return { asked: exchanges.length, same: exchanges.length - others.length, others };
}

function shown(bytes: Uint8Array): string {
  return bytes.length === 0 ? 'no reply' : hex(bytes);
}
