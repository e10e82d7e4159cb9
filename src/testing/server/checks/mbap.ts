import { concatBytes, setWord } from '../../../modbus/protocol/bytes.js';
import type { Bench } from '../bench.js';
import { checksOf, conforms, dangerous, inconclusive, type Judged, unlessLossy, violates } from '../check.js';
import { TCP } from '../clauses.js';
import type { BeforeConnection } from '../codes/phrases.js';
import { type Exchange, isDecisive } from '../exchange.js';
import { didOf } from '../reading.js';
import { hiddenWrite } from './written.js';

/** Reads on the same or a new connection. The read must be answered, unless replies get lost by chance. */
export async function served(
  bench: Bench,
  after: BeforeConnection,
  ...shown: readonly Exchange[]
): Promise<Judged> {
  const next = await bench.ask(bench.goodRead, { isExpected: true });
  if (isDecisive(next)) return conforms({ code: 'served-after', after }, ...shown);
  const lost = { code: 'not-served-after', after, answer: didOf(next.answer) } as const;
  return unlessLossy(bench, lost, ...shown, next);
}

async function wrongProtocol(bench: Bench): Promise<Judged> {
  const frame = bench.frameOf(undefined, undefined, 0x0101);
  setWord(frame, 2, 1);
  const exchange = await bench.asker.once(bench.goodRead, {
    transactionId: 0x0101,
    pieces: [{ bytes: frame }],
    timeout: bench.asker.silence,
    keepsOpen: true,
  });
  if (exchange.chunks.length > 0)
    return violates({ code: 'other-protocol-answered', answer: didOf(exchange.answer) }, exchange);
  if (exchange.answer.kind === 'closed') return inconclusive({ code: 'closes-and-serves-next' }, exchange);
  const next = await bench.askGood();
  await bench.asker.disconnect();
  if (isDecisive(next)) return conforms({ code: 'other-protocol-discarded' }, exchange);
  const lost = { code: 'deaf-after-other-protocol', answer: didOf(next.answer) } as const;
  return unlessLossy(bench, lost, exchange, next);
}

async function wrongLength(bench: Bench): Promise<Judged> {
  const shown: Exchange[] = [];
  for (const length of [0, 1, 3, 65535]) {
    const frame = bench.frameOf(undefined, undefined, 0x0202);
    setWord(frame, 4, length);
    const exchange = await bench.asker.once(bench.goodRead, {
      transactionId: 0x0202,
      pieces: [{ bytes: frame }],
      timeout: bench.asker.silence,
    });
    shown.push(exchange);
    if (exchange.answer.kind === 'data') return violates({ code: 'wrong-length-answered', length }, exchange);
    await bench.asker.disconnect();
  }
  return served(bench, 'wrong-lengths', ...shown);
}

function lengthIsTheFrame(bench: Bench): Promise<Judged> {
  return hiddenWrite(bench, 0x3c3c, async (write) => {
    const pdu = concatBytes(bench.goodRead, bench.frameOf(write, undefined, 0x0304));
    const exchange = await bench.asker.once(bench.goodRead, {
      transactionId: 0x0303,
      pieces: [{ bytes: bench.frameOf(pdu, undefined, 0x0303) }],
    });
    await bench.asker.disconnect();
    return (isExecuted) =>
      isExecuted
        ? dangerous({ code: 'inner-write-executed' }, exchange)
        : conforms({ code: 'inner-write-ignored' }, exchange);
  });
}

/** Sends a request to another unit identifier: inconclusive for a gateway, a fact for others. */
async function unit(bench: Bench, unitId: number): Promise<Judged> {
  // Silence decides nothing, so the request is sent once.
  const exchange = await bench.ask(bench.goodRead, { unitId, tries: 1 });
  const { answer, oddities } = exchange;
  if (answer.kind === 'exception' && [10, 11].includes(answer.code))
    return inconclusive({ code: 'gateway-exception' }, exchange);
  if (answer.kind === 'silent' || answer.kind === 'closed')
    return inconclusive({ code: 'unit-not-answered', unit: unitId, answer: didOf(answer) }, exchange);
  if (
    oddities.includes('unit') &&
    !bench.log.some((each) => each.unitId === bench.asker.unitId && each.oddities.includes('unit'))
  )
    return violates({ code: 'unit-replaced', unit: unitId }, exchange);
  return conforms({ code: 'unit-answered', unit: unitId }, exchange);
}

async function unitOther(bench: Bench): Promise<Judged> {
  return { ...(await unit(bench, 77)), verdict: 'fact' };
}

const gateway =
  'Conforms when it is answered with the same identifier. Silence and exceptions 0A and 0B are inconclusive: they are right for a gateway.';
export const MBAP = checksOf({ group: 'connections', grade: 'met', on: 'tcp' }, [
  {
    ...{ id: 'mbap-protocol', grade: 'seldom', run: wrongProtocol },
    title: 'Discards another protocol',
    does: 'Sends a read with protocol identifier 1, then a valid one.',
    rule: 'Conforms when the first is discarded and the second answered. A closed connection is inconclusive.',
    clause: `${TCP}, 4.4.2.2`,
    matters: 'Servers hang: stephane/libmodbus#814, cwalter-at/freemodbus#62.',
    mend: 'Use the length in the header to skip the frame.',
  },
  {
    ...{ id: 'mbap-length', grade: 'seldom', provokes: ['value'], run: wrongLength },
    title: 'Survives wrong lengths',
    does: 'Sends reads with the lengths 0, 1, 3 and 65535 in the header, each on its own connection.',
    rule: 'Conforms when they are discarded or the connection is closed, and the next connection is served.',
    clause: `${TCP}, 3.1.3 and figure 16`,
    matters:
      'One client of another protocol stops the server: stephane/libmodbus#810, stephane/libmodbus#848.',
    mend: 'Close the connection if the length is not 2 to 254.',
  },
  {
    ...{ id: 'mbap-length-is-the-frame', grade: 'met', needs: ['holding'], provokes: ['value'] },
    ...{ run: lengthIsTheFrame },
    title: 'Follows the length in the header',
    does: 'Sends a read whose header length also covers a complete write of the scratch register that follows it.',
    rule: 'Conforms when the write is not executed.',
    clause: `${TCP}, 3.1.3`,
    matters: 'Writes get through a firewall that allows only reads: stephane/libmodbus#514.',
    mend: 'Skip the number of bytes given in the header, even if the function needs fewer.',
  },
  {
    ...{ id: 'unit-255', grade: 'seldom', run: (bench) => unit(bench, 255) },
    title: 'Answers unit 255',
    does: 'Reads with unit identifier 255.',
    rule: gateway,
    clause: `${TCP}, 4.4.1.2`,
    matters: 'Clients that follow the guide use 255 for a device without a gateway: stephane/libmodbus#121.',
    mend: 'Copy the unit identifier of the request.',
  },
  {
    ...{ id: 'unit-0', grade: 'seldom', run: (bench) => unit(bench, 0) },
    title: 'Answers unit 0',
    does: 'Reads with unit identifier 0.',
    rule: gateway,
    clause: `${TCP}, 4.4.1.2`,
    matters: 'Some clients use 0 for a device without a gateway: stephane/libmodbus#376.',
    mend: 'Copy the unit identifier of the request.',
  },
  {
    ...{ id: 'unit-other', grade: 'seldom', run: unitOther },
    title: 'Behaviour for another unit',
    does: 'Reads with unit identifier 77.',
    rule: 'Reported, not judged.',
    clause: `${TCP}, 4.4.1.2`,
    matters:
      'If the server answers for any unit, nothing shows that a client has a wrong unit identifier: pymodbus-dev/pymodbus#2762.',
    mend: 'Nothing.',
  },
]);
