import { describe, expect, it } from 'vitest';
import { FAULT_KINDS } from '../../../src/device/faults/kinds.js';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { asciiHex, bytesOf } from '../../modbus/protocol/hex.js';
import { message, played, type Situation } from './plans.js';

/** The reply to `03 0000 0002` that the faults act on, whose LRC is EE, and the request. */
const REPLY = message('01 03 04 0102 0304');
const REQUEST = message('01 03 0000 0002');
const EXCEPTION = message('01 83 02');
const CLEARED = message('01 06 0010 1234');

const silent: Situation = { response: undefined };
const refused: Situation = { response: '83 02' };
/** The digits of its LRC, F7, differ. */
const short: Situation = { response: '03 02 0102' };

/** What the faults make of a reply on an ASCII line as it stands in texts, and, where one can't act, why. */
type Row = [
  faults: unknown[],
  situation: Situation,
  steps: [ms: string, text: string][],
  ...cannot: string[],
];

const ROWS: Record<string, Row[]> = {
  delay: [[[{ delay: 250 }], {}, [['250', REPLY]]]],
  exception: [
    [[{ exception: 2 }], {}, [['0', EXCEPTION]]],
    [[{ exception: 255 }], silent, [['0', message('01 83 ff')]]],
  ],
  silence: [[[{ silence: true }], {}, []]],
  junk: [
    [[{ junk: 5 }], {}, [['0', '\x14\x75\x04\x19\x1a']]],
    [[{ junk: '3a 30 7f' }], {}, [['0', ':0\x7f']]],
    [[{ junk: '3a 80' }], {}, [['0', REPLY]], 'an ASCII line carries no byte above 7f'],
  ],
  pdu: [[[{ pdu: '41 ff' }], {}, [['0', message('01 41 ff')]]]],
  coalesce: [
    [[{ coalesce: true }], {}, [['0', REPLY]], 'line bench has no connection that could carry two replies'],
  ],
  split: [
    [
      [{ split: { at: 1, gap: 1500 } }],
      {},
      [
        ['0', ':'],
        ['1500 ~', REPLY.slice(1)],
      ],
    ],
    [
      [{ split: { at: 'middle', gap: 5 } }],
      {},
      [
        ['0', REPLY.slice(0, 9)],
        ['5 ~', REPLY.slice(9)],
      ],
    ],
    [
      [{ split: { at: 'each', gap: 2 } }],
      refused,
      [...EXCEPTION].map((character, i) => [i === 0 ? '0' : '2 ~', character]),
    ],
    [[{ split: { at: 19, gap: 5 } }], {}, [['0', REPLY]], 'no frame with more than 19 bytes'],
  ],
  gap: [
    [
      [{ gap: { after: 18, characters: 2.5 } }],
      {},
      [
        ['0', REPLY.slice(0, 18)],
        ['5 ~', '\n'],
      ],
    ],
  ],
  change: [
    [[{ change: 50 }], {}, [['0', message('01 03 04 0137 0337')]]],
    [[{ change: 100 }], refused, [['0', EXCEPTION]], 'no data to change'],
  ],
  corrupt: [
    [[{ corrupt: 1 }], {}, [['0', ':01130401020304EE\r\n']]],
    // Every bit that seven data bits carry.
    [[{ corrupt: 2048 }], {}, [['0', [...REPLY].map(flipped).join('')]]],
    [[{ corrupt: 1 }], silent, [], 'no frame to corrupt'],
  ],
  crc: [
    [[{ crc: 'invert' }], short, [['0', ':0103020102' + '08\r\n']]],
    [[{ crc: 'zero' }], short, [['0', ':0103020102' + '00\r\n']]],
    [[{ crc: 'swap' }], short, [['0', ':0103020102' + '7F\r\n']]],
    [[{ crc: 0x1234 }], short, [['0', ':0103020102' + '34\r\n']]],
    [[{ crc: 0x12f7 }], short, [['0', ':0103020102' + 'F7\r\n']], 'no frame with a CRC to change'],
    [[{ crc: 'swap' }], {}, [['0', REPLY]], 'no frame with a CRC to change'],
    [[{ truncate: 3 }, { crc: 'zero' }], {}, [['0', ':01']], 'no frame with a CRC to change'],
    [[{ crc: 'zero' }], silent, [], 'no frame with a CRC to change'],
  ],
  truncate: [
    [[{ truncate: 4 }], {}, [['0', ':010']]],
    [[{ truncate: -1 }], {}, [['0', REPLY.slice(0, -1)]]],
    [[{ truncate: 19 }], {}, [['0', REPLY]], 'no frame that is long enough'],
  ],
  drop: [[[{ drop: { at: 1 } }], {}, [['0', `:${REPLY.slice(2)}`]]]],
  insert: [
    [[{ insert: { at: 1, bytes: '30' } }], {}, [['0', `:0${REPLY.slice(1)}`]]],
    [[{ insert: 'ff' }], {}, [['0', REPLY]], 'an ASCII line carries no byte above 7f'],
  ],
  extend: [
    [[{ extend: 3 }], {}, [['0', `${REPLY}\x14\x75\x04`]]],
    [[{ extend: 'ff' }], {}, [['0', REPLY]], 'an ASCII line carries no byte above 7f'],
  ],
  noise: [
    [[{ noise: 3 }], {}, [['0', `\x14\x75\x04${REPLY}`]]],
    [[{ noise: 3 }], silent, [['0', '\x14\x75\x04']]],
    [[{ noise: 'ff' }], silent, [], 'an ASCII line carries no byte above 7f'],
  ],
  unit: [
    [[{ unit: 2 }], {}, [['0', message('02 03 04 0102 0304')]]],
    [[{ junk: 8 }, { unit: 2 }], {}, [['0', '\x14\x75\x04\x19\x1a>62']], 'no frame to change'],
  ],
  function: [[[{ function: 131 }], {}, [['0', message('01 83 04 0102 0304')]]]],
  byteCount: [
    [[{ byteCount: 6 }], {}, [['0', message('01 03 06 0102 0304')]]],
    [[{ byteCount: 6 }], refused, [['0', EXCEPTION]], 'a response without a byte count'],
  ],
  transaction: [[[{ transaction: 1 }], {}, [['0', REPLY]], 'line bench has no transaction identifiers']],
  mbap: [[[{ mbap: { length: 1 } }], {}, [['0', REPLY]], 'line bench has no MBAP header']],
  values: [[[{ values: [0xabcd] }], {}, [['0', message('01 03 04 abcd 0304')]]]],
  duplicate: [
    [
      [{ duplicate: { times: 1, gap: 7 } }],
      {},
      [
        ['0', REPLY],
        ['7', REPLY],
      ],
    ],
  ],
  stale: [[[{ stale: true }], { previousReply: asciiHex(CLEARED) }, [['0', CLEARED]]]],
  early: [
    [
      [{ early: true }],
      {},
      [
        ['early', ''],
        ['0', REPLY],
      ],
    ],
  ],
  echo: [
    [
      [{ echo: true }],
      {},
      [
        ['0', REQUEST],
        ['0', REPLY],
      ],
    ],
    [[{ echo: true }], silent, [['0', REQUEST]]],
  ],
  break: [
    [
      [{ break: 20 }],
      {},
      [
        ['0 break 20', ''],
        ['0', REPLY],
      ],
    ],
  ],
  close: [[[{ close: 'end' }], {}, [['0', REPLY]], 'line bench has no connection to close']],
};

function flipped(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) ^ 0x7f);
}

/** Steps with text as `shown` has them, with hex. */
function asShown(steps: readonly [ms: string, text: string][]): string[] {
  if (steps.length === 0) return ['silence'];
  return steps.map(([ms, text]) => {
    if (text === '') return ms;
    return `${ms}${ms.endsWith('~') ? '' : ' '}${asciiHex(text)}`;
  });
}

describe.each(Object.entries(ROWS))('%s on an ASCII line', (_kind, rows) => {
  it.each(rows)('%j', (faults, situation, steps, ...cannot) => {
    expect(played(faults, { framing: 'ascii', ...situation })).toEqual({ steps: asShown(steps), cannot });
  });
});

it('every kind of fault has its rows for ASCII lines', () => {
  const missing = FAULT_KINDS.filter((kind) => !Object.hasOwn(ROWS, kind));
  expect(missing, 'add rows for these to ROWS of this file').toEqual([]);
});

describe('faults after one another on an ASCII line', () => {
  const ascii = (faults: unknown[]) => played(faults, { framing: 'ascii' }).steps;

  it('make a valid message again of one whose LRC was wrong', () => {
    expect(ascii([{ crc: 'zero' }, { unit: 2 }])).toEqual([`0 ${asciiHex(message('02 03 04 0102 0304'))}`]);
    expect(ascii([{ unit: 2 }, { crc: 'zero' }])).toEqual([`0 ${asciiHex(':0203040102030400\r\n')}`]);
  });

  it('make a valid message again of one that was corrupted, wherever the bits were', () => {
    const framing = new AsciiFraming();
    for (const bits of [1, 2, 10, 100, 2048]) {
      for (let seed = 1; seed <= 50; seed++) {
        const { steps, cannot } = played([{ corrupt: bits }, { unit: 9 }], { framing: 'ascii', seed });
        expect(cannot).toEqual([]);
        expect(framing.decode(bytesOf(steps[0]?.split(' ')[1] ?? ''))?.unitId).toBe(9);
      }
    }
  });

  it('put the wrong LRC where it stands, and change nothing else', () => {
    expect(ascii([{ crc: 'invert' }, { crc: 'invert' }])).toEqual([`0 ${asciiHex(REPLY)}`]);
    const corrupted = ascii([{ corrupt: 1 }])[0] ?? '';
    expect(ascii([{ corrupt: 1 }, { crc: 0 }])).toEqual([
      corrupted.replace(asciiHex('EE\r\n'), asciiHex('00\r\n')),
    ]);
  });
});
