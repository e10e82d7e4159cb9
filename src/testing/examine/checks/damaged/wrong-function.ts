import { damageCheck } from './damage.js';

/** Reading functions that have replies of the same shape: coils and discrete inputs, holding and input registers. */
const TWINS: ReadonlyMap<number, number> = new Map([
  [1, 2],
  [2, 1],
  [3, 4],
  [4, 3],
  [5, 6],
  [6, 5],
  [15, 16],
  [16, 15],
]);

/** A reply of another function. */
export const wrongFunction = damageCheck({
  id: 'wrong-function',
  title: 'Throws away a reply of another function',
  what: 'a reply of another function',
  does: 'Sends one reply with the function code of a like function that was not asked for; the frame is valid.',
  matters: 'The late reply to another question looks like this, and its value belongs elsewhere.',
  source: 'Application Protocol V1.1b3, 4.1: a normal response echoes the function code',
  faults: ({ target: { functionCode } }) => {
    const twin = TWINS.get(functionCode);
    return twin === undefined ? `function ${functionCode} has none that is like it` : [{ function: twin }];
  },
});
