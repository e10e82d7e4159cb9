import type { Random } from '../../common/random.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { type ReplyPlan, type SendStep, type Step, stepsOf } from '../../modbus/protocol/reply-plan.js';
import { type Budget, sizeOf, WORK } from './budget.js';
import type { Applied, FaultContext } from './kind.js';

/** Returns the plan with other steps. A silent plan becomes a plan that sends. */
export function withSteps(plan: ReplyPlan, steps: readonly Step[]): ReplyPlan {
  return plan.kind === 'send' ? { ...plan, steps } : { kind: 'send', early: false, steps };
}

export function countFrames(plan: ReplyPlan): number {
  return frames(plan).filter(isPieces).length;
}

/** The pieces of one frame, at least one. */
type Pieces = readonly [SendStep, ...SendStep[]];

/** A context whose budget a helper spends from. */
type Spending = Pick<FaultContext, 'budget'>;

/**
 * Returns the plan with every frame changed by `change`, which gets a copy that it may modify. Returns
 * `cannot` if `change` returns undefined for all frames. A frame that was cut into pieces is joined, changed,
 * and cut again at the same places. Pieces that would be empty are dropped.
 */
export function mapFrames(
  plan: ReplyPlan,
  context: Spending,
  cannot: string,
  change: (frame: Uint8Array) => Uint8Array | undefined,
): Applied {
  return mapFrameSteps(plan, context, cannot, (pieces) => {
    if (!context.budget.spend({ work: WORK.byte * lengthOf(pieces) })) return undefined;
    const changed = change(concatBytes(...pieces.map(({ bytes }) => bytes)));
    return changed && recut(pieces, changed);
  });
}

/** Returns the plan with the pieces of every frame replaced by other steps, or `cannot`, like `mapFrames`. */
export function mapFrameSteps(
  plan: ReplyPlan,
  { budget }: Spending,
  cannot: string,
  change: (pieces: Pieces) => readonly Step[] | undefined,
): Applied {
  let changed = false;
  const steps = frames(plan).flatMap((frame) => {
    if (!isPieces(frame)) return frame;
    if (!budget.spend({ work: WORK.frame + WORK.piece * frame.length })) return frame;
    const replaced = change(frame);
    if (replaced) changed = true;
    return replaced ?? frame;
  });
  return changed ? withSteps(plan, steps) : cannot;
}

/**
 * Returns the plan with `times` copies after every frame, each copy after `gapMs`, or `cannot` if the plan
 * has no frame.
 */
export function repeatFrames(
  plan: ReplyPlan,
  context: Spending,
  cannot: string,
  times: number,
  gapMs: number,
): Applied {
  const sent = stepsOf(plan).filter(({ kind }) => kind === 'bytes');
  const cost = { bytes: times * sizeOf(plan).bytes, pieces: times * sent.length };
  // The budget reports what was refused, so this reason is not shown.
  if (!context.budget.spend(cost)) return cannot;
  return mapFrameSteps(plan, context, cannot, (pieces) => {
    const [first, ...rest] = pieces;
    const copy = [{ ...first, waitMs: gapMs }, ...rest];
    return [...pieces, ...Array.from({ length: times }, () => copy).flat()];
  });
}

function lengthOf(pieces: Pieces): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

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
  const cut: SendStep[] = [];
  let offset = 0;
  for (const { waitMs, bytes, continues } of pieces.slice(0, -1)) {
    if (offset === frame.length) return cut;
    const end = Math.min(offset + bytes.length, frame.length);
    cut.push({ kind: 'bytes', waitMs, bytes: frame.subarray(offset, end), continues });
    offset = end;
  }
  const last = pieces.at(-1);
  if (last && offset < frame.length) cut.push({ ...last, bytes: frame.subarray(offset) });
  return cut;
}

/** A range of offsets in a frame, inclusive. */
type Offsets = readonly [first: number, last: number];

/**
 * Returns the plan with its frames cut at the offsets that `offsetsOf` returns for a frame's length, or
 * `cannot` if all offsets are outside the frames. Each piece that begins at a cut waits `waitMs` longer than
 * before.
 */
export function cutFrames(
  plan: ReplyPlan,
  context: Spending,
  cannot: string,
  offsetsOf: (length: number) => Offsets,
  waitMs: number,
): Applied {
  return mapFrameSteps(plan, context, cannot, (pieces) => {
    const length = lengthOf(pieces);
    const [first, last] = offsetsOf(length);
    const inside: Offsets = [Math.max(1, first), Math.min(last, length - 1)];
    const cuts = 1 + inside[1] - inside[0];
    if (cuts <= 0 || !context.budget.spend({ pieces: cuts })) return undefined;
    return cutFrame(pieces, inside, waitMs);
  });
}

function cutFrame(pieces: Pieces, [first, last]: Offsets, waitMs: number): SendStep[] {
  const cut: SendStep[] = [];
  let position = 0;
  for (const piece of pieces) {
    const { bytes } = piece;
    const end = position + bytes.length;
    let { continues } = piece;
    let waited = position >= first && position <= last ? piece.waitMs + waitMs : piece.waitMs;
    let start = position;
    for (let offset = Math.max(first, position + 1); offset <= last && offset < end; offset++) {
      const before = bytes.subarray(start - position, offset - position);
      cut.push({ kind: 'bytes', waitMs: waited, bytes: before, continues });
      start = offset;
      waited = waitMs;
      continues = true;
    }
    const rest = bytes.subarray(start - position);
    cut.push({ kind: 'bytes', waitMs: waited, bytes: rest, continues });
    position = end;
  }
  return cut;
}

/**
 * Returns the plan with a single frame, at the time of the first frame that it replaces. If the plan has no
 * frame, the new one goes before a close, or else at the end.
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

/** What is needed to create random parts of a reply. */
interface Source {
  readonly random: Random;
  readonly framing: Framing;
  readonly budget: Budget;
}

/** Returns `length` random bytes that the line can carry; none if the budget does not allow them. */
function randomBytes({ random, framing, budget }: Source, length: number): Uint8Array {
  if (!budget.spend({ bytes: length, work: WORK.randomByte * length })) return new Uint8Array(0);
  const bytes = new Uint8Array(length);
  // Uint8Array.from would take ten times as long.
  for (let i = 0; i < length; i++) bytes[i] = random.below(1 << framing.characterBits);
  return bytes;
}

/**
 * Draws `length` random bytes for each of `frames` frames. Each call of the result returns the bytes for the
 * next frame.
 */
export function randomBytesFor(frames: number, source: Source, length: number): () => Uint8Array {
  const bytes = randomBytes(source, frames * length);
  let end = 0;
  return () => {
    end += length;
    return bytes.subarray(end - length, end);
  };
}

/** Draws `count` distinct numbers below `limit`, or all such numbers if there are fewer. */
export function pick({ random, budget }: Source, count: number, limit: number): number[] {
  const length = Math.min(count, limit);
  if (!budget.spend({ work: WORK.number * length })) return [];
  // These are the first steps of a Fisher-Yates shuffle. Only the moved numbers are stored, because a frame
  // of 64 KiB has half a million bits.
  const moved = new Map<number, number>();
  const at = (index: number) => moved.get(index) ?? index;
  return Array.from({ length }, (_, i) => {
    const j = i + random.below(limit - i);
    const picked = at(j);
    moved.set(j, at(i));
    return picked;
  });
}
