import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { dist, makeTempDir, startProgram } from '../support/program.mjs';
import { mosquitto, noMosquitto } from './mosquitto.js';
import { describeWithPeer } from './peer.js';

const LIMIT_MS = 120_000;

/** What the command prints, and its exit code. */
function fleet(port: number, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const all = [join(dist, 'main.js'), 'fleet', ...args, '--broker', `mqtt://127.0.0.1:${port}`];
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
      expect(applied.stdout).toContain('2 of 4 benches have done it');
      expect(applied.stderr).toContain('modbus-sim/bench-3: access.read_only: mqtt.commands is read');
      expect(applied.stderr).toContain('modbus-sim/bench-4: bench.offline: is offline');

      const json = join(directory, 'out.json');
      const own = { name: 'own', do: [{ delay: 1 }] };
      await fleet(port, 'run', 'rule.add', JSON.stringify({ rule: own }), '--on', 'bench-1');
      expect((await fleet(port, 'fault', 'clear', '--on', 'bench-[12]')).code).toBe(1);
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

  it('says why there is none', async () => {
    const { port, stop } = await mosquitto(makeTempDir());
    expect(await fleet(port, 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no bench is meant'),
    });
    await stop();
    expect(await fleet(port, 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
