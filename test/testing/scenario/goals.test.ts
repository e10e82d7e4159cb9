import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/common/random.js';
import { SOCKET } from '../../../src/modbus/protocol/framing.js';
import type { FrameEvent } from '../../../src/simulator/traffic/event.js';
import { type GoalWatch, RhythmWatch } from '../../../src/testing/scenario/goal.js';
import { InOrder } from '../../../src/testing/scenario/in-order.js';
import { matches } from '../../../src/testing/scenario/matcher.js';
import { type NextPoll, PollIntervals } from '../../../src/testing/scenario/retry-or-poll.js';
import type { Goal, Scenario } from '../../../src/testing/scenario/scenario.js';
import { type Seen, seenOf } from '../../../src/testing/scenario/seen.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { newLocalSimulator, read } from './read.js';

const bench = newLocalSimulator();
let seq = 0;

/** A request at a time, as the stream would tell it. */
function request(
  at: number,
  unitId: number,
  pdu = '03 00 00 00 01',
  kind: FrameEvent['kind'] = 'request',
): Seen {
  const bytes = SOCKET.encode({ unitId, transactionId: ++seq, pdu: bytesOf(pdu) });
  const event: FrameEvent = {
    kind,
    seq,
    line: 'bus',
    at,
    time: at,
    client: undefined,
    clientId: 1,
    bytes,
    framing: SOCKET,
    startedAt: at,
    pause: undefined,
    characterTime: 0,
    unitId,
    functionCode: bytes[7] as number,
    answers: undefined,
  };
  return seenOf(event, (line, unit) => bench.lines.get(line)?.bus.deviceAt(unit)) as Seen;
}

/** A scenario is read once, however often its goal is watched. */
const goals = new Map<string, Goal>();

function goalOf(expected: unknown, others: object = {}): Goal {
  const key = JSON.stringify([expected, others]);
  const goal = goals.get(key) ?? readGoal(expected, others);
  goals.set(key, goal);
  return goal;
}

function readGoal(expected: unknown, others: object): Goal {
  const scenario = read({ steps: [{ expect: expected, ...others }] });
  if (Array.isArray(scenario)) throw new Error(scenario.join('\n'));
  return (scenario as Scenario).steps[0]?.goal as Goal;
}

/** What becomes of an expectation that begins at 0 and sees these requests; undefined while it goes on. */
function watch(
  expected: unknown,
  seen: readonly Seen[],
  {
    spoilt = [] as Seen[],
    others = {},
    nextPoll = { earliest: 100, latest: 150, soonest: 0, isInTurn: false, usual: 125 } as
      | NextPoll
      | undefined,
  } = {},
) {
  const hasFault = spoilt.length > 0;
  const fault = hasFault ? { fault: { do: [{ silence: true }] } } : {};
  const goal = goalOf(expected, { ...fault, ...others });
  if (goal.kind === 'wait') throw new Error('a goal was expected');
  const watched: GoalWatch =
    goal.kind === 'order'
      ? new InOrder(goal.items, {
          at: 0,
          within: goal.within,
          ...(hasFault && { polls: { after: () => nextPoll } }),
        })
      : new RhythmWatch(goal, 0, goal.within);
  for (const each of seen) {
    const ended = watched.see(each, spoilt.includes(each));
    if (ended) return { ...ended, early: true };
  }
  return { ...watched.timeUp(), early: false };
}

describe('an expectation', () => {
  it.each<[what: string, expected: object, pdu: string, isMeant: boolean]>([
    ['a function', { function: 4 }, '03 00 00 00 01', false],
    ['an address that is read among others', { address: 5 }, '03 00 00 00 0a', true],
    ['an address beyond them', { address: 10 }, '03 00 00 00 0a', false],
    ['a quantity', { quantity: 2 }, '03 00 00 00 02', true],
    ['a name', { name: 'meter.limit' }, '03 00 0b 00 01', true],
    ['a name of another table', { name: 'meter.limit' }, '04 00 0b 00 01', false],
    ['a value by name', { write: { 'meter.voltage': 260 } }, '06 00 00 01 04', true],
    ['another value', { write: { 'meter.voltage': 260 } }, '06 00 00 01 05', false],
    ['a value of two registers', { write: { 'meter.limit': 1.5 } }, '10 00 0a 00 02 04 3f c0 00 00', true],
    ['half of a value', { write: { 'meter.limit': 1.5 } }, '06 00 0a 3f c0', false],
    ['any write of a value', { write: 'meter.limit' }, '06 00 0a 12 34', true],
    ['a write by address', { write: { 'holding 1': [2, 3] } }, '10 00 00 00 03 06 00 01 00 02 00 03', true],
    ['a write to another table', { write: { 'coils 0': 1 } }, '06 00 00 00 01', false],
    ['a bit by name', { name: 'meter.status.overload' }, '03 00 0c 00 01', true],
    ['a bit that is set among others', { write: { 'meter.status.overload': 1 } }, '06 00 0c 00 0a', true],
    ['a bit that is not set', { write: { 'meter.status.overload': 1 } }, '06 00 0c 00 02', false],
    ['a bit that is cleared', { write: { 'meter.status.overload': 0 } }, '06 00 0c 00 01', true],
    ['a write to another device', { write: { 'relay.coil': 1 } }, '05 00 00 ff 00', false],
  ])('finds %s', (_, expected, pdu, isMeant) => {
    const goal = goalOf(expected);
    const matcher = goal.kind === 'order' ? goal.items[0]?.matcher : undefined;
    expect(matcher && matches(matcher, request(0, 1, pdu))).toBe(isMeant);
  });

  it('passes as soon as the request comes, and names its frame', () => {
    const [other, wanted] = [request(10, 2), request(250, 1)];
    expect(watch({ unit: 1 }, [other, wanted])).toEqual({
      verdict: 'pass',
      text: `came 250 ms after the step began (frame ${wanted.event.seq})`,
      early: true,
    });
  });

  it('says what was wanted when it does not come', () => {
    expect(watch({ unit: 1, function: 3 }, [request(10, 2)], { others: { within: '2s' } })).toMatchObject({
      verdict: 'fail',
      missed: {
        expected: 'a request with unit 1, function 3',
        received: expect.stringMatching(
          /^none within the 2 s of the step; nearest was unit 2 read holding registers 0 \(frame \d+\): unit 2, not 1$/,
        ),
      },
    });
  });

  it('wants the entries of a list in their order, whatever comes between them', () => {
    const list = [{ unit: 1, times: 3 }, { unit: 2 }];
    const ones = [request(1, 1), request(2, 1), request(3, 1)];
    expect(watch(list, [...ones, request(4, 7), request(5, 2)])).toMatchObject({
      verdict: 'pass',
      early: true,
    });
    expect(watch(list, [request(0, 2), ...ones, request(5, 2)])).toMatchObject({ verdict: 'pass' });
    expect(watch(list, [request(1, 1), request(2, 1), request(3, 2)])).toMatchObject({
      verdict: 'fail',
      missed: {
        expected: 'a request with unit 1 3 times (1 of 2)',
        received: expect.stringMatching(
          /^2 times \(frames \d+, \d+\), then a request with unit 2 \(frame \d+\)$/,
        ),
        frame: expect.any(Number),
      },
    });
    expect(watch(list, [...ones, request(4, 1)])).toMatchObject({
      verdict: 'fail',
      missed: { received: expect.stringMatching(/^4 times \(frames \d+, \d+, \d+, \d+\)$/) },
    });
  });

  it('waits to the end when a number of times may not be exceeded', () => {
    const three = [request(1, 1), request(2, 1), request(3, 1)];
    expect(watch({ unit: 1, times: 3 }, three)).toMatchObject({ verdict: 'pass', early: false });
    expect(watch({ unit: 1, times: { min: 2 } }, three)).toMatchObject({ verdict: 'pass', early: true });
    expect(watch({ unit: 1, times: { max: 2 } }, three)).toMatchObject({ verdict: 'fail', early: true });
    expect(watch({ unit: 1, times: 4 }, three)).toMatchObject({
      verdict: 'fail',
      missed: { received: expect.stringMatching(/^3 times \(frames \d+, \d+, \d+\) within/) },
    });
  });

  it('takes only the disturbed request for the same, with another transaction identifier', () => {
    const [before, spoilt, other, again] = [request(1, 1), request(5, 1), request(6, 2), request(9, 1)];
    expect(watch({ same: true }, [before, spoilt, other, again], { spoilt: [spoilt] })).toMatchObject({
      verdict: 'pass',
      text: expect.stringContaining(`frames ${spoilt.event.seq} to ${again.event.seq}`),
    });
    expect(watch({ same: true }, [before, spoilt, other], { spoilt: [spoilt] })).toMatchObject({
      verdict: 'fail',
      missed: { expected: 'the same request again' },
    });
  });

  it('fails when the request comes too soon', () => {
    const [spoilt, again] = [request(5, 1), request(30, 1)];
    expect(watch({ same: true, after: 50 }, [spoilt, again], { spoilt: [spoilt] })).toMatchObject({
      verdict: 'fail',
      missed: {
        expected: 'the same request again, after 50 ms or more',
        received: expect.stringMatching(/^frame \d+, 25 ms after the disturbed request \(frame \d+\)$/),
        frame: again.event.seq,
      },
    });
  });
});

describe('a client that gives up its round when no reply comes, and begins the next one at its time', () => {
  it.each([0, 2, 10, 50])('has not asked again, with %i ms of jitter', (jitter) => {
    const random = seededRandom(7, 0);
    const period = () => 400 + jitter * (random.next() - 0.5);
    for (let trial = 0; trial < 500; trial++) {
      const polls = new PollIntervals();
      let at = 0;
      const next = (unitId: number) => {
        const seen = request(at, unitId);
        polls.see(seen, false);
        return seen;
      };
      for (let round = 0; round < 6; round++) {
        next(1);
        next(2);
        at += period();
      }
      const spoilt = next(1);
      const nextPoll = polls.after(spoilt);
      at += period();
      expect(watch({ same: true }, [spoilt, next(1)], { spoilt: [spoilt], nextPoll })).toMatchObject({
        verdict: 'inconclusive',
      });
    }
  });
});

describe('a rhythm', () => {
  const expected = { unit: 1, every: '1s', tolerance: '100ms', for: '3s' };
  const at = (...times: number[]) => times.map((time) => request(time, 1));

  it('passes when every pause is within the tolerance for the whole time', () => {
    expect(watch(expected, at(400, 1450, 2400, 3450, 4400, 5400))).toMatchObject({
      verdict: 'pass',
      text: expect.stringMatching(/requests, 950 ms to 1.05 s apart/),
    });
  });

  it('fails when one comes too late, too soon, or not at all', () => {
    expect(watch(expected, at(0, 1000, 2200))).toMatchObject({
      verdict: 'fail',
      missed: { received: expect.stringMatching(/^1.2 s between frames/) },
    });
    expect(watch(expected, at(0, 1000, 1500))).toMatchObject({
      verdict: 'fail',
      missed: { received: expect.stringMatching(/^500 ms between frames/) },
    });
    expect(watch(expected, at(0, 1000))).toMatchObject({
      verdict: 'fail',
      missed: { received: expect.stringMatching(/^none for 1.1 s after frame/) },
    });
    expect(watch(expected, [])).toMatchObject({
      verdict: 'fail',
      missed: { received: 'none within 10 s' },
    });
  });
});
