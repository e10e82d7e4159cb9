import type { AduContent } from '../protocol/framing.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { Applied, FaultContext } from './kind.js';
import { mapFrames } from './plan.js';

/** Computes new values for some fields of a frame; undefined when the change can't act. */
type FieldChange = (fields: AduContent) => Partial<AduContent> | undefined;

/**
 * The plan with some fields of its frames changed. The CRC or the length field is recomputed, so the frames are valid.
 * `cannot` is the reason to report when no frame could be changed.
 */
export function changeFields(
  plan: ReplyPlan,
  context: FaultContext,
  cannot: string,
  change: FieldChange,
): Applied {
  return mapFrames(plan, context, cannot, (frame) => {
    const fields = context.framing.fields(frame);
    const changes = fields && change(fields);
    return changes && context.framing.encode({ ...fields, ...changes });
  });
}

/** Like `changeFields`, for the PDU alone. */
export function changePdu(
  plan: ReplyPlan,
  context: FaultContext,
  cannot: string,
  change: (pdu: Uint8Array) => Uint8Array | undefined,
): Applied {
  return changeFields(plan, context, cannot, ({ pdu }) => {
    const changed = change(pdu);
    return changed && { pdu: changed };
  });
}
