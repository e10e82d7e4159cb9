import { failure, type Result, success } from '../../../common/result.js';
import { counted } from '../../../common/words.js';
import { durationText } from '../../report/words.js';
import { spanOf, usualTimes } from '../../times.js';
import type { WatchedClient } from '../watched-client.js';
import { type Poll, pollsIn, targetOf } from './exchange.js';

/** How long to wait for the first request, in ms. */
const PATIENCE_MS = 30_000;
/**
 * The client is watched for at least this long, and for this many requests of the poll that will be
 * disturbed.
 */
const SHORTEST_MS = 2_000;
const POLLS = 8;
/**
 * The time between two looks at the rhythm: this many ms or this fraction of the time watched so far,
 * whichever is longer. A look at many requests takes the main thread a millisecond.
 */
const LOOK_EVERY_MS = 100;
const LOOK_AGAIN = 0.05;
/** Fewer polls do not show the client's rhythm. After `ENOUGH_MS` this many are enough. */
const FEWEST_POLLS = 3;
const ENOUGH_MS = 30_000;
/** Watching takes at most this fraction of the time limit. */
const MOST_OF_LIMIT = 0.25;

interface Watched {
  readonly polls: readonly Poll[];
  readonly target: Poll;
}

/** Polls have no rhythm if the range of their intervals exceeds both this fraction of the median and this many ms. */
const UNEVEN = 0.5;
const UNEVEN_MS = 100;

/** Says that a poll has no rhythm, as part of a sentence; undefined if it has one. */
export function unevenText({ text, intervals, periodMs = 0 }: Poll): string | undefined {
  const times = usualTimes(intervals);
  if (spanOf(times) <= Math.max(UNEVEN * periodMs, UNEVEN_MS)) return undefined;
  const [low, high] = [times.low, times.high].map((ms) => durationText(Math.round(ms)));
  return `no regular rhythm was found: ${text} came ${low} to ${high} apart`;
}

/**
 * Watches the client until its rhythm is known.
 * @returns the poll to disturb; or sentences on how the client exited, or why it can't be tested
 */
export async function watchClient(
  client: WatchedClient,
): Promise<{ readonly target: Poll } | { readonly crash: string } | { readonly refused: string }> {
  const watched = await Promise.race([rhythmOf(client), client.crashed.then((crash) => ({ crash }))]);
  if ('crash' in watched) {
    if (client.log.after(0).length > 0) return watched;
    return client.refuse('the client exited before its first request', `: ${watched.crash}`);
  }
  if (!watched.ok) return client.refuse(watched.error);
  const { polls, target } = watched.value;
  client.watched(polls, target);
  return { target };
}

/** @returns the client's polls, or why it can't be tested, as a sentence that says what was missing */
async function rhythmOf(client: WatchedClient): Promise<Result<Watched>> {
  const { clock, log, line, order } = client;
  const { unitId, limitMs } = order;
  const patience = Math.min(PATIENCE_MS, limitMs * MOST_OF_LIMIT);
  if (!(await client.until(() => log.after(0)[0], patience))) {
    const damaged = log
      .othersAfter(0)
      .filter(({ kind }) => kind === 'damaged' || kind === 'discarded').length;
    const only = damaged > 0 ? `, only ${damaged} damaged frames (wrong baud rate or parity?)` : '';
    return failure(
      `no client polls line ${line.name}: no request came within ${durationText(patience)}${only}`,
    );
  }
  const startedAt = clock.now();
  const longest = Math.max(limitMs * MOST_OF_LIMIT, SHORTEST_MS);
  let lookAt = startedAt + SHORTEST_MS;
  const timesAsked = () => targetOf(pollsIn(log.newest()), unitId)?.asked.length ?? 0;
  const isKnown = (least: number) => () => {
    if (clock.now() < lookAt) return undefined;
    lookAt = clock.now() + Math.max(LOOK_EVERY_MS, LOOK_AGAIN * (clock.now() - startedAt));
    return timesAsked() >= least || undefined;
  };
  const to = unitId === undefined ? '' : ` to unit ${unitId}`;
  const asked = () => {
    const each = pollsIn(log.newest()).map(({ text, asked }) => `${text} (${asked.length})`);
    return each.slice(0, 4).join(', ');
  };
  await client.until(isKnown(POLLS + 1), Math.min(longest, ENOUGH_MS));
  if (timesAsked() < FEWEST_POLLS && longest > ENOUGH_MS) {
    const wanted = `a poll${to} that comes ${FEWEST_POLLS} times and is answered`;
    client.note(
      `waiting for ${wanted}, ${durationText(ENOUGH_MS)} so far; the last requests were ${asked()}`,
    );
    await client.until(isKnown(FEWEST_POLLS), longest - ENOUGH_MS);
  }
  const polls = pollsIn(log.newest());
  const chosen = targetOf(polls, unitId);
  if (chosen && chosen.asked.length >= FEWEST_POLLS) return success({ polls, target: chosen });
  const within = durationText(Math.round(clock.now() - startedAt));
  const requests = counted(log.after(0).length, 'request');
  return failure(
    `the client sent ${requests} in ${within}, but no poll${to} came ${FEWEST_POLLS} times with a reply; the last were ${asked()}`,
  );
}
