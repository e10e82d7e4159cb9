/**
 * Starts the program, waits until it serves, and stops it, so that the code that V8 has compiled of it is kept for later
 * starts. The build runs this file, and so does the Debian package when it or Node has been installed: whoever may write
 * the program may write its code, and nobody else. It does nothing on Windows, where a process can't be asked to end.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileBesideCode } from '../../common/package.js';
import { HERE } from '../../common/platform.js';
import { KEEP_CODE } from './parts.js';

/** A program that is not ready by then is ended: it starts without kept code as well. */
const LIMIT_MS = 60_000;

const CONFIGURATION = {
  devices: { meter: { registers: { holding: [{ address: 0, quantity: 10, write: true }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

if (!HERE.isWindows) {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-'));
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify(CONFIGURATION));
  const main = fileURLToPath(fileBesideCode('main.js'));
  const program = spawn(process.execPath, [main, '--config', file, '--http_port', '0'], {
    env: { ...process.env, [KEEP_CODE]: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let printed = '';
  program.stdout.on('data', (text) => {
    printed += text;
    if (/^ready$/m.test(printed)) program.kill('SIGTERM');
  });
  program.once('close', (code) => {
    rmSync(directory, { recursive: true, force: true });
    if (code !== 0)
      console.error('no compiled code is kept: the program did not start, or its folder is read-only');
  });
}
