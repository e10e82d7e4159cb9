import { describe, expect, it } from 'vitest';
import { type Measurements, percentiles } from '../../../src/testing/measure/measure.js';
import { verdict } from '../../../src/testing/measure/verdict.js';

const COUNTERS = {
  requests: 100,
  broadcasts: 0,
  dropped: 0,
  replies: 100,
  unsolicited: 0,
  duplicates: 0,
  echoes: 0,
  collisions: 0,
  foreignFrames: 0,
  damagedFrames: 0,
  noiseBytes: 0,
  damagedCharacters: 0,
  rejected: 0,
};

const NOBODY = { ...COUNTERS, requests: 0, replies: 0 };

/** Each of the samples four times: enough for a median to tell. */
function many(...samples: number[]): number[] {
  return [samples, samples, samples, samples].flat();
}

const GOOD: Measurements = {
  description: 'RTU on /dev/ttyUSB0 19200 8E1, units 1',
  slice: { kind: 'short' },
  cores: 2,
  own: undefined,
  seconds: 10,
  port: {
    adapter: { kind: 'ftdi', name: 'USB adapter (ftdi_sio)', fifoCharacters: 2, latencyMs: 1 },
    settings: '19200 8E1',
    lowLatency: true,
    parityMarks: true,
    direction: 'the adapter switches by itself',
  },
  times: { t15: 0.859, t35: 2.005, gap: 6, turnaround: 2.005, characterTime: 0.573 },
  timers: percentiles(many(0.01, 0.02, 0.4)),
  turnaround: percentiles(many(2.02, 2.1, 2.3)),
  chunks: [[8, 100]],
  longestPause: 1.2,
  counters: COUNTERS,
  echo: 'auto',
  overruns: 0,
};

describe('the verdict of a measurement', () => {
  it('is good when replies come when they are due', () => {
    const { ok, text } = verdict(GOOD);
    expect(ok).toBe(true);
    expect(text).toContain('settings    19200 8E1, read back from the driver');
    expect(text).toContain('due after 2.005 ms; median 2.100 ms');
    expect(text.split('\n').at(-1)).toBe('  verdict     as configured');
  });

  const advice =
    '; if other programs are busy, a real-time class helps: chrt --reset-on-fork --rr 20 COMMAND';
  const reason = 'sched_setattr failed: EPERM';

  it.each<[string, Partial<Measurements>, string]>([
    ['short time slices on two cores', {}, 'normal class, time slices of 0.1 ms'],
    ['short time slices on one core', { cores: 1 }, `normal class, time slices of 0.1 ms${advice}`],
    [
      'the time slices of the kernel',
      { slice: { kind: 'usual', reason } },
      `normal class, default time slices of the kernel: ${reason}${advice}`,
    ],
    ['a real-time class', { slice: { kind: 'realtime' }, cores: 1 }, 'real-time class'],
  ])('tells of %s, and advises a real-time class where it helps', (_, found, said) => {
    expect(verdict({ ...GOOD, ...found }).text.split('\n')).toContain(`  scheduler   ${said}`);
  });

  it.each<[string, Partial<Measurements>, string]>([
    [
      'a reply comes too early',
      { turnaround: percentiles([1.99, 2.1]) },
      'a reply came after 1.990 ms, before it was due',
    ],
    [
      'half of the replies come late',
      { turnaround: percentiles(many(2.1, 3.1, 3.2)) },
      'half of the replies came more than 1.095 ms late: is the machine busy?',
    ],
    [
      'the adapter keeps the pieces of a frame apart for longer than the discard gap',
      { longestPause: 16 },
      'frames arrive in pieces, 16.000 ms apart, and are discarded after 6.000 ms; set timing.gap higher',
    ],
    [
      'requests stay unanswered',
      { own: { asked: 100, answered: 97 } },
      '3 of 100 requests were not answered',
    ],
    [
      'frames of the built-in client are cut',
      { own: { asked: 6, answered: 4 }, longestPause: 16 },
      '2 of 6 requests were not answered; frames arrive in pieces, 16.000 ms apart',
    ],
    [
      'the line closes the connection of the built-in client',
      { own: { asked: 40, answered: 40, closed: { reason: undefined } } },
      'the line closed the connection of the built-in client after 40 requests',
    ],
    [
      'the line closes the connection for a known reason',
      { own: { asked: 0, answered: 0, closed: { reason: 'another client took its place' } } },
      'the line closed the connection of the built-in client after 0 requests: another client took its place',
    ],
    [
      'all of a few replies come late',
      { turnaround: percentiles([3.1, 3.2]) },
      'all 2 replies came more than 1.095 ms late',
    ],
    [
      'the only reply comes late',
      { turnaround: percentiles([3.1]) },
      'the only reply came more than 1.095 ms late',
    ],
    [
      'the timers are late, though nobody has asked yet',
      { timers: percentiles(many(0.1, 0.7, 0.8)), turnaround: undefined },
      'half of the waits ended more than 0.700 ms late: is the machine busy?',
    ],
    [
      'bytes came and no frame among them',
      { turnaround: undefined, counters: { ...NOBODY, noiseBytes: 400 } },
      'no valid frame was received: the baud rate, parity or wiring is wrong, or the adapter splits frames',
    ],
    [
      'only damaged characters came',
      { turnaround: undefined, counters: { ...NOBODY, damagedCharacters: 4 } },
      'no valid frame was received: the baud rate, parity or wiring is wrong',
    ],
    [
      'all frames are cut',
      { longestPause: 20, turnaround: undefined, counters: { ...NOBODY, noiseBytes: 400 } },
      'frames arrive in pieces, 20.000 ms apart',
    ],
  ])('is bad when %s', (_, change, reason) => {
    const { ok, text } = verdict({ ...GOOD, ...change });
    expect(ok).toBe(false);
    expect(text).toContain(`verdict     worse than configured: ${reason}`);
  });

  it('promises nothing about when an eager line replies', () => {
    const times = { t15: 0.859, t35: 2.005, gap: 6, turnaround: undefined, characterTime: 0.573 };
    const late = { turnaround: percentiles([0.2, 30]), timers: percentiles(many(3)) };
    expect(verdict({ ...GOOD, times, ...late }).ok).toBe(true);
  });

  it('says on how few replies it rests, and is not bad for one that was late', () => {
    const { ok, text } = verdict({ ...GOOD, turnaround: percentiles([2.1, 9, 9]) });
    expect(ok).toBe(true);
    expect(text).toContain('verdict     as configured, but this is based on 3 replies');
  });

  it('does not call frames cut that were all answered: a busy machine makes pauses, too', () => {
    const own = { asked: 100, answered: 100 };
    expect(verdict({ ...GOOD, own, longestPause: 16 }).ok).toBe(true);
  });

  it('says so when nobody asked', () => {
    const silent = { turnaround: undefined, chunks: [], longestPause: 0, counters: NOBODY };
    const { ok, text } = verdict({ ...GOOD, ...silent });
    expect(ok).toBe(true);
    expect(text).toContain('requests    none received within 10 s');
    expect(text).toContain('chunks      none; longest pause inside a frame 0.000 ms, discard gap 6.000 ms');
    expect(text).toContain('verdict     no problem found, but no client sent requests');
  });

  it('says so when only others were asked, whatever noise came with it', () => {
    const counters = { ...NOBODY, foreignFrames: 20, noiseBytes: 3 };
    const { ok, text } = verdict({ ...GOOD, turnaround: undefined, counters });
    expect(ok).toBe(true);
    expect(text).toContain('verdict     frames were received, but none for the units of this line');
    expect(text).not.toContain('nothing wrong');
  });

  it('tells how many requests of its own were asked and answered', () => {
    const { text } = verdict({ ...GOOD, own: { asked: 500, answered: 499 } });
    expect(text).toContain('requests    500 from the built-in client, 499 answered');
  });

  it('tells what is wrong on the bus without blaming the line', () => {
    const { ok, text } = verdict({ ...GOOD, overruns: 2, counters: { ...COUNTERS, noiseBytes: 7 } });
    expect(ok).toBe(true);
    expect(text).toContain('7 bytes that do not belong to a valid frame: check baud rate, parity, wiring');
    expect(text).toContain('2 characters were lost, in the UART or because');
  });

  it.each([
    ['auto', 100, '100 of 100 replies came back: set echo: yes for this line'],
    ['auto', 0, '0 of 100 replies came back: if you set echo: no, clients can repeat a write at any time'],
    ['yes', 99, '99 of 100 replies came back (echo: yes)'],
    ['yes', 0, '0 of 100 replies came back: set echo: no for this line'],
  ] as const)('says which echo the line needs: %s, and %i replies came back', (echo, echoes, advice) => {
    const counters = { ...COUNTERS, replies: 100, echoes };
    expect(verdict({ ...GOOD, echo, counters }).text).toContain(`echo        ${advice}`);
  });

  it('says that collisions may be echoes where none are looked for', () => {
    const counters = { ...COUNTERS, collisions: 3 };
    expect(verdict({ ...GOOD, echo: 'no', counters }).text).toContain('this line needs echo: yes');
    expect(verdict({ ...GOOD, echo: 'no' }).text).not.toContain('  echo ');
  });
});

describe('percentiles', () => {
  it('of nothing are nothing', () => {
    expect(percentiles([])).toBeUndefined();
  });

  it('are taken from the sorted samples', () => {
    const samples = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect(percentiles(samples)).toEqual({ count: 100, min: 1, median: 51, p99: 100, max: 100 });
  });
});
