import { NO_BYTES } from '../../modbus/protocol/bytes.js';
import { median } from '../times.js';
import type { Bench } from './bench.js';
import { type Exchange, isDecisive } from './exchange.js';

/** The reply times in ms, as rows of the data sheet. */
interface ReplyTimes {
  readonly least: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
  /** The median of the first replies on connections, if these take longer than others. */
  readonly first?: number;
  /** How many requests got no reply, but did when they were repeated. */
  readonly lost: number;
}

/** The first reply on a connection counts as slow from this many times the median, plus this many ms. */
const FIRST_TIMES = 4;
const FIRST_MS = 100;

function lostOf(log: readonly Exchange[]): number {
  const isLost = ({ isPlain, answer, pdu, unitId }: Exchange, next: Exchange | undefined) =>
    isPlain &&
    answer.kind === 'silent' &&
    next?.unitId === unitId &&
    isDecisive(next) &&
    Buffer.compare(pdu ?? NO_BYTES, next.pdu ?? NO_BYTES) === 0;
  return log.filter((each, i) => isLost(each, log[i + 1])).length;
}

export function replyTimes({ log, asker: { times } }: Bench): ReplyTimes | undefined {
  if (times.count === 0) return undefined;
  const usual = times.at(0.5);
  const first = median(log.flatMap(({ ms, isFirst }) => (isFirst && ms !== undefined ? [ms] : [])));
  const isLater = first > FIRST_TIMES * usual + FIRST_MS;
  return {
    ...{ least: times.least, median: usual, p99: times.at(0.99), most: times.most, lost: lostOf(log) },
    ...(isLater && { first }),
  };
}
