import type { Grade } from '../check.js';
import type { Code } from '../found.js';

/**
 * The effect of a violation on clients, its grade, and the remedy, if the code rather than the check
 * determines them.
 */
interface Effect {
  readonly grade?: Grade;
  readonly matters: string;
  readonly mend: string;
}

const LOST_READS: Effect = {
  grade: 'met',
  matters: 'Clients report occasional time-outs.',
  mend: 'Answer every read, whatever the previous request was.',
};
const WRONG_WRITE: Effect = {
  grade: 'dangerous',
  matters: 'A client believes a write that did not happen, or changes a register that it did not write.',
  mend: 'Store exactly the values of the request at its addresses, then confirm the write.',
};
const FAILED_WRITE: Effect = {
  grade: 'met',
  matters: 'Clients report a failed write and repeat it.',
  mend: 'Copy the first bytes of the request into the reply.',
};

/** The effects by code: the same check may see data, another exception, silence, or a closed connection. */
export const EFFECTS: { readonly [code in Code]?: Effect } = {
  'wrong-exception': {
    grade: 'seldom',
    matters: 'The request is refused. A client that distinguishes exceptions reports the wrong cause.',
    mend: 'Refuse it with the exception that the clause requires.',
  },
  'not-refused': {
    grade: 'met',
    matters: 'Each such request costs the client a time-out or its connection.',
    mend: 'Refuse it with an exception.',
  },
  'answered-not-refused': {
    grade: 'seldom',
    matters: 'A client never learns that its request was wrong.',
    mend: 'Refuse it with the exception that the clause requires.',
  },
  'too-long-answered': {
    matters: 'A client never learns that its request was wrong: stephane/libmodbus#867.',
    mend: 'Compare the length of the PDU with the length that its function requires.',
  },
  'other-protocol-answered': {
    matters: 'Bytes of another protocol are executed as requests.',
    mend: 'Use the length in the header to skip the frame.',
  },
  'wrong-length-answered': {
    matters: 'Server and client disagree on where the next request begins.',
    mend: 'Close the connection if the length is not 2 to 254.',
  },
  'garbled-refusal': {
    grade: 'met',
    matters: 'The client waits for its time-out and may mistake the bytes for the start of the next reply.',
    mend: 'Refuse it with an exception and send nothing else.',
  },
  'function-not-answered': {
    matters: 'A client that probes for the function waits for its time-out: stephane/libmodbus#813.',
    mend: 'Answer unsupported functions with exception 01.',
  },
  'stopped-answering': {
    grade: 'dangerous',
    matters: 'No client is served until it recovers.',
    mend: 'Find out why the request stops the server. No request may stop it.',
  },
  'repeated-reads-lost': LOST_READS,
  'deaf-after-other-unit': {
    grade: 'met',
    matters: 'On a bus with several devices, polls get lost.',
    mend: 'Discard requests to other units and keep listening.',
  },
  'inner-frame-answered': {
    grade: 'met',
    matters: 'Its reply collides with the reply of another unit.',
    mend: 'Look for the start of a frame only after a silence.',
  },
  'spoilt-write-answered': {
    grade: 'met',
    matters: 'Its reply collides with the reply of the addressed server.',
    mend: 'Check the CRC before anything else, and stay silent if it is wrong.',
  },
  'reply-of-other-client': {
    matters: 'A client receives the value that another client requested: 0xAHA/Growatt_ModbusTCP#317.',
    mend: 'Discard a reply whose connection is gone.',
  },
  'together-mixed': {
    matters: 'A client mistakes the value of another request for its own.',
    mend: 'Keep each request, with its transaction identifier, until its reply is sent.',
  },
  'address-cut': {
    matters:
      'A client reads and writes registers that it did not ask for: smarmengol/Modbus-Master-Slave-for-Arduino#71.',
    mend: 'Use all 16 bits of the address, and refuse addresses that do not exist with exception 02.',
  },
  'events-miscounted': {
    matters:
      'A client that compares the count before and after a command wrongly believes that the command was executed.',
    mend: 'Count every request that was completed without an exception, except function 11.',
  },
  'bytes-lost': {
    matters: 'Some polls and writes never get through, depending on their address, value or CRC.',
    mend: 'Switch off the software flow control of the port (IXON, XON/XOFF): Modbus uses all byte values.',
  },
  'exception-not-ignored': {
    grade: 'met',
    matters: 'Its exception collides with the reply of the addressed server.',
    mend: 'On a serial line, do not answer damaged requests, requests to other units, or broadcasts.',
  },
  'next-eaten': {
    grade: 'met',
    matters: 'The good request after a bad one is lost: stephane/libmodbus#848, cwalter-at/freemodbus#72.',
    mend: 'End a frame where the length in its header says, and refuse requests that are too short.',
  },
  'never-stored': WRONG_WRITE,
  'stored-otherwise': WRONG_WRITE,
  'stored-for-connection': WRONG_WRITE,
  'neighbour-written': WRONG_WRITE,
  'not-repeated': FAILED_WRITE,
  'write-misanswered': FAILED_WRITE,
};
