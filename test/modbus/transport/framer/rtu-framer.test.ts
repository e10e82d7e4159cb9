import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeRtu } from '../../../../src/modbus/protocol/rtu.js';
import type { FramerEvent } from '../../../../src/modbus/transport/framer/framer.js';
import { RtuFramer } from '../../../../src/modbus/transport/framer/rtu-framer.js';

const T35 = 4;
/** Longer than t3.5, shorter than the discard gap. */
const PAUSE = 10;
const OURS = 17;
const FOREIGN = 2;

const read = (unitId: number, address = 0) =>
  encodeRtu(unitId, Uint8Array.of(3, address >> 8, address & 255, 0, 2));
const write = (unitId: number, value = 1) => encodeRtu(unitId, Uint8Array.of(6, 0, 1, 0, value));
const readResponse = (unitId: number, ...data: number[]) =>
  encodeRtu(unitId, Uint8Array.of(3, data.length, ...data));
const damaged = (adu: Uint8Array) => adu.map((byte, i) => (i === adu.length - 1 ? byte ^ 1 : byte));
const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));

/** Plays chunks with pauses before them, then silence; what comes out as short text. */
function listen(...chunks: (Uint8Array | number)[]): string[] {
  const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35 });
  const events: FramerEvent[] = [];
  let at = 1000;
  for (const chunk of chunks) {
    if (typeof chunk === 'number') at += chunk;
    else events.push(...framer.push(chunk, at));
  }
  events.push(...framer.silence());
  return events.map(summary);
}

function summary(event: FramerEvent): string {
  if (event.kind === 'noise') return `noise ${event.bytes.length}`;
  const who = event.kind === 'foreign' ? `foreign ${event.role}` : event.kind;
  return `${who} ${event.bytes[0]}/${event.bytes[1]}`;
}

const singly = (bytes: Uint8Array, gap: number) => [...bytes].flatMap((byte) => [Uint8Array.of(byte), gap]);

describe('frames addressed to us', () => {
  it('takes a request as soon as its last byte is there', () => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35 });
    const adu = write(OURS);
    expect(framer.push(adu.subarray(0, 7), 0)).toEqual([]);
    expect(framer.push(adu.subarray(7), 3)).toEqual([
      { kind: 'request', bytes: adu, startedAt: 0, receivedAt: 3 },
    ]);
    expect(framer.busy).toBe(false);
  });

  it.each([0, 1, 5, 15])('takes a request in single bytes %i ms apart', (gap) => {
    const long = encodeRtu(OURS, Uint8Array.of(16, 0, 0, 0, 3, 6, 1, 2, 3, 4, 5, 6));
    expect(listen(...singly(long, gap))).toEqual(['request 17/16']);
  });

  it('takes two requests out of one chunk', () => {
    expect(listen(join(write(OURS), read(OURS)))).toEqual(['request 17/6', 'request 17/3']);
  });

  it('takes requests merged and cut at every byte', () => {
    const both = join(write(OURS), read(OURS));
    for (let cut = 1; cut < both.length; cut++) {
      expect(listen(both.subarray(0, cut), 1, both.subarray(cut))).toEqual(['request 17/6', 'request 17/3']);
    }
  });

  it('takes a broadcast', () => {
    expect(listen(write(0))).toEqual(['request 0/6']);
  });

  it('takes a function of unknown length when the line falls silent', () => {
    expect(listen(encodeRtu(OURS, Uint8Array.of(0x64, 1, 2, 3)))).toEqual(['request 17/100']);
  });

  it('takes a frame of the wrong length with a valid CRC, so that it can be answered with exception 03', () => {
    expect(listen(encodeRtu(OURS, Uint8Array.of(3, 0, 0, 0, 1, 0)))).toEqual(['request 17/3']);
    expect(listen(encodeRtu(OURS, Uint8Array.of(16, 0, 0, 0, 1, 9, 0, 1)))).toEqual(['request 17/16']);
    expect(listen(encodeRtu(OURS, Uint8Array.of(3)))).toEqual(['request 17/3']);
  });
});

describe('damage', () => {
  it('discards a frame with a wrong CRC and takes the next one', () => {
    expect(listen(damaged(write(OURS)), PAUSE, read(OURS))).toEqual(['noise 8', 'request 17/3']);
  });

  it('never takes a frame with any one bit flipped', () => {
    const adu = write(OURS);
    for (let bit = 0; bit < 8 * adu.length; bit++) {
      const flipped = adu.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      expect(listen(flipped).filter((event) => event.startsWith('request'))).toEqual([]);
    }
  });

  it('takes the next frame after one that was cut off anywhere', () => {
    const long = encodeRtu(OURS, Uint8Array.of(16, 0, 0, 0, 3, 6, 1, 2, 3, 4, 5, 6));
    for (let cut = 1; cut < long.length; cut++) {
      expect(listen(long.subarray(0, cut), PAUSE, read(OURS)).at(-1)).toBe('request 17/3');
    }
  });

  it('takes a frame after noise and a pause', () => {
    expect(listen(Uint8Array.of(9, 9, 9, 9, 9), PAUSE, read(OURS))).toEqual(['noise 5', 'request 17/3']);
  });

  it.each([1, 2])('takes a frame after %i stray bytes', (count) => {
    expect(listen(join(new Uint8Array(count), read(OURS)))).toEqual([`noise ${count}`, 'request 17/3']);
  });

  it('does not look for frames behind three stray bytes', () => {
    expect(listen(join(Uint8Array.of(0, 0, 0), write(OURS)))).toEqual(['noise 11']);
  });

  it('takes a frame with noise after it', () => {
    expect(listen(join(read(OURS), Uint8Array.of(0, 255, 0)))).toEqual(['request 17/3', 'noise 3']);
  });

  it('does not execute a frame in the middle of a burst that began before the port was open', () => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35 });
    framer.reset({ aligned: false });
    const rest = join(write(OURS), Uint8Array.of(0x12, 0x34));
    expect([...framer.push(rest, 0), ...framer.silence()].map(summary)).toEqual(['noise 10']);
    expect(framer.push(write(OURS), 50).map(summary)).toEqual(['request 17/6']);
  });

  it('throws away 257 bytes and more without a pause and takes the next frame', () => {
    for (const length of [257, 300, 5000]) {
      expect(listen(new Uint8Array(length).fill(OURS), PAUSE, read(OURS)).at(-1)).toBe('request 17/3');
    }
  });

  it('keeps no more than a frame of what nobody claims', () => {
    const framer = new RtuFramer(() => true, { t35: T35 });
    let discarded = 0;
    for (let i = 0; i < 1000; i++) {
      for (const event of framer.push(new Uint8Array(100).fill(i), i)) discarded += event.bytes.length;
    }
    expect(discarded).toBeGreaterThanOrEqual(100_000 - 256);
  });
});

describe('a silence or a pause that is missing', () => {
  const unknown = encodeRtu(OURS, Uint8Array.of(0x64, 1, 2, 3));
  const short = encodeRtu(OURS, Uint8Array.of(3, 0, 0, 0));

  it('lets no frame begin behind noise', () => {
    expect(listen(Uint8Array.of(9, 9, 9, 9, 9), 1, write(OURS))).toEqual(['noise 13']);
  });

  it('lets no frame of unknown length end', () => {
    expect(listen(unknown, 1, Uint8Array.of(9))).toEqual([`noise ${unknown.length + 1}`]);
    expect(listen(unknown, T35, Uint8Array.of(9))).toEqual(['request 17/100', 'noise 1']);
  });

  it('is the time that the characters of a chunk do not fill', () => {
    const heard = (pause: number) => {
      const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35, characterTime: 1 });
      const events = [Uint8Array.of(9, 9, 9, 9, 9), write(OURS)].flatMap((chunk, i) =>
        framer.push(chunk, i * pause),
      );
      return [...events, ...framer.silence()].map(summary);
    };
    expect(heard(8 + T35 - 1)).toEqual(['noise 13']);
    expect(heard(8 + T35)).toEqual(['noise 5', 'request 17/6']);
  });

  it('lets no frame end that is shorter or longer than its function wants', () => {
    expect(listen(short, PAUSE, read(OURS))).toEqual(['noise 7', 'request 17/3']);
    const long = encodeRtu(OURS, Uint8Array.of(3, 0, 0, 0, 1, 0));
    expect(listen(long, PAUSE, read(OURS))).toEqual(['noise 9', 'request 17/3']);
    expect(listen(join(Uint8Array.of(0), long))).toEqual(['noise 1', 'request 17/3']);
  });

  it('leaves each frame the times of its own bytes', () => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35 });
    framer.push(unknown, 1000);
    framer.push(unknown, 1003);
    expect(framer.silence()).toMatchObject([
      { kind: 'request', startedAt: 1000, receivedAt: 1000 },
      { kind: 'request', startedAt: 1003, receivedAt: 1003 },
    ]);
  });
});

describe('more bytes than a frame has', () => {
  const junk = (length: number) => new Uint8Array(length).fill(OURS);

  it('are noise at once, and no frame begins right behind them', () => {
    const framer = new RtuFramer(() => true, { t35: T35 });
    expect(framer.push(junk(256), 0)).toEqual([]);
    expect(framer.push(junk(1), 1)).toMatchObject([{ kind: 'noise', isRest: false }]);
    expect(listen(junk(257), 1, write(OURS))).toEqual(['noise 257', 'noise 8']);
  });

  it('are noise up to the last pause, where a frame may begin', () => {
    expect(listen(junk(250), PAUSE, write(OURS))).toEqual(['noise 250', 'request 17/6']);
  });
});

describe('others on the bus', () => {
  it("recognises a foreign request and that unit's response", () => {
    expect(listen(read(FOREIGN), PAUSE, readResponse(FOREIGN, 0, 1, 0, 2), PAUSE, read(OURS))).toEqual([
      'foreign request 2/3',
      'foreign response 2/3',
      'request 17/3',
    ]);
  });

  it('recognises them merged into one chunk with our request behind', () => {
    expect(listen(join(read(FOREIGN), readResponse(FOREIGN, 0, 1, 0, 2), write(OURS)))).toEqual([
      'foreign request 2/3',
      'foreign response 2/3',
      'request 17/6',
    ]);
  });

  it('takes an exception response for a response', () => {
    expect(listen(read(FOREIGN), PAUSE, encodeRtu(FOREIGN, Uint8Array.of(0x83, 2)))).toEqual([
      'foreign request 2/3',
      'foreign response 2/131',
    ]);
  });

  it('does not mistake a request inside a foreign response for one to us', () => {
    const response = readResponse(FOREIGN, ...write(OURS));
    expect(listen(read(FOREIGN), PAUSE, response)).toEqual(['foreign request 2/3', 'foreign response 2/3']);
    expect(listen(read(FOREIGN), PAUSE, ...singly(response, 1))).toEqual([
      'foreign request 2/3',
      'foreign response 2/3',
    ]);
    expect(listen(response)).toEqual(['foreign response 2/3']);
  });

  it('takes the next request when the foreign unit stays silent', () => {
    expect(listen(read(FOREIGN), 100, read(OURS))).toEqual(['foreign request 2/3', 'request 17/3']);
    expect(listen(read(FOREIGN, 0x2000), 100, read(FOREIGN, 0x2000), 100, read(OURS))).toEqual([
      'foreign request 2/3',
      'foreign request 2/3',
      'request 17/3',
    ]);
  });

  it('goes on when the foreign unit answers late, after a request to us', () => {
    const late = readResponse(FOREIGN, 1, 2, 3, 4, 5, 6, 7, 8);
    expect(listen(read(FOREIGN), 100, read(OURS), 20, late, PAUSE, write(OURS))).toEqual([
      'foreign request 2/3',
      'request 17/3',
      'foreign response 2/3',
      'request 17/6',
    ]);
  });

  it('follows a bus that is never silent for the discard gap, with functions of unknown length on it', () => {
    const unknown = encodeRtu(FOREIGN, Uint8Array.of(0x2b, 0x0d, 1, 2, 3));
    const traffic = Array.from({ length: 50 }, () => [unknown, 5, unknown, 5]).flat();
    expect(listen(...traffic, write(OURS)).at(-1)).toBe('request 17/6');
    expect(listen(...traffic, write(OURS)).filter((event) => event.startsWith('noise'))).toEqual([]);
  });
});

describe('the others on the bus, when the pauses between frames are lost on the way here', () => {
  const unknown = encodeRtu(FOREIGN, Uint8Array.of(0x41, 1, 2, 3, 4, 5));
  const identification = encodeRtu(FOREIGN, Uint8Array.of(43, 14, 1, 1, 0, 0, 1, 0, 2, 65, 66));

  it.each([
    ['an unknown function', [unknown]],
    ['a device identification', [identification]],
    ['several of them', [unknown, identification, unknown]],
  ])('do not hide a request of ours behind %s', (_name, frames) => {
    expect(listen(join(...frames, write(OURS))).at(-1)).toBe('request 17/6');
    expect(listen(join(...frames, write(0), read(OURS))).slice(-2)).toEqual(['request 0/6', 'request 17/3']);
  });

  it('do not make a request of what a frame of an unknown function carries', () => {
    for (const data of [write(OURS), join(write(OURS), write(0)), join(Uint8Array.of(1), write(OURS))]) {
      const carrier = encodeRtu(FOREIGN, Uint8Array.of(0x41, ...data));
      expect(listen(carrier)).toEqual(['foreign request 2/65']);
      expect(listen(join(carrier, carrier))).toEqual(['foreign request 2/65', 'foreign request 2/65']);
      expect(listen(join(carrier, Uint8Array.of(9)))).toEqual([`noise ${carrier.length + 1}`]);
    }
  });
});

describe('a response of another device that comes after a request to us', () => {
  it.each([
    ['a copy of its request', write(FOREIGN), write(FOREIGN)],
    [
      'as long as a request',
      encodeRtu(FOREIGN, Uint8Array.of(1, 0, 0, 0, 24)),
      encodeRtu(FOREIGN, Uint8Array.of(1, 3, 1, 2, 3)),
    ],
    [
      'of unknown length',
      encodeRtu(FOREIGN, Uint8Array.of(0x41, 1)),
      encodeRtu(FOREIGN, Uint8Array.of(0x41, 9, 9)),
    ],
  ])('is no request: %s', (_name, request, response) => {
    const code = request[1];
    expect(listen(request, 100, read(OURS), PAUSE, response)).toEqual([
      `foreign request 2/${code}`,
      'request 17/3',
      `foreign response 2/${code}`,
    ]);
  });

  const bits = encodeRtu(FOREIGN, Uint8Array.of(1, 0, 0, 0, 24));
  const bitsResponse = (unitId = FOREIGN) => encodeRtu(unitId, Uint8Array.of(1, 3, 1, 2, 3));
  const asked = ['foreign request 2/1', 'request 17/3'];

  it('is one only of the unit and the function that were asked', () => {
    expect(listen(bits, 100, read(OURS), PAUSE, bitsResponse(3))).toEqual([...asked, 'foreign request 3/1']);
    const other = encodeRtu(FOREIGN, Uint8Array.of(2, 3, 1, 2, 3));
    expect(listen(bits, 100, read(OURS), PAUSE, other)).toEqual([...asked, 'foreign request 2/2']);
    expect(listen(bits, PAUSE, bitsResponse(3))).toEqual(['foreign request 2/1', 'foreign request 3/1']);
    expect(listen(read(FOREIGN), PAUSE, bitsResponse())).toEqual([
      'foreign request 2/3',
      'foreign request 2/1',
    ]);
  });

  it('comes once: what comes again is a new request', () => {
    const again = [read(OURS), PAUSE, write(FOREIGN), PAUSE];
    expect(listen(write(FOREIGN), 100, ...again, ...again)).toEqual([
      'foreign request 2/6',
      'request 17/3',
      'foreign response 2/6',
      'request 17/3',
      'foreign request 2/6',
    ]);
    const answer = encodeRtu(FOREIGN, Uint8Array.of(1, 5, 1, 2, 3, 4, 5));
    expect(listen(bits, PAUSE, answer, PAUSE, read(OURS), PAUSE, bitsResponse())).toEqual([
      'foreign request 2/1',
      'foreign response 2/1',
      'request 17/3',
      'foreign request 2/1',
    ]);
  });

  it('is still waited for when another device has answered', () => {
    const other = readResponse(3, 1, 2, 3, 4, 5, 6, 7, 8);
    const events = listen(bits, 100, read(OURS), 20, other, 20, read(OURS), 20, bitsResponse());
    expect(events.slice(2)).toEqual(['foreign response 3/3', 'request 17/3', 'foreign response 2/1']);
  });

  it('is not the answer to a response', () => {
    const first = encodeRtu(FOREIGN, Uint8Array.of(1, 5, 1, 2, 3, 4, 5));
    expect(listen(first, 100, read(OURS), PAUSE, bitsResponse())).toEqual([
      'foreign response 2/1',
      'request 17/3',
      'foreign request 2/1',
    ]);
  });

  it('is recognised among the last 32 requests that nobody has answered', () => {
    const requests = Array.from({ length: 33 }, (_, value) => [write(FOREIGN, value), PAUSE]).flat();
    const late = (value: number) => listen(...requests, read(OURS), PAUSE, write(FOREIGN, value)).at(-1);
    expect([late(0), late(1), late(32)]).toEqual([
      'foreign request 2/6',
      'foreign response 2/6',
      'foreign response 2/6',
    ]);
  });

  it('is a new request on a port that was opened again', () => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35 });
    framer.push(bits, 0);
    framer.reset({ aligned: true });
    expect([...framer.push(read(OURS), 10), ...framer.push(bitsResponse(), 20)].map(summary)).toEqual([
      'request 17/3',
      'foreign request 2/1',
    ]);
    framer.push(read(OURS), 30);
    framer.reset({ aligned: true });
    expect([...framer.push(readResponse(OURS, 0, 1, 0, 2), 40), ...framer.silence()].map(summary)).toEqual([
      'request 17/3',
    ]);
  });

  it('is not recognised before it can no more be a longer request', () => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35 });
    expect(framer.push(encodeRtu(FOREIGN, Uint8Array.of(23, 4, 1, 2, 3, 4)), 0)).toEqual([]);
    expect(framer.silence().map(summary)).toEqual(['foreign response 2/23']);
  });

  it('is told from a new request to that device', () => {
    expect(listen(write(FOREIGN, 1), 100, read(OURS), PAUSE, write(FOREIGN, 2))).toEqual([
      'foreign request 2/6',
      'request 17/3',
      'foreign request 2/6',
    ]);
  });
});

describe('another device with our unit identifier', () => {
  it('is noticed by its response, which is not taken for a request', () => {
    expect(listen(read(OURS), PAUSE, readResponse(OURS, 0, 1, 0, 2))).toEqual([
      'request 17/3',
      'duplicate 17/3',
    ]);
    expect(listen(read(OURS), PAUSE, encodeRtu(OURS, Uint8Array.of(0x83, 2)))).toEqual([
      'request 17/3',
      'duplicate 17/131',
    ]);
  });

  it('answers a request once, and a broadcast never', () => {
    const response = readResponse(OURS, 1, 0, 2, 1);
    expect(listen(read(OURS), PAUSE, response, PAUSE, response)).toEqual([
      'request 17/3',
      'duplicate 17/3',
      'request 17/3',
    ]);
    expect(listen(read(0), PAUSE, readResponse(0, 1, 0, 2, 1))).toEqual(['request 0/3', 'request 0/3']);
  });

  it('is not suspected where its response would have values of another quantity: that is a malformed request', () => {
    expect(listen(read(OURS), PAUSE, readResponse(OURS, 0, 1))).toEqual(['request 17/3', 'request 17/3']);
  });

  it('is not suspected on a stream, where nobody else is', () => {
    const framer = new RtuFramer(() => true, { t35: T35, carrier: 'stream' });
    const response = readResponse(OURS, 0, 1, 0, 2);
    expect(framer.push(read(OURS), 0).map(summary)).toEqual(['request 17/3']);
    expect([...framer.push(response, 500), ...framer.silence()].map(summary)).toEqual(['request 17/3']);
  });

  it('is not suspected when the client asks again', () => {
    const unknown = encodeRtu(OURS, Uint8Array.of(0x64, 1, 2, 3));
    expect(listen(read(OURS), PAUSE, read(OURS))).toEqual(['request 17/3', 'request 17/3']);
    expect(listen(unknown, 100, unknown)).toEqual(['request 17/100', 'request 17/100']);
  });
});

describe('on a stream', () => {
  /** Reads with pauses before them, without a silence at the end. */
  const reads = (...chunks: (Uint8Array | number)[]) => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35, carrier: 'stream' });
    let at = 1000;
    const events = chunks.flatMap((chunk) => {
      if (typeof chunk === 'number') at += chunk;
      return typeof chunk === 'number' ? [] : framer.push(chunk, at);
    });
    return { framer, events: events.map(summary) };
  };
  const long = encodeRtu(OURS, Uint8Array.of(0x64, 1, 2, 3));
  const diagnostics = encodeRtu(OURS, Uint8Array.of(8, 0, 0, 1, 2, 3, 4));

  it('the end of a read ends a frame whose function does not fix its length', () => {
    expect(reads(long).events).toEqual(['request 17/100']);
    expect(reads(long.subarray(0, 3), 1, long.subarray(3)).events).toEqual(['request 17/100']);
    expect(reads(diagnostics).events).toEqual(['request 17/8']);
    expect(reads(long.subarray(0, 5)).events).toEqual([]);
  });

  it('a whole frame that comes after a pause shows that everything before it was noise', () => {
    const half = read(OURS).subarray(0, 5);
    expect(reads(half, PAUSE, write(OURS)).events).toEqual(['noise 5', 'request 17/6']);
    expect(reads(half, T35, join(write(OURS), read(OURS))).events).toEqual([
      'noise 5',
      'request 17/6',
      'request 17/3',
    ]);
    expect(reads(half, T35 - 1, write(OURS)).events).toEqual([]);
    expect(reads(half, PAUSE, write(OURS).subarray(0, 7)).events).toEqual([]);
  });

  it('a read is looked at as whole frames up to the length of the longest one', () => {
    const half = read(OURS).subarray(0, 5);
    const frames = (count: number) => join(...Array<Uint8Array>(count).fill(write(OURS)));
    expect(reads(half, PAUSE, frames(32)).events).toEqual(['noise 5', ...Array(32).fill('request 17/6')]);
    expect(reads(half, PAUSE, frames(33)).events).toEqual(['noise 5', 'noise 264']);
  });

  it('frames that only a silence ends wait for it', () => {
    const short = encodeRtu(OURS, Uint8Array.of(3, 0, 0, 0));
    const unclear = encodeRtu(OURS, Uint8Array.of(16, 0, 0));
    const half = write(OURS).subarray(0, 5);
    const heard = [[short], [unclear], [join(long, write(OURS))], [half, PAUSE, short]];
    const waiting = heard.map((chunks) => reads(...chunks));
    expect(waiting.map(({ events }) => events)).toEqual([[], [], [], []]);
    expect(waiting.map(({ framer }) => framer.silence().map(summary))).toEqual([
      ['request 17/3'],
      ['request 17/16'],
      ['request 17/100', 'request 17/6'],
      ['noise 12'],
    ]);
  });

  it('frames begin again after a pause where there was too much noise, and not before', () => {
    const noise = new Uint8Array(300).fill(OURS);
    expect(reads(noise, PAUSE, write(OURS), 1, read(OURS)).events).toEqual([
      'noise 300',
      'request 17/6',
      'request 17/3',
    ]);
    const { framer, events } = reads(noise, 1, write(OURS));
    expect([...events, ...framer.silence().map(summary)]).toEqual(['noise 300', 'noise 8']);
  });

  it('noise behind a frame is a damage of its own', () => {
    const { framer } = reads(read(OURS).subarray(0, 5), PAUSE, write(OURS), PAUSE, Uint8Array.of(1, 2, 3));
    expect(framer.silence()).toMatchObject([{ kind: 'noise', isRest: false }]);
  });

  it('no stray bytes come before a frame', () => {
    const { framer, events } = reads(join(Uint8Array.of(0xff), write(OURS)));
    expect([events, framer.silence().map(summary)]).toEqual([[], ['noise 9']]);
    expect(framer.push(write(OURS), 2000).map(summary)).toEqual(['request 17/6']);
  });
});

describe('a character that arrived damaged', () => {
  it('makes noise of its message, once, and of nothing behind a pause', () => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35, longestPause: 20 });
    const adu = write(OURS);
    expect(framer.push(adu.subarray(0, 4), 1000)).toEqual([]);
    const first = framer.damaged(1001);
    expect([first.isRest, first.noise.map(({ bytes }) => bytes.length)]).toEqual([false, [4]]);
    expect(framer.damaged(1002)).toEqual({ isRest: true, noise: [] });
    expect(framer.push(adu, 1003)).toEqual([]);
    const later = framer.damaged(1003 + 20 + T35 + 1);
    expect([later.isRest, later.noise.map(({ bytes }) => bytes.length)]).toEqual([false, [8]]);
    expect(framer.silence()).toEqual([]);
    expect(framer.push(adu, 2000).map(summary)).toEqual(['request 17/6']);
    expect(framer.damaged(2100)).toEqual({ isRest: false, noise: [] });
  });

  it('is one with all that comes within the longest pause of a frame, and with nothing behind it', () => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35, longestPause: 20 });
    const isRest = (at: number) => framer.damaged(at).isRest;
    expect([isRest(1000), isRest(1001), isRest(1001 + 20 + T35), isRest(1026 + 20 + T35)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    framer.silence();
    expect(isRest(1060)).toBe(false);
    expect(framer.push(Uint8Array.of(1, 2, 3, 4), 1061)).toEqual([]);
    expect(framer.push(write(OURS), 1100)).toMatchObject([{ kind: 'noise', isRest: true }]);
    expect(framer.silence().map(summary)).toEqual(['request 17/6']);
  });

  it('knows longer pauses inside frames from valid ones, and from these alone', () => {
    const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35, longestPause: 0 });
    const unknown = encodeRtu(OURS, Uint8Array.of(0x64, 1, 2, 3));
    framer.push(unknown, 1000);
    framer.push(unknown, 1003);
    expect(framer.silence()).toHaveLength(2);
    framer.damaged(1100);
    expect(framer.damaged(1100 + T35 + 1).isRest).toBe(false);
    framer.silence();
    framer.push(write(OURS).subarray(0, 4), 1200);
    expect(framer.push(write(OURS).subarray(4), 1250)).toHaveLength(1);
    framer.damaged(1300);
    expect(framer.damaged(1300 + 50 + T35).isRest).toBe(true);
    expect(framer.damaged(1354 + 50 + T35 + 1).isRest).toBe(false);
  });

  it('is forgotten when the port is opened again', () => {
    const framer = new RtuFramer(() => true, { t35: T35 });
    framer.damaged(1000);
    framer.reset({ aligned: true });
    expect(framer.damaged(1001).isRest).toBe(false);
    framer.reset({ aligned: true });
    expect(framer.push(write(OURS), 1002).map(summary)).toEqual(['request 17/6']);
    framer.reset({ aligned: false });
    expect([framer.lastAt, framer.busy]).toEqual([Number.NEGATIVE_INFINITY, false]);
    expect(framer.push(write(OURS), 1003)).toEqual([]);
  });
});

describe('any bytes', () => {
  it('never loses a byte: frames and noise add up to what was received', () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(
        read(OURS),
        write(OURS),
        read(FOREIGN),
        readResponse(FOREIGN, 1, 2),
        damaged(write(OURS)),
        write(0),
      ),
      fc.integer({ min: 0, max: 30 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const framer = new RtuFramer((unitId) => unitId === OURS, { t35: T35 });
        const events: FramerEvent[] = [];
        let at = 0;
        for (const item of parts) {
          if (typeof item === 'number') at += item;
          else if (item.length > 0) events.push(...framer.push(item, at));
        }
        events.push(...framer.silence());
        const received = parts.flatMap((item) => (typeof item === 'number' ? [] : [...item]));
        expect(events.flatMap((event) => [...event.bytes])).toEqual(received);
        expect(framer.busy).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
