import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { type Framing, RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import type { Step, StepReport } from '../../../src/modbus/protocol/reply-plan.js';
import type { EventOf, NewEvent, TrafficEvent } from '../../../src/simulator/traffic/event.js';
import { newestFirst } from '../../../src/simulator/traffic/reading.js';
import { DEFAULT_LIMITS, TrafficStream } from '../../../src/simulator/traffic/stream.js';

const WALL = 1_790_000_000_000;

function streamOf(limits = DEFAULT_LIMITS) {
  const stream = new TrafficStream(limits, () => WALL);
  return { stream, line: stream.lineNumber('bench') };
}

const notice = (at: number): NewEvent => ({ kind: 'echo', at, count: 1, isRest: false });

const time = fc.double({ min: 0, max: 1e12, noNaN: true });
const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 40 }));
const byte = fc.integer({ min: 0, max: 255 });
const framing = fc.constantFrom<Framing>(
  RTU,
  SOCKET,
  new AsciiFraming(),
  new AsciiFraming().withDelimiter(0x3b) as Framing,
);
const client = fc.oneof(
  fc.constant({ client: undefined, clientId: 0 }),
  fc.record({
    client: fc.string({ minLength: 1, maxLength: 40 }),
    clientId: fc.integer({ min: 1, max: 1e9 }),
  }),
);
const received = {
  bytes: bytes(600),
  framing,
  startedAt: time,
  pause: fc.option(time, { nil: undefined }),
  characterTime: fc.constantFrom(0, 0.087, 1.0416),
};

const frame = fc
  .record({
    kind: fc.constantFrom<
      EventOf<'request'>['kind'] | 'foreign request' | 'foreign response' | 'duplicate' | 'dropped'
    >('request', 'foreign request', 'foreign response', 'duplicate', 'dropped'),
    at: time,
    ...received,
    unitId: byte,
    functionCode: byte,
    answers: fc.option(fc.record({ seq: fc.integer({ min: 1 }), after: time }), { nil: undefined }),
  })
  .chain((event) => client.map((of) => ({ ...event, ...of }) as NewEvent));

const damage = fc
  .record({ kind: fc.constantFrom('damaged', 'discarded'), at: time, ...received, isRest: fc.boolean() })
  .chain((event) => client.map((of) => ({ ...event, ...of }) as NewEvent));

const unsolicited = fc
  .record({ kind: fc.constant('unsolicited'), at: time, ...received })
  .chain((event) => client.map((of) => ({ ...event, ...of }) as NewEvent));

const step = fc.oneof(
  fc.record({ kind: fc.constant('bytes'), waitMs: time, bytes: bytes(2000), continues: fc.boolean() }),
  fc.record({ kind: fc.constant('break'), waitMs: time, ms: time }),
  fc.record({ kind: fc.constant('close'), waitMs: time, how: fc.constantFrom('end', 'reset') }),
) as fc.Arbitrary<Step>;

const stepReport = fc.oneof(
  fc.record({
    plannedAt: time,
    achievedAt: time,
    endedAt: time,
    uncertainty: fc.option(time, { nil: undefined }),
    outcome: fc.constant('achieved'),
  }),
  fc.record({
    plannedAt: time,
    achievedAt: time,
    endedAt: time,
    uncertainty: fc.constant(undefined),
    outcome: fc.constant('not achieved'),
    reason: fc.string({ minLength: 1, maxLength: 60 }),
  }),
) as fc.Arbitrary<StepReport>;

const reply = fc
  .record({
    kind: fc.constant('reply'),
    at: time,
    framing,
    request: fc.integer({ min: 1 }),
    requestAdu: bytes(513),
    requestedAt: time,
    unitId: byte,
    functionCode: byte,
    acted: fc.array(
      fc.oneof(
        fc.record({ rule: text, kind: text }),
        fc.record({ rule: text, kind: text, notAchieved: fc.string({ minLength: 1 }) }),
      ),
      { maxLength: 64 },
    ),
    omittedFaults: fc.integer({ min: 0, max: 16_384 }),
  })
  .chain((event) =>
    fc
      .tuple(client, fc.array(fc.tuple(step, stepReport), { minLength: 1, maxLength: 20 }), fc.boolean())
      .map(([of, steps, early]) => ({
        ...event,
        ...of,
        plan: { kind: 'send', early, steps: steps.map(([planned]) => planned) },
        report: { steps: steps.map(([, done]) => done), ended: 'superseded' },
      })),
  ) as fc.Arbitrary<NewEvent>;

const silent = fc.record({ reason: text, at: time }).map(
  ({ reason, at }): NewEvent => ({
    kind: 'reply',
    at,
    client: undefined,
    clientId: 0,
    framing: RTU,
    request: 1,
    requestAdu: Uint8Array.of(1, 3),
    requestedAt: at,
    unitId: 1,
    functionCode: 3,
    plan: { kind: 'silence', reason },
    report: { steps: [], ended: 'complete' },
    acted: [],
    omittedFaults: 0,
  }),
);

const other = fc.oneof(
  fc.record({
    kind: fc.constant('test'),
    at: time,
    test: fc.integer({ min: 1, max: 1e9 }),
    state: fc.constantFrom('began', 'step', 'over'),
    text,
  }),
  fc.record({ kind: fc.constant('line'), at: time, state: fc.constantFrom('open', 'lost', 'stopped'), text }),
  fc.record({
    kind: fc.constantFrom('echo', 'loop', 'collision', 'overrun', 'damaged characters'),
    at: time,
    count: fc.nat(),
    isRest: fc.boolean(),
  }),
  fc
    .oneof(
      fc.record({ kind: fc.constantFrom('client', 'client gone'), at: time, text }),
      fc.record({
        kind: fc.constant('client rejected'),
        at: time,
        reason: fc.constantFrom('protocol', 'idle', 'slow', 'limit', 'tls'),
        text,
      }),
    )
    .chain((event) => client.map((of) => ({ ...event, ...of }))),
) as fc.Arbitrary<NewEvent>;

describe('the traffic', () => {
  it('keeps every event as it was', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(frame, damage, unsolicited, reply, silent, other), { maxLength: 20 }),
        (events) => {
          const { stream, line } = streamOf();
          events.forEach((event, i) => {
            expect(stream.add(line, event)).toBe(i + 1);
          });
          events.forEach((event, i) => {
            const place = { seq: i + 1, line: 'bench', time: event.at + WALL };
            expect(stream.read(i + 1)).toEqual({ ...event, ...place });
            expect(stream.outline(i + 1)).toEqual({
              kind: event.kind,
              line: 'bench',
              time: event.at + WALL,
              unitId: 'unitId' in event ? event.unitId : undefined,
              functionCode: 'functionCode' in event ? event.functionCode : undefined,
            });
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('tells its listeners the same as its readers, until they leave', () => {
    const { stream, line } = streamOf();
    const told: TrafficEvent[] = [];
    const leave = stream.subscribe((event) => told.push(event));
    stream.add(line, notice(1));
    stream.add(line, { kind: 'line', at: 2, state: 'open', text: '/dev/pts/7' });
    leave();
    stream.add(line, notice(3));
    expect(told).toEqual([stream.read(1), stream.read(2)]);
  });

  it('keeps as many events as it may', () => {
    const { stream, line } = streamOf({ events: 10, bytes: 64 * 1024 * 1024 });
    for (let i = 0; i < 25; i++) stream.add(line, notice(i));
    expect([stream.first, stream.last]).toEqual([16, 25]);
    expect(stream.read(15)).toBeUndefined();
    expect(stream.outline(15)).toBeUndefined();
    expect(stream.read(16)).toMatchObject({ at: 15 });
    expect(stream.read(26)).toBeUndefined();
  });

  it('keeps as much memory as it may, and the newest event however long it is', () => {
    const limit = 2 * 1024 * 1024;
    const { stream, line } = streamOf({ events: 1e9, bytes: limit });
    let largest = 0;
    for (let i = 1; i <= 30_000; i++) {
      stream.add(line, {
        kind: 'discarded',
        at: i,
        client: undefined,
        clientId: 0,
        bytes: new Uint8Array(i === 20_000 ? 3 * limit : i % 500).fill(i),
        framing: RTU,
        startedAt: i,
        pause: undefined,
        characterTime: 1,
        isRest: false,
      });
      if (i === 20_000) expect([stream.first, stream.last]).toEqual([i, i]);
      else largest = Math.max(largest, stream.size);
    }
    expect(largest).toBeLessThanOrEqual(limit);
    const kept = Array.from(newestFirst(stream, ['discarded']));
    expect(kept).toHaveLength(stream.last - stream.first + 1);
    const changed = kept.filter(
      ({ seq, bytes }) => Buffer.compare(bytes, new Uint8Array(seq % 500).fill(seq)) !== 0,
    );
    expect(changed).toEqual([]);
  });

  it('keeps nothing when it may keep nothing, and still counts and tells', () => {
    const { stream, line } = streamOf({ events: 0, bytes: 0 });
    const told: number[] = [];
    stream.subscribe(({ seq }) => told.push(seq));
    expect(stream.add(line, notice(1))).toBe(1);
    expect(stream.add(line, notice(1))).toBe(2);
    expect([stream.first, stream.last, stream.size, stream.read(2)]).toEqual([3, 2, 0, undefined]);
    expect(told).toEqual([1, 2]);
  });

  it('goes on counting after it was cleared', () => {
    const { stream, line } = streamOf();
    stream.add(line, notice(1));
    stream.clear();
    expect([stream.first, stream.last, stream.size]).toEqual([2, 1, 0]);
    expect(stream.add(line, notice(2))).toBe(2);
    expect(stream.read(2)).toMatchObject({ at: 2 });
  });

  it('follows the wall clock when that is set', () => {
    let wall = WALL;
    const stream = new TrafficStream(DEFAULT_LIMITS, () => wall);
    const line = stream.lineNumber('bench');
    stream.add(line, notice(10));
    wall += 3_600_000;
    stream.add(line, notice(500));
    stream.add(line, notice(2000));
    expect([1, 2, 3].map((seq) => stream.read(seq)?.time)).toEqual([WALL + 10, WALL + 500, wall + 2000]);
  });

  it('lists the newest first, of the kinds that are asked for, and leaves out what is gone meanwhile', () => {
    const { stream, line } = streamOf({ events: 4, bytes: 64 * 1024 * 1024 });
    for (let i = 1; i <= 4; i++) {
      stream.add(line, i % 2 ? notice(i) : { kind: 'line', at: i, state: 'open', text: '' });
    }
    expect(Array.from(newestFirst(stream, ['line']), ({ seq }) => seq)).toEqual([4, 2]);
    expect(
      Array.from(newestFirst(stream, ['line', 'echo'], { after: 1, until: 3 }), ({ seq }) => seq),
    ).toEqual([3, 2]);
    const slow = newestFirst(stream, ['line']);
    expect(slow.next().value?.seq).toBe(4);
    for (let i = 5; i <= 8; i++) stream.add(line, notice(i));
    expect(slow.next().done).toBe(true);
  });
});
