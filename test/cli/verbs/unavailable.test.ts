import { existsSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProgram } from '../../support/program.mjs';
import { lineOn, METER, TCP_LINE, VIRTUAL_LINE } from './plant.js';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

/** A port of this machine that is taken. */
let taken: number;
const server = createServer();
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  taken = (server.address() as { port: number }).port;
});
afterAll(() => void server.close());

/** Starts a program with one line that can be opened, and one that can't. */
async function startWith(more: { lines?: object; api?: object }) {
  const directory = newDirectory();
  const config = {
    devices: METER,
    lines: { good: VIRTUAL_LINE, ...more.lines },
    api: { port: 0, ...more.api },
  };
  const ended = await run(['--config', newFile(config)], directory);
  return { ...ended, goodLineIsLeft: existsSync(join(directory, 'modbus-sim', 'good')) };
}

describe.concurrent('a port that is in use by another program', () => {
  it('is an error that names it, for REST', async () => {
    const { code, stderr, goodLineIsLeft } = await startWith({ api: { port: taken } });
    expect(code).toBe(1);
    expect(stderr).toContain(`\nREST: 127.0.0.1:${taken} is in use by another program`);
    expect(goodLineIsLeft).toBe(false);
  });

  it('is an error that names it, for a Modbus TCP line', async () => {
    const { code, stdout, stderr, goodLineIsLeft } = await startWith({
      lines: { lan: { ...TCP_LINE, tcp: { port: taken } } },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^line lan: .*127\\.0\\.0\\.1:${taken}: another program`, 'm'));
    expect(stdout).toBe('');
    expect(goodLineIsLeft).toBe(false);
  });
});

describe.concurrent('a serial port that can not be opened is an error that names the line and the port', () => {
  it.each([
    ['does not exist', '/dev/ttyNowhere', 'does not exist; modbus-sim ports lists the serial ports'],
    ['is a directory', '/dev', 'is a directory, not a serial port'],
    ['is a regular file', import.meta.filename, 'is not a character device, so it is not a serial port'],
    ['is /dev/null', '/dev/null', "is a device of the kind 'mem', not a serial port"],
  ])('because it %s', async (_, path, message) => {
    const { code, stdout, stderr, goodLineIsLeft } = await startWith({ lines: { bad: lineOn(path) } });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n').at(-1)).toBe(`line bad: ${path}: ${message}`);
    expect(goodLineIsLeft).toBe(false);
  });

  it('because its link leads nowhere', async () => {
    const link = join(newDirectory(), 'adapter');
    symlinkSync('/dev/ttyNowhere', link);
    const { code, stderr } = await startWith({ lines: { bad: lineOn(link) } });
    expect(code).toBe(1);
    expect(stderr).toContain(`line bad: ${link}: does not exist`);
  });
});

describe.concurrent('a serial port that can not do what is asked for', () => {
  it('fails its line with the reason, also one that waits for its port, and the others serve', async () => {
    // A pseudo-terminal has no RS-485 mode.
    const wire = await startProgram({ config: { devices: METER, lines: { wire: VIRTUAL_LINE } } });
    const path = wire.serialPath('wire');
    const serial = { ...VIRTUAL_LINE.serial, path, rs485: { mode: 'kernel' } };
    const bench = { ...VIRTUAL_LINE, serial, start: 'waiting' };
    const program = await startProgram({ config: { devices: METER, lines: { good: TCP_LINE, bench } } });
    const url = `${program.restUrl()}/api/v1/lines`;
    const line = async (name: string) => (await fetch(`${url}/${name}`)).json();
    const reason = `${path}: this driver has no RS-485 mode; use an adapter that switches direction on its own (rs485: {mode: auto}), or rs485: {mode: rts}`;
    expect(await line('bench')).toMatchObject({ state: 'failed', reason });
    expect(await line('good')).toMatchObject({ state: 'open' });
    expect(program.output.stdout).toContain(`; failed: ${reason}\n`);

    const body = JSON.stringify({ serial: { rs485: null } });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/bench`, { method: 'PUT', headers, body });
    expect(await line('bench')).toMatchObject({ state: 'open' });

    await program.stop();
    expect(program.output.stderr.match(/"line failed"/g)).toHaveLength(1);
    await wire.stop();
  });
});

/** Run before the program: an ARMv6, as far as the program can find out. */
const ARMV6 = `
import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
Object.defineProperty(process, 'arch', { value: 'arm' });
os.machine = () => 'armv6l';
syncBuiltinESMExports();`;

describe.concurrent('on a processor that the calls of the C library do not run on', () => {
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ARMV6)}` };
  const reason =
    'no pseudo-terminal for the virtual line: ARMv7 or later is needed for virtual lines, RS-485 settings and exact timers, and this is ARMv6';

  it('other lines serve beside a virtual one that is waited for', async () => {
    const lines = { good: TCP_LINE, bench: { ...VIRTUAL_LINE, start: 'waiting' } };
    const program = await startProgram({ config: { devices: METER, lines }, env });
    expect(program.output.stdout).toContain(`; failed: ${reason}\n`);
    expect(await (await fetch(`${program.restUrl()}/api/v1/lines`)).json()).toMatchObject({
      lines: [{ state: 'open' }, { state: 'failed', reason }],
    });
    expect(await program.stop()).toBe(0);
  });

  it('a virtual line says what is needed', async () => {
    const config = newFile({ devices: METER, lines: { bench: VIRTUAL_LINE }, api: { port: 0 } });
    const { code, stderr } = await run(['--config', config], newDirectory(), env);
    expect(code).toBe(1);
    expect(stderr).toContain(`\nline bench: ${reason}\n`);
  });
});

describe.concurrent('a serial port that another modbus-sim has', () => {
  /** Serves a line on the client's side of the first one's virtual line, as it would on a port with a wire. */
  async function startBoth() {
    const first = await startProgram({ config: { devices: METER, lines: { wire: VIRTUAL_LINE } } });
    const path = first.serialPath('wire');
    const config = { devices: METER, lines: { bench: lineOn(path) } };
    const second = await startProgram({ config });
    return { first, second, path };
  }

  it('is refused with the name of that program, which goes on undisturbed', async () => {
    const { first, second, path } = await startBoth();
    const { code, stderr } = await startWith({ lines: { bad: lineOn(path) } });
    expect(code).toBe(1);
    expect(stderr).toContain(`line bad: ${path}: is in use by node (process ${second.pid}); stop it first`);
    expect(await second.stop()).toBe(0);
    expect(second.output.stderr).not.toContain('line lost');
    expect(await first.stop()).toBe(0);
  });
});
