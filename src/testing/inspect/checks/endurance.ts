import { median } from '../../times.js';
import { type Exchange, isDecisive } from '../asker.js';
import type { Bench } from '../bench.js';
import { conforms, inconclusive, type Judged, type ServerCheck, violates } from '../check.js';
import { TOLD_MS } from '../survey.js';
import { answerText, listText, ofText, timeText } from '../words.js';

/** The last tenth of the times may be this many times the first one, and this many ms longer. */
const DRIFT = 2;
const DRIFT_MS = 20;

/** Reads for a while at the usual pace: all have to be answered, and the times stay as they are. */
async function soak(bench: Bench): Promise<Judged> {
  const { clock } = bench.asker;
  const end = clock.now() + bench.order.soakMs;
  const reads: Exchange[] = [];
  for (let told = clock.now(); clock.now() < end && !bench.asker.isStopped(); ) {
    reads.push(await bench.askGood());
    if (clock.now() - told < TOLD_MS) continue;
    told = clock.now();
    bench.progress(`soak: ${reads.length} reads, ${timeText(end - told)} left`);
  }
  const lost = reads.filter((each) => !isDecisive(each) || each.answer.kind === 'exception');
  const times = reads.flatMap(({ ms }) => (ms === undefined ? [] : [ms]));
  const text = `${ofText(reads.length - lost.length, reads.length, 'reads')} were answered; ${histogram(times)}`;
  const kinds = [...new Set(lost.map(({ answer }) => answerText(answer)))];
  if (lost.length >= 2)
    return {
      ...violates(`${text}; the others: the server ${listText(kinds)}`, ...lost.slice(0, 3)),
      seen: { times: lost.length, of: reads.length },
    };
  if (lost.length === 1) return inconclusive(`${text}; a longer run decides`, ...lost);
  const tenth = Math.max(1, Math.floor(times.length / 10));
  const [first, last] = [median(times.slice(0, tenth)), median(times.slice(-tenth))];
  if (last > DRIFT * first + DRIFT_MS)
    return violates(
      `${text}; the times grew from ${timeText(first)} to ${timeText(last)}`,
      ...reads.slice(-2),
    );
  return conforms(text);
}

/** The times as powers of two: `≤ 2 ms 830, ≤ 4 ms 12`. */
function histogram(times: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const ms of times) {
    const bound = 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(ms, 0.001))));
    counts.set(bound, (counts.get(bound) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => a[0] - b[0])
    .map(([bound, many]) => `≤ ${timeText(bound)}: ${many}`)
    .join(', ');
}

export const ENDURANCE: readonly ServerCheck[] = [
  {
    id: 'soak',
    group: 'endurance',
    title: 'Keeps answering',
    does: 'Reads for as long as --soak says, at the pace of --pause.',
    rule: 'Conforms when all reads are answered, and as fast at the end as at the beginning.',
    clause: 'robustness (no clause)',
    matters: 'alejoseb/Modbus-STM32-HAL-FreeRTOS#125, pymodbus-dev/pymodbus#274',
    mend: 'Look for what grows with each request.',
    grade: 'met',
    needs: ['soak'],
    turn: 'late',
    isSeveral: true,
    run: soak,
  },
];
