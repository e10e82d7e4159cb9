import type { Socket } from 'node:net';
import type { Step } from '../../protocol/reply-plan.js';

/** Undefined when the step was done, otherwise the reason why not. */
export type StepFailure = string | undefined;

/**
 * Does one step of a plan, now. On TCP "done" means that the bytes were given to the operating system, or queued
 * behind earlier ones when the client reads slowly: what the network does later can't be known here.
 */
export function playStep(socket: Socket, step: Step): StepFailure {
  if (!socket.writable) return 'the connection is closed';
  switch (step.kind) {
    case 'bytes':
      socket.write(step.bytes);
      return undefined;
    case 'close':
      if (step.how === 'end') socket.end();
      else socket.resetAndDestroy();
      return undefined;
    case 'break':
      return 'a TCP connection has no break state';
    default:
      return unknownStep(step);
  }
}

function unknownStep(step: never): never {
  throw new Error(`TCP has no step ${JSON.stringify(step)}`);
}
