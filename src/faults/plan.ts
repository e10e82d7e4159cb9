import { concatBytes } from '../protocol/bytes.js';
import type { ReplyPlan, SendStep, Step } from '../protocol/reply-plan.js';

/** The steps of a plan; none when it is silent. */
export function stepsOf(plan: ReplyPlan): readonly Step[] {
  return plan.kind === 'send' ? plan.steps : [];
}

/** The plan with other steps; a silent one that gets steps speaks. */
export function withSteps(plan: ReplyPlan, steps: readonly Step[]): ReplyPlan {
  return { kind: 'send', early: plan.kind === 'send' && plan.early, steps };
}

/** True when there is a frame to change. */
export function hasFrame(plan: ReplyPlan): boolean {
  return stepsOf(plan).some(({ kind }) => kind === 'bytes');
}

/**
 * The plan with every frame changed by `change`. A frame that was cut into pieces is put together, changed, and cut
 * at the same places again; pieces for which no bytes are left disappear.
 */
export function mapFrames(plan: ReplyPlan, change: (frame: Uint8Array) => Uint8Array): ReplyPlan {
  return mapFrameSteps(plan, (pieces) =>
    recut(pieces, change(concatBytes(...pieces.map(({ bytes }) => bytes)))),
  );
}

/** The plan with the pieces of every frame replaced by other steps. */
export function mapFrameSteps(
  plan: ReplyPlan,
  change: (pieces: readonly SendStep[]) => readonly Step[],
): ReplyPlan {
  const steps: Step[] = [];
  let pieces: SendStep[] = [];
  const flush = () => {
    if (pieces.length > 0) steps.push(...change(pieces));
    pieces = [];
  };
  for (const step of stepsOf(plan)) {
    if (step.kind !== 'bytes' || !step.continues) flush();
    if (step.kind === 'bytes') pieces.push(step);
    else steps.push(step);
  }
  flush();
  return withSteps(plan, steps);
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

/** Cuts the pieces of one frame at `offsets` (ascending, in bytes of the frame), with a wait before each new piece. */
export function cutFrame(
  pieces: readonly SendStep[],
  offsets: readonly number[],
  waitMs: number,
): SendStep[] {
  const result: SendStep[] = [];
  let position = 0;
  for (const piece of pieces) {
    const end = position + piece.bytes.length;
    const inside = offsets.filter((offset) => offset > position && offset < end);
    const bounds = [position, ...inside, end];
    for (let i = 0; i + 1 < bounds.length; i++) {
      const bytes = piece.bytes.subarray(
        (bounds[i] as number) - position,
        (bounds[i + 1] as number) - position,
      );
      result.push(i === 0 ? { ...piece, bytes } : { kind: 'bytes', waitMs, bytes, continues: true });
    }
    position = end;
  }
  return result;
}

/** The plan with one frame instead of everything it would send, at the time the first of it would have left. */
export function withOneFrame(plan: ReplyPlan, bytes: Uint8Array): ReplyPlan {
  const waitMs = stepsOf(plan)[0]?.waitMs ?? 0;
  return withSteps(plan, [{ kind: 'bytes', waitMs, bytes, continues: false }]);
}
