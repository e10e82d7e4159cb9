import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProgram } from '../../support/program.mjs';
import { METER, TCP_LINE, VIRTUAL_LINE } from './plant.js';
import { runHere, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const CONFIG = { devices: METER, lines: { bench: VIRTUAL_LINE }, api: { port: 0 } };

describe('what is no file is one sentence and exit code 1', () => {
  it('a FIFO as the log file', async () => {
    const file = join(newDirectory(), 'log');
    execFileSync('mkfifo', [file]);
    const { code, stdout, stderr } = await runHere(['--log_file', file, '--config', newFile(CONFIG)]);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `--log_file ${file}: is not a regular file\n`,
    });
  });

  it('a directory as the log file', async () => {
    const directory = newDirectory();
    const { code, stderr } = await runHere(['--log_file', directory, '--config', newFile(CONFIG)]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `--log_file ${directory}: is a directory, expected a file\n`,
    });
  });

  it.each([
    ['a directory', '--config', newDirectory(), 'is a directory, expected a file'],
    ['a device', '--json_file', '/dev/zero', 'is not a regular file'],
  ])('%s as the configuration', async (_, option, file, message) => {
    const { code, stderr } = await runHere([option, file]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `${file}: ${message}\n` });
  });
});

describe('a virtual line with a link of its own', () => {
  const linkedTo = (link: string) => ({
    ...CONFIG,
    lines: { bench: { ...VIRTUAL_LINE, serial: { ...VIRTUAL_LINE.serial, link } } },
  });

  it('is refused where somebody has a link of that name, which stays', async () => {
    const directory = newDirectory();
    const link = join(directory, 'port');
    writeFileSync(join(directory, 'file'), 'precious');
    symlinkSync('file', link);
    const { code, stderr } = await runHere(['--log', 'error', '--config', newFile(linkedTo(link))]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^line bench: \S+\/port: exists and is a link that this program did not make, .*\n$/,
    );
    expect(readFileSync(link, 'utf8')).toBe('precious');
  });

  it('is refused in a directory that is not there, and makes none', async () => {
    const directory = newDirectory();
    const link = join(directory, 'new', 'port');
    const { code, stderr } = await runHere(['--log', 'error', '--config', newFile(linkedTo(link))]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^line bench: \S+\/new\/port: the link to the virtual line can't be created: ENOENT.*\n$/,
    );
    expect(existsSync(join(directory, 'new'))).toBe(false);
  });
});

describe('where REST is', () => {
  it('is printed as it listens', async () => {
    const host = '0.0.0.0';
    const program = await startProgram({
      config: { devices: METER, lines: { lan: TCP_LINE } },
      args: ['--http_host', host],
      env: { MODBUS_SIM_TOKEN: 'secret' },
    });
    expect(new URL(program.restUrl()).hostname).toBe(host);
    expect(await program.stop()).toBe(0);
  });
});

describe('the thread of the lines', () => {
  it('is told with its time slices at --log debug', async () => {
    const program = await startProgram({ config: CONFIG, args: ['--log', 'debug'] });
    const { restUrl, stop, output } = program;
    await fetch(`${restUrl()}/healthz`);
    await stop();
    expect(output.stderr).toMatch(
      /"msg":"thread of the lines: (normal class, time slices of|real-time class)/,
    );
  });
});
