import type { Grade } from '../check.js';
import type { Code } from '../found.js';

/** What a violation does to clients, how bad that is, and what mends it, where the code says it and not the check. */
interface Effect {
  readonly grade?: Grade;
  readonly matters: string;
  readonly mend: string;
}

const LOST_READS: Effect = {
  grade: 'met',
  matters: 'Clients report time-outs now and then.',
  mend: 'Answer each read, whatever was asked before.',
};
const WRONG_WRITE: Effect = {
  grade: 'dangerous',
  matters: 'A client believes that it has set what it has not set, or sets what it has not asked for.',
  mend: 'Store what the request has, where it says, and nothing else; confirm it then.',
};
const FAILED_WRITE: Effect = {
  grade: 'met',
  matters: 'Clients report a failed write, and repeat it.',
  mend: 'Copy the first bytes of the request into the reply.',
};

/** By what was seen: the same check may see data, another exception, silence, or the end of a connection. */
export const EFFECTS: { readonly [code in Code]?: Effect } = {
  'wrong-exception': {
    grade: 'seldom',
    matters: 'The request is refused. A client that tells exceptions apart names a wrong cause.',
    mend: 'Refuse it with the exception that the clause has.',
  },
  'not-refused': {
    grade: 'met',
    matters: 'Each such request costs the client a time-out, or the connection.',
    mend: 'Refuse it with an exception.',
  },
  'garbled-refusal': {
    grade: 'met',
    matters: 'The client waits for its time-out, and may take the bytes for the beginning of the next reply.',
    mend: 'Refuse it with an exception, and send nothing else.',
  },
  'function-not-answered': {
    matters: 'A client that looks for the function waits for its time-out: stephane/libmodbus#813.',
    mend: 'Answer with exception 01 what is not there.',
  },
  'stopped-answering': {
    grade: 'dangerous',
    matters: 'Nobody is served until it is back.',
    mend: 'Find out what the request does to the server; none may stop it.',
  },
  'repeated-reads-lost': LOST_READS,
  'deaf-after-other-unit': {
    grade: 'met',
    matters: 'On a bus with several devices, polls get lost.',
    mend: 'Discard a request to another unit, and listen again.',
  },
  'inner-frame-answered': {
    grade: 'met',
    matters: 'Its reply collides with that of another unit.',
    mend: 'Look for a frame only after a silence.',
  },
  'never-stored': WRONG_WRITE,
  'stored-otherwise': WRONG_WRITE,
  'stored-for-connection': WRONG_WRITE,
  'neighbour-written': WRONG_WRITE,
  'not-repeated': FAILED_WRITE,
  'write-misanswered': FAILED_WRITE,
};
