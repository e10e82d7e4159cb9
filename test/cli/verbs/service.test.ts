import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadLibc } from '../../../src/modbus/transport/port/libc.js';
import { openNotifySocket } from '../../support/notify-socket.mjs';
import { dist, startProgram } from '../../support/program.mjs';
import { METER, TCP_LINE, VIRTUAL_LINE } from './plant.js';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const lines = { bench: VIRTUAL_LINE, lan: TCP_LINE };
const config = { devices: METER, lines };

/** Starts the program as a service manager does that wants to be told. */
async function startService(env: Record<string, string> = {}) {
  const socket = openNotifySocket(join(newDirectory(), 'notify'));
  onTestFinished(() => socket.close());
  const program = await startProgram({ config, env: { NOTIFY_SOCKET: socket.path, ...env } });
  onTestFinished(async () => void (await program.stop()));
  const file = join(program.directory, 'config.json');
  const reload = (content: unknown) => {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    process.kill(program.pid, 'SIGHUP');
  };
  return { program, socket, reload };
}

/** The states of the threads of a process, as proc(5) has them. */
function threadStates(pid: number): Set<string> {
  const tasks = `/proc/${pid}/task`;
  const stateOf = (task: string) =>
    /\) (\w) /.exec(readFileSync(join(tasks, task, 'stat'), 'utf8'))?.[1] ?? '';
  return new Set(readdirSync(tasks).map(stateOf));
}

describe('a service manager', () => {
  it('is told when the program serves, how its lines are, and that it ends', async () => {
    const { program, socket } = await startService();
    expect(socket.messages()).toEqual(['READY=1\nSTATUS=2 lines open']);
    const stopped = await fetch(`${program.restUrl()}/api/v1/lines/bench/stop`, { method: 'POST' });
    expect(stopped.ok).toBe(true);
    await expect.poll(() => socket.messages().at(-1)).toBe('STATUS=1 line open, 1 stopped');
    expect(await program.stop()).toBe(0);
    expect(socket.messages().at(-1)).toBe('STOPPING=1');
  });

  it('is told by the descriptor that it has passed to the program', async () => {
    const socket = openNotifySocket(join(newDirectory(), 'notify'));
    onTestFinished(() => socket.close());
    const loaded = await loadLibc();
    const descriptor = loaded.ok ? loaded.libc.connectDatagrams(socket.path) : -1;
    expect(descriptor).toBeGreaterThan(0);
    onTestFinished(() => closeSync(descriptor));
    // The shell's process becomes that of the program, whose number it must have.
    const command = ['exec', process.execPath, join(dist, 'main.js'), '--config', newFile(config)].join(' ');
    const child = spawn('/bin/sh', ['-c', `LISTEN_PID=$$ ${command} --http_port 0`], {
      env: { ...process.env, TMPDIR: newDirectory(), NOTIFY_SOCKET: '/nowhere', LISTEN_FDNAMES: 'x:notify' },
      stdio: ['ignore', 'ignore', 'ignore', 'ignore', descriptor],
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    onTestFinished(() => void child.kill('SIGKILL'));
    await expect.poll(() => socket.messages()[0]).toMatch(/^READY=1\nSTATUS=2 lines open/);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('that can not be told is no reason not to serve', async () => {
    const program = await startProgram({ config, env: { NOTIFY_SOCKET: '/nowhere/notify' } });
    expect(await program.stop()).toBe(0);
    expect(program.output.stderr).toContain(
      "the service manager can't be notified that this program is ready, and may stop it: /nowhere/notify: ENOENT",
    );
  });

  it('that watches is fed, until the program hangs', async () => {
    const { program, socket } = await startService({ WATCHDOG_USEC: '2000000' });
    const fed = () => socket.messages().filter((message) => message === 'WATCHDOG=1').length;
    await expect.poll(fed).toBeGreaterThan(1);
    process.kill(program.pid, 'SIGSTOP');
    // It may run on for a moment, and feed.
    await expect.poll(() => threadStates(program.pid)).toEqual(new Set(['T']));
    const before = fed();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const after = fed();
    process.kill(program.pid, 'SIGCONT');
    expect(after).toBe(before);
    await expect.poll(fed).toBeGreaterThan(after);
  });

  it('is told where REST is when the port is the one of the environment', async () => {
    const socket = openNotifySocket(join(newDirectory(), 'notify'));
    onTestFinished(() => socket.close());
    const env = { NOTIFY_SOCKET: socket.path, MODBUS_SIM_HTTP_PORT: '0' };
    const program = await startProgram({ args: ['--config', newFile(config)], env });
    onTestFinished(async () => void (await program.stop()));
    expect(program.restUrl()).not.toContain(':8080');
    expect(socket.messages()).toEqual([`READY=1\nSTATUS=2 lines open; REST on ${program.restUrl()}`]);
  });

  it('that watches another process is not fed', async () => {
    const { socket } = await startService({ WATCHDOG_USEC: '100000', WATCHDOG_PID: '1' });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(socket.messages()).not.toContain('WATCHDOG=1');
  });
});

describe('SIGHUP from a service manager', () => {
  it('has the file read again; what changed there changes, and the rest stays', async () => {
    const { program, socket, reload } = await startService();
    const path = program.serialPath('bench');
    const paced = { ...VIRTUAL_LINE, serial: { ...VIRTUAL_LINE.serial, pacing: { chunk: 8 } } };
    reload({ ...config, api: { port: 0 }, lines: { ...lines, bench: paced } });
    await expect.poll(() => socket.messages().at(-1)).toBe('READY=1');
    expect(socket.messages().at(-2)).toMatch(/^RELOADING=1\nMONOTONIC_USEC=\d+$/);
    const line = await (await fetch(`${program.restUrl()}/api/v1/lines/bench`)).json();
    expect(line).toMatchObject({ state: 'open', settings: { serial: { pacing: { chunk: 8 } } } });
    await expect.poll(() => program.output.stderr).toContain('"msg":"changed: line bench"');
    expect(existsSync(path)).toBe(true);
  });

  it('refuses a wrong file, says so, and goes on as before', async () => {
    const { program, socket, reload } = await startService();
    reload('lines: 7');
    const refusal = expect.stringMatching(
      /^STATUS=2 lines open; reload: \S+config\.json: devices: missing, expected devices by name$/,
    );
    await expect.poll(() => socket.messages()).toEqual(expect.arrayContaining([refusal]));
    await expect.poll(() => program.output.stderr).toContain('"msg":"not reloaded: ');
    expect((await fetch(`${program.restUrl()}/healthz`)).status).toBe(200);
    reload({ ...config, api: { port: 0 } });
    await expect.poll(() => socket.messages()).toContain('STATUS=2 lines open');
  });
});

describe('modbus-sim reload', () => {
  /** A service that others reach only with a token, which its own processes alone can read. */
  async function startRemote() {
    const credentials = newDirectory();
    writeFileSync(join(credentials, 'token'), 'a-token-that-is-long-enough\n');
    const directory = newDirectory();
    const env = { RUNTIME_DIRECTORY: directory, CREDENTIALS_DIRECTORY: credentials };
    const remote = { ...config, api: { host: '0.0.0.0', port: 0 } };
    const socket = openNotifySocket(join(newDirectory(), 'notify'));
    onTestFinished(() => socket.close());
    const program = await startProgram({ config: remote, env: { NOTIFY_SOCKET: socket.path, ...env } });
    onTestFinished(async () => void (await program.stop()));
    const reload = (content: object) => {
      // A service manager reads what it is sent; a full queue would hold the service up.
      socket.messages();
      writeFileSync(join(program.directory, 'config.json'), JSON.stringify(content));
      // As systemd runs ExecReload: it has no credentials.
      return run(['reload'], newDirectory(), { RUNTIME_DIRECTORY: directory });
    };
    return { program, socket, remote, directory, reload };
  }

  it('says what was changed and what was not; a file that needs a restart is a warning, one with mistakes a failure; the token stays with the service', async () => {
    const { program, socket, remote, reload } = await startRemote();
    expect(await reload(remote)).toEqual({
      code: 0,
      stdout: 'nothing has changed\n',
      stderr: '',
    });
    const bench = { ...VIRTUAL_LINE, units: { 1: 'meter', 2: 'meter' } };
    const changed = { ...remote, lines: { ...lines, bench } };
    expect(await reload(changed)).toEqual({ code: 0, stdout: 'changed: line bench\n', stderr: '' });
    const both = { ...changed, lines: { ...lines, bench: VIRTUAL_LINE }, api: { ...remote.api, host: '::' } };
    expect(await reload(both)).toEqual({
      code: 0,
      stdout: 'changed: line bench\n',
      stderr: 'api: takes effect at the next restart\n',
    });
    expect(await reload({ lines: 7 })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^\S+config\.json: devices: missing, expected devices by name\n/),
    });
    expect(await reload({ ...remote, start: 'waiting' })).toMatchObject({ code: 0 });
    expect(socket.messages().filter((message) => message.startsWith('RELOADING=1'))).toHaveLength(5);
    expect((await fetch(`${program.restUrl()}/healthz`)).status).toBe(200);
  });

  it('is for root and the user of the service, and fails when nobody is asked', async () => {
    const { program, directory, remote, reload } = await startRemote();
    expect(statSync(join(directory, 'reload.sock')).mode & 0o777).toBe(0o600);
    expect(await program.stop()).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
    mkdirSync(program.directory);
    onTestFinished(() => rmSync(program.directory, { recursive: true }));
    expect(await reload(remote)).toEqual({
      code: 2,
      stdout: '',
      stderr: `${directory}/reload.sock: no program listens on this socket; is modbus-sim running?\n`,
    });
  });
});

describe('a token that is a credential of the service', () => {
  const credentials = (token?: string) => {
    const directory = join(newDirectory(), 'credentials');
    mkdirSync(directory);
    if (token !== undefined) writeFileSync(join(directory, 'token'), token);
    return { CREDENTIALS_DIRECTORY: directory };
  };

  async function statusWith(env: Record<string, string>, token?: string) {
    const program = await startProgram({ config, env });
    onTestFinished(async () => void (await program.stop()));
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await fetch(`${program.restUrl()}/api/v1/lines`, { headers })).status;
  }

  it.each([
    ['is asked for', credentials('from-systemd\n'), undefined, 401],
    ['lets in who has it', credentials('from-systemd\n'), 'from-systemd', 200],
    ['is asked for no more than one that is empty', credentials('\n'), undefined, 200],
    ['may be absent', credentials(), undefined, 200],
    ['gives way to MODBUS_SIM_TOKEN', { ...credentials('a'), MODBUS_SIM_TOKEN: 'b' }, 'b', 200],
  ])('%s', async (_, env, token, status) => {
    expect(await statusWith(env, token)).toBe(status);
  });

  it('ends the program when it can not be read', async () => {
    const env = credentials();
    mkdirSync(join(env.CREDENTIALS_DIRECTORY, 'token'));
    chmodSync(join(env.CREDENTIALS_DIRECTORY, 'token'), 0o700);
    const { code, stderr } = await run(['--config', newFile(config)], newDirectory(), env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^the credential token can't be read: is a directory/);
  });
});

it('virtual lines of a service are found in its runtime directory', async () => {
  const directory = newDirectory();
  const program = await startProgram({ config, env: { RUNTIME_DIRECTORY: directory } });
  onTestFinished(async () => void (await program.stop()));
  expect(program.output.stdout).toContain(`(also ${directory}/bench)`);
});
