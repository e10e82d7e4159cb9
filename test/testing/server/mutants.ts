import { LIKENESSES } from '../../../src/testing/server/behaves-as.js';

/**
 * The other entries need a map, connections that are real, or their checks to be facts: these are tried elsewhere, or
 * by hand on a socket.
 */
const NOT_HERE = [
  'newcomer-evicts',
  'one-client',
  'only-function-16',
  'only-function-6',
  'pipelined-dropped',
  'second-client-unheard',
  'shared-memory',
  'sleeps',
];
/** The entries of the catalogue that a server without a map shows within a minute. */
export const MUTANTS = Object.fromEntries(
  Object.entries(LIKENESSES).filter(([id]) => !NOT_HERE.includes(id)),
);

/** Addresses that every server test of a mutant may write. */
export const SCRATCH = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 1999 } };
