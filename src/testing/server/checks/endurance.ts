import { orWhenEnded } from '../asker.js';
import type { Bench } from '../bench.js';
import { checksOf, conforms, inconclusive, type Judged, notRun, violates } from '../check.js';
import type { Soaked } from '../codes/phrases.js';
import { type Exchange, isDecisive } from '../exchange.js';
import { type ServerAnswer, tallyOf } from '../reading.js';
import { TOLD_MS } from '../survey.js';
import { Tally } from '../tally.js';
import { timeText } from '../words.js';

/** The times in the last tenth may be this many times those in the first, plus this many ms. */
const DRIFT = 2;
const DRIFT_MS = 20;

/** Number of equal parts of the run; the last is compared with the first. */
const PARTS = 10;

/** A summary of millions of reads: counts, and the first reads that were lost. */
class Reads {
  readonly times = new Tally();
  readonly parts = Array.from({ length: PARTS }, () => new Tally());
  readonly answers: ServerAnswer[] = [];
  readonly shown: Exchange[] = [];
  count = 0;
  lost = 0;

  /** @param share fraction of the time that has passed, from 0 to 1 */
  add(exchange: Exchange, share: number): void {
    this.count++;
    const { ms, answer } = exchange;
    if (ms !== undefined) {
      this.times.add(ms);
      this.parts[Math.min(PARTS - 1, Math.floor(PARTS * share))]?.add(ms);
    }
    if (isDecisive(exchange) && answer.kind !== 'exception') return;
    this.lost++;
    if (this.answers.length < MOST_TOLD) this.answers.push(answer);
    if (this.shown.length < MOST_SHOWN) this.shown.push(exchange);
  }
}

const MOST_SHOWN = 3;
/** Maximum number of lost reads that are listed individually. */
const MOST_TOLD = 1000;

/** Reads for some time at the usual pace: all reads must be answered, and the times must not grow. */
async function soak(bench: Bench): Promise<Judged> {
  const { asker, order } = bench;
  const { clock } = asker;
  const from = clock.now();
  const reads = new Reads();
  let isStopped = false;
  for (let noted = from; !isStopped && clock.now() < from + order.soakMs; ) {
    const read = await bench.askGood({ isOneOfMany: true }).catch(orWhenEnded(undefined));
    if (read) reads.add(read, (clock.now() - from) / order.soakMs);
    else isStopped = true;
    if (clock.now() - noted < TOLD_MS) continue;
    noted = clock.now();
    bench.progress(`soak: ${reads.count} reads, ${timeText(from + order.soakMs - noted)} left`);
  }
  const { lost, count, times, parts, shown, answers } = reads;
  if (count === 0) return notRun({ code: 'stopped' });
  const soaked: Soaked = {
    answered: count - lost,
    of: count,
    upToMs: times.byPowersOfTwo(),
    ...(isStopped && { stoppedAfterMs: clock.now() - from }),
  };
  if (lost >= 2)
    return {
      ...violates({ code: 'soak-lost', ...soaked, answers: tallyOf(answers) }, ...shown),
      seen: { times: lost, of: count },
    };
  if (lost === 1 || isStopped) return inconclusive({ code: 'soak-too-short', ...soaked }, ...shown);
  const [first, last] = [parts[0]?.at(0.5) ?? 0, parts.at(-1)?.at(0.5) ?? 0];
  if (last > DRIFT * first + DRIFT_MS)
    return violates({ code: 'soak-slower', ...soaked, firstMs: first, lastMs: last });
  return conforms({ code: 'soaked', ...soaked });
}

export const ENDURANCE = checksOf({ group: 'endurance' }, [
  {
    ...{ id: 'soak', grade: 'met', turn: 'late', needs: ['soak'], isSeveral: true, run: soak },
    title: 'Keeps answering',
    does: 'Reads for as long as --soak says, at the pace of --pause.',
    rule: 'Conforms when all reads are answered, and as fast at the end as at the beginning.',
    clause: 'robustness (no clause)',
    matters: 'alejoseb/Modbus-STM32-HAL-FreeRTOS#125, pymodbus-dev/pymodbus#274',
    mend: 'Look for a resource that grows with each request.',
  },
]);
