import { spawnSync } from 'node:child_process';
import { createReadStream, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformOf } from '../../../src/common/platform.js';
import { interfaceName, lineOfInterface, usualFolder } from '../../../src/extensions/extcap/verb.js';
import { run, scratchSpace } from '../../cli/verbs/run.js';
import { RawClient, until } from '../../modbus/transport/socket/raw-client.js';
import { type RunningProgram, startProgram } from '../../support/program.mjs';

const TOKEN = 'a-long-secret';
const scratch = scratchSpace();

/** What a frame may take until Wireshark has it, where the machine has nothing else to do. */
const LIVE_MS = 200;
/** Frames that are tried: this machine may be doing something else for a while. */
const MOST_FRAMES = 100;
/** Register 0 is 0, as an RTU frame. */
const RESPONSE = Buffer.from('0103020000b844', 'hex');

describe('the name of an interface', () => {
  it.each(['bench', 'line 1', 'a/b', "it's {1}", 'Prüfstand'])('stands for the line %s', (line) => {
    const name = interfaceName(line);
    expect(name).toMatch(/^[\w.%~-]+$/);
    expect(lineOfInterface(name)).toBe(line);
  });

  it.each(['eth0', 'modbus-sim-%zz'])('%s stands for none', (name) => {
    expect(lineOfInterface(name)).toBeUndefined();
  });
});

it('is not installed where no directory can be made', async () => {
  const { code, stderr } = await run(
    ['extcap', '--install', '/proc/wireshark/extcap'],
    scratch.newDirectory(),
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(/^can't write \/proc\/wireshark\/extcap\/modbus-sim: ENOENT/);
});

it('is installed over an earlier one, and over nothing else: not over a file of that name, nor through a link', async () => {
  const directory = scratch.newDirectory();
  const path = join(directory, 'modbus-sim');
  const install = () => run(['extcap', '--install', directory], '.');
  expect((await install()).code).toBe(0);
  expect((await install()).code).toBe(0);
  const script = readFileSync(path, 'utf8');
  const program = join(directory, 'main.js');
  writeFileSync(program, script);
  for (const take of [() => writeFileSync(path, 'mine'), () => symlinkSync(program, path)]) {
    rmSync(path);
    take();
    expect(await install()).toEqual({
      code: 1,
      stdout: '',
      stderr: `${path}: exists and was not installed by this program; remove it first\n`,
    });
  }
  expect(readFileSync(program, 'utf8')).toBe(script);
});

it('captures into a pipe, and does not write over a file', async () => {
  const file = join(scratch.newDirectory(), 'thesis');
  writeFileSync(file, 'mine');
  const capture = ['--capture', '--extcap-interface', 'modbus-sim-lan', '--fifo', file];
  expect(await run(['extcap', ...capture], '.')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${file}: exists and is not an earlier capture`),
  });
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

describe('modbus-sim extcap', () => {
  let program: RunningProgram;
  beforeAll(async () => {
    program = await startProgram({
      config: {
        devices: { meter: { registers: { holding: [{ address: 0 }] } } },
        lines: { 'lan 1': { tcp: { port: 0 }, units: { 1: 'meter' } } },
        api: { port: 0, token: TOKEN },
      },
    });
  });
  afterAll(() => program.stop());

  const extcap = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(['extcap', ...args], scratch.newDirectory(), {
      MODBUS_SIM_URL: program.restUrl(),
      MODBUS_SIM_TOKEN: TOKEN,
      ...env,
    });

  it('lists the lines of the simulator', async () => {
    const { code, stdout } = await extcap(['--extcap-interfaces', '--extcap-version=4.0']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^extcap \{version=[^}]+\}\{display=modbus-sim\}\n/);
    expect(stdout).toMatch(
      /\ninterface \{value=modbus-sim-lan%201\}\{display=Modbus line lan 1 \(127\.0\.0\.1:\d+\)\}\n$/,
    );
  });

  it('lists none where no simulator is running, so that Wireshark starts without a complaint', async () => {
    const { code, stdout, stderr } = await extcap(['--extcap-interfaces'], {
      MODBUS_SIM_URL: 'http://127.0.0.1:9',
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^extcap [^\n]+\n$/);
  });

  it('tells link type and options', async () => {
    const interfaceOf = '--extcap-interface=modbus-sim-lan%201';
    expect((await extcap([interfaceOf, '--extcap-dlts'])).stdout).toBe(
      'dlt {number=101}{name=RAW}{display=Raw IP}\n',
    );
    const { stdout } = await extcap([interfaceOf, '--extcap-config']);
    expect(stdout).toContain(`{call=--url}{display=Simulator}`);
    expect(stdout).toContain(`{default=${program.restUrl()}}`);
  });

  it('says why a capture is not possible', async () => {
    const capture = [
      '--capture',
      '--extcap-interface',
      'modbus-sim-lan%201',
      '--fifo',
      join(scratch.newDirectory(), 'f'),
    ];
    expect(await extcap([...capture, '--token', 'wrong'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('expected Bearer and a configured token'),
    });
    expect(await extcap([...capture, '--url', 'http://127.0.0.1:9'])).toMatchObject({ code: 1 });
    expect(await extcap(['--capture'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--capture needs --fifo and --extcap-interface'),
    });
  });

  it('fills the pipe that Wireshark reads as frames happen, and ends with it', async () => {
    const fifo = join(scratch.newDirectory(), 'fifo');
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    const ended = extcap(['--capture', '--extcap-interface', 'modbus-sim-lan%201', '--fifo', fifo]);
    const pipe = createReadStream(fifo);
    let came = Buffer.alloc(0);
    pipe.on('data', (chunk) => {
      came = Buffer.concat([came, Buffer.from(chunk)]);
    });
    await until(() => came.length > 0, 'the header is there');
    const client = new RawClient(program.tcpPort('lan 1'));
    let fastest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < MOST_FRAMES && fastest >= LIVE_MS; i++) {
      const [before, sentAt] = [came.length, performance.now()];
      client.send(Buffer.from('000100000006010300000001', 'hex'));
      await until(() => came.subarray(before).includes(RESPONSE), 'the response is there');
      fastest = Math.min(fastest, performance.now() - sentAt);
    }
    expect(fastest).toBeLessThan(LIVE_MS);
    pipe.destroy();
    client.send(Buffer.from('000100000006010300000001', 'hex'));
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    await client.end();
  });

  it('installs a program that Wireshark can call', async () => {
    const directory = join(scratch.newDirectory(), "user's extcap");
    const { code, stdout } = await extcap(['--install', directory]);
    expect(code).toBe(0);
    const file = join(directory, 'modbus-sim');
    expect(stdout).toContain(`installed ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o755);
    const called = spawnSync(file, ['--extcap-dlts'], { encoding: 'utf8' });
    expect(called.stdout).toContain('dlt {number=101}');
  });

  it('says where it can not be installed', async () => {
    const { code, stderr } = await extcap(['--install', '/dev/null/extcap']);
    expect(code).toBe(1);
    expect(stderr).toContain("can't write /dev/null/extcap/modbus-sim");
  });
});

it('installs where Wireshark of Windows looks when tshark is not there to ask', () => {
  const env = { APPDATA: String.raw`C:\Users\me\AppData\Roaming` };
  expect(usualFolder(platformOf('win32'), env)).toBe(
    String.raw`C:\Users\me\AppData\Roaming\Wireshark\extcap`,
  );
  expect(usualFolder(platformOf('linux'), env)).toMatch(/\.local\/lib\/wireshark\/extcap$/);
});
