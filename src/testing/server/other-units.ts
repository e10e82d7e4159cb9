import { HIGHEST_UNIT } from '../../modbus/protocol/limits.js';
import { type Asker, Ended } from './asker.js';

interface OtherUnitsBench {
  readonly asker: Asker;
  readonly facts: { absentUnit?: number | undefined };
  readonly goodRead: Uint8Array;
  readonly progress: (text: string) => void;
}

/** How long to wait for another unit: at least this many ms, and this many times the reply time of the tested unit. */
const LEAST_SILENCE = 250;
const SLOWER = 4;
/** Number of passes over all units, each with a longer time-out. */
const SEARCHES = 3;
/** How long after the last request a late reply may come, in ms. */
const LATEST_MS = 5000;

/** The other units on the bus that answer. Ends the check if this can't be determined. */
export async function otherUnits(bench: OtherUnitsBench): Promise<readonly number[]> {
  bench.progress('looking for other units on the bus, to which a broadcast would also write');
  // The first time-out follows from this read: blocks take the server longer, and 246 units are polled.
  const { ms = 0 } = await bench.asker.once(bench.goodRead);
  const wait = Math.max(LEAST_SILENCE, SLOWER * ms);
  for (let i = 0; i < SEARCHES; i++) {
    const others = await answering(bench, wait * SLOWER ** i);
    if (others) return others;
  }
  throw new Ended({ code: 'units-not-told-apart' });
}

/**
 * The other units that answer within `timeout` ms. Undefined if a reply came later: a unit that is missed
 * would be written to, and its value not restored.
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
