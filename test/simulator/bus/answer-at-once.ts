import type { ReplyPlan } from '../../../src/modbus/protocol/reply-plan.js';
import type { Bus, BusRequest } from '../../../src/simulator/bus/bus.js';
import type { Reply } from '../../../src/simulator/bus/reply.js';

/** The parts of a reply that the bus decides. */
interface DecidedReply extends Pick<Reply, 'acted' | 'framing' | 'next' | 'refused'> {
  readonly plan: ReplyPlan;
}

/** The reply of a simulated device, whose plan is there at once. */
export function answerAtOnce(bus: Bus, request: BusRequest): DecidedReply | undefined {
  const reply = bus.answer(request);
  if (!reply) return undefined;
  const { plan, acted, framing, next, refused } = reply;
  if (!plan) throw new Error('expected an answer of a simulated device');
  return { plan, acted, framing, next, refused };
}
