import { describe, expect, it } from 'vitest';
import { encodeRtu, isRtuFrame, mayBeRequest } from '../../../../src/modbus/protocol/rtu.js';
import { EchoFilter } from '../../../../src/modbus/transport/serial/echo-filter.js';
import type { EchoSetting } from '../../../../src/modbus/transport/settings.js';

/** When a reply is on the wire that was written at 0: its eight characters take 1 ms each. */
const ENDS = 8;
const CHARACTER = 1;
/** A copy that arrives so late may have begun after the reply: a client's, or an echo that an adapter held back. */
const LATER = 20;

/** A response that no client would send, and one that is the same bytes as its request. */
const READ = encodeRtu(17, Uint8Array.of(3, 4, 0, 1, 0, 2));
const WRITE = encodeRtu(17, Uint8Array.of(6, 0, 1, 0, 5));
const REQUEST = encodeRtu(17, Uint8Array.of(3, 0, 0, 0, 2));

/** A frame in one piece. */
const WHOLE = { continues: false, more: false };

const LINES = ['wire', 'pty'] as const;
const settings = (echo: EchoSetting, line: (typeof LINES)[number] = 'wire') => ({
  echo,
  wireTime: line === 'wire' ? CHARACTER : 0,
  isFrame: (bytes: Uint8Array) => isRtuFrame(bytes),
  mayBeRequest,
});
const filterOn = (echo: EchoSetting, line?: (typeof LINES)[number]) => new EchoFilter(settings(echo, line));
const passed = (filter: EchoFilter, bytes: Uint8Array, at: number) => [...filter.received(bytes, at).bytes];

describe.each(['auto', 'yes'] as const)('an adapter that hears what it sends, with echo: %s', (echo) => {
  it.each(LINES)('has a reply taken out that can be no request, on a %s', (line) => {
    const filter = filterOn(echo, line);
    filter.sent(READ, ENDS, WHOLE);
    expect(filter.received(READ, LATER)).toEqual({ bytes: new Uint8Array(0), noticed: ['echo'] });
    filter.sent(WRITE, 108, WHOLE);
    expect(filter.received(WRITE, 100 + LATER)).toEqual({ bytes: new Uint8Array(0), noticed: ['echo'] });
  });

  it('has it taken out byte by byte too', () => {
    const filter = filterOn(echo);
    filter.sent(READ, ENDS, WHOLE);
    for (const [i, byte] of READ.entries()) expect(passed(filter, Uint8Array.of(byte), i)).toEqual([]);
    expect(passed(filter, REQUEST, 50)).toEqual([...REQUEST]);
  });

  it('has the copy of a write taken out that began on the wire before the reply was over', () => {
    const filter = filterOn(echo);
    filter.sent(WRITE, ENDS, WHOLE);
    // The FIFO has handed over all eight characters at once.
    expect(filter.received(WRITE, ENDS + 3.5).noticed).toEqual(['echo']);
  });

  it('passes on what follows its echo in the same chunk', () => {
    const filter = filterOn(echo);
    filter.sent(READ, ENDS, WHOLE);
    expect(passed(filter, Uint8Array.of(...READ, ...REQUEST), 30)).toEqual([...REQUEST]);
  });

  it('has the echo of a reply in pieces taken out, the first of which came back before the second was sent', () => {
    const filter = filterOn(echo);
    filter.sent(WRITE.subarray(0, 4), 4, { continues: false, more: true });
    expect(passed(filter, WRITE.subarray(0, 4), 5)).toEqual([]);
    filter.sent(WRITE.subarray(4), 14, { continues: true, more: false });
    expect(filter.received(WRITE.subarray(4), 15)).toEqual({ bytes: new Uint8Array(0), noticed: ['echo'] });
  });

  it('has the echoes of a reply taken out that was sent twice', () => {
    const filter = filterOn(echo);
    for (const endsAt of [ENDS, 2 * ENDS]) filter.sent(WRITE, endsAt, WHOLE);
    expect(filter.received(Uint8Array.of(...WRITE, ...WRITE), 20).noticed).toEqual(['echo', 'echo']);
  });

  it('may leave a stray byte before the echo, on a wire', () => {
    const filter = filterOn(echo);
    filter.sent(READ, ENDS, WHOLE);
    expect(passed(filter, Uint8Array.of(0, ...READ), 10)).toEqual([]);
  });

  it('still has the echo taken out of what was sent before the settings changed', () => {
    const filter = filterOn(echo);
    filter.sent(WRITE, ENDS, WHOLE);
    filter.change(settings(echo));
    expect(passed(filter, WRITE, ENDS + 3)).toEqual([]);
  });
});

describe('with echo: yes', () => {
  it.each(LINES)(
    'the first write is known as an echo, however late in the window it comes, on a %s',
    (line) => {
      const filter = filterOn('yes', line);
      filter.sent(WRITE, ENDS, WHOLE);
      expect(passed(filter, WRITE.subarray(0, 4), 900)).toEqual([]);
      expect(filter.received(WRITE.subarray(4), 901)).toEqual({
        bytes: new Uint8Array(0),
        noticed: ['echo'],
      });
    },
  );

  it('a client may repeat a write after its echo, or after the window when the echo was lost', () => {
    const filter = filterOn('yes');
    filter.sent(WRITE, ENDS, WHOLE);
    passed(filter, WRITE, ENDS + 1);
    expect(passed(filter, WRITE, 50)).toEqual([...WRITE]);
    filter.sent(WRITE, 108, WHOLE);
    filter.windowOver();
    expect(passed(filter, WRITE, 500)).toEqual([...WRITE]);
  });

  it('is not changed by echoes that do not come', () => {
    const filter = filterOn('yes');
    for (let i = 0; i < 10; i++) {
      filter.sent(READ, 100 * i + ENDS, WHOLE);
      filter.windowOver();
    }
    filter.sent(WRITE, 1008, WHOLE);
    expect(passed(filter, WRITE, 1000 + LATER)).toEqual([]);
  });

  it('takes out what a reply of a few bytes brings back', () => {
    const filter = filterOn('yes');
    filter.sent(WRITE.subarray(0, 3), 3, WHOLE);
    expect(passed(filter, WRITE.subarray(0, 3), 30)).toEqual([]);
  });
});

describe('with echo: no', () => {
  it.each(LINES)('a client may repeat a write as it likes, on a %s', (line) => {
    const filter = filterOn('no', line);
    for (let i = 0; i < 100; i++) {
      filter.sent(WRITE, 20 * i + ENDS, WHOLE);
      expect(filter.received(WRITE, 20 * i + 2 * ENDS)).toEqual({ bytes: WRITE, noticed: [] });
    }
  });

  it('nothing is held back, and what comes while we send is a collision, also a copy', () => {
    const filter = filterOn('no');
    filter.sent(WRITE, ENDS, WHOLE);
    expect(filter.received(WRITE.subarray(0, 3), 4)).toEqual({
      bytes: WRITE.subarray(0, 3),
      noticed: ['collision'],
    });
  });

  it('nothing of what was sent before the setting is waited for', () => {
    const filter = filterOn('auto');
    filter.sent(READ, ENDS, WHOLE);
    filter.change(settings('no'));
    expect(passed(filter, READ, LATER)).toEqual([...READ]);
  });
});

/** Lets the client repeat a write, or an echo come back, `after` ms behind the end of each reply; what is executed of it. */
function copies(filter: EchoFilter, times: number, after: number): boolean[] {
  return Array.from({ length: times }, (_, i) => {
    const at = 10_000 + 1000 * i;
    filter.sent(WRITE, at, WHOLE);
    return passed(filter, WRITE, at + after).length > 0;
  });
}

describe('with echo: auto, of copies of a write that may be a client or an echo', () => {
  it.each(LINES)('16 in a row are executed and no more, until something else comes, on a %s', (line) => {
    const filter = filterOn('auto', line);
    expect(copies(filter, 40, LATER)).toEqual(Array.from({ length: 40 }, (_, i) => i < 16));
    expect(passed(filter, WRITE, 100_000)).toEqual([...WRITE]);
    expect(copies(filter, 17, LATER)).toEqual(Array.from({ length: 17 }, (_, i) => i < 16));
  });

  it('the end of a loop is noticed once', () => {
    const filter = filterOn('auto');
    const noticed: string[] = [];
    for (let i = 0; i < 20; i++) {
      filter.sent(WRITE, 1000 * i, WHOLE);
      noticed.push(...filter.received(WRITE, 1000 * i + LATER).noticed);
    }
    expect(noticed).toEqual(['loop']);
  });

  it('a loop ends though each echo drags a stray byte behind it', () => {
    const filter = filterOn('auto');
    let executed = 0;
    for (let i = 0; i < 40; i++) {
      filter.sent(WRITE, 1000 * i, WHOLE);
      const bytes = passed(filter, Uint8Array.of(...WRITE, 0), 1000 * i + LATER);
      if (bytes.length >= WRITE.length) executed++;
    }
    expect(executed).toBe(16);
  });

  it.each([
    [1, true],
    [3, true],
    [4, false],
  ])('%i bytes behind each echo are noise: %j', (count, isNoise) => {
    const filter = filterOn('auto');
    let executed = 0;
    for (let i = 0; i < 40; i++) {
      filter.sent(WRITE, 1000 * i, WHOLE);
      if (passed(filter, Uint8Array.of(...WRITE, ...Array(count).fill(0)), 1000 * i + LATER).length > count)
        executed++;
    }
    expect(executed).toBe(isNoise ? 16 : 40);
  });

  it('noise that comes byte by byte between two copies is a message when it is longer than three bytes', () => {
    const filter = filterOn('auto');
    expect(copies(filter, 16, LATER)).not.toContain(false);
    for (let i = 0; i < 4; i++) passed(filter, Uint8Array.of(0), 50_000 + i);
    expect(copies(filter, 16, LATER)).not.toContain(false);
  });

  it('a loop of replies that are sent twice ends', () => {
    const filter = filterOn('auto');
    let executed = 0;
    for (let i = 0; i < 20; i++) {
      for (const endsAt of [8, 16]) filter.sent(WRITE, 1000 * i + endsAt, WHOLE);
      const bytes = passed(filter, Uint8Array.of(...WRITE, ...WRITE), 1000 * i + 50);
      executed += bytes.length / WRITE.length;
    }
    expect(executed).toBe(16);
  });

  it('all are executed when a client does something else now and then', () => {
    const filter = filterOn('auto');
    for (let round = 0; round < 10; round++) {
      expect(copies(filter, 16, LATER)).not.toContain(false);
      expect(passed(filter, REQUEST, 50_000)).toEqual([...REQUEST]);
    }
  });

  it.each([1, 5, 30, 1000])('all are executed that come after the window, or %i ms later', (wait) => {
    const filter = filterOn('auto');
    for (let i = 0; i < 50; i++) {
      filter.sent(WRITE, 2000 * i, WHOLE);
      filter.windowOver();
      expect(passed(filter, WRITE, 2000 * i + 250 + wait)).toEqual([...WRITE]);
    }
  });

  it('none is executed once an echo was heard for certain, until two replies do not come back', () => {
    const filter = filterOn('auto');
    filter.sent(READ, ENDS, WHOLE);
    filter.received(READ, LATER);
    expect(copies(filter, 3, LATER)).toEqual([false, false, false]);
    filter.sent(READ, 20_000, WHOLE);
    filter.windowOver();
    expect(copies(filter, 1, LATER)).toEqual([false]);
    for (const at of [30_000, 31_000]) {
      filter.sent(READ, at, WHOLE);
      passed(filter, REQUEST, at + LATER);
    }
    expect(copies(filter, 1, LATER)).toEqual([true]);
  });
});

describe('with echo: auto, on a line without echo', () => {
  it('no byte of a request is lost that begins like the reply', () => {
    const filter = filterOn('auto');
    filter.sent(READ, ENDS, WHOLE);
    expect(passed(filter, REQUEST.subarray(0, 2), 15)).toEqual([]);
    expect(passed(filter, REQUEST.subarray(2), 16)).toEqual([...REQUEST]);
  });

  it('what began like an echo is given back after a silence, and after the window', () => {
    for (const end of ['silence', 'windowOver'] as const) {
      const filter = filterOn('auto');
      filter.sent(READ, ENDS, WHOLE);
      expect(passed(filter, READ.subarray(0, 3), 15)).toEqual([]);
      expect([...filter[end]().bytes]).toEqual([...READ.subarray(0, 3)]);
    }
  });

  it('a client is not taken for an echo because its request begins like a reply that left byte by byte', () => {
    const filter = filterOn('auto');
    READ.forEach((byte, i) => {
      filter.sent(Uint8Array.of(byte), ENDS + i, { continues: i > 0, more: i + 1 < READ.length });
    });
    expect(passed(filter, REQUEST, 40)).toEqual([...REQUEST]);
  });

  it.each([1, 2, 4])(
    'a reply in pieces, the first of %i bytes, keeps no later write of the client from being executed',
    (cut) => {
      const filter = filterOn('auto');
      for (let i = 0; i < 4; i++) {
        const at = i * 1000;
        expect(passed(filter, WRITE, at)).toEqual([...WRITE]);
        filter.sent(WRITE.subarray(0, cut), at + 5, { continues: false, more: true });
        filter.sent(WRITE.subarray(cut), at + 10, { continues: true, more: false });
      }
    },
  );

  it('a request is whole that begins with all of a reply that was cut short', () => {
    const filter = filterOn('auto');
    for (let i = 0; i < 40; i++) {
      filter.sent(WRITE.subarray(0, 3), 1000 * i + 3, WHOLE);
      expect(passed(filter, WRITE, 1000 * i + LATER)).toEqual([...WRITE]);
    }
  });

  it.each([2 * ENDS, 2 * ENDS + 1])(
    'a client that repeats its write right after the reply, at %i ms, is not certainly an echo',
    (at) => {
      const filter = filterOn('auto');
      filter.sent(WRITE, ENDS, WHOLE);
      expect(passed(filter, WRITE, at)).toEqual([...WRITE]);
    },
  );
});

describe('a collision', () => {
  it.each(['auto', 'yes'] as const)(
    'is noticed when other bytes than ours come back while we send, with echo: %s',
    (echo) => {
      const filter = filterOn(echo);
      filter.sent(READ, ENDS, WHOLE);
      expect(passed(filter, READ.subarray(0, 2), 2)).toEqual([]);
      expect(filter.received(Uint8Array.of(0xff, 0xff), 3).noticed).toEqual(['collision']);
    },
  );

  it.each(['auto', 'yes', 'no'] as const)('is noticed once for each reply, with echo: %s', (echo) => {
    const filter = filterOn(echo);
    filter.sent(READ, 1020, WHOLE);
    expect(filter.received(REQUEST, 1015)).toEqual({ bytes: REQUEST, noticed: ['collision'] });
    expect(filter.received(REQUEST, 1016).noticed).toEqual([]);
    filter.sent(READ, 2020, WHOLE);
    // Eight characters that a FIFO handed over at once: the first of them began before the reply was over.
    expect(filter.received(REQUEST, 2021).noticed).toEqual(['collision']);
    filter.sent(READ, 3020, WHOLE);
    expect(filter.received(REQUEST, 3020 + REQUEST.length).noticed).toEqual([]);
  });

  it('is none on a line without a wire', () => {
    const filter = filterOn('no', 'pty');
    filter.sent(READ, 5, WHOLE);
    expect(filter.received(REQUEST, 5).noticed).toEqual([]);
  });
});
