import type { AskOptions, Exchange } from './asker.js';
import type { Bench } from './bench.js';
import { conforms, inconclusive, type Judged, unsupported, violates } from './check.js';
import { answerText, codeText } from './words.js';

/** What is expected of a refusal. */
export interface ExpectedRefusal {
  /** The exception codes that conform. */
  readonly right: readonly number[];
  /** Exception codes that decide nothing, each with the reason. */
  readonly open?: Readonly<Record<number, string>>;
  /** What silence or a closed connection means where the server lives on: `inconclusive` when absent. */
  readonly silence?: 'conforms' | 'inconclusive' | 'violates';
  /** What data in place of an exception mean, in words; a violation when absent. */
  readonly data?: (exchange: Exchange) => Judged;
  /** True when exception 01 means that the function is not there; false where 01 is right or wrong by itself. */
  readonly isOptional?: boolean;
}

/** Codes that come from a gateway or a busy server, and say nothing about the question. */
const OTHERS: Readonly<Record<number, string>> = {
  5: 'exception 05 (acknowledge) asks for patience',
  6: 'exception 06 (busy) says nothing about the request',
  10: 'exception 0A comes from a gateway',
  11: 'exception 0B comes from a gateway',
};

/** Sends a request that has to be refused, and judges the answer. */
export async function refused(
  bench: Bench,
  pdu: Uint8Array,
  refusal: ExpectedRefusal,
  options?: AskOptions,
): Promise<Judged> {
  return judgeRefusal(await bench.ask(pdu, options), refusal);
}

/** Judges the answer to a request that has to be refused. */
export function judgeRefusal(
  exchange: Exchange,
  { right, open = {}, silence = 'inconclusive', data, isOptional = true }: ExpectedRefusal,
): Judged {
  const { answer } = exchange;
  const code = exchange.pdu?.[0] ?? 0;
  const wanted = right.map(codeText).join(' or ');
  switch (answer.kind) {
    case 'exception': {
      if (right.includes(answer.code)) return conforms(`exception ${codeText(answer.code)}`, exchange);
      if (answer.code === 1 && isOptional) return unsupported(`function ${code} is not there`, exchange);
      const why = open[answer.code] ?? OTHERS[answer.code];
      if (why !== undefined) return inconclusive(`exception ${codeText(answer.code)}: ${why}`, exchange);
      return violates(`exception ${codeText(answer.code)} in place of ${wanted}`, exchange);
    }
    case 'data':
      return (
        data?.(exchange) ??
        violates(`the server ${answerText(answer)} in place of exception ${wanted}`, exchange)
      );
    case 'garbled':
      return violates(`the server ${answerText(answer)}, in place of exception ${wanted}`, exchange);
    default: {
      const text = `the server ${answerText(answer)}, where exception ${wanted} is expected`;
      if (silence === 'conforms') return conforms(`${text}: allowed, and it lives on`, exchange);
      return (silence === 'violates' ? violates : inconclusive)(
        silence === 'violates' ? text : `${text}; it lives on`,
        exchange,
      );
    }
  }
}
