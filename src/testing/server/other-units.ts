import { HIGHEST_UNIT } from '../../modbus/protocol/limits.js';
import { type Asker, Ended } from './asker.js';

interface OtherUnitsBench {
  readonly asker: Asker;
  readonly facts: { absentUnit?: number | undefined };
  readonly goodRead: Uint8Array;
  readonly progress: (text: string) => void;
}

/** How long another unit is waited for: so many ms at least, and so many times as long as the own one takes. */
const LEAST_SILENCE = 250;
const SLOWER = 4;
/** How often all of them are asked, each time with more time. */
const SEARCHES = 3;
/** How long after the last of them was asked a late reply may come, in ms. */
const LATEST_MS = 5000;

/** The other units on the bus that answer. Ends the check where that can't be said. */
export async function otherUnits(bench: OtherUnitsBench): Promise<readonly number[]> {
  bench.progress('looking for other units on the bus, to which a broadcast would also write');
  // By the time of this read at first: blocks take the server longer, and 246 units are asked.
  const { ms = 0 } = await bench.asker.once(bench.goodRead);
  const wait = Math.max(LEAST_SILENCE, SLOWER * ms);
  for (let i = 0; i < SEARCHES; i++) {
    const others = await answering(bench, wait * SLOWER ** i);
    if (others) return others;
  }
  throw new Ended({ code: 'units-not-told-apart' });
}

/**
 * The other units that answer within `timeout` ms. Undefined where a reply came later: a unit that is missed is
 * written, and does not get its value back.
 */
async function answering(
  { asker, goodRead, facts }: OtherUnitsBench,
  timeout: number,
): Promise<readonly number[] | undefined> {
  const others: number[] = [];
  let absent: number | undefined;
  for (let unitId = 1; unitId <= HIGHEST_UNIT; unitId++) {
    if (unitId === asker.unitId) continue;
    const { chunks, unsolicited } = await asker.once(goodRead, { unitId, timeout });
    const [first] = chunks;
    if (unsolicited.length > 0 || (first && first.bytes[0] !== unitId)) return undefined;
    if (first) others.push(unitId);
    else absent ??= unitId;
  }
  await asker.wait(LATEST_MS);
  if ((await asker.once(goodRead)).unsolicited.length > 0) return undefined;
  facts.absentUnit ??= absent;
  return others;
}
