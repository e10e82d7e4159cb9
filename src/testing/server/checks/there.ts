import { type Bench, READ_CODES } from '../bench.js';
import { checksOf, conforms, inconclusive, type Judged } from '../check.js';
import { type Exchange, hasValues, isDecisive } from '../exchange.js';
import { readPdu } from '../requests.js';

/**
 * Looks for a read that is answered. If the first request on a connection gets lost, the next connection
 * pauses before its first request, and so do all later ones.
 */
async function answers(bench: Bench): Promise<Judged> {
  const { asker } = bench;
  const problem = await asker.open();
  if (problem !== undefined) return inconclusive({ code: 'unreachable', reason: problem });
  let silences = 0;
  let heard = 0;
  let refused: number | undefined;
  for (const code of READ_CODES) {
    for (const address of bench.candidates(code)) {
      const exchange = await firstReply(bench, readPdu(code, address, 1));
      const { answer } = exchange;
      if (hasValues(exchange)) {
        bench.read = { code, address };
        bench.noteFunction(code, exchange);
        return conforms({ code: 'address-answers', function: code, address }, exchange);
      }
      if (answer.kind === 'exception') refused = answer.code;
      if (answer.kind === 'garbled') heard++;
      if (answer.kind !== 'exception') silences++;
      if (answer.kind !== 'exception' || answer.code === 1) break;
    }
    // After two tables without an answer, try a pause after connecting before the other tables.
    if (silences === 2 && refused === undefined && !asker.isSerial && asker.connectPauseMs === 0) {
      asker.connectPauseMs = CONNECT_PAUSE_MS;
      const exchange = await firstReply(bench, readPdu(3, bench.candidates(3)[0] ?? 0, 1));
      if (exchange.answer.kind === 'exception') refused = exchange.answer.code;
      if (hasValues(exchange)) {
        bench.read = { code: 3, address: bench.candidates(3)[0] ?? 0 };
        bench.noteFunction(3, exchange);
        const { address } = bench.read;
        return conforms(
          { code: 'address-answers', function: 3, address, pauseMs: CONNECT_PAUSE_MS },
          exchange,
        );
      }
      asker.connectPauseMs = 0;
    }
  }
  const pair = refused === undefined ? undefined : await pairOf(bench);
  if (pair) return pair;
  const shown = asker.log.slice(-4);
  return inconclusive(
    refused !== undefined
      ? { code: 'no-address-known', exception: refused }
      : { code: 'no-answer', isSerial: asker.isSerial, isGarbled: heard > 0 },
    ...shown,
  );
}

/** Looks for two registers that are answered if no single one is: a server may have only 32-bit values. */
async function pairOf(bench: Bench): Promise<Judged | undefined> {
  for (const code of [3, 4] as const)
    for (const address of bench.candidates(code)) {
      const exchange = await bench.ask(readPdu(code, address, 2));
      if (hasValues(exchange))
        return inconclusive({ code: 'pairs-alone', function: code, address }, exchange);
      if (exchange.answer.kind !== 'exception' || exchange.answer.code === 1) break;
    }
  return undefined;
}

/**
 * Sends a request while the server's reply time is unknown: once with a long time-out, and again, because the
 * first request may get lost.
 */
async function firstReply(bench: Bench, pdu: Uint8Array): Promise<Exchange> {
  const first = await bench.asker.once(pdu, { timeout: bench.asker.waits.first });
  return isDecisive(first) ? first : bench.asker.once(pdu);
}

/** Some servers need this pause after a connection is opened, in ms (Huawei: 1 to 2 s). */
export const CONNECT_PAUSE_MS = 1500;

export const THERE = checksOf({ group: 'there' }, [
  {
    ...{ id: 'answers', grade: 'met', isSeveral: true, run: answers },
    title: 'Answers a read',
    does: 'Reads one register or coil at likely addresses with functions 3, 4, 1 and 2.',
    rule: 'Conforms when one valid reply comes. If all replies are exceptions, name a valid address (--scratch or --map).',
    clause: 'Application Protocol V1.1b3, 4.1',
    matters: 'No other check can be judged without an answer.',
    mend: 'Check wiring, unit identifier, parity and speed first.',
  },
]);
