import { describe, expect, it } from 'vitest';
import { catalogueIds } from '../../../src/document/catalogue-files.js';
import { CHECKS, chosenChecks } from '../../../src/testing/checks.js';
import { shownLater } from './observers.js';
import { SEVERAL } from './shapes.js';
import { inVirtualTime, newClientTest, testModelClient, untilOver, virtualBench } from './virtual-bench.js';

inVirtualTime();

const only = (...ids: readonly string[]) => ids.map((id) => `real-world.${id}`);

describe.each(['serial', 'tcp'] as const)('the real world on %s', (on) => {
  it('says of each entry what the client did, or why it shows nothing', async () => {
    const { finding } = await testModelClient({
      on,
      habits: { questions: SEVERAL },
      checks: only('busy-every-other', 'few-registers', 'map-off-by-one', 'only-function-6', 'sleeps'),
    });
    expect(finding('real-world.busy-every-other')).toMatchObject({ verdict: 'pass' });
    expect(finding('real-world.busy-every-other').summary).toMatch(
      /^retried after \d of \d requests \(\d with exception 6, \d without a reply\), and then polled as before/,
    );
    const open = {
      'few-registers': /^it never acted on any of the \d+ requests in/,
      'map-off-by-one': /valid, but with values of other registers, which no client can detect/,
      'only-function-6': /^does not apply: it affects writes, but the client only reads$/,
      sleeps:
        /^does not apply: it needs 30 s without a request, but the client was silent for at most \d+ ms$/,
    };
    for (const [id, summary] of Object.entries(open)) {
      expect(finding(`real-world.${id}`)).toMatchObject({ verdict: 'inconclusive' });
      expect(finding(`real-world.${id}`).summary).toMatch(summary);
    }
    const { source } = finding('real-world.sleeps').about ?? {};
    expect(source).toContain('https://github.com/node-modbus/stream/issues/66');
  });

  it('shows to an observer a client that takes exceptions for zeros, and one that takes valid nonsense', async () => {
    const habits = { mistakes: ['takes exceptions for zeros'] as const };
    const checks = only('gateway-gives-up', 'torn-value');
    const { report, finding } = await testModelClient({ on, habits, checks, observer: shownLater(300) });
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(['fail', 'fail']);
    expect(finding('real-world.gateway-gives-up').summary).toMatch(
      /^took a wrong value: the observer showed "0", which matches no good reply to that request/,
    );
    expect(report.conclusions).toContain('Takes a wrong value after torn-value.');
  });

  it('is inconclusive without an observer where a reply may have been taken', async () => {
    const { finding } = await testModelClient({ on, checks: only('torn-value') });
    expect(finding('real-world.torn-value')).toMatchObject({ verdict: 'inconclusive' });
    expect(finding('real-world.torn-value').summary).toContain('does not show whether it accepted them');
  });

  it('fails a client that stops', async () => {
    const habits = { mistakes: ['stops after an exception'] as const };
    const { finding, report } = await testModelClient({ on, habits, checks: only('gateway-gives-up') });
    expect(finding('real-world.gateway-gives-up')).toMatchObject({ verdict: 'fail' });
    expect(finding('real-world.gateway-gives-up').summary).toContain('it sent no request for');
    expect(report.conclusions).toContain('Does not recover from gateway-gives-up.');
  });

  it('says the same with the same seed', async () => {
    const wanted = { on, habits: { questions: SEVERAL }, observer: shownLater(300), seed: 7 };
    const checks = only('slower-than-default', 'last-byte-lost', 'busy-every-other', 'wrong-unit');
    const [first, second] = [
      await testModelClient({ ...wanted, checks }),
      await testModelClient({ ...wanted, checks }),
    ].map(({ report }) => report.findings.map(({ id, verdict, summary }) => ({ id, verdict, summary })));
    expect(first).toEqual(second);
  });

  it('leaves the devices and the rules as they were, also when it is stopped in the middle', async () => {
    const checks = only('needs-a-pause', 'late-by-one', 'holes-shift');
    for (const stopAfterMs of [undefined, 13_000, 16_000]) {
      const bench = await virtualBench(on);
      const { devices, faults } = bench.simulator;
      const manners = { wholeValues: true };
      for (const device of devices.values()) device.manners = manners;
      const before = faults.rules.list().map(({ rule }) => rule.name);
      const { clientTest } = newClientTest(bench, { checks });
      const seen = new Set<string>();
      let isOver = false;
      const look = () => {
        for (const device of devices.values())
          for (const key of Object.keys(device.manners ?? {})) seen.add(key);
        for (const { rule } of faults.rules.list()) seen.add(rule.name.replace(/-\d+$/, ''));
        if (!isOver) bench.clock.callAfter(50, look);
      };
      look();
      if (stopAfterMs !== undefined) bench.clock.callAfter(stopAfterMs, () => clientTest.stop());
      const client = bench.client();
      void client.poll();
      await untilOver(bench.clock, clientTest.run());
      isOver = true;
      client.stop();
      expect(seen.size).toBeGreaterThan(1);
      for (const device of devices.values()) expect(device.manners).toBe(manners);
      expect(faults.rules.list().map(({ rule }) => rule.name)).toEqual(before);
    }
  });
});

describe('the real world', () => {
  it('shows to an observer a client that takes a late reply for the next one', async () => {
    const mistakes = ['takes late replies', 'ignores the transaction identifier'] as const;
    // It gives up while the device still answers, and reads on over the same connection.
    const ask = (address: number) => ({ unitId: 1, pdu: Uint8Array.of(3, 0, address, 0, 2) });
    const questions = [ask(0), ask(10)];
    const habits = { questions, timeoutMs: 1000, attempts: 1, reconnectsOnGivingUp: false };
    const wanted = { on: 'tcp', observer: shownLater(100), checks: only('late-by-one') } as const;
    for (const seed of [1, 2, 3]) {
      const mistaken = await testModelClient({ ...wanted, seed, habits: { ...habits, mistakes } });
      expect(mistaken.finding('real-world.late-by-one')).toMatchObject({ verdict: 'fail' });
      const faultless = await testModelClient({ ...wanted, seed, habits });
      expect(faultless.finding('real-world.late-by-one').verdict).not.toBe('fail');
    }
  });

  it('names the entries that do not fit a line', async () => {
    const checks = only(
      'first-request-lost',
      'transaction-zero',
      'reboots-when-polled',
      'no-modbus-at-night',
    );
    const { report } = await testModelClient({ on: 'serial', checks });
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(checks.map(() => 'inconclusive'));
    expect(report.findings.map(({ summary }) => summary).sort()).toEqual([
      'does not apply: it affects connections, and line bus has none',
      'does not apply: it takes effect only 1320 min after it starts',
      'does not apply: line bus has no connection to close',
      'does not apply: line bus has no transaction identifiers',
    ]);
  });

  it('makes the client connect anew where an entry is about connections', async () => {
    const { report } = await testModelClient({
      on: 'tcp',
      checks: only('first-request-lost', 'deaf-after-early-request', 'locks-up-on-fast-reconnect'),
    });
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass']);
  });

  it('lets only the device of the unit that is tested misbehave', async () => {
    const bench = await virtualBench('tcp');
    const { devices, faults } = bench.simulator;
    const seen = new Set<string>();
    const look = () => {
      for (const [name, { manners }] of devices) if (manners) seen.add(`${name} ${Object.keys(manners)}`);
      for (const { rule } of faults.rules.list()) seen.add(`unit ${rule.when.unit}`);
      bench.clock.callAfter(50, look);
    };
    look();
    const checks = only('needs-a-pause', 'gateway-gives-up');
    const { clientTest } = newClientTest(bench, { checks, unitId: 2 });
    void bench.client({ questions: SEVERAL }).poll();
    await untilOver(bench.clock, clientTest.run());
    expect([...seen].sort()).toEqual(['relay pauseBefore', 'unit 2']);
  });

  it('is run only where it is named', async () => {
    const bench = await virtualBench('tcp');
    const line = bench.simulator.lines.get('bus');
    if (!line) throw new Error('no line');
    const ids = (names: readonly string[]) => {
      const chosen = chosenChecks(names, line);
      return chosen.ok ? chosen.value.map(({ id }) => id) : chosen.error;
    };
    expect(ids([])).not.toContain('real-world.sleeps');
    expect(ids(['real-world'])).toEqual(only(...catalogueIds()));
    expect(ids(['real-world.sleeps', 'poll-period'])).toEqual(['poll-period', 'real-world.sleeps']);
    expect(ids(['real-world.sleep'])).toMatch(
      /^unknown check "real-world\.sleep", did you mean "real-world\.sleeps"\?/,
    );
    expect(CHECKS.some(({ group }) => group === 'real-world')).toBe(false);
  });

  it('is refused with the reason where its line can not carry it, and with those of its group that it can', async () => {
    const line = (await virtualBench('tcp')).simulator.lines.get('bus');
    if (!line) throw new Error('no line');
    const whyNot = (id: string) => {
      const chosen = chosenChecks([id], line);
      return chosen.ok ? undefined : chosen.error;
    };
    expect(whyNot('wrong-crc')).toMatch(
      /^check wrong-crc can't be run on line bus: line bus has no CRC; checks in group damaged that can run on this line: truncated-reply, .*wrong-transaction/,
    );
    expect(whyNot('attempts')).toBe('check attempts is called retries');
    expect(whyNot('trickle-slow')).toMatch(/: it is for serial lines, but line bus is tcp; /);
  });
});
