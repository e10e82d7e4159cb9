import { type Result, success } from '../../../common/result.js';
import type { ClientTarget } from '../../../modbus/client/wire.js';
import { concatBytes } from '../../../modbus/protocol/bytes.js';
import { isRtuFrame, requestLength, responseLength } from '../../../modbus/protocol/rtu.js';
import type { Bench } from '../bench.js';
import {
  checksOf,
  conforms,
  dangerous,
  inconclusive,
  type Judged,
  notRun,
  once,
  unsupported,
  violates,
} from '../check.js';
import { type Exchange, isDecisive } from '../exchange.js';
import { didOf } from '../reading.js';
import { stillAnswers, unanswered } from './bus.js';

const LISTEN_MS = 10_000;

/** Maximum number of bytes skipped that belong to no frame. */
const MOST_SKIPPED = 32;

/**
 * The units to which another master sends requests. Among replies and other bytes, only requests that can't
 * be replies count: a reply to function 5 or 6 repeats its request, and a reply with three data bytes is just
 * as long.
 */
function unitsAskedByOthers({ unsolicited }: Exchange): readonly number[] {
  const bytes = concatBytes(...unsolicited.map((chunk) => chunk.bytes));
  const found: { readonly unit: number; readonly isSure: boolean }[] = [];
  let skipped = 0;
  let replies = 0;
  for (let start = 0; start < bytes.length && skipped < MOST_SKIPPED; ) {
    const ends = [requestLength, responseLength].map((lengthOf) => {
      const length = lengthOf(bytes, start, bytes.length);
      const end = typeof length === 'number' ? start + length : Number.POSITIVE_INFINITY;
      return end <= bytes.length && isRtuFrame(bytes, start, end) ? end : 0;
    });
    const [unit = 0, code = 0, third = 0] = bytes.subarray(start, start + 3);
    const [request = 0, reply = 0] = ends;
    if (request > 0) found.push({ unit, isSure: code <= 4 && third !== 3 });
    else if (reply > 0) replies++;
    else skipped++;
    start = request || reply || start + 1;
  }
  const isAlone = skipped + replies === 0;
  return found.flatMap(({ unit, isSure }) => (isAlone || isSure ? unit : []));
}

/** Listens for some time, and judges all unsolicited bytes up to then. */
async function otherMaster(bench: Bench): Promise<Judged> {
  await bench.asker.wait(LISTEN_MS);
  await bench.askGood();
  const found = bench.log.filter((each) => unitsAskedByOthers(each).length > 0);
  const units = found.flatMap(unitsAskedByOthers);
  const asked = { code: 'other-master', units } as const;
  if (units.length >= 2)
    return { ...violates(asked, ...found.slice(0, 3)), seen: { times: units.length, of: units.length } };
  return units.length === 1
    ? once(asked, ...found)
    : conforms({ code: 'no-other-master', listenedMs: LISTEN_MS, of: bench.asker.requests });
}

/** Sends requests with other port settings, and restores the port's own. */
async function withSettings(
  bench: Bench,
  changes: Partial<Extract<ClientTarget, { readonly kind: 'serial' }>>,
): Promise<Result<Exchange>> {
  const { asker } = bench;
  await asker.disconnect();
  const connection = await asker.another({ ...asker.target, ...changes } as ClientTarget);
  if (!connection.ok) return connection;
  try {
    return success(await asker.askOn(connection.value, bench.goodRead));
  } finally {
    await connection.value.close();
  }
}

/** Makes a check run only if bytes have a speed and a parity: not on a pseudo-terminal. */
const onWires =
  (run: (bench: Bench, target: Extract<ClientTarget, { readonly kind: 'serial' }>) => Promise<Judged>) =>
  async (bench: Bench): Promise<Judged> => {
    const { target, connection } = bench.asker;
    return target.kind === 'serial' && connection.times.character > 0
      ? run(bench, target)
      : notRun({ code: 'pseudo-terminal' });
  };

const OTHER_PARITY = { even: 'odd', odd: 'even' } as const;

const wrongParity = onWires(async (bench, { parity }) => {
  if (parity === 'none') return unsupported({ code: 'no-parity' });
  const asked = await withSettings(bench, { parity: OTHER_PARITY[parity] });
  if (!asked.ok) return inconclusive({ code: 'unreachable', reason: asked.error });
  const exchange = asked.value;
  return exchange.chunks.length > 0
    ? violates({ code: 'wrong-parity-answered', parity: OTHER_PARITY[parity] }, exchange)
    : conforms({ code: 'wrong-parity-ignored', parity: OTHER_PARITY[parity] }, exchange);
});

/** The speed error that a receiver must tolerate. */
const SPEED_ERROR = 0.02;

const otherSpeed = onWires(async (bench, { baudRate }) => {
  for (const share of [1 + SPEED_ERROR, 1 - SPEED_ERROR]) {
    const speed = Math.round(share * baudRate);
    const asked = await withSettings(bench, { baudRate: speed });
    if (!asked.ok) return inconclusive({ code: 'unreachable', reason: asked.error });
    const exchange = asked.value;
    if (!isDecisive(exchange))
      return inconclusive(
        { code: 'speed-not-borne', baudRate: speed, answer: didOf(exchange.answer) },
        exchange,
      );
  }
  return conforms({ code: 'speeds-borne' });
});

async function wrongLrc(bench: Bench): Promise<Judged> {
  const frame = bench.frameOf();
  const digit = frame.length - 3;
  frame[digit] = frame[digit] === 0x30 ? 0x31 : 0x30;
  return unanswered(bench, [{ bytes: frame }], bench.asker.unitId, bench.goodRead, dangerous);
}

const ASCII = 'Serial Line V1.02, 2.5.2';

export const LINE = checksOf({ group: 'bus' }, [
  {
    ...{ id: 'rtu-collision', grade: 'met', on: 'rtu', turn: 'late', isSeveral: true, run: otherMaster },
    title: 'There is no other master on the bus',
    does: 'Listens for 10 s and checks all unsolicited bytes.',
    rule: 'Conforms when no request of another master comes.',
    clause: 'Serial Line V1.02, 2.1',
    matters: 'Exchanges collide and replies go to the wrong master (catalogue: second-master).',
    mend: 'Take the other master off the bus, or send requests through it.',
  },
  {
    ...{ id: 'rtu-parity', grade: 'seldom', on: 'rtu', turn: 'late', run: wrongParity },
    title: 'Ignores a wrong parity',
    does: 'Sends a read with the other parity. Not run on a pseudo-terminal.',
    rule: 'Conforms when no reply comes. Not supported without parity.',
    clause: 'Serial Line V1.02, 2.5.1 and 2.4.2',
    matters: 'Only the CRC catches disturbed bits on long lines.',
    mend: 'Let the UART check the parity, and discard the frame if it is wrong.',
  },
  {
    ...{ id: 'rtu-baud', grade: 'seldom', on: 'rtu', turn: 'late', run: otherSpeed },
    title: 'Tolerates a speed that is 2 % off',
    does: 'Sends one read 2 % too fast and one 2 % too slow. Not run on a pseudo-terminal.',
    rule: 'Conforms when both are answered, otherwise inconclusive: the adapter may be the cause.',
    clause: 'Serial Line V1.02, 3.2',
    matters: 'Oscillators of clients differ; SunSpec RTU-2 requires the tolerance.',
    mend: 'Sample each bit in its middle, and use an accurate oscillator.',
  },
  {
    ...{ id: 'ascii-restart', grade: 'met', on: 'ascii' },
    title: 'Starts a new frame at a colon',
    does: 'Sends ":01" and, 20 ms later, a whole frame.',
    rule: 'Conforms when the frame is answered.',
    clause: `${ASCII}.1`,
    matters: 'The poll after a disturbance is lost as well.',
    mend: 'Discard all bytes before each colon.',
    run: (bench) =>
      stillAnswers(bench, [{ bytes: Uint8Array.from(Buffer.from(':01')) }], 20, { after: 'half-frame' }),
  },
  {
    ...{ id: 'ascii-lrc', grade: 'met', on: 'ascii', run: wrongLrc },
    title: 'Ignores a frame with a wrong LRC',
    does: 'Sends a read with a wrong LRC.',
    rule: 'Conforms when no reply comes.',
    clause: `${ASCII}.2`,
    matters: 'A disturbance on the line becomes a wrong command.',
    mend: 'Check the LRC of every frame, and stay silent if it is wrong.',
  },
]);
