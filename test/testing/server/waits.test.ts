import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMIT_MS } from '../../../src/testing/server/bench.js';
import { textOf } from '../../../src/testing/server/check.js';
import type { ServerTest } from '../../../src/testing/server/server-test.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { DELAY_MS, device, reply, rtu, rtuFrame, tcp, testPlanted } from './planted.js';

/* How long a server test waits, for a reply and in all, and what it says where this machine itself is late. */

const violations = ({ findings }: ServerTest) =>
  findings.flatMap((each) => (each.verdict === 'violates' ? [`${each.check.id}: ${textOf(each)}`] : []));
const answering = (ms: (isRefused: boolean) => number) =>
  tcp((asked, peer, answer) => {
    const pdu = answer(asked.pdu);
    reply(asked, peer, pdu, ms((pdu?.[0] ?? 0) > 0x7f));
  });

describe('a reply', () => {
  it('may take seconds where it refuses: nobody is accused of silence', async () => {
    const serverTest = await testPlanted(
      'tcp',
      answering((isRefused) => (isRefused ? 3000 : DELAY_MS)),
      {
        checks: ['address-unknown', 'function-unknown', 'fc03-quantity-0', 'fc43-basic'],
      },
    );
    expect(violations(serverTest)).toEqual([]);
    expect(serverTest.facts.functions.missing).toContain(43);
  });

  it('of 8 s is heard with --timeout alone', async () => {
    const checks = ['address-unknown', 'frames'];
    const slow = () => answering(() => 8000);
    expect((await testPlanted('tcp', slow(), { checks })).isReached).toBe(false);
    const serverTest = await testPlanted('tcp', slow(), { checks, timeoutMs: 10_000 });
    expect(serverTest.isReached).toBe(true);
    expect(violations(serverTest)).toEqual([]);
  });
});

describe('the limit', () => {
  it('ends with what is known: writes first, and what is judged by all exchanges', async () => {
    const scratch = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 40 } };
    const serverTest = await testPlanted(
      'tcp',
      answering(() => 700),
      { scratch, limitMs: 100_000 },
    );
    const of = (id: string) => serverTest.findings.find(({ check }) => check.id === id);
    // Values are put back behind the limit.
    expect(serverTest.durationMs).toBeLessThan(150_000);
    expect(of('fc16-echo')?.verdict).toBe('conforms');
    expect(of('frames')?.verdict).toBe('conforms');
    expect(of('repeat-block')?.said).toEqual({ code: 'limit-reached', limitMs: 100_000 });
    expect(serverTest.isStopped).toBe(false);
    expect(serverTest.lost).toEqual([]);
  });

  it('ends a check that would take longer: the search for the other units of a bus whose server is slow', async () => {
    const slow = rtu({ respond: ({ unitId }, peer, pdu) => peer.send(rtuFrame(unitId, pdu), 700) });
    const scratch = { holding: { first: 0, last: 9 } };
    const limitMs = 60_000;
    const checks = ['frames', 'rtu-broadcast-write'];
    const serverTest = await testPlanted('rtu', slow, { scratch, limitMs, checks, broadcast: true });
    const of = (id: string) => serverTest.findings.find(({ check }) => check.id === id);
    expect(of('rtu-broadcast-write')).toMatchObject({
      verdict: 'not-run',
      said: { code: 'limit-reached', limitMs },
    });
    expect(of('frames')?.verdict).toBe('conforms');
    expect(serverTest.durationMs).toBeLessThan(limitMs + 15_000);
    expect(serverTest.isStopped).toBe(false);
    expect(violations(serverTest)).toEqual([]);
  });

  it('leaves what a check has silenced to that check, not to the next one', async () => {
    const answer = device();
    let isMute = false;
    const falls = tcp(undefined, (pdu) => {
      isMute ||= pdu[0] === 0x63;
      return isMute ? undefined : answer(pdu);
    });
    // Ends while the first unknown function is waited for.
    const serverTest = await testPlanted('tcp', falls, {
      limitMs: 2_000,
      soakMs: 5_000,
      checks: ['function-unknown', 'soak'],
    });
    const of = (id: string) => serverTest.findings.find(({ check }) => check.id === id);
    expect(of('function-unknown')?.said.code).toBe('stopped-answering');
    expect(of('soak')).toMatchObject({ verdict: 'not-run' });
  });

  it('of four minutes is enough for a server that takes 0.7 s, without writes', async () => {
    const serverTest = await testPlanted(
      'tcp',
      answering(() => 700),
      { limitMs: DEFAULT_LIMIT_MS },
    );
    const left = serverTest.findings.filter(({ said }) => said.code === 'limit-reached');
    expect(left.map(({ check }) => check.id)).toEqual([]);
    expect(serverTest.durationMs).toBeLessThan(300_000);
  });
});

it('what is missing while this machine is late is not decided', async () => {
  const clock = new VirtualClock();
  clock.lateBy = (at) => (at > 1000 ? 340 : 0);
  const answer = device();
  const mute = tcp(undefined, (pdu) => (pdu[0] === 0x63 ? undefined : answer(pdu)));
  const serverTest = await testPlanted('tcp', mute, { checks: ['function-unknown'] }, { clock });
  const [finding] = serverTest.findings.filter(({ check }) => check.id === 'function-unknown');
  expect(finding?.verdict).toBe('inconclusive');
  expect(finding && textOf(finding)).toContain('this machine was 340 ms late');
});

it('what was missing while this machine was late is asked again, and counts when it comes', async () => {
  const clock = new VirtualClock();
  let asked = 0;
  clock.lateBy = () => (asked > 0 && asked <= 2 ? 340 : 0);
  const answer = device();
  const muteFirst = tcp(undefined, (pdu) => (pdu[0] === 0x63 && ++asked <= 2 ? undefined : answer(pdu)));
  const serverTest = await testPlanted('tcp', muteFirst, { checks: ['function-unknown'] }, { clock });
  const [finding] = serverTest.findings.filter(({ check }) => check.id === 'function-unknown');
  expect(asked).toBeGreaterThan(1);
  expect(finding?.verdict).toBe('conforms');
});
