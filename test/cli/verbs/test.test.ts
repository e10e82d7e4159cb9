import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';
import { runHere, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

stopAfterEach();

const DEVICES = {
  meter: { registers: { holding: [{ address: 0, value: 230, name: 'voltage' }] } },
  relay: { registers: { coils: [{ address: 0, name: 'coil', write: true }], holding: [{ address: 0 }] } },
};
const TCP = { bus: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'relay' } } };
// Its time-out is longer than a busy machine stands still.
const POLLER = `${process.execPath} ${resolve('examples/poller.mjs')} {lines.bus.host} {lines.bus.port} 1000`;
const SERIAL_POLLER = `${process.execPath} ${resolve('test/support/serial-poller.mjs')} {lines.bus.path} 200`;

const scenario = (others: object) => newFile({ name: 'a test', devices: DEVICES, lines: TCP, ...others });
const test = (...args: string[]) => runHere(['test', ...args]);

interface Json {
  readonly verdict: string;
  readonly steps: readonly { readonly name: string; readonly verdict: string; readonly message: string }[];
}

describe('modbus-sim test', () => {
  it('warns where two quantities may have been meant as a range, in faults and expectations', async () => {
    const steps = [
      { fault: { when: { quantity: [11, 125] }, do: [{ silence: true }] }, wait: '1ms' },
      { expect: { quantity: [1, 2] }, never: { quantity: [8, 2] }, within: '1ms' },
    ];
    const file = scenario({ steps });
    const { stderr } = await test(file);
    expect(stderr.split('\n').filter((line) => line.includes('quantity'))).toEqual([
      expect.stringMatching(
        /: warning: steps\[0\]\.fault\.when\.quantity: means 11 or 125 and nothing in between; write a range as "11-125"$/,
      ),
      expect.stringMatching(/: warning: steps\[1\]\.never\.quantity: means 2 or 8 .* "2-8"$/),
    ]);
  });

  it('runs a scenario with its program on Modbus TCP, and writes three reports', async () => {
    const directory = newDirectory();
    const [junit, html, json] = ['r.xml', 'r.html', 'r.json'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const file = scenario({
      dut: { command: POLLER, ready: 'polling' },
      always: [{ never: { unit: 1, function: [5, 6, 15, 16] } }],
      steps: [
        { name: 'polls', expect: { unit: 1, function: 3, address: 0 }, within: '30s' },
        {
          name: 'asks again',
          fault: { when: { unit: 1, count: 1 }, do: [{ silence: true }] },
          expect: { retry: { within: '30s' } },
          within: '30s',
        },
        {
          name: 'three attempts',
          fault: { when: { unit: 1 }, do: [{ silence: true }] },
          expect: [{ unit: 1 }, { retry: { within: '30s' }, times: 2 }, { unit: 2 }],
          within: '30s',
        },
        {
          name: 'trips',
          set: { 'meter.voltage': 260 },
          expect: { write: { 'relay.coil': 1 } },
          within: '30s',
        },
      ],
    });
    const { code, stdout, stderr } = await test(file, '--junit', junit, '--html', html, '--json', json);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/^pass .*$/gm)).toHaveLength(4);
    expect(stdout).toContain('a test: pass. 4 of 4 steps passed.');
    expect((JSON.parse(readFileSync(json, 'utf8')) as Json).steps.map(({ verdict }) => verdict)).toEqual(
      Array(4).fill('pass'),
    );
    expect(readFileSync(junit, 'utf8')).toContain('tests="4" failures="0" errors="0"');
    expect(readFileSync(html, 'utf8')).toMatch(/"frames":\[\{"seq":/);
  });

  it('runs one on a virtual serial line, where the next poll is no retry, and a failed step makes the exit code 1', async () => {
    const file = scenario({
      lines: { bus: { serial: { path: 'virtual', baudRate: 9600, parity: 'none' }, units: { 1: 'meter' } } },
      dut: { command: SERIAL_POLLER, ready: 'polling' },
      capture: 'all.pcapng',
      steps: [
        {
          name: 'asks again',
          fault: { when: { unit: 1, count: 1 }, do: [{ crc: 'invert' }] },
          expect: { same: true },
          within: '30s',
        },
        { name: 'is silent', never: { function: 3 }, within: '30s', capture: 'step.pcapng' },
      ],
    });
    const { code, stdout } = await test(file);
    expect(code).toBe(1);
    // This client never asks again: what comes is its next poll.
    expect(stdout).toMatch(
      /^inconclusive +1 asks again\n +expected +the same request again\n +received +.* after the disturbed request .* may be the next poll/m,
    );
    expect(stdout).toMatch(
      /^fail +2 is silent\n +expected +not a request with function 3\n +received +unit 1 read holding registers 0, after /m,
    );
    const [all, step] = ['all.pcapng', 'step.pcapng'].map((name) => readFileSync(join(dirname(file), name)));
    const request = Buffer.from('010300000001840a', 'hex');
    expect(step?.includes(request)).toBe(true);
    expect(all?.length).toBeGreaterThan(step?.length ?? 0);
  });

  it('takes parameters from --set', async () => {
    const file = scenario({
      parameters: { pause: '60s', who: 'nobody' },
      steps: [{ name: 'for $who', wait: '$pause' }],
    });
    const { code, stdout } = await test(file, '--set', 'pause=1ms', '--set', 'who=me');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pass +1 for me/m);
  });

  it('says that a program never became ready, with its last output, and exits with 2', async () => {
    const file = scenario({
      dut: { command: 'echo starting; sleep 600', ready: 'polling', readyWithin: '3s' },
      steps: [{ wait: 1 }, { wait: 1 }],
    });
    const { code, stdout } = await test(file);
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /^error +1 .*\n +the device under test did not print "polling" within 3 s; its last output:\n +starting/m,
    );
    expect(stdout).toMatch(/^not run +2/m);
  });

  it('stops and starts its program in steps, and takes its command from --dut', async () => {
    const file = scenario({
      dut: { command: 'exit 3', ready: 'polling' },
      steps: [
        { expect: { unit: 1 }, within: '30s' },
        { dut: 'stop' },
        { never: {}, within: '700ms' },
        { dut: 'start', expect: { unit: 1, response: 'ok', times: { min: 2 } }, within: '30s' },
        { dut: 'restart', expect: { unit: 1 }, within: '30s' },
      ],
    });
    const { stdout } = await test(file, '--dut', POLLER);
    expect(stdout.match(/^\w+ +\d.*/gm)?.map((line) => line.replace(/ \(.*/, ''))).toEqual([
      'pass         1 expect {unit: 1}',
      'pass         2 stop the device under test',
      'inconclusive 3 never {}',
      'pass         4 start the device under test, expect {unit: 1, response: ok, times: {min: 2}}',
      'pass         5 restart the device under test, expect {unit: 1}',
    ]);
  });

  it('says that a program has died, with its last output, and exits with 1', async () => {
    const command = 'echo polling; sleep 0.3; echo out of memory >&2; exit 3';
    const file = scenario({ dut: { command, ready: 'polling' }, steps: [{ wait: '60s' }, { wait: 1 }] });
    const { code, stdout } = await test(file);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^fail +1 .*\n +the device under test ended with exit code 3; its last output:\n +polling\n +out of memory/m,
    );
    expect(stdout).toMatch(/^not run +2/m);
  });

  it('exits with 2 when a capture can not be written, and keeps the report', async () => {
    const file = scenario({ steps: [{ wait: 1, capture: 'nowhere/x.pcapng' }] });
    const json = join(newDirectory(), 'r.json');
    const { code, stderr } = await test(file, '--json', json);
    expect(code).toBe(2);
    expect(stderr).toContain("nowhere/x.pcapng: can't be written");
    expect((JSON.parse(readFileSync(json, 'utf8')) as Json).verdict).toBe('pass');
  });

  it('says that the bench can not be opened, and exits with 2', async () => {
    const lines = { bus: { serial: { path: '/dev/nowhere' }, units: { 1: 'meter' } } };
    const { code, stdout } = await test(scenario({ lines, steps: [{ wait: 1 }] }));
    expect(code).toBe(2);
    expect(stdout).toMatch(/^error +1 .*\n +line bus: .*\/dev\/nowhere/m);
  });
});

describe('modbus-sim test, before anything runs', () => {
  it('names every mistake with its place in the file that has it, and exits with 2', async () => {
    const file = scenario({});
    writeFileSync(join(dirname(file), 'more.yaml'), '- {wait: 1}\n- {expect: {unti: 1}}\n');
    writeFileSync(
      file,
      [
        'name: x',
        'configuration: bench.yaml',
        'parameters: {patience: 1s}',
        'steps:',
        '  - expct: {unit: 1}',
        '  - use: more.yaml',
        '  - {expect: {unit: 1}, within: $patience}',
      ].join('\n'),
    );
    writeFileSync(join(dirname(file), 'bench.yaml'), JSON.stringify({ devices: DEVICES, lines: TCP }));
    const { code, stdout, stderr } = await runHere(['test', file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(
        /config\.yaml:5:5: steps\[0\]\.expct: unknown key "expct", did you mean "expect"/,
      ),
      expect.stringMatching(/more\.yaml:2:13: \[1\]\.expect\.unti: unknown key "unti", did you mean "unit"/),
    ]);
  });

  it('knows which parameters there are', async () => {
    const file = scenario({ parameters: { pause: '60s' }, steps: [{ wait: '$pause' }] });
    const { code, stdout, stderr } = await runHere(['test', file, '--set', 'puase=1ms']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--set: unknown parameter "puase", did you mean "pause"?');
  });

  it('refuses a report that can not be written before anything runs', async () => {
    const html = join(newDirectory(), 'nowhere', 'r.html');
    const { code, stdout, stderr } = await runHere([
      ...['test', scenario({ steps: [{ wait: 1 }] })],
      ...['--html', html],
    ]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toBe(`${html}: can't be written: directory ${dirname(html)} does not exist\n`);
  });
});

describe('modbus-sim test --url', () => {
  it('uses a simulator that runs already', async () => {
    const running = await startSimulator(nativeSetup({ devices: DEVICES, lines: TCP }));
    const url = await running.rest.app.listen({ host: '127.0.0.1', port: 0 });
    const file = scenario({
      dut: { command: POLLER, ready: 'polling' },
      steps: [
        {
          name: 'asks again',
          fault: { when: { unit: 1, count: 1 }, do: [{ silence: true }] },
          expect: { retry: { within: '30s' } },
          within: '30s',
        },
        { name: 'writes', expect: { function: 16 }, within: 300 },
      ],
    });
    const json = join(newDirectory(), 'r.json');
    const { code, stdout } = await test(file, '--url', url, '--json', json);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^pass +1 asks again.*\nfail +2 writes/m);
    expect((JSON.parse(readFileSync(json, 'utf8')) as Json).verdict).toBe('fail');
    const dying = scenario({ dut: { command: 'echo "no port"; exit 3' }, steps: [{ wait: '60s' }] });
    expect(await test(dying, '--url', url)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^fail +1 .*\n +the device under test ended with exit code 3.*\n +no port/m,
      ),
    });
    const refused = await test(scenario({ steps: [{ expect: { line: 'lan' } }] }), '--url', url);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('steps[0].expect.line: unknown line "lan"');
    const nobody = await test(scenario({ steps: [{ wait: 1 }] }), '--url', 'http://127.0.0.1:1');
    expect(nobody.code).toBe(2);
    expect(nobody.stderr).toContain('http://127.0.0.1:1: no answer');
  });
});
