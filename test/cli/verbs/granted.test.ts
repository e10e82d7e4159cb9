import { execFile } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dist, startProgram } from '../../support/program.mjs';
import { METER, TCP_LINE, VIRTUAL_LINE } from './plant.js';
import { scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const CONFIG = { devices: METER, lines: { bench: VIRTUAL_LINE }, api: { port: 0 } };

interface Ended {
  readonly code: number | string | undefined;
  readonly stderr: string;
}

/** Runs the program behind a shell command that changes what the system grants it. */
function runUnder(command: string, args: readonly string[]): Promise<Ended> {
  const script = `${command} "$0" "$@"`;
  return new Promise((resolve) => {
    execFile('bash', ['-c', script, process.execPath, join(dist, 'main.js'), ...args], (error, _, stderr) => {
      resolve({ code: error?.code ?? 0, stderr });
    });
  });
}

describe.concurrent('what the system does not grant is one sentence and exit code 1', () => {
  it.each([20, 100, 255])('only %i open files', async (limit) => {
    const ended = await runUnder(`ulimit -n ${limit}; exec`, ['--config', newFile(CONFIG)]);
    expect(ended).toEqual({
      code: 1,
      stderr: `this process may open only ${limit} files; modbus-sim needs at least 256 (ulimit -n)\n`,
    });
  });

  it.each([
    ['tcp', TCP_LINE, 'Cannot listen on 127.0.0.1:0: too many files and sockets are open (EMFILE).'],
    ['serial', VIRTUAL_LINE, 'no pseudo-terminal for the virtual line: '],
  ])('more %s lines than open files', async (kind, line, message) => {
    const lines = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${kind}${i}`, line]));
    const ended = await runUnder(`ulimit -n 256; TMPDIR=${newDirectory()} exec`, [
      ...['--log', 'error', '--config', newFile({ ...CONFIG, lines })],
    ]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(new RegExp(`^line ${kind}\\d+: .*\\n$`));
    expect(ended.stderr).toContain(message);
  });

  it('a configuration that may not be read, and a log file that may not be written', async () => {
    const file = newFile(CONFIG);
    chmodSync(file, 0o000);
    // Root may read and write everything, unless it has given that up.
    const limited =
      process.getuid?.() === 0 ? 'setpriv --bounding-set=-dac_override,-dac_read_search' : 'exec';
    expect(await runUnder(limited, ['--config', file])).toEqual({
      code: 2,
      stderr: `${file}: can't be read (permission denied)\n`,
    });
    expect(await runUnder(limited, ['--log_file', file])).toEqual({
      code: 1,
      stderr: `--log_file ${file}: is not writable (permission denied)\n`,
    });
  });
});

describe.concurrent('the directory of the default links', () => {
  it.each([
    ['a link to another directory', (path: string) => symlinkSync(newDirectory(), path)],
    ['a file', (path: string) => writeFileSync(path, '')],
  ])('is not used when it is %s; the line works without a link', async (_, make) => {
    const directory = newDirectory();
    make(join(directory, 'modbus-sim'));
    const program = await startProgram({
      config: { devices: METER, lines: { bench: VIRTUAL_LINE } },
      env: { TMPDIR: directory },
    });
    expect(program.output.stdout).toMatch(/^line bench: RTU on \/dev\/pts\/\d+ 9600/);
    expect(await program.stop()).toBe(0);
    expect(program.output.stderr).toContain(
      'modbus-sim: is not a directory, so virtual lines have no links there',
    );
  });
});
