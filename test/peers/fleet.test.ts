import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { dist, makeTempDir, startProgram } from '../support/program.mjs';
import { mosquitto, noMosquitto } from './mosquitto.js';
import { describeWithPeer } from './peer.js';

/** A net: each command is a start of the program. */
const LIMIT_MS = 600_000;

/** For an answer that comes, on a busy machine too. */
const PATIENCE = ['--timeout', '60s'];

/** What the command prints, and its exit code. */
function fleet(port: number, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const all = [join(dist, 'main.js'), 'fleet', ...args, '--broker', `mqtt://127.0.0.1:${port}`, ...PATIENCE];
  return new Promise((resolve) => {
    execFile(process.execPath, all, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

async function benchAt(port: number, number: number, commands = 'all') {
  const config = {
    devices: { meter: { registers: { holding: [{ address: 0 }] } } },
    lines: { lan: { tcp: { host: '127.0.0.1', port: 0 }, units: { 1: 'meter' } } },
    mqtt: {
      url: `mqtt://127.0.0.1:${port}`,
      topic: `modbus-sim/bench-${number}`,
      commands,
      labels: { rack: number },
    },
  };
  const program = await startProgram({ config });
  onTestFinished(() => void program.stop());
  return program;
}

describeWithPeer('a fleet on mosquitto', noMosquitto, () => {
  it(
    'is found and commanded, and names who refused or is gone',
    async () => {
      const directory = makeTempDir();
      const { port } = await mosquitto(directory);
      const [first, , , dead] = await Promise.all([
        benchAt(port, 1),
        benchAt(port, 2),
        benchAt(port, 3, 'read'),
        benchAt(port, 4),
      ]);
      await expect.poll(async () => (await fleet(port, 'list')).stdout.match(/ online /g)?.length).toBe(4);
      process.kill(dead?.pid ?? 0, 'SIGKILL');
      await expect.poll(async () => (await fleet(port, 'list')).stdout).toMatch(/bench-4 +offline/);

      // Whatever somebody publishes as a state, the others are listed.
      const hostile = [
        '-t',
        'modbus-sim/evil/state',
        '-r',
        '-m',
        '{"state":1,"labels":7,"lines":{},"rest":["\\u001b[2J"]}',
      ];
      execFileSync('mosquitto_pub', ['-p', String(port), ...hostile]);
      expect((await fleet(port, 'list')).stdout).toMatch(/bench-1 +online[\s\S]*evil +unknown/);
      execFileSync('mosquitto_pub', ['-p', String(port), '-t', 'modbus-sim/evil/state', '-r', '-n']);

      const rules = join(directory, 'rules.yaml');
      writeFileSync(
        rules,
        'faults:\n  - {name: slow, do: [{delay: 20}]}\n  - {name: busy, do: [{exception: 6}]}\n',
      );
      const applied = await fleet(port, 'fault', 'apply', rules);
      expect(applied.code).toBe(1);
      expect(applied.stdout).toContain('modbus-sim/bench-1: ["fleet.slow","fleet.busy"]');
      expect(applied.stdout).toContain('2 of 4 benches succeeded');
      expect(applied.stderr).toContain('modbus-sim/bench-3: access.read_only: mqtt.commands is read');
      expect(applied.stderr).toContain('modbus-sim/bench-4: bench.offline: is offline');

      const json = join(directory, 'out.json');
      const own = { name: 'own', do: [{ delay: 1 }] };
      await fleet(port, 'run', 'rule.add', JSON.stringify({ rule: own }), '--on', 'bench-1');
      expect((await fleet(port, 'fault', 'clear', '--on', 'bench-[12]')).code).toBe(2);
      expect((await fleet(port, 'fault', 'clear', '--on', '*-1')).code).toBe(0);
      expect((await fleet(port, 'run', 'rule.list', '--label', 'rack=1', '--json', json)).code).toBe(0);
      expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject([
        { bench: 'modbus-sim/bench-1', ok: true, value: [{ name: 'own' }] },
      ]);

      // A list with a mistake leaves nothing behind.
      writeFileSync(rules, '[{name: slow, do: [{delay: 20}]}, {name: bad, do: [{dely: 1}]}]');
      const refused = await fleet(port, 'fault', 'apply', rules, '--on', 'bench-1');
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean "delay"') });
      expect((await fleet(port, 'run', 'rule.list', '--on', 'bench-1')).stdout).not.toContain('fleet.slow');

      const targets = join(directory, 'sd.json');
      await fleet(port, 'targets', '--file', targets);
      const listed = JSON.parse(readFileSync(targets, 'utf8')) as { targets: string[]; labels: object }[];
      expect(listed).toHaveLength(3);
      expect(listed[0]).toEqual({
        targets: [new URL(first?.restUrl() ?? '').host],
        labels: { rack: '1', bench: 'modbus-sim/bench-1' },
      });
    },
    LIMIT_MS,
  );

  it(
    'takes a configuration on all benches or on none',
    async () => {
      const directory = makeTempDir();
      const { port } = await mosquitto(directory);
      const [first] = await Promise.all([benchAt(port, 1), benchAt(port, 2)]);
      await expect.poll(async () => (await fleet(port, 'list')).stdout.match(/ online /g)?.length).toBe(2);
      const file = join(directory, 'wanted.yaml');
      const answers = join(directory, 'lines.json');
      const write = (lan: string, more = '') =>
        writeFileSync(
          file,
          `devices: {meter: {registers: {holding: [{address: 0, value: 42}]}}}\n${more}` +
            `lines:\n  lan: {${lan}, units: {1: meter}}\n  more: {tcp: {port: 0}, units: {2: {copyOf: meter}}}\n`,
        );
      const linesOf = async (number: number) => {
        await fleet(port, 'run', 'line.list', '--on', `bench-${number}`, '--json', answers);
        const [{ value }] = JSON.parse(readFileSync(answers, 'utf8')) as [{ value: { name: string }[] }];
        return value.map(({ name }) => name);
      };

      // The port of the one bench is taken on this machine for the other one: it alone stays as it was.
      write(`tcp: {port: ${first?.tcpPort('lan')}}`);
      const half = await fleet(port, 'push', file);
      expect(half).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('1 of 2 benches succeeded'),
        stderr: expect.stringContaining('modbus-sim/bench-2: line.port_busy: '),
      });
      expect([await linesOf(1), await linesOf(2)]).toEqual([['lan', 'more'], ['lan']]);

      write('serial: {path: /etc/passwd}');
      const refused = await fleet(port, 'push', file);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('modbus-sim/bench-1: line.not_serial: lines.lan.serial.path');
      expect(refused.stderr).toContain('modbus-sim/bench-2: line.not_serial: ');
      expect(refused.stderr).toContain('no bench was changed');

      write('tcp: {port: 0}');
      expect(await fleet(port, 'push', file)).toMatchObject({ code: 0, stderr: '' });
      expect(await linesOf(2)).toEqual(['lan', 'more']);
      write('tcp: {port: 0}', 'mqtt: {url: "mqtt://x"}\n');
      expect((await fleet(port, 'push', file)).stderr).toContain('got "mqtt"');
    },
    LIMIT_MS,
  );

  it(
    'runs scenarios and client tests as one, with one report, and Ctrl-C stops what runs',
    async () => {
      const directory = makeTempDir();
      const { port } = await mosquitto(directory);
      const [, , dead] = await Promise.all([benchAt(port, 1), benchAt(port, 2), benchAt(port, 3)]);
      await expect.poll(async () => (await fleet(port, 'list')).stdout.match(/ online /g)?.length).toBe(3);
      process.kill(dead?.pid ?? 0, 'SIGKILL');
      await expect.poll(async () => (await fleet(port, 'list')).stdout).toMatch(/bench-3 +offline/);

      const scenario = join(directory, 'wait.yaml');
      const junit = join(directory, 'all.xml');
      const html = join(directory, 'all.html');
      writeFileSync(scenario, 'name: quiet\nsteps: [{wait: 100ms}]\n');
      const tested = await fleet(port, 'test', scenario, '--junit', junit, '--html', html);
      expect(tested).toMatchObject({ code: 1, stdout: expect.stringContaining('2 of 3 passed') });
      expect(tested.stderr).toContain(
        'modbus-sim/bench-3: quiet: error. The bench: bench.offline: is offline',
      );
      const suites = readFileSync(junit, 'utf8').match(/<testsuite [^>]*>/g) ?? [];
      expect(suites.map((each) => /name="([^"]*)".*errors="(\d)"/.exec(each)?.slice(1))).toEqual([
        ['modbus-sim/bench-1: quiet', '0'],
        ['modbus-sim/bench-2: quiet', '0'],
        ['modbus-sim/bench-3: quiet', '1'],
      ]);
      const page = readFileSync(html, 'utf8');
      expect(page.match(/"bench":/g)).toHaveLength(3);
      const [link = ''] = /http[^"]*report\.html/.exec(page) ?? [];
      expect(await (await fetch(link)).text()).toContain('quiet');
      expect((await fleet(port, 'test', scenario, '--label', 'rack=1')).code).toBe(0);

      const examined = await fleet(
        port,
        'test-client',
        'lan',
        '--limit',
        '1s',
        '--on',
        '*-1',
        '--junit',
        junit,
      );
      expect(examined.code).toBe(1);
      expect(readFileSync(junit, 'utf8')).toContain('name="modbus-sim/bench-1: line lan"');

      writeFileSync(scenario, 'name: long\nsteps: [{fault: {do: [{delay: 5}]}, wait: 1h}]\n');
      const command = [
        'fleet',
        'test',
        scenario,
        '--label',
        'rack=2',
        '--broker',
        `mqtt://127.0.0.1:${port}`,
      ];
      const running = spawn(process.execPath, [join(dist, 'main.js'), ...command], { stdio: 'ignore' });
      const rules = async () => (await fleet(port, 'run', 'rule.list', '--label', 'rack=2')).stdout;
      await expect.poll(rules).toContain('"delay":5');
      await expect.poll(async () => (await fleet(port, 'list')).stdout).toMatch(/bench-2 .* long\n/);
      const ended = once(running, 'exit');
      running.kill('SIGINT');
      expect((await ended)[0]).toBe(2);
      expect(await rules()).not.toContain('"delay":5');
    },
    LIMIT_MS,
  );

  it(
    'is watched until somebody has seen enough',
    async () => {
      const { port } = await mosquitto(makeTempDir());
      const first = await benchAt(port, 1);
      await expect.poll(async () => (await fleet(port, 'list')).stdout).toContain(' online ');
      const command = ['fleet', 'list', '--watch', '--broker', `mqtt://127.0.0.1:${port}`];
      const watching = spawn(process.execPath, [join(dist, 'main.js'), ...command]);
      let shown = '';
      watching.stdout.on('data', (text: Buffer) => {
        shown += text;
      });
      await expect.poll(() => shown).toMatch(/bench-1 +online/);
      await first.stop();
      await expect.poll(() => shown).toMatch(/bench-1 +offline/);
      const ended = once(watching, 'exit');
      watching.kill('SIGINT');
      expect((await ended)[0]).toBe(0);
    },
    LIMIT_MS,
  );

  it('says why there is none', async () => {
    const { port, stop } = await mosquitto(makeTempDir());
    expect(await fleet(port, 'list')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no benches found'),
    });
    await stop();
    expect(await fleet(port, 'list')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
