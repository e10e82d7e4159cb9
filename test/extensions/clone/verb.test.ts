import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { newClient } from '../../../src/modbus/client/client.js';
import { run, scratchSpace } from '../../cli/verbs/run.js';
import { dist, startProgram } from '../../support/program.mjs';

/* The command clone, on the program itself as the real device. */

const { newDirectory } = scratchSpace();
const directory = newDirectory();

const READ = Uint8Array.of(3, 0, 0, 0, 3);

const METER = {
  registers: {
    holding: [{ address: 0, value: [1, 2, 3, 4, 5, 6, 7, 8] }],
    coils: [{ address: 0, value: 1 }],
  },
  manners: { most: { registers: 6 }, pauseBefore: 15 },
};

/** The shortest of 21 reply times, in ms. A busy machine makes any of them longer, and none shorter. */
async function shortestOf(port: number, pause: number): Promise<number> {
  const client = newClient({ kind: 'tcp', host: '127.0.0.1', port, framing: 'socket' });
  let shortest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 21; i++) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const outcome = await client.ask({ unitId: 1, pdu: READ, timeout: 30_000 });
    if (outcome.kind !== 'answered') throw new Error(`request ${i} had no answer: ${outcome.kind}`);
    shortest = Math.min(shortest, outcome.ms);
  }
  await client.close();
  return shortest;
}

it('reads a late device that needs pauses, never writes, and its clone is as late', async () => {
  const original = await startProgram({
    config: {
      devices: { meter: METER },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
        bus: { serial: { path: 'virtual' }, units: { 1: 'meter' } },
      },
      faults: [{ name: 'late', when: { line: 'lan' }, do: [{ delay: 30 }] }],
    },
  });
  try {
    const file = join(directory, 'clone.yaml');
    const port = original.tcpPort('lan');
    const cloned = await run(
      ['clone', '--tcp', `127.0.0.1:${port}`, '--ranges', '0-20', '-o', file],
      newDirectory(),
    );
    expect(cloned).toMatchObject({
      code: 0,
      stdout: `wrote ${file}; serve it with modbus-sim --config ${file}\n`,
    });
    expect(cloned.stderr).toContain('unit 1: 8 holding, 1 coils');
    const written = parse(readFileSync(file, 'utf8')) as {
      devices: { 'unit-1': { manners: { most: object; pauseBefore: number } } };
      lines: { lan: { tcp: { port: number } } };
      faults: { name: string; do: { delay: { ms: number; jitter?: number } }[] }[];
    };
    const { manners } = written.devices['unit-1'];
    expect(manners.most).toEqual({ registers: 6, otherwise: 3 });
    // Pauses of 2, 5, 10 and 20 ms are tried; a timer of a busy machine makes one long enough that is too short.
    expect([2, 5, 10, 20]).toContain(manners.pauseBefore);
    written.lines.lan.tcp.port = 0;
    const again = await startProgram({ config: written });
    const late = written.faults.find(({ name }) => name === 'unit-1-reply-time');
    const { ms, jitter = 0 } = late?.do[0]?.delay ?? expect.fail('the clone is not late');
    // The device is late by 30 ms, and a busy machine by more. Half a minute would be another unit.
    expect(ms).toBeGreaterThanOrEqual(30);
    expect(ms).toBeLessThan(20_000);
    expect(await shortestOf(again.tcpPort('lan'), 25)).toBeGreaterThanOrEqual(ms - jitter);
    await again.stop();
    const traffic = await fetch(`${original.restUrl()}/api/v1/traffic?kind=request&limit=1000`);
    const { events } = (await traffic.json()) as { events: { function: number }[] };
    const functions = new Set(events.map((event) => event.function));
    expect([...functions].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 7, 8, 11, 12, 17, 43]);

    const serial = join(directory, 'serial.yaml');
    const overSerial = await run(
      ['clone', '--serial', original.serialPath('bus'), '--ranges', '0-10', '-o', serial],
      newDirectory(),
    );
    expect(overSerial.code).toBe(0);
    expect(readFileSync(serial, 'utf8')).toContain('value: [1, 2, 3, 4, 5, 6, 7, 8]');
  } finally {
    await original.stop();
  }
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'writes what it knows after %s, and is no success',
  async (signal) => {
    const original = await startProgram({
      config: {
        devices: { meter: METER },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
        faults: [{ name: 'late', do: [{ delay: 50 }] }],
      },
    });
    try {
      const file = join(newDirectory(), 'clone.yaml');
      const args = [
        'clone',
        '--tcp',
        `127.0.0.1:${original.tcpPort('lan')}`,
        '--ranges',
        '0-5000',
        '-o',
        file,
      ];
      const child = spawn(process.execPath, [join(dist, 'main.js'), ...args], { stdio: 'pipe' });
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        // Progress is told when something was asked.
        if (stderr === '') child.kill(signal);
        stderr += text;
      });
      const [code] = await once(child, 'close');
      expect(stderr).toContain('stopped early');
      expect(code).toBe(2);
    } finally {
      await original.stop();
    }
  },
);

it('finds nobody, overwrites nothing, and says what is wrong with an option', async () => {
  const nobody = await run(
    ['clone', '--tcp', '127.0.0.1:1', '--units', '1-2', '--timeout', '100ms'],
    newDirectory(),
  );
  expect(nobody).toMatchObject({ code: 1, stdout: '' });
  expect(nobody.stderr).toMatch(/127\.0\.0\.1:1: no connection \(ECONNREFUSED\)/);
  const taken = join(directory, 'taken.yaml');
  writeFileSync(taken, 'mine');
  const kept = await run(['clone', '--tcp', '127.0.0.1:1', '-o', taken], newDirectory());
  expect(kept).toMatchObject({ code: 1, stderr: `${taken}: exists; --force overwrites it\n` });
  const wrong = await run(['clone', '--tcp', '127.0.0.1:1', '--units', '1-300'], newDirectory());
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      '--units: expected numbers and ranges from 0 to 255, such as 1-10,20, got "1-300"',
    ),
  });
});
