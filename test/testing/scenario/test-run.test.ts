import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Device } from '../../../src/device/device.js';
import type { Report } from '../../../src/testing/report/report.js';
import { TestRun } from '../../../src/testing/scenario/test-run.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { type RawClient, until } from '../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../support/configuration.js';
import { exchangesOf } from '../../support/exchanges.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';
import { BENCH, scenarioOf } from './read.js';

stopAfterEach();

/** A client that does what the test says, on the TCP line of the bench. */
class Scripted {
  readonly #client: RawClient;
  #transaction = 0;

  constructor(running: RunningSimulator) {
    this.#client = running.client();
  }

  ask(unitId: number, pdu = '03 00 00 00 01'): void {
    const body = bytesOf(pdu);
    const id = ++this.#transaction;
    this.#client.send(Uint8Array.of(id >> 8, id & 0xff, 0, 0, 0, body.length + 1, unitId, ...body));
  }

  /** Asks again and again until the test is over. */
  async poll(over: Promise<unknown>, unitIds: readonly number[], pdu?: string): Promise<void> {
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    for (let i = 0; !isOver; i++) {
      this.ask(unitIds[i % unitIds.length] as number, pdu);
      await sleep(10);
    }
  }
}

async function bench() {
  const running = await startSimulator(nativeSetup(BENCH));
  const client = new Scripted(running);
  const runOf = (source: object) =>
    new TestRun(running.simulator, scenarioOf({ name: 'a test', ...source }, running.simulator));
  return { running, client, runOf };
}

const verdicts = ({ findings }: Report) => findings.map(({ verdict }) => verdict);

describe('a test', () => {
  it('expects what passes the text of a filter: requests, or replies where it asks for what only they have', async () => {
    const { client, runOf } = await bench();
    const STEPS = [
      [{ expect: 'unit=1 fc=read addr=0-9 not unit=2' }, ['03 0000 0001']],
      [
        { expect: { filter: 'value meter.status.overload=1 and name=status' } },
        ['06 000c 0001', '06 000c 0009'],
      ],
      [
        { expect: ['kind=reply value voltage>229 device=meter', 'exception=2 late<1h'] },
        ['03 0000 0001', '03 0063 0001'],
      ],
    ] as const;
    for (const [step, pdus] of STEPS) {
      const over = runOf({ steps: [{ ...step, within: '60s' }] }).run();
      for (const pdu of pdus) client.ask(1, pdu);
      expect(verdicts(await over)).toEqual(['pass']);
    }
    const never = runOf({ steps: [{ expect: 'unit=1', never: ['fc=6 or fc=write'], within: '60s' }] }).run();
    client.ask(2, '06 0014 0001');
    client.ask(1, '03 0000 0001');
    expect((await never).findings[0]?.summary).toContain('not a request with fc=6 or fc=write');
  });

  it('names what the nearest request missed of a filter', async () => {
    const { client, runOf } = await bench();
    const over = runOf({ steps: [{ expect: 'unit=2-3 (fc=3 or fc=4)', within: '2s' }] }).run();
    client.ask(1, '06 00 0c 00 01');
    const { summary } = (await over).findings[0] ?? {};
    expect(summary).toContain('unit=2-3 (fc=3 or fc=4)');
    expect(summary).toContain('unit 1, not 2-3; it does not pass the filter');
  });

  it('loses no request between two steps, however fast they come', async () => {
    const { client, runOf } = await bench();
    const run = runOf({ steps: [1, 2, 1, 2].map((unit) => ({ expect: { unit }, within: '20s' })) });
    const over = run.run();
    for (const unit of [1, 2, 1, 2]) client.ask(unit);
    const report = await over;
    expect(verdicts(report)).toEqual(['pass', 'pass', 'pass', 'pass']);
    const asked = report.findings.map(({ frames }) => frames.find(({ kind }) => kind === 'request')?.seq);
    expect(new Set(asked).size).toBe(4);
  });

  it('puts a fault in force for its step alone, and shows the request, the spoilt reply and the repetition', async () => {
    const { running, client, runOf } = await bench();
    const fault = { when: { unit: 1, count: 1 }, do: [{ exception: 6 }] };
    const over = runOf({ steps: [{ fault, expect: { retry: { within: '20s' } }, within: '20s' }] }).run();
    void client.poll(over, [1]);
    const report = await over;
    expect(report.verdict).toBe('pass');
    const kinds = report.findings[0]?.frames.map(({ kind }) => kind) ?? [];
    // A busy machine may read the next request before it has told of the reply.
    expect([kinds[0], ...kinds.slice(1).sort()]).toEqual(['request', 'reply', 'reply', 'request']);
    expect(running.simulator.faults.rules.list()).toEqual([]);
  });

  it('passes no step whose fault never acted', async () => {
    const { client, runOf } = await bench();
    const steps = [
      { fault: { when: { unit: 9 }, do: [{ silence: true }] }, expect: { unit: 1 }, within: 2000 },
      { fault: { when: { function: 4 }, do: [{ silence: true }] }, wait: 500 },
    ];
    const over = runOf({ steps }).run();
    void client.poll(over, [1]);
    const report = await over;
    expect(verdicts(report)).toEqual(['inconclusive', 'inconclusive']);
    expect(report.findings[0]?.summary).toContain('the fault never acted');
  });

  it('passes no step whose fault could not act, and says why', async () => {
    const { client, runOf } = await bench();
    // The reply to function 5 has no byte count.
    const fault = { when: { function: 5 }, do: [{ byteCount: 7 }] };
    const over = runOf({ steps: [{ fault, wait: '2s' }] }).run();
    void client.poll(over, [2], '05 00 00 ff 00');
    const report = await over;
    expect(verdicts(report)).toEqual(['inconclusive']);
    expect(report.findings[0]?.summary).toContain('the fault could not act: ');
  });

  it('passes no step by a request whose reply the fault could not change', async () => {
    const { client, runOf } = await bench();
    const fault = { when: { function: 5 }, do: [{ byteCount: 7 }] };
    const over = runOf({ steps: [{ fault, expect: { unit: 2 }, within: '20s' }] }).run();
    client.ask(2, '05 00 00 ff 00');
    const report = await over;
    expect(verdicts(report)).toEqual(['inconclusive']);
    expect(report.findings[0]?.summary).toContain('the fault could not act: ');
  });

  it('waits for what a fault does to the reply of a real device before a step passes', async () => {
    const { running, client, runOf } = await bench();
    const relay = running.simulator.devices.get('relay') as Device;
    relay.real = {
      status: { to: 'a real relay', answers: true },
      ask: (_, pdu, done) => {
        const timer = setTimeout(() => done({ kind: 'response', pdu }), 50);
        return () => clearTimeout(timer);
      },
    };
    const fault = { when: { unit: 2 }, do: [{ byteCount: 7 }] };
    const steps = [1, 2].map(() => ({ fault, expect: { unit: 2 }, within: '20s' }));
    const over = runOf({ steps }).run();
    // The reply to function 5 has no byte count.
    client.ask(2, '05 00 00 ff 00');
    await until(() => exchangesOf(running.simulator).length === 1, 'the first is answered');
    client.ask(2);
    const report = await over;
    expect(verdicts(report)).toEqual(['inconclusive', 'pass']);
    expect(report.findings[0]?.summary).toContain('the fault could not act: ');
  });

  it('writes values, and finds what the client answers them with', async () => {
    const { running, client, runOf } = await bench();
    const run = runOf({
      steps: [{ set: { 'meter.voltage': 260 }, expect: { write: { 'relay.coil': 1 } }, within: '20s' }],
    });
    const over = run.run();
    client.ask(2, '05 00 00 ff 00');
    expect((await over).verdict).toBe('pass');
    const { tables } = running.simulator.devices.get('meter') ?? {};
    expect(tables?.holding.readWords(0, 1)).toEqual([260]);
  });

  it('finds the exception that a request was answered with', async () => {
    const { client, runOf } = await bench();
    const over = runOf({ steps: [{ expect: { unit: 1, response: { exception: 2 } }, within: '20s' }] }).run();
    client.ask(1);
    client.ask(1, '03 01 00 00 01');
    expect((await over).verdict).toBe('pass');
  });

  it('finds the good reply to a poll, and misses it while a fault spoils them', async () => {
    const { client, runOf } = await bench();
    const ok = { expect: { unit: 1, response: 'ok' } };
    const bad = { fault: { when: { unit: 1 }, do: [{ exception: 4 }] }, ...ok, within: 2000 };
    const over = runOf({
      steps: [
        { ...ok, within: '20s' },
        bad,
        { expect: { response: 'ok', every: 50, tolerance: 49, for: 200 }, within: '20s' },
      ],
    }).run();
    void client.poll(over, [1]);
    const { findings } = await over;
    expect(findings.slice(0, 2).map(({ verdict }) => verdict)).toEqual(['pass', 'fail']);
    expect(findings[1]?.summary).toMatch(
      /^expected +a request with unit 1, answered well\nreceived +.* answered with exception 4, not with a good reply/,
    );
    expect(findings[1]?.summary).toMatch(/it arrived .* too late \(frame \d+\)/);
    // The frame that decides came after the step; it is in the evidence all the same.
    const { frame } = findings[1]?.missed ?? {};
    expect(findings[1]?.frames.map(({ seq }) => seq)).toContain(frame);
    expect(findings[1]?.summary).toContain(`(frame ${frame}, decides)`);
    expect(findings[2]?.title).toBe('expect {response: ok, every: 50, tolerance: 49, for: 200}');
  });

  it('fails when something comes as often as it must not, and names the frames', async () => {
    const { client, runOf } = await bench();
    const never = { unit: 1, times: 3 };
    const over = runOf({
      steps: [
        { never, within: '20s' },
        { never: { unit: 2, times: 2 }, within: 2000 },
      ],
    }).run();
    for (let i = 0; i < 3; i++) client.ask(1);
    client.ask(2);
    const { findings } = await over;
    expect(findings.map(({ verdict }) => verdict)).toEqual(['fail', 'pass']);
    expect(findings[0]?.summary).toMatch(
      /^expected +not a request with unit 1 3 times\nreceived +unit 1 read .* 3 times, the last after .* \(frames \d+, \d+, \d+\)$/,
    );
  });

  it('counts what must not come so often over all steps', async () => {
    const { client, runOf } = await bench();
    const always = [{ never: { unit: 1, times: 2 } }];
    const over = runOf({ always, steps: [1, 2].map(() => ({ expect: { unit: 1 }, within: '20s' })) }).run();
    for (let i = 0; i < 2; i++) client.ask(1);
    expect(verdicts(await over)).toEqual(['pass', 'fail']);
  });

  it('puts the clock of a device forward', async () => {
    const { running, runOf } = await bench();
    const meter = running.simulator.devices.get('meter') as Device;
    const before = meter.clock.time;
    const report = await runOf({ steps: [{ clock: { meter: '1h' } }] }).run();
    expect([report.verdict, report.findings[0]?.title]).toEqual(['pass', 'clock {meter: 1h}']);
    expect(meter.clock.time - before).toBeGreaterThanOrEqual(3_600_000);
  });

  it('stops and starts the program under test, which only a scenario with `dut` can', async () => {
    const { runOf } = await bench();
    const did: string[] = [];
    const run = runOf({
      dut: { command: 'x' },
      steps: ['stop', 'start', 'restart', 'start'].map((dut) => ({ dut })),
    });
    run.dut = {
      stop: async () => void did.push('stop'),
      start: async () => (did.push('start') > 4 ? 'it runs already' : undefined),
    };
    const { findings } = await run.run();
    expect(did).toEqual(['stop', 'start', 'stop', 'start', 'start']);
    expect(findings.map(({ title, verdict }) => `${verdict} ${title}`)).toEqual([
      'pass stop the device under test',
      'pass start the device under test',
      'pass restart the device under test',
      'error start the device under test',
    ]);
  });

  it('fails when there comes what must never come, and says when', async () => {
    const { client, runOf } = await bench();
    const always = [{ never: { function: [5, 6] } }];
    const over = runOf({ always, steps: [{ wait: '20s' }, { expect: { unit: 1 }, within: '20s' }] }).run();
    client.ask(2, '05 00 00 ff 00');
    void client.poll(over, [1]);
    const report = await over;
    expect(verdicts(report)).toEqual(['fail', 'pass']);
    expect(report.findings[0]?.summary).toMatch(/^received +unit . write single coil 0: on, after /m);
  });

  it('decides nothing by what never came when nothing came at all', async () => {
    const { runOf } = await bench();
    const report = await runOf({ steps: [{ never: { function: 5 }, within: 20 }] }).run();
    expect(verdicts(report)).toEqual(['inconclusive']);
  });

  it('says what came instead of what was wanted, with the frames', async () => {
    const { client, runOf } = await bench();
    const over = runOf({ steps: [{ expect: { unit: 2 }, within: 2000 }] }).run();
    void client.poll(over, [1]);
    const { findings } = await over;
    expect(findings[0]?.summary).toMatch(
      /^expected +a request with unit 2\nreceived +none within the 2 s of the step; nearest was .*unit 1, not 2\nwhen +\+.*unit 1 read holding registers 0.*\(frame \d+\)/,
    );
    expect(findings[0]?.frames.length).toBeGreaterThan(0);
  });

  it('says the first three values of a frame, and how many more there are', async () => {
    const { client, runOf } = await bench();
    const over = runOf({ steps: [{ never: { unit: 2 }, within: '20s' }] }).run();
    client.ask(2, '10 00 00 00 05 0a 00 01 00 02 00 03 00 04 00 05');
    const { findings } = await over;
    expect(findings[0]?.summary).toMatch(
      /^received +unit 2 write multiple registers 0–4: 1 2 3 … 2 more, after/m,
    );
  });

  it('says values with their names and types, as the traffic does', async () => {
    const { client, runOf } = await bench();
    const [never, missing] = [
      { never: { unit: 2 }, within: '20s' },
      { expect: { unit: 2 }, within: 2000 },
    ];
    const over = runOf({ steps: [never, never, missing] }).run();
    client.ask(2, '10 00 14 00 04 08 3f c0 00 00 40 20 00 00');
    // The second half of a value, and all of the next one.
    client.ask(2, '10 00 15 00 03 06 00 00 40 20 00 00');
    void client.poll(over, [1], '10 00 0a 00 02 04 43 66 19 9a');
    const [whole, part, missed] = (await over).findings.map(({ summary }) => summary);
    expect(whole).toMatch(/^received +unit 2 write multiple registers 20–23: float32 1.5 2.5, after/m);
    expect(part).toMatch(/^received +unit 2 write multiple registers 21–23: 0, 22–23 float32 2.5, after/m);
    const limit = 'unit 1 write multiple registers 10–11: limit 230.1 \\(frame \\d+\\)';
    expect(missed).toMatch(new RegExp(`nearest was ${limit}: unit 1, not 2\\nwhen [^]*${limit}`));
  });

  it('ends with an error when its line is closed, and runs nothing after it', async () => {
    const { running, runOf } = await bench();
    const over = runOf({ steps: [{ wait: '60s' }, { wait: 1 }] }).run();
    await running.simulator.lines.get('bus')?.stop();
    const report = await over;
    expect(verdicts(report)).toEqual(['error', 'not run']);
    expect(report.findings[0]?.summary).toContain('line bus was closed');
  });

  it('gives a device that it has switched off its power back', async () => {
    const { running, runOf } = await bench();
    const meter = running.simulator.devices.get('meter');
    const run = runOf({ steps: [{ power: { meter: 'off' } }, { wait: 20 }] });
    const over = run.run();
    expect(meter?.power.state).toBe('off');
    await over;
    expect(meter?.power.state).toBe('on');
  });

  it('survives a client that floods the line', async () => {
    const { client, runOf } = await bench();
    const over = runOf({ steps: [{ wait: 300 }, { expect: { unit: 2 }, within: '20s' }] }).run();
    for (let i = 0; i < 30; i++) {
      for (let k = 0; k < 100; k++) client.ask(1);
      await sleep(2);
    }
    // Not once: the flood may be over before the wait is.
    void client.poll(over, [2]);
    expect(verdicts(await over)).toEqual(['pass', 'pass']);
  });
});
