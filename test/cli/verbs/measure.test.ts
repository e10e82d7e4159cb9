import { spawn } from 'node:child_process';
import { closeSync, existsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPty } from '../../../src/modbus/transport/port/pty.js';
import { dist } from '../../support/program.mjs';
import { pause, readRequest } from './clients.js';
import { lineOn, METER, VIRTUAL_LINE } from './plant.js';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const CONFIG = {
  devices: METER,
  lines: {
    virtual: VIRTUAL_LINE,
    // Takes minutes, so that a signal comes in time.
    slow: { ...VIRTUAL_LINE, serial: { ...VIRTUAL_LINE.serial, baudRate: 300 } },
    paced: { ...VIRTUAL_LINE, serial: { ...VIRTUAL_LINE.serial, pacing: { chunk: 'usb' } } },
    hasty: {
      ...VIRTUAL_LINE,
      serial: { ...VIRTUAL_LINE.serial, pacing: { chunk: 'usb' } },
      timing: { gap: 5 },
    },
    ascii: { ...VIRTUAL_LINE, framing: 'ascii' },
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    datagrams: { udp: { port: 0 }, units: { '*': 'meter' } },
    gone: { serial: { path: '/dev/not-there' }, units: { 1: 'meter' } },
  },
  // A rule of the configuration must not spoil what is measured.
  faults: [{ name: 'slow', do: [{ delay: 5000 }] }],
};

const measure = (line: string) => run(['measure', line, '--config', newFile(CONFIG)], newDirectory());

describe.concurrent('modbus-sim measure', () => {
  it('asks a virtual line by itself, and tells what was found', async () => {
    const { code, stdout, stderr } = await measure('virtual');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^line virtual: measuring\nRTU on \/dev\/pts\/\d+ /);
    expect(stdout).toMatch(/\n {2}adapter {5}pseudo-terminal\n/);
    expect(stdout).toMatch(/\n {2}requests {4}(?<asked>\d+) from the built-in client, \k<asked> answered\n/);
    expect(stdout).toMatch(/\n {2}turnaround {2}due after 4\.010 ms; median [\d.]+ ms/);
    // A machine that is busy with other tests may be late: then the verdict says so, and so does the exit code.
    expect(code).toBe(/verdict {5}as configured; there was no wire/.test(stdout) ? 0 : 1);
  });

  it.each(['paced', 'ascii', 'lan', 'datagrams'])('asks the line %s by itself, too', async (line) => {
    const { stdout } = await measure(line);
    expect(stdout).toMatch(/requests {4}(?<asked>\d+) from the built-in client, \k<asked> answered\n/);
  });

  it('does not call a line good that throws longer requests away', async () => {
    const { code, stdout } = await measure('hasty');
    expect(stdout).toMatch(
      /verdict {5}worse than configured: .*frames arrive in pieces, \d{2,}\.\d+ ms apart/,
    );
    expect(code).toBe(1);
  });

  it('finds out that the frames of a client are cut', async () => {
    const { code, stdout } = await measureWhileSending(readRequest(1, 0), { timing: { gap: 5 } });
    expect(stdout).toMatch(
      /verdict {5}worse than configured: .*frames arrive in pieces, \d{2,}\.\d+ ms apart/,
    );
    expect(code).toBe(1);
  });

  it('does not call a bus good on which it understood nothing', async () => {
    const { code, stdout } = await measureWhileSending(new Uint8Array(8).fill(0xfe));
    expect(stdout).toMatch(/verdict {5}worse than configured: .*no valid frame was received: the baud rate/);
    expect(code).toBe(1);
  });

  it('names a port that can not be opened', async () => {
    expect(await measure('gone')).toMatchObject({
      code: 2,
      stdout: 'line gone: measuring; let your client poll it during this time\n',
      stderr: 'line gone: /dev/not-there: does not exist; modbus-sim ports lists the serial ports\n',
    });
  });

  it('names the lines when it is asked for another one', async () => {
    expect(await measure('virtuel')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unknown line "virtuel", did you mean "virtual"?'),
    });
  });

  it.each([
    [['measure'], 'measure takes the name of one line'],
    [['measure', 'a', 'b'], 'measure takes the name of one line'],
    [['measure', 'a', '--http_port', '1'], 'measure takes no option --http_port'],
    [['measure', 'a', '--seconds', '0'], '--seconds: expected a number from 1 to 3600, got "0"'],
    [['--seconds', '5'], '--seconds is for measure'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run(args, newDirectory());
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe.concurrent.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s during a measurement', (signal) => {
  // The context of the test: the imported function may belong to another one that runs at the same time.
  it('takes the link of a virtual line away, and is no success', async ({ onTestFinished }) => {
    const directory = newDirectory();
    const link = join(directory, 'modbus-sim', 'slow');
    const args = [join(dist, 'main.js'), 'measure', 'slow', '--config', newFile(CONFIG)];
    const child = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: directory } });
    onTestFinished(() => void child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const exited = new Promise((resolve) => child.once('close', resolve));
    await expect.poll(() => existsSync(link)).toBe(true);
    child.kill(signal);
    expect(await exited).toBe(2);
    expect(stderr).toBe('line slow: stopped early; nothing was judged\n');
    expect(existsSync(link)).toBe(false);
  });
});

/** Tests a line on a port where a client sends these bytes over and over, its halves 60 ms apart. */
async function measureWhileSending(bytes: Uint8Array, changes: object = {}) {
  const opened = await openPty();
  if (!opened.ok) throw new Error(opened.error);
  const { masterFd, path, close } = opened.pty;
  const config = { devices: METER, lines: { bus: { ...lineOn(path), ...changes } } };
  const args = ['measure', 'bus', '--seconds', '2', '--config', newFile(config)];
  let running = true;
  const ended = run(args, newDirectory()).finally(() => {
    running = false;
  });
  while (running) {
    writeSync(masterFd, bytes.subarray(0, 4));
    await pause(60);
    writeSync(masterFd, bytes.subarray(4));
    await pause(100);
  }
  close();
  closeSync(masterFd);
  return ended;
}
