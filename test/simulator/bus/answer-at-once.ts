import type { Answer } from '../../../src/simulator/bus/answer.js';
import type { Bus, BusRequest } from '../../../src/simulator/bus/bus.js';

/** The answer of a simulated device, which is there at once. */
export function answerAtOnce(bus: Bus, request: BusRequest): Answer | undefined {
  const answer = bus.answer(request);
  if (answer && !('plan' in answer)) throw new Error('expected an answer of a simulated device');
  return answer;
}
