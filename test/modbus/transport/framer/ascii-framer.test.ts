import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AsciiFraming, MAX_ASCII_LENGTH } from '../../../../src/modbus/protocol/ascii.js';
import { RTU } from '../../../../src/modbus/protocol/framing.js';
import { encodeRtu } from '../../../../src/modbus/protocol/rtu.js';
import { AsciiFramer } from '../../../../src/modbus/transport/framer/ascii-framer.js';
import type { FramerEvent } from '../../../../src/modbus/transport/framer/framer.js';
import { newFramer } from '../../../../src/modbus/transport/framer/new-framer.js';
import { message } from '../../../device/faults/plans.js';

const OURS = 17;

/** Read registers and write one, at our unit identifier, and what answers them. */
const READ = message('11 03 006B 0003');
const READ_ANSWER = message('11 03 06 0001 0002 0003');
const WRITE = message('11 06 0001 0003');
const FOREIGN_READ = message('02 03 0000 0002');
const FOREIGN_ANSWER = message('02 03 04 0102 0304');
const FOREIGN_WRITE = message('02 06 0001 0003');
const BROADCAST = message('00 06 0001 0003');
const LONGEST = message(`11 10 0000 ${'00'.repeat(250)}`);

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const text = (some: Uint8Array) => String.fromCharCode(...some);
const framer = (framing = new AsciiFraming()) =>
  new AsciiFramer((unitId) => unitId === OURS, framing, { t35: 0 });

function summary(event: FramerEvent): string {
  const kind = event.kind === 'foreign' ? `foreign ${event.role}` : event.kind;
  return `${kind} ${text(event.bytes).trimEnd()}`;
}

/** Pushes each text as one chunk, then falls silent; what comes out as short text. */
function listen(...chunks: string[]): string[] {
  const listening = framer();
  const events = chunks.flatMap((chunk, i) => listening.push(bytes(chunk), i));
  return [...events, ...listening.silence()].map(summary);
}

const request = (some: string) => `request ${some.trimEnd()}`;
const noise = (some: string) => `noise ${some.trimEnd()}`;

/** Messages and what is found in them. */
const TABLE: [what: string, received: string, ...found: string[]][] = [
  ['a request to us', READ, request(READ)],
  ['a broadcast', BROADCAST, request(BROADCAST)],
  ['the longest request', LONGEST, request(LONGEST)],
  ['the shortest request', ':1107E8\r\n', request(':1107E8')],
  ['lower-case digits', ':1103006b00037e\r\n', request(':1103006b00037e')],
  ['a function nobody knows', message('11 64 010203'), request(message('11 64 010203'))],
  ['a request of the wrong length', message('11 03 00'), request(message('11 03 00'))],
  ['two requests', READ + WRITE, request(READ), request(WRITE)],
  ['a wrong LRC', ':1103006B00037F\r\n', noise(':1103006B00037F')],
  ['an odd number of digits', ':1103006B00037E0\r\n', noise(':1103006B00037E0')],
  ['a character that is not a digit', ':1103006G00037E\r\n', noise(':1103006G00037E')],
  ['a digit with bit 7 set', ':\xb1103006B00037E\r\n', noise(':\xb1103006B00037E')],
  ['nothing in between', ':\r\n', noise(':')],
  ['a message without a carriage return', ':1103006B00037E\n', noise(':1103006B00037E')],
  ['a message without a delimiter', ':1103006B00037E\r', noise(':1103006B00037E')],
  ['two carriage returns', ':1103006B00037E\r\r\n', noise(':1103006B00037E')],
  ['another delimiter', ':1103006B00037E\r!', noise(':1103006B00037E\r!')],
  [
    'a message after one without a delimiter',
    `:1103006B00037E\r${READ}`,
    noise(':1103006B00037E'),
    request(READ),
  ],
  ['a message inside of another', `:110300${READ}`, noise(':110300'), request(READ)],
  [
    'what is behind the inner one',
    `:110300${READ}6B00037E\r\n`,
    noise(':110300'),
    request(READ),
    noise('6B00037E'),
  ],
  ['colons before a message', `:::${READ}`, noise(':::'), request(READ)],
  ['noise before a message', `\x00\xffnoise\r${READ}`, noise('\x00\xffnoise\r'), request(READ)],
  ['noise behind a message', `${READ}12`, request(READ), noise('12')],
  ['a message behind a wrong one', `:1103006B00037F\r\n${READ}`, noise(':1103006B00037F'), request(READ)],
  ['a message of 514 characters', `:${'00'.repeat(255)}0\r\n`, noise(`:${'00'.repeat(255)}0`)],
  [
    'a message behind one that is too long',
    `:${'0'.repeat(2000)}${READ}`,
    noise(`:${'0'.repeat(2000)}`),
    request(READ),
  ],
];

describe('messages', () => {
  it.each(TABLE)('finds %s, whole', (_what, received, ...found) => {
    expect(listen(received)).toEqual(found);
  });

  it.each(TABLE)('finds %s, byte by byte', (_what, received, ...found) => {
    expect(merged(listen(...received))).toEqual(merged(found));
  });

  it.each(TABLE)('finds %s, cut anywhere', (_what, received, ...found) => {
    for (let cut = 1; cut < Math.min(received.length, 40); cut++) {
      expect(merged(listen(received.slice(0, cut), received.slice(cut))), `cut at ${cut}`).toEqual(
        merged(found),
      );
    }
  });

  it('finds all of them back to back', () => {
    const all = TABLE.map(([, received]) => `${received}\r\n`);
    const requests = TABLE.flatMap(([, , ...found]) => found.filter((event) => event.startsWith('request')));
    const found = (events: string[]) => events.filter((event) => event.startsWith('request'));
    expect(found(listen(all.join('')))).toEqual(requests);
    expect(found(listen(...all.join('')))).toEqual(requests);
  });

  /** Noise that follows noise is one; how far it is told in pieces depends on how it came. */
  function merged(events: readonly string[]): string[] {
    const result: string[] = [];
    for (const event of events) {
      const last = result.at(-1);
      if (event.startsWith('noise') && last?.startsWith('noise'))
        result[result.length - 1] = last + event.slice(6);
      else result.push(event);
    }
    return result;
  }
});

it('a line of ASCII and one of RTU have a framer each', () => {
  const owns = (unitId: number) => unitId === OURS;
  const kinds = (framing: Parameters<typeof newFramer>[0], adu: Uint8Array) =>
    newFramer(framing, owns, { t35: 4 })
      .push(adu, 0)
      .map(({ kind }) => kind);
  const rtu = encodeRtu(OURS, Uint8Array.of(6, 0, 1, 0, 3));
  expect([kinds(new AsciiFraming(), bytes(WRITE)), kinds(RTU, rtu)]).toEqual([['request'], ['request']]);
  expect([kinds(new AsciiFraming(), rtu), kinds(RTU, bytes(READ))]).toEqual([[], []]);
});

describe('times', () => {
  it('are those of the chunks that brought the first and the last character', () => {
    const listening = framer();
    expect(listening.push(bytes('xy:1103'), 10)).toEqual([]);
    expect(listening.push(bytes('006B00'), 20)).toEqual([]);
    expect(listening.push(bytes(`037E\r\n${WRITE}`), 30)).toEqual([
      { kind: 'noise', isRest: false, bytes: bytes('xy'), startedAt: 10, receivedAt: 10 },
      { kind: 'request', bytes: bytes(READ), startedAt: 10, receivedAt: 30 },
      { kind: 'request', bytes: bytes(WRITE), startedAt: 30, receivedAt: 30 },
    ]);
    expect(listening.lastAt).toBe(30);
  });

  it('may be up to a second apart: only the silence ends what has begun', () => {
    expect(listen(':1103006B0', '0037E\r', '\n')).toEqual([request(READ)]);
    const listening = framer();
    listening.push(bytes(':1103006B0'), 0);
    expect(listening.silence().map(summary)).toEqual([noise(':1103006B0')]);
    expect(listening.push(bytes('0037E\r\n'), 1001).map(summary)).toEqual([noise('0037E')]);
    expect(listening.push(bytes(READ), 1002).map(summary)).toEqual([request(READ)]);
  });
});

describe('the line is busy', () => {
  it('from a colon to the end of the message, and never with noise', () => {
    const listening = framer();
    const busy = [...`12\r\n${READ}99\r\n:11G`].map((character, i) => {
      listening.push(bytes(character), i);
      return listening.busy;
    });
    const inMessage = Array(READ.length - 1).fill(true);
    expect(busy).toEqual([
      ...[false, false, false, false, ...inMessage, false],
      ...[false, false, false, false, true, true, true, false],
    ]);
  });

  it('no more after a silence, damage or a new beginning', () => {
    for (const end of ['silence', 'damaged', 'reset'] as const) {
      const listening = framer();
      listening.push(bytes(':11'), 0);
      expect(listening.busy).toBe(true);
      if (end === 'damaged') listening.damaged(1);
      else listening[end]();
      expect(listening.busy).toBe(false);
      expect(listening.push(bytes('03006B00037E\r\n'), 2).filter(({ kind }) => kind !== 'noise')).toEqual([]);
      expect(listening.push(bytes(READ), 3).map(summary)).toEqual([request(READ)]);
    }
  });
});

describe('a damaged character', () => {
  it('takes its message with it, up to the next colon', () => {
    const listening = framer();
    listening.push(bytes('!:1103006B00'), 0);
    const { isRest, noise: discarded } = listening.damaged(5);
    expect(isRest).toBe(false);
    expect(discarded.map(summary)).toEqual([noise('!:1103006B00')]);
    expect(listening.lastAt).toBe(5);
    expect(listening.push(bytes(`037E\r\n${READ}`), 6).map(summary)).toEqual([noise('037E'), request(READ)]);
  });

  it('is told of once for each message', () => {
    const listening = new AsciiFramer(() => true, new AsciiFraming(), { t35: 4, longestPause: 20 });
    const isRest = (at: number) => listening.damaged(at).isRest;
    expect(listening.push(bytes(':1103'), 1000)).toEqual([]);
    expect(listening.damaged(1001)).toEqual({
      isRest: false,
      noise: [{ kind: 'noise', isRest: true, bytes: bytes(':1103'), startedAt: 1000, receivedAt: 1000 }],
    });
    expect([isRest(1002), isRest(1026), isRest(1051)]).toEqual([true, true, false]);
    listening.push(bytes(':11'), 1052);
    expect([isRest(1053), isRest(1054)]).toEqual([false, true]);
    listening.silence();
    expect([isRest(1055), isRest(1056)]).toEqual([false, true]);
    listening.push(bytes(READ), 1057);
    expect([isRest(1058), isRest(1059)]).toEqual([false, true]);
    listening.push(bytes('xx\r\n'), 1060);
    expect([isRest(1061), isRest(1062)]).toEqual([false, true]);
    listening.reset();
    expect([isRest(1063), isRest(1064)]).toEqual([false, true]);
  });

  it('makes the rest of its message the rest of a damage, and nothing of the next message', () => {
    const listening = framer();
    listening.damaged(0);
    const told = [...listening.push(bytes('037E\r\n'), 1), ...listening.push(bytes(':12G\r\n'), 2)];
    expect(told).toMatchObject([{ isRest: true }, { isRest: false }]);
    listening.damaged(3);
    expect(listening.push(bytes(':12G\r\n'), 4)).toMatchObject([{ isRest: false }]);
    listening.damaged(5);
    listening.reset();
    expect(listening.push(bytes('zz\r\n'), 6)).toMatchObject([{ isRest: false }]);
  });

  it('is nothing to tell of where nothing has begun', () => {
    expect(framer().damaged(5).noise).toEqual([]);
    expect(framer().silence()).toEqual([]);
  });
});

describe('noise', () => {
  it('is told at the end of its line, once for each', () => {
    const listening = framer();
    const told = [...':1103006B00037F\r\nxx\r\n'].map((character, i) => listening.push(bytes(character), i));
    expect(told.flat().map(summary)).toEqual([noise(':1103006B00037F'), noise('xx')]);
  });

  it.each(['0', ':', ':0', 'z', '\r'])('of %j without an end is told in pieces of a message', (unit) => {
    const listening = framer();
    const characters = [...unit.repeat(20_000 / unit.length)];
    const told = characters.flatMap((character, i) => listening.push(bytes(character), i));
    const lengths = told.map((event) => event.bytes.length);
    expect(told.every(({ kind }) => kind === 'noise')).toBe(true);
    expect(Math.min(...lengths)).toBeGreaterThan(MAX_ASCII_LENGTH / 2);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(2 * MAX_ASCII_LENGTH);
    const kept = listening.silence().reduce((sum, event) => sum + event.bytes.length, 0);
    expect(kept).toBeLessThanOrEqual(2 * MAX_ASCII_LENGTH);
    expect(lengths.reduce((sum, length) => sum + length, kept)).toBe(20_000);
  });

  it('ends with the delimiter behind a carriage return, or when it is longer than a message', () => {
    const listening = framer();
    const told = (some: string) => listening.push(bytes(some), 0).map((event) => event.bytes.length);
    expect([told('no line\n'), told('\r\n')]).toEqual([[], [10]]);
    expect([told('z'.repeat(MAX_ASCII_LENGTH)), told('z')]).toEqual([[], [MAX_ASCII_LENGTH + 1]]);
  });

  it('that goes on is the rest of what was told', () => {
    const listening = framer();
    const piece = bytes('z'.repeat(MAX_ASCII_LENGTH + 1));
    expect(listening.push(piece, 0)).toMatchObject([{ isRest: false }]);
    expect(listening.push(piece, 1)).toMatchObject([{ isRest: true }]);
  });

  it('keeps the line busy for no longer than a message', () => {
    const listening = framer();
    listening.push(bytes(`:${'0'.repeat(MAX_ASCII_LENGTH - 2)}`), 0);
    expect(listening.busy).toBe(true);
    listening.push(bytes('0'), 1);
    expect(listening.busy).toBe(false);
  });

  it('in one chunk is one, however much it is', () => {
    const listening = framer();
    const flood = bytes(':\r\n:0102\r\nxyz\n'.repeat(5000));
    expect(listening.push(flood, 0)).toEqual([
      { kind: 'noise', isRest: false, bytes: flood, startedAt: 0, receivedAt: 0 },
    ]);
  });
});

describe('the delimiter', () => {
  it('counts from the moment it is changed', () => {
    const framing = new AsciiFraming();
    const listening = framer(framing);
    const hear = (some: string) => listening.push(bytes(some), 0).map(summary);
    const changed = READ.replace('\n', '!');
    expect(hear(READ)).toEqual([request(READ)]);
    listening.reframe(new AsciiFraming(0x21));
    expect(hear(changed)).toEqual([request(changed)]);
    expect(hear(READ)).toEqual([]);
    expect(hear(changed)).toEqual([noise(READ), request(changed)]);
    listening.reframe(framing);
    expect(hear(READ)).toEqual([request(READ)]);
  });
});

describe('others on the bus', () => {
  const foreign = (role: string, some: string) => `foreign ${role} ${some.trimEnd()}`;

  it('are told as requests and responses', () => {
    expect(listen(FOREIGN_READ, FOREIGN_ANSWER, FOREIGN_WRITE, FOREIGN_WRITE, READ)).toEqual([
      foreign('request', FOREIGN_READ),
      foreign('response', FOREIGN_ANSWER),
      foreign('request', FOREIGN_WRITE),
      foreign('response', FOREIGN_WRITE),
      request(READ),
    ]);
  });

  it('answer with exceptions too', () => {
    const refused = message('02 83 02');
    expect(listen(FOREIGN_READ, refused)).toEqual([
      foreign('request', FOREIGN_READ),
      foreign('response', refused),
    ]);
  });

  it('may stay silent', () => {
    expect(listen(FOREIGN_READ, FOREIGN_READ, READ)).toEqual([
      foreign('request', FOREIGN_READ),
      foreign('request', FOREIGN_READ),
      request(READ),
    ]);
  });

  it('may answer late, after a request to us', () => {
    expect(listen(FOREIGN_READ, READ, FOREIGN_ANSWER, READ)).toEqual([
      foreign('request', FOREIGN_READ),
      request(READ),
      foreign('response', FOREIGN_ANSWER),
      request(READ),
    ]);
  });

  it('are never mistaken for somebody who asks us, whatever their messages carry', () => {
    const carrying = message(
      `02 41 ${[...READ].map((c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('')}`,
    );
    expect(listen(carrying, carrying).filter((event) => event.startsWith('request'))).toEqual([]);
  });
});

describe('another device with our unit identifier', () => {
  it.each([
    ['a response', READ_ANSWER],
    ['an exception response', message('11 83 02')],
  ])('is noticed by %s, which is not taken for a request', (_what, answer) => {
    expect(listen(READ, answer, READ)).toEqual([
      request(READ),
      `duplicate ${answer.trimEnd()}`,
      request(READ),
    ]);
  });

  it.each([
    ['again', READ],
    ['something else', WRITE],
    ['for what has the length of no function', message('11 64 01')],
    ['wrongly', message('11 03 00 01 02 03')],
    ['wrongly, and like a response with values of another quantity', message('11 03 02 0001')],
  ])('is not suspected when the client asks %s', (_what, next) => {
    expect(listen(READ, next, next)).toEqual([request(READ), request(next), request(next)]);
  });

  it('answers a request once, and a broadcast never', () => {
    const [asked, answer] = [message('11 03 0000 0002'), message('11 03 04 0100 0201')];
    expect(listen(asked, answer, answer)).toEqual([
      request(asked),
      `duplicate ${answer.trimEnd()}`,
      request(answer),
    ]);
    const [all, like] = [message('00 03 0000 0002'), message('00 03 04 0100 0201')];
    expect(listen(all, like)).toEqual([request(all), request(like)]);
  });

  it('is not suspected on a stream, where nobody else is', () => {
    const options = { t35: 0, carrier: 'stream' } as const;
    const listening = new AsciiFramer((unitId) => unitId === OURS, new AsciiFraming(), options);
    expect(listening.push(bytes(READ + READ_ANSWER), 0).map(summary)).toEqual([
      request(READ),
      request(READ_ANSWER),
    ]);
  });

  it('is not suspected of what does not follow its request', () => {
    expect(listen(READ_ANSWER)).toEqual([request(READ_ANSWER)]);
    expect(listen(WRITE, READ_ANSWER)).toEqual([request(WRITE), request(READ_ANSWER)]);
    expect(listen(READ, BROADCAST, READ_ANSWER).at(-1)).toBe(request(READ_ANSWER));
    expect(listen(READ, READ_ANSWER, READ_ANSWER).at(-1)).toBe(request(READ_ANSWER));
  });
});

describe('any bytes', () => {
  const messages = [READ, WRITE, READ_ANSWER, FOREIGN_READ, FOREIGN_ANSWER, BROADCAST, ':1103006B00037F\r\n'];
  const part = fc.oneof(
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 700 }).map(text) },
    { weight: 2, arbitrary: fc.constantFrom(...messages) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...messages).chain((some) => fc.nat(some.length).map((n) => some.slice(n))),
    },
    {
      weight: 1,
      arbitrary: fc.string({ unit: fc.constantFrom(':', '\r', '\n', '0', 'A'), maxLength: 1200 }),
    },
  );

  it('never lose one: messages and noise add up to what was received, and little is kept', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const listening = framer();
        const told: FramerEvent[] = [];
        let received = '';
        for (const [i, some] of parts.entries()) {
          told.push(...listening.push(bytes(some), i));
          received += some;
          const kept = received.length - told.reduce((sum, event) => sum + event.bytes.length, 0);
          expect(kept).toBeLessThanOrEqual(2 * MAX_ASCII_LENGTH);
        }
        told.push(...listening.silence());
        expect(told.map((event) => text(event.bytes)).join('')).toBe(received);
      }),
      { numRuns: 300 },
    );
  });

  it('do not hide the message behind them', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.boolean(), (parts, singly) => {
        const all = [...parts, READ].join('');
        expect(listen(...(singly ? all : [all])).at(-1)).toBe(request(READ));
      }),
      { numRuns: 300 },
    );
  });

  it('are found the same however they are cut', () => {
    const found = (chunks: readonly string[]) =>
      listen(...chunks).filter((event) => !event.startsWith('noise'));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const all = parts.join('');
        expect(found([...all])).toEqual(found([all]));
        expect(found(parts)).toEqual(found([all]));
      }),
      { numRuns: 200 },
    );
  });
});
