import { concatBytes } from '../protocol/bytes.js';
import type { ReplyPlan, SendStep, Step } from '../protocol/reply-plan.js';
import type { Extent } from './extent.js';
import type { Applied } from './kind.js';

/** The steps of a plan; none when it is silent. */
export function stepsOf(plan: ReplyPlan): readonly Step[] {
  return plan.kind === 'send' ? plan.steps : [];
}

/** The plan with other steps; a silent one that gets steps speaks. */
export function withSteps(plan: ReplyPlan, steps: readonly Step[]): ReplyPlan {
  return { kind: 'send', early: plan.kind === 'send' && plan.early, steps };
}

/** What a plan comes to; the time that its bytes take on the wire is not counted. */
export function extentOf(plan: ReplyPlan): Extent {
  let [frames, bytes, lead, ms] = [0, 0, 0, 0];
  for (const step of stepsOf(plan)) {
    const time = step.waitMs + (step.kind === 'break' ? step.ms : 0);
    if (frames === 0) lead += time;
    else ms += time;
    if (step.kind !== 'bytes') continue;
    bytes += step.bytes.length;
    if (!step.continues) frames++;
  }
  return { frames, bytes, lead, ms };
}

/** True when there is a frame to change. */
export function hasFrame(plan: ReplyPlan): boolean {
  return stepsOf(plan).some(({ kind }) => kind === 'bytes');
}

/** The pieces of one frame: at least one. */
type Pieces = readonly [SendStep, ...SendStep[]];

/**
 * The plan with every frame changed by `change`, or `cannot` when it returns undefined for all of them. A frame that
 * was cut into pieces is put together, changed, and cut at the same places again; pieces for which no bytes are left
 * disappear.
 */
export function mapFrames(
  plan: ReplyPlan,
  cannot: string,
  change: (frame: Uint8Array) => Uint8Array | undefined,
): Applied {
  return mapFrameSteps(plan, cannot, (pieces) => {
    const changed = change(concatBytes(...pieces.map(({ bytes }) => bytes)));
    return changed && recut(pieces, changed);
  });
}

/** The plan with the pieces of every frame replaced by other steps, or `cannot` as for `mapFrames`. */
export function mapFrameSteps(
  plan: ReplyPlan,
  cannot: string,
  change: (pieces: Pieces) => readonly Step[] | undefined,
): Applied {
  let changed = false;
  const steps = frames(plan).flatMap((frame) => {
    if (!isPieces(frame)) return frame;
    const replaced = change(frame);
    if (replaced) changed = true;
    return replaced ?? frame;
  });
  return changed ? withSteps(plan, steps) : cannot;
}

/** The steps of a plan, those of each frame together. */
function frames(plan: ReplyPlan): Step[][] {
  const groups: Step[][] = [];
  for (const step of stepsOf(plan)) {
    const last = groups.at(-1);
    if (step.kind === 'bytes' && step.continues && last?.[0]?.kind === 'bytes') last.push(step);
    else groups.push([step]);
  }
  return groups;
}

function isPieces(steps: readonly Step[]): steps is Pieces {
  return steps[0]?.kind === 'bytes';
}

function recut(pieces: readonly SendStep[], frame: Uint8Array): SendStep[] {
  let offset = 0;
  return pieces
    .map((piece, i) => {
      const end =
        i === pieces.length - 1 ? frame.length : Math.min(offset + piece.bytes.length, frame.length);
      const bytes = frame.subarray(offset, end);
      offset = end;
      return { ...piece, bytes };
    })
    .filter(({ bytes }) => bytes.length > 0);
}

/**
 * The plan with its frames cut at the offsets that `offsetsOf` tells for a frame's length, or `cannot` when all are
 * outside. Before each piece that begins there `waitMs` are waited, on top of what was waited there already.
 */
export function cutFrames(
  plan: ReplyPlan,
  cannot: string,
  offsetsOf: (length: number) => readonly number[],
  waitMs: number,
): Applied {
  return mapFrameSteps(plan, cannot, (pieces) => {
    const length = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const offsets = offsetsOf(length).filter((offset) => offset > 0 && offset < length);
    return offsets.length > 0 ? cutFrame(pieces, new Set(offsets), waitMs) : undefined;
  });
}

function cutFrame(pieces: Pieces, offsets: ReadonlySet<number>, waitMs: number): SendStep[] {
  const result: SendStep[] = [];
  let position = 0;
  for (const piece of pieces) {
    const { bytes } = piece;
    let start = 0;
    let waited = offsets.has(position) ? piece.waitMs + waitMs : piece.waitMs;
    for (let end = 1; end <= bytes.length; end++) {
      if (end < bytes.length && !offsets.has(position + end)) continue;
      const continues = start > 0 || piece.continues;
      result.push({ kind: 'bytes', waitMs: waited, bytes: bytes.subarray(start, end), continues });
      start = end;
      waited = waitMs;
    }
    position += bytes.length;
  }
  return result;
}

/**
 * The plan with one frame instead of all of its frames, at the time the first of them would have left; before a
 * close or else at the end when it has none.
 */
export function withOneFrame(plan: ReplyPlan, bytes: Uint8Array): ReplyPlan {
  const steps = stepsOf(plan);
  const first = steps.findIndex(({ kind }) => kind !== 'break');
  const before = first < 0 ? steps : steps.slice(0, first);
  const [replaced, ...after] = steps.slice(before.length);
  const frame: Step = { kind: 'bytes', waitMs: replaced?.waitMs ?? 0, bytes, continues: false };
  const kept = after.filter(({ kind }) => kind !== 'bytes');
  const closing: Step[] = replaced?.kind === 'close' ? [{ ...replaced, waitMs: 0 }] : [];
  return withSteps(plan, [...before, frame, ...closing, ...kept]);
}
