import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_SEED, seededRandom } from '../../../src/common/random.js';
import { applyFaults } from '../../../src/device/faults/apply.js';
import { abilities } from '../../../src/device/faults/kind.js';
import { FAULT_KINDS } from '../../../src/device/faults/kinds.js';
import { type FaultRule, ruleSchema } from '../../../src/device/faults/rule.js';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { plainReply, type ReplyPlan, silence } from '../../../src/modbus/protocol/reply-plan.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { tries } from '../../support/tries.js';
import { PARAMETERS, played, rtu, ruleOf, type Situation } from './plans.js';

/** A clock that stands still. */
const startTime = () => () => 0;

/** The replies to `03 0000 0002` that the faults act on unless a row says otherwise, as modbus-serial's CRC has them. */
const REPLY = rtu('01 03 04 0102 0304');
const TCP_REPLY = '123400000007' + '01030401020304';
/** The request itself. */
const REQUEST = rtu('01 03 0000 0002');
/** The reply less its CRC. */
const BODY = REPLY.slice(0, -4);
const CRC = REPLY.slice(-4);
const WROTE = rtu('01 06 0010 1234');
const EXCEPTION = rtu('01 83 02');

const tcp: Situation = { framing: 'socket' };
const silent: Situation = { response: undefined };
const write: Situation = { request: '06 0010 1234', response: '06 0010 1234' };
const refused: Situation = { response: '83 02' };

/** What the faults make of a reply, and, where one can't act, why. */
type Row = [faults: unknown[], situation: Situation, steps: string[], ...cannot: string[]];

const ROWS: Record<string, Row[]> = {
  delay: [
    [[{ delay: 250 }], {}, [`250 ${REPLY}`]],
    [[{ delay: [250, 10] }], {}, [`250 ${REPLY}`]],
    [[{ delay: 0.5 }], tcp, [`0.5 ${TCP_REPLY}`]],
    [[{ delay: { ms: 100, jitter: 0 } }], {}, [`100 ${REPLY}`]],
    [[{ delay: { ms: 100, jitter: 50 } }], {}, [`65.86731739807874 ${REPLY}`]],
    [[{ delay: { ms: 100, jitter: 50 } }], { seed: 2 }, [`112.72772967349738 ${REPLY}`]],
    // Never into the past, whatever the jitter.
    [[{ delay: { ms: 1, jitter: 500 } }], {}, [`0 ${REPLY}`]],
    [[{ delay: 5 }], silent, ['silence'], 'no reply to delay'],
  ],
  exception: [
    [[{ exception: 2 }], {}, [`0 ${rtu('01 83 02')}`]],
    [[{ exception: 11 }], tcp, ['0 123400000003' + '01830b']],
    [[{ exception: 255 }], write, [`0 ${rtu('01 86 ff')}`]],
    [[{ exception: 1 }], { request: '83', response: '83 01' }, [`0 ${rtu('01 83 01')}`]],
    [[{ exception: 4 }], silent, [`0 ${rtu('01 83 04')}`]],
  ],
  pdu: [
    [[{ pdu: '41 00 ff' }], {}, [`0 ${rtu('01 41 00ff')}`]],
    [[{ pdu: '03' }], tcp, ['0 123400000002' + '0103']],
    [[{ delay: 9 }, { pdu: '8302' }], {}, [`9 ${EXCEPTION}`]],
    [[{ pdu: '83 02' }], silent, [`0 ${EXCEPTION}`]],
  ],
  silence: [
    [[{ silence: true }], {}, ['silence']],
    [[{ silence: true }], tcp, ['silence']],
    [[{ silence: true }], silent, ['silence']],
  ],
  junk: [
    [[{ junk: 5 }], {}, ['0 28eb093235']],
    [[{ junk: 5 }], tcp, ['0 28eb093235']],
    [[{ junk: 5 }], { seed: 2 }, ['0 a0678352ea']],
    [[{ junk: 1 }], silent, ['0 28']],
    [[{ junk: '83 FF' }], {}, ['0 83ff']],
    [[{ junk: '00' }], { ...tcp, ...silent }, ['0 00']],
  ],
  coalesce: [
    [[{ coalesce: true }], tcp, ['coalesce', `0 ${TCP_REPLY}`]],
    [
      [{ coalesce: true }, { split: { at: 7, gap: 5 } }],
      tcp,
      ['coalesce', `0 ${TCP_REPLY.slice(0, 14)}`, `5 ~${TCP_REPLY.slice(14)}`],
    ],
    [[{ coalesce: true }, { silence: true }, { noise: '00' }], tcp, ['0 00']],
    [[{ coalesce: true }], { ...tcp, ...silent }, ['silence'], 'no reply to hold back'],
    [[{ coalesce: true }], {}, [`0 ${REPLY}`], 'line bench has no connection that could carry two replies'],
  ],
  split: [
    [[{ split: { at: 3, gap: 5 } }], {}, [`0 ${REPLY.slice(0, 6)}`, `5 ~${REPLY.slice(6)}`]],
    [[{ split: { at: 'middle', gap: 5 } }], {}, [`0 ${REPLY.slice(0, 8)}`, `5 ~${REPLY.slice(8)}`]],
    [
      [{ split: { at: 'middle', gap: 0 } }],
      tcp,
      [`0 ${TCP_REPLY.slice(0, 12)}`, `0 ~${TCP_REPLY.slice(12)}`],
    ],
    [
      [{ split: { at: 'each', gap: 2 } }],
      refused,
      ['0 01', '2 ~83', '2 ~02', `2 ~${EXCEPTION.slice(6, 8)}`, `2 ~${EXCEPTION.slice(8)}`],
    ],
    [[{ split: { at: 8, gap: 5 } }], {}, [`0 ${REPLY.slice(0, 16)}`, `5 ~${REPLY.slice(16)}`]],
    [[{ split: { at: 9, gap: 5 } }], {}, [`0 ${REPLY}`], 'no frame with more than 9 bytes'],
    [[{ junk: 1 }, { split: { at: 'each', gap: 5 } }], {}, ['0 28'], 'no frame to split'],
    [[{ junk: 1 }, { split: { at: 'middle', gap: 5 } }], {}, ['0 28'], 'no frame to split'],
    [[{ split: { at: 'each', gap: 5 } }], silent, ['silence'], 'no frame to split'],
  ],
  gap: [
    [[{ gap: { after: 3, characters: 2.5 } }], {}, [`0 ${REPLY.slice(0, 6)}`, `5 ~${REPLY.slice(6)}`]],
    [[{ gap: { after: 9, characters: 2 } }], {}, [`0 ${REPLY}`], 'no frame with more than 9 bytes'],
    [[{ gap: { after: 1, characters: 2 } }], silent, ['silence'], 'no frame with more than 1 bytes'],
    [[{ gap: { after: 1, characters: 2 } }], tcp, [`0 ${TCP_REPLY}`], 'line bench has no character times'],
  ],
  change: [
    [[{ change: 50 }], {}, [`0 ${rtu('01 03 04 0137 0337')}`]],
    [[{ change: 100 }], {}, [`0 ${rtu('01 03 04 226c 667a')}`]],
    [[{ change: 1 }], {}, [`0 ${rtu('01 03 04 0102 030e')}`]],
    [[{ change: 100 }], tcp, ['0 123400000007' + '010304226c667a']],
    [[{ change: { percent: 100, probability: 1 } }], {}, [`0 ${rtu('01 03 04 226c 667a')}`]],
    [
      [{ change: { percent: 100, probability: 0 } }],
      {},
      [`0 ${REPLY}`],
      'not altered this time: its probability is below 1',
    ],
    [[{ change: 0 }], {}, [`0 ${REPLY}`], 'no data to change'],
    [[{ change: 100 }], refused, [`0 ${EXCEPTION}`], 'no data to change'],
    [[{ change: 100 }], silent, ['silence'], 'no data to change'],
    [[{ junk: 3 }, { change: 100 }], {}, ['0 28eb09'], 'no data to change'],
  ],
  corrupt: [
    [[{ corrupt: 1 }], {}, ['0 010b04010203045b3c']],
    [[{ corrupt: 3 }], { seed: 7 }, ['0 010304110203065bbc']],
    // All 72 bits of the frame, not one twice.
    [[{ corrupt: 2048 }], {}, ['0 fefcfbfefdfcfba4c3']],
    [[{ corrupt: 1 }], silent, ['silence'], 'no frame to corrupt'],
  ],
  crc: [
    [[{ crc: 'invert' }], {}, [`0 ${BODY}a4c3`]],
    [[{ crc: 'byte' }], {}, [`0 ${BODY}a43c`]],
    [[{ crc: 'zero' }], {}, [`0 ${BODY}0000`]],
    [[{ crc: 'swap' }], {}, [`0 ${BODY}3c5b`]],
    [[{ crc: 0x1234 }], {}, [`0 ${BODY}3412`]],
    [[{ crc: 0x3c5b }], {}, [`0 ${REPLY}`], 'no frame with a CRC to change'],
    [[{ truncate: 1 }, { crc: 'zero' }], {}, ['0 01'], 'no frame with a CRC to change'],
    [[{ crc: 'zero' }], silent, ['silence'], 'no frame with a CRC to change'],
    [[{ crc: 'zero' }], tcp, [`0 ${TCP_REPLY}`], 'line bench has no CRC'],
  ],
  truncate: [
    [[{ truncate: 4 }], {}, [`0 ${REPLY.slice(0, 8)}`]],
    [[{ truncate: -2 }], {}, [`0 ${BODY}`]],
    [[{ truncate: -1 }], tcp, [`0 ${TCP_REPLY.slice(0, -2)}`]],
    [[{ truncate: 0 }], {}, []],
    [[{ truncate: -9 }], {}, []],
    [[{ truncate: -100 }], {}, []],
    [[{ truncate: 9 }], {}, [`0 ${REPLY}`], 'no frame that is long enough'],
    [[{ truncate: 0 }], silent, ['silence'], 'no frame that is long enough'],
    [[{ truncate: 0 }, { corrupt: 1 }], {}, [], 'no frame to corrupt'],
  ],
  drop: [
    [[{ drop: { at: 0 } }], {}, [`0 ${REPLY.slice(2)}`]],
    [[{ drop: { at: 5 } }], {}, [`0 ${REPLY.slice(0, 10)}${REPLY.slice(12)}`]],
    [[{ drop: { at: 5 } }, { drop: { at: 5 } }], tcp, [`0 ${TCP_REPLY.slice(0, 10)}${TCP_REPLY.slice(14)}`]],
    [[{ drop: 1 }], {}, ['0 0104010203045b3c']],
    [[{ drop: 9 }], {}, []],
    [
      [{ split: { at: 3, gap: 5 } }, { drop: { at: 1 } }],
      {},
      [`0 ${REPLY.slice(0, 2)}${REPLY.slice(4, 8)}`, `5 ~${REPLY.slice(8)}`],
    ],
    [[{ drop: { at: 9 } }], {}, [`0 ${REPLY}`], 'no frame that is long enough'],
    [[{ drop: 1 }], silent, ['silence'], 'no frame that is long enough'],
  ],
  insert: [
    [[{ insert: { at: 5, bytes: '00' } }], {}, [`0 ${REPLY.slice(0, 10)}00${REPLY.slice(10)}`]],
    [[{ insert: { at: 0, bytes: 2 } }], {}, [`0 28eb${REPLY}`]],
    [[{ insert: '00' }], {}, ['0 01030004010203045b3c']],
    [[{ insert: 2 }], tcp, ['0 1228eb340000000701030401020304']],
    [[{ insert: { at: 9, bytes: '00' } }], {}, [`0 ${REPLY}`], 'no frame that is long enough'],
    [[{ insert: '00' }], silent, ['silence'], 'no frame that is long enough'],
  ],
  extend: [
    [[{ extend: 3 }], {}, [`0 ${REPLY}28eb09`]],
    [[{ extend: 1 }], tcp, [`0 ${TCP_REPLY}28`]],
    [[{ extend: '00' }], {}, [`0 ${REPLY}00`]],
    [
      [{ duplicate: { times: 1 } }, { extend: 'ff00' }],
      refused,
      [`0 ${EXCEPTION}ff00`, `0 ${EXCEPTION}ff00`],
    ],
    [[{ extend: '00' }], silent, ['silence'], 'no frame to extend'],
    [[{ extend: 3 }], silent, ['silence'], 'no frame to extend'],
  ],
  noise: [
    [[{ noise: 3 }], {}, [`0 28eb09${REPLY}`]],
    [[{ noise: 3 }], tcp, [`0 28eb09${TCP_REPLY}`]],
    [[{ noise: 3 }], silent, ['0 28eb09']],
    [[{ noise: 'ff 00' }], {}, [`0 ff00${REPLY}`]],
    [[{ noise: 'ff 00' }], silent, ['0 ff00']],
  ],
  unit: [
    [[{ unit: 2 }], {}, [`0 ${rtu('02 03 04 0102 0304')}`]],
    [[{ unit: 255 }], tcp, ['0 123400000007' + 'ff030401020304']],
    [[{ unit: 2 }], silent, ['silence'], 'no frame to change'],
    [[{ junk: 3 }, { unit: 2 }], {}, ['0 28eb09'], 'no frame to change'],
  ],
  function: [
    [[{ function: 4 }], {}, [`0 ${rtu('01 04 04 0102 0304')}`]],
    [[{ function: 131 }], tcp, ['0 123400000007' + '01830401020304']],
    [[{ function: 4 }], silent, ['silence'], 'no frame to change'],
  ],
  byteCount: [
    [[{ byteCount: 6 }], {}, [`0 ${rtu('01 03 06 0102 0304')}`]],
    [[{ byteCount: 0 }], tcp, ['0 123400000007' + '01030001020304']],
    [[{ byteCount: 6 }], write, [`0 ${WROTE}`], 'a response without a byte count'],
    [[{ byteCount: 6 }], refused, [`0 ${EXCEPTION}`], 'a response without a byte count'],
    [[{ byteCount: 6 }], silent, ['silence'], 'a response without a byte count'],
  ],
  transaction: [
    [[{ transaction: 0x4321 }], tcp, ['0 432100000007' + '01030401020304']],
    [[{ transaction: 0 }], tcp, ['0 000000000007' + '01030401020304']],
    [[{ transaction: '+1' }], tcp, ['0 123500000007' + '01030401020304']],
    [[{ transaction: '-4661' }], tcp, ['0 ffff00000007' + '01030401020304']],
    [[{ transaction: 'swapped' }], tcp, ['0 341200000007' + '01030401020304']],
    [
      [{ transaction: 'previous' }],
      { ...tcp, previousReply: '1233 0000 0003 01 83 02' },
      ['0 123300000007' + '01030401020304'],
    ],
    [[{ transaction: 'previous' }], tcp, [`0 ${TCP_REPLY}`], 'no earlier reply to this client'],
    [
      [{ transaction: 'previous' }],
      { ...tcp, previousReply: '1234' },
      [`0 ${TCP_REPLY}`],
      'no earlier reply to this client',
    ],
    [
      [{ transaction: 0x1234 }],
      tcp,
      [`0 ${TCP_REPLY}`],
      'no frame with a transaction identifier that would change',
    ],
    [
      [{ transaction: 1 }],
      { ...tcp, ...silent },
      ['silence'],
      'no frame with a transaction identifier that would change',
    ],
    [[{ transaction: 1 }], {}, [`0 ${REPLY}`], 'line bench has no transaction identifiers'],
  ],
  mbap: [
    [[{ mbap: { protocol: 1 } }], tcp, ['0 123400010007' + '01030401020304']],
    [[{ mbap: { length: '+2' } }], tcp, ['0 123400000009' + '01030401020304']],
    [[{ mbap: { protocol: '-1', length: 65_535 } }], tcp, ['0 1234ffffffff' + '01030401020304']],
    [[{ extend: '00' }, { mbap: { length: '+1' } }], tcp, ['0 123400000008' + '0103040102030400']],
    // A field that is changed later makes the header anew.
    [[{ mbap: { length: '+1' } }, { unit: 2 }], tcp, ['0 123400000007' + '02030401020304']],
    [[{ mbap: { length: 7 } }], tcp, [`0 ${TCP_REPLY}`], 'no frame with an MBAP header that would change'],
    [
      [{ truncate: 5 }, { mbap: { length: 1 } }],
      tcp,
      ['0 1234000000'],
      'no frame with an MBAP header that would change',
    ],
    [
      [{ mbap: { length: 1 } }],
      { ...tcp, ...silent },
      ['silence'],
      'no frame with an MBAP header that would change',
    ],
    [[{ mbap: { length: 1 } }], {}, [`0 ${REPLY}`], 'line bench has no MBAP header'],
  ],
  values: [
    [[{ values: [0xabcd, 0xef01] }], {}, [`0 ${rtu('01 03 04 abcd ef01')}`]],
    [[{ values: [0xabcd] }], {}, [`0 ${rtu('01 03 04 abcd 0304')}`]],
    [[{ values: [0xabcd, 2, 3] }], tcp, ['0 123400000007' + '010304abcd0002']],
    [[{ values: [0xabcd] }], { response: '01 01 05' }, [`0 ${rtu('01 01 01 ab')}`]],
    [[{ values: [7] }], write, [`0 ${rtu('01 06 0010 0007')}`]],
    [[{ values: 'swapped' }], {}, [`0 ${rtu('01 03 04 0304 0102')}`]],
    [[{ values: 'swapped' }], { response: '03 06 0102 0304 0506' }, [`0 ${rtu('01 03 06 0304 0102 0506')}`]],
    [[{ values: 'swapped' }], { response: '01 01 05' }, [`0 ${rtu('01 01 01 05')}`], 'no values to replace'],
    [[{ values: [7] }], refused, [`0 ${EXCEPTION}`], 'no values to replace'],
    [[{ values: [7] }], silent, ['silence'], 'no values to replace'],
  ],
  duplicate: [
    [[{ duplicate: { times: 2, gap: 7 } }], {}, [`0 ${REPLY}`, `7 ${REPLY}`, `7 ${REPLY}`]],
    [[{ duplicate: { times: 1 } }], tcp, [`0 ${TCP_REPLY}`, `0 ${TCP_REPLY}`]],
    [[{ duplicate: { times: 1 } }], silent, ['silence'], 'no frame to repeat'],
  ],
  stale: [
    [[{ stale: true }], { previousReply: WROTE }, [`0 ${WROTE}`]],
    [[{ stale: true }], { ...silent, previousReply: WROTE }, [`0 ${WROTE}`]],
    [[{ stale: true }], {}, [`0 ${REPLY}`], 'no earlier reply to this client'],
  ],
  early: [
    [[{ early: true }], {}, ['early', `0 ${REPLY}`]],
    [[{ early: true }], silent, ['silence'], 'no reply to send early'],
    [[{ early: true }], tcp, [`0 ${TCP_REPLY}`], 'line bench has no turnaround to cut short'],
  ],
  echo: [
    [[{ echo: true }], {}, [`0 ${REQUEST}`, `0 ${REPLY}`]],
    [[{ echo: true }], tcp, [`0 123400000006${'01030000' + '0002'}`, `0 ${TCP_REPLY}`]],
    [[{ echo: true }], write, [`0 ${WROTE}`, `0 ${WROTE}`]],
    // It is there even where no reply is.
    [[{ echo: true }], silent, [`0 ${REQUEST}`]],
    [[{ echo: { truncate: 5 } }], {}, [`0 ${REQUEST.slice(0, 10)}`, `0 ${REPLY}`]],
    [[{ echo: { drop: { at: 1 } } }], {}, [`0 ${REQUEST.slice(0, 2)}${REQUEST.slice(4)}`, `0 ${REPLY}`]],
    [
      [{ echo: { insert: { at: 1, bytes: 'ff' } } }],
      {},
      [`0 ${REQUEST.slice(0, 2)}ff${REQUEST.slice(2)}`, `0 ${REPLY}`],
    ],
    [[{ echo: { corrupt: 1 } }], {}, ['0 010700000002c40b', `0 ${REPLY}`]],
    [[{ echo: { truncate: 5 } }], silent, [`0 ${REQUEST.slice(0, 10)}`]],
    [[{ echo: { truncate: 0 } }], {}, [`0 ${REPLY}`], 'nothing of the echo is left'],
    [[{ echo: { truncate: 99 } }], {}, [`0 ${REPLY}`], 'no frame that is long enough'],
    [
      [{ close: { how: 'end', after: 0 } }, { echo: true }],
      tcp,
      ['0 123400000006010300000002', '0 close end'],
    ],
  ],
  break: [
    [[{ break: 20 }], {}, ['0 break 20', `0 ${REPLY}`]],
    [[{ break: 20 }], silent, ['0 break 20']],
    [[{ break: 20 }], tcp, [`0 ${TCP_REPLY}`], 'line bench has no break state'],
  ],
  close: [
    [[{ close: 'end' }], tcp, [`0 ${TCP_REPLY}`, '0 close end']],
    [[{ close: 'reset' }], { ...tcp, ...silent }, ['0 close reset']],
    [[{ close: { how: 'end', after: 4 } }], tcp, ['0 12340000', '0 close end']],
    [[{ close: { how: 'reset', after: 0 } }], tcp, ['0 close reset']],
    [[{ close: { how: 'end', after: 100 } }], tcp, [`0 ${TCP_REPLY}`, '0 close end']],
    [[{ close: 'end' }], {}, [`0 ${REPLY}`], 'line bench has no connection to close'],
  ],
};

describe.each(Object.entries(ROWS))('%s', (_, rows) => {
  it.each(rows)('%j of %j', (faults, situation, steps, ...cannot) => {
    expect(played(faults, situation)).toEqual({ steps, cannot });
  });
});

it('every kind is tested here', () => {
  const missingIn = (table: object) => FAULT_KINDS.filter((kind) => !Object.hasOwn(table, kind));
  expect(missingIn(ROWS), 'add rows for these to ROWS of this file').toEqual([]);
  expect(missingIn(PARAMETERS), 'add these to PARAMETERS of test/device/faults/plans.ts').toEqual([]);
});

it('every kind is tested on the wire', () => {
  const tests = ['serial', 'tcp']
    .map((line) => readFileSync(`test/simulator/line/faults-${line}.test.ts`, 'utf8'))
    .join();
  expect(
    FAULT_KINDS.filter((kind) => !tests.includes(`{ ${kind}: `)),
    'add rows for these to test/simulator/line/faults-serial.test.ts or test/simulator/line/faults-tcp.test.ts',
  ).toEqual([]);
});

describe('faults of one rule act in their order', () => {
  const rows: Row[] = [
    // A frame that is in pieces stays in them, whatever happens to its bytes.
    [[{ split: { at: 3, gap: 5 } }, { corrupt: 1 }], {}, ['0 010b04', '5 ~010203045b3c']],
    [[{ corrupt: 1 }, { split: { at: 3, gap: 5 } }], {}, ['0 010b04', '5 ~010203045b3c']],
    [
      [{ split: { at: 8, gap: 5 } }, { extend: 1 }],
      {},
      [`0 ${REPLY.slice(0, 16)}`, `5 ~${REPLY.slice(16)}28`],
    ],
    [[{ split: { at: 3, gap: 5 } }, { noise: 1 }], {}, ['0 28010304', `5 ~${REPLY.slice(6)}`]],
    [[{ noise: 1 }, { split: { at: 3, gap: 5 } }], {}, ['0 280103', `5 ~${REPLY.slice(4)}`]],
    [[{ split: { at: 8, gap: 5 } }, { truncate: 5 }], {}, ['0 0103040102']],
    [[{ split: { at: 3, gap: 5 } }, { truncate: 5 }], {}, ['0 010304', '5 ~0102']],
    [[{ split: { at: 3, gap: 5 } }, { junk: 4 }], {}, ['0 28eb0932']],
    [
      [{ split: { at: 8, gap: 5 } }, { unit: 2 }],
      {},
      [`0 ${rtu('02 03 04 0102 0304').slice(0, 16)}`, `5 ~${rtu('02 03 04 0102 0304').slice(16)}`],
    ],
    // Where a frame is cut already, it waits longer.
    [
      [{ split: { at: 3, gap: 5 } }, { split: { at: 3, gap: 20 } }],
      {},
      [`0 ${REPLY.slice(0, 6)}`, `25 ~${REPLY.slice(6)}`],
    ],
    [
      [{ split: { at: 'each', gap: 1 } }, { gap: { after: 2, characters: 10 } }],
      refused,
      ['0 01', '1 ~83', '21 ~02', `1 ~${EXCEPTION.slice(6, 8)}`, `1 ~${EXCEPTION.slice(8)}`],
    ],
    [
      [{ gap: { after: 6, characters: 1 } }, { split: { at: 3, gap: 5 } }],
      {},
      [`0 ${REPLY.slice(0, 6)}`, `5 ~${REPLY.slice(6, 12)}`, `2 ~${REPLY.slice(12)}`],
    ],
    // Copies are frames of their own.
    [
      [{ split: { at: 3, gap: 5 } }, { duplicate: { times: 1, gap: 9 } }],
      {},
      ['0 010304', `5 ~${REPLY.slice(6)}`, '9 010304', `5 ~${REPLY.slice(6)}`],
    ],
    [
      [{ duplicate: { times: 1, gap: 9 } }, { split: { at: 3, gap: 5 } }],
      {},
      ['0 010304', `5 ~${REPLY.slice(6)}`, '9 010304', `5 ~${REPLY.slice(6)}`],
    ],
    [[{ duplicate: { times: 1 } }, { corrupt: 1 }], {}, ['0 010b04010203045b3c', '0 010304010203045b38']],
    [[{ corrupt: 1 }, { duplicate: { times: 1 } }], {}, ['0 010b04010203045b3c', '0 010b04010203045b3c']],
    [[{ duplicate: { times: 1, gap: 9 } }, { delay: 100 }], {}, [`100 ${REPLY}`, `9 ${REPLY}`]],
    [[{ delay: 100 }, { duplicate: { times: 1, gap: 9 } }], {}, [`100 ${REPLY}`, `9 ${REPLY}`]],
    [[{ duplicate: { times: 2, gap: 9 } }, { junk: 1 }], {}, ['0 28']],
    // A reply that takes the place of another takes over when it was due, and how.
    [[{ exception: 2 }, { delay: 100 }], {}, [`100 ${EXCEPTION}`]],
    [[{ delay: 100 }, { exception: 2 }], {}, [`100 ${EXCEPTION}`]],
    [[{ early: true }, { junk: 1 }], {}, ['early', '0 28']],
    [[{ delay: 100 }, { stale: true }], { previousReply: WROTE }, [`100 ${WROTE}`]],
    [[{ break: 20 }, { exception: 2 }], {}, ['0 break 20', `0 ${EXCEPTION}`]],
    [[{ exception: 2 }, { break: 20 }], {}, ['0 break 20', `0 ${EXCEPTION}`]],
    [[{ delay: 50 }, { break: 20 }, { junk: 1 }], {}, ['50 break 20', '0 eb']],
    [[{ close: 'end' }, { junk: 2 }], tcp, ['0 28eb', '0 close end']],
    [[{ junk: 2 }, { close: 'end' }], tcp, ['0 28eb', '0 close end']],
    [[{ silence: true }, { exception: 2 }], {}, [`0 ${EXCEPTION}`]],
    [[{ exception: 2 }, { silence: true }], {}, ['silence']],
    [[{ silence: true }, { delay: 5 }], {}, ['silence'], 'no reply to delay'],
    [[{ silence: true }, { break: 20 }], {}, ['0 break 20']],
    // The request is heard when the reply would begin, once, and it is a frame as others.
    [[{ delay: 100 }, { echo: true }], {}, [`100 ${REQUEST}`, `0 ${REPLY}`]],
    [[{ echo: true }, { delay: 100 }], {}, [`100 ${REQUEST}`, `0 ${REPLY}`]],
    [[{ silence: true }, { echo: true }], {}, [`0 ${REQUEST}`]],
    [[{ echo: true }, { silence: true }], {}, ['silence']],
    [[{ break: 20 }, { echo: true }], {}, ['0 break 20', `0 ${REQUEST}`, `0 ${REPLY}`]],
    [[{ duplicate: { times: 1, gap: 9 } }, { echo: true }], {}, [`0 ${REQUEST}`, `0 ${REPLY}`, `9 ${REPLY}`]],
    [
      [{ split: { at: 3, gap: 5 } }, { echo: true }],
      {},
      [`0 ${REQUEST}`, `0 ${REPLY.slice(0, 6)}`, `5 ~${REPLY.slice(6)}`],
    ],
    [[{ crc: 'zero' }, { echo: true }], {}, [`0 ${REQUEST}`, `0 ${BODY}0000`]],
    [[{ exception: 2 }, { echo: true }], {}, [`0 ${REQUEST}`, `0 ${EXCEPTION}`]],
    [[{ silence: true }, { break: 20 }, { noise: 2 }], {}, ['0 break 20', '0 28eb']],
    [[{ silence: true }, { close: 'reset' }, { noise: 2 }], tcp, ['0 28eb', '0 close reset']],
    [[{ silence: true }, { close: 'reset' }, { delay: 90 }, { noise: 2 }], tcp, ['90 eb09', '0 close reset']],
    // A connection that is closed before the first byte is closed when the reply was due.
    [[{ delay: 100 }, { close: { how: 'reset', after: 0 } }], tcp, ['100 close reset']],
    [[{ close: { how: 'reset', after: 0 } }, { delay: 100 }], tcp, ['100 close reset']],
    [[{ delay: 100 }, { close: { how: 'end', after: 1 } }], tcp, ['100 12', '0 close end']],
    [
      [{ split: { at: 2, gap: 5 } }, { close: { how: 'end', after: 3 } }],
      tcp,
      ['0 1234', '5 ~00', '0 close end'],
    ],
    [[{ split: { at: 2, gap: 5 } }, { close: { how: 'end', after: 2 } }], tcp, ['0 1234', '0 close end']],
    // What is cut off leaves no empty pieces, and a piece is cut as the frame is.
    [[{ split: { at: 'each', gap: 1 } }, { truncate: 3 }], {}, ['0 01', '1 ~03', '1 ~04']],
    [
      [{ split: { at: 2, gap: 5 } }, { split: { at: 4, gap: 7 } }],
      {},
      [`0 ${REPLY.slice(0, 4)}`, `5 ~${REPLY.slice(4, 8)}`, `7 ~${REPLY.slice(8)}`],
    ],
    // What is left of a frame may be too short for a header, or nothing.
    [
      [{ truncate: 5 }, { mbap: { length: 1 } }],
      tcp,
      ['0 1234000000'],
      'no frame with an MBAP header that would change',
    ],
    [[{ truncate: 6 }, { mbap: { length: 1 } }], tcp, ['0 123400000001']],
    [[{ truncate: 0 }, { coalesce: true }], tcp, [], 'no reply to hold back'],
    // Random bytes follow one another from the numbers of the one rule.
    [[{ junk: 5 }, { noise: 2 }], {}, ['0 7d6d28eb093235']],
    [[{ noise: 2 }, { junk: 5 }], {}, ['0 0932357d6d']],
    // Fields make the CRC anew, a wrong CRC does not.
    [[{ crc: 'zero' }, { unit: 2 }], {}, [`0 ${rtu('02 03 04 0102 0304')}`]],
    [[{ unit: 2 }, { crc: 'zero' }], {}, ['0 02030401020304' + '0000']],
    [[{ byteCount: 9 }, { function: 4 }], {}, [`0 ${rtu('01 04 09 0102 0304')}`]],
    [
      [{ function: 6 }, { byteCount: 9 }],
      {},
      [`0 ${rtu('01 06 04 0102 0304')}`],
      'a response without a byte count',
    ],
    [[{ values: [1, 2] }, { change: 100 }], {}, [`0 ${rtu('01 03 04 236f 657c')}`]],
    [[{ extend: 1 }, { truncate: -1 }], {}, [`0 ${REPLY}`]],
    [[{ truncate: -1 }, { extend: 1 }], {}, [`0 ${BODY}${CRC.slice(0, 2)}28`]],
  ];

  it.each(rows)('%j', (faults, situation, steps, ...cannot) => {
    expect(played(faults, situation)).toEqual({ steps, cannot });
  });
});

describe('the numbers a seed gives', () => {
  it('differ from match to match by more than their place', () => {
    // Were they those of one long sequence, junk would be the junk of the last time, shifted.
    for (const seed of [0, 1, 2, 42, MAX_SEED]) {
      const seen = new Set<number>();
      for (let hit = 1; hit <= 50; hit++) {
        const random = seededRandom(seed, hit);
        for (let i = 0; i < 50; i++) seen.add(random.next());
      }
      expect(seen.size, `seed ${seed}`).toBe(2500);
    }
  });

  it('lie between 0 and 1, evenly', () => {
    const random = seededRandom(5, 1);
    const numbers = Array.from({ length: 10_000 }, () => random.next());
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = numbers.filter((number) => Math.floor(10 * number) === tenth).length;
      expect(share).toBeGreaterThan(850);
      expect(share).toBeLessThan(1150);
    }
  });
});

describe('a reply of more than 64 KiB, an hour or 4096 pieces', () => {
  const HOUR = 3_600_000;
  const tooMuch = (faults: unknown[]) => {
    const parsed = ruleSchema.safeParse({ name: 'tested', do: faults });
    return parsed.success
      ? undefined
      : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  };

  it.each([
    [[{ junk: 65_536 }]],
    [[{ junk: 32_768 }, { duplicate: { times: 1 } }]],
    [[{ noise: 65_023 }]],
    [[{ delay: HOUR }]],
    [[{ delay: { ms: HOUR - 5, jitter: 5 } }]],
    // 512 gaps between 513 characters.
    [[{ split: { at: 'each', gap: 7031 } }]],
    [[{ split: { at: 1, gap: HOUR } }]],
    [[{ break: HOUR }]],
    [[{ duplicate: { times: 100, gap: 36_000 } }]],
    // Copies don't repeat what is waited for before the reply.
    [[{ delay: HOUR / 2 }, { duplicate: { times: 2 } }]],
    [[{ delay: HOUR }, { duplicate: { times: 9 } }, { duplicate: { times: 9 } }]],
    [[{ break: HOUR }, { duplicate: { times: 2 } }]],
    [[{ duplicate: { times: 2 } }, { delay: HOUR }]],
    // What is really there counts: an exception response is short, and so is what is left of a frame.
    [[{ junk: 1 }, { exception: 2 }, { duplicate: { times: 999 } }]],
    [[{ truncate: 3 }, { duplicate: { times: 999 } }]],
  ])('just not: %j', (faults) => {
    expect(tooMuch(faults)).toBeUndefined();
  });

  it.each([
    [[{ junk: 65_537 }], 'expected at most 65536 bytes per reply, got up to 65537'],
    [[{ noise: 65_024 }], 'expected at most 65536 bytes per reply, got up to 65537'],
    [[{ extend: 65_024 }], 'expected at most 65536 bytes per reply, got up to 65537'],
    [
      [{ junk: 32_769 }, { duplicate: { times: 1 } }],
      'expected at most 65536 bytes per reply, got up to 65538',
    ],
    [[{ duplicate: { times: 127 } }], 'expected at most 65536 bytes per reply, got up to 65664'],
    [[{ delay: HOUR + 1 }], 'expected at most 3600000 ms per reply, got up to 3600001'],
    [[{ delay: { ms: HOUR, jitter: 1 } }], 'expected at most 3600000 ms per reply, got up to 3600001'],
    [[{ delay: HOUR }, { break: 1 }], 'expected at most 3600000 ms per reply, got up to 3600001'],
    [[{ split: { at: 'each', gap: 7032 } }], 'expected at most 3600000 ms per reply, got up to 3600384'],
    [
      [{ duplicate: { times: 100, gap: 36_001 } }],
      'expected at most 3600000 ms per reply, got up to 3600100',
    ],
    // At 50 baud a character of 12 bits takes 240 ms.
    [[{ gap: { after: 1, characters: 15_001 } }], 'expected at most 3600000 ms per reply, got up to 3600240'],
    [
      [{ delay: HOUR / 2 }, { split: { at: 1, gap: HOUR / 4 } }, { duplicate: { times: 2 } }],
      'expected at most 3600000 ms per reply, got up to 4500000',
    ],
    [[{ junk: 65_536 }, { echo: true }], 'expected at most 65536 bytes per reply, got up to 66049'],
    // What acts on every frame counts for every copy.
    [
      [{ junk: 1 }, { duplicate: { times: 999 } }, { noise: 100 }],
      'expected at most 65536 bytes per reply, got up to 101000',
    ],
    [
      [{ junk: 1 }, { duplicate: { times: 999 } }, { extend: 100 }],
      'expected at most 65536 bytes per reply, got up to 101000',
    ],
    [
      [{ duplicate: { times: 99 } }, { split: { at: 1, gap: 40_000 } }],
      'expected at most 3600000 ms per reply, got up to 4000000',
    ],
    [
      [{ duplicate: { times: 99 } }, { gap: { after: 1, characters: 200 } }],
      'expected at most 3600000 ms per reply, got up to 4800000',
    ],
    [
      [{ duplicate: { times: 9 } }, { duplicate: { times: 9, gap: 40_001 } }],
      'expected at most 3600000 ms per reply, got up to 3600090',
    ],
    // More pieces than a transport should have to do.
    [
      [{ extend: 4000 }, { split: { at: 'each', gap: 0 } }],
      'expected at most 4096 pieces per reply, got up to 4513',
    ],
    [[{ junk: 1 }, { duplicate: { times: 4096 } }], 'expected at most 4096 pieces per reply, got up to 4097'],
    // A frame that takes the place of a short one may be longer.
    [
      [{ junk: 1 }, { stale: true }, { duplicate: { times: 999 } }],
      'expected at most 65536 bytes per reply, got up to 513000',
    ],
  ])('is refused: %j', (faults, message) => {
    expect(tooMuch(faults)).toEqual([`do: ${message}`]);
  });

  it.each([
    [[{ extend: 4096 - 513 }, { split: { at: 'each', gap: 0 } }, ...Array(62).fill({ unit: 5 })]],
    [[{ extend: 60_000 }, ...Array(63).fill({ values: [7] })]],
    [[{ junk: 16 }, { duplicate: { times: 4000 } }, { unit: 1 }]],
    [Array(64).fill({ corrupt: 2048 })],
  ])('is refused for the work: %j', (faults) => {
    expect(tooMuch(faults)).toEqual([
      expect.stringMatching(/^do: expected at most \d+ units of work per reply, got up to \d+$/),
    ]);
  });

  it('is not what each byte by itself, and some faults after it, make of the longest frame', () => {
    const sensible = [
      { duplicate: { times: 1 } },
      { corrupt: 1 },
      { echo: true },
      { noise: 3 },
      { delay: 100 },
    ];
    expect(tooMuch([{ split: { at: 'each', gap: 1 } }, ...sensible])).toBeUndefined();
  });
});

const anyFault = fc.oneof(
  ...Object.entries(PARAMETERS).map(([kind, parameters]) => parameters.map((value) => ({ [kind]: value }))),
);

/** A rule that the limits allow. */
const anyRule: fc.Arbitrary<FaultRule> = fc
  .array(anyFault, { minLength: 1, maxLength: 6 })
  .map((faults) => ruleSchema.safeParse({ name: 'any', do: faults }))
  .filter(({ success }) => success)
  .map(({ data }) => data as FaultRule);

const anyPdu = fc.uint8Array({ minLength: 1, maxLength: 253 });

describe('any rule on any reply', () => {
  /** Can all there is, so that every kind acts. */
  const line = {
    name: 'any',
    abilities: new Set([...abilities('serial', 'rtu'), ...abilities('tcp', 'socket')]),
  };

  it('stays within the limits, as it was judged when it was made, and waits for no time before now', () => {
    fc.assert(
      fc.property(
        fc.record({
          rule: anyRule,
          framing: fc.constantFrom(RTU, SOCKET, new AsciiFraming()),
          response: fc.option(anyPdu),
          requestPdu: anyPdu,
          previousReply: fc.option(fc.uint8Array({ minLength: 4, maxLength: 260 }), { nil: undefined }),
          characterTime: fc.constantFrom(0, 0.1, 240),
          seed: fc.nat(MAX_SEED),
        }),
        ({ rule, framing, response, seed, ...context }) => {
          const ids = { unitId: 1, transactionId: 2 };
          const plan = response ? plainReply(framing.encode({ ...ids, pdu: response })) : silence('none');
          const acting = [{ rule, random: seededRandom(seed, 1), turn: 1 }];
          const changed = applyFaults(plan, acting, line, { ...ids, framing, ...context, startTime });
          expect(changed.acted).toHaveLength(rule.faults.length);
          // What was accepted alone is not kept from acting by the limits.
          expect(
            changed.acted.filter(({ notAchieved }) =>
              /^(the reply would|too much work)/.test(notAchieved ?? ''),
            ),
          ).toEqual([]);
          checkSteps(changed.plan);
          const again = applyFaults(plan, [{ rule, random: seededRandom(seed, 1), turn: 1 }], line, {
            ...ids,
            framing,
            ...context,
            startTime,
          });
          expect(again).toEqual(changed);
        },
      ),
      { numRuns: tries(400) },
    );
  });

  function checkSteps(plan: ReplyPlan): void {
    if (plan.kind === 'silence') return;
    const sent = plan.steps.flatMap((step) => (step.kind === 'bytes' ? [step] : []));
    const waits = plan.steps.map((step) => step.waitMs + (step.kind === 'break' ? step.ms : 0));
    expect(sent.every((step) => step.bytes.length > 0)).toBe(true);
    expect(sent.reduce((sum, step) => sum + step.bytes.length, 0)).toBeLessThanOrEqual(64 * 1024);
    expect(plan.steps.length).toBeLessThanOrEqual(4096);
    expect(waits.every((wait) => wait >= 0)).toBe(true);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(3_600_000 + 1e-3);
    expect(plan.steps[0]).not.toMatchObject({ continues: true });
  }
});

it('what a fault makes of a plan leaves the plan as it was', () => {
  const plan = plainReply(bytesOf(REPLY));
  const rule = ruleOf([{ corrupt: 5 }, { change: 50 }, { crc: 'zero' }, { values: [9] }, { extend: 1 }]);
  const context = { unitId: 1, transactionId: 0, requestPdu: bytesOf('03'), framing: RTU };
  const acting = [{ rule, random: seededRandom(1, 1), turn: 1 }];
  const line = { name: 'bench', abilities: abilities('serial', 'rtu') };
  applyFaults(plan, acting, line, { ...context, characterTime: 1, previousReply: undefined, startTime });
  expect(plan).toEqual(plainReply(bytesOf(REPLY)));
});
