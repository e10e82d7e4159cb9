import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * Loaded into the program with `node --import`. On SIGUSR2 it throws the garbage away, so that memory the program
 * holds is told from memory that Node has not looked through yet: that comes and goes by tens of MB at any load.
 */

setFlagsFromString('--expose-gc');
const collect = /** @type {() => void} */ (runInNewContext('gc'));

process.on('SIGUSR2', () => {
  // What the first run finds dead may have kept memory outside the heap, which goes with the second.
  collect();
  collect();
});
