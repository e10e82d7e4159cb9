import { spawn } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../cli/verbs/run.js';
import { until } from '../modbus/transport/socket/raw-client.js';
import { makeTempDir, type RunningProgram, startProgram } from '../support/program.mjs';
import { describeWithPeer, isInstalled } from './peer.js';

const missing = isInstalled('tshark', '--version') ? undefined : 'tshark is missing: apt-get install tshark';
const REQUEST = Buffer.from('000100000006010300000001', 'hex');

/** As root, Wireshark takes no extcap directory from the environment. */
const AS_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describeWithPeer('Wireshark, with the lines as interfaces', missing, () => {
  const directory = makeTempDir();
  let program: RunningProgram;

  beforeAll(async () => {
    chmodSync(directory, 0o755);
    program = await startProgram({
      config: {
        devices: { meter: { registers: { holding: [{ address: 0 }] } } },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      },
    });
    expect((await run(['extcap', '--install', directory], directory)).code).toBe(0);
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    expect(await program.stop()).toBe(0);
  });

  /** tshark, with what it has printed so far. */
  function tshark(...args: readonly string[]) {
    const env = {
      ...process.env,
      HOME: '/tmp',
      TMPDIR: '/tmp',
      WIRESHARK_EXTCAP_DIR: directory,
      MODBUS_SIM_URL: program.restUrl(),
    };
    const child = spawn('tshark', args, { env, ...AS_USER });
    const printed = { text: '', errors: '' };
    child.stdout.on('data', (chunk) => {
      printed.text += chunk;
    });
    child.stderr.on('data', (chunk) => {
      printed.errors += chunk;
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    return { child, printed, ended };
  }

  it('lists the lines', async () => {
    const { printed, ended } = tshark('-D');
    await ended;
    expect(printed.text).toMatch(/^\d+\. modbus-sim-lan \(Modbus line lan \(127\.0\.0\.1:\d+\)\)$/m);
  });

  it('shows frames live', async () => {
    const { child, printed, ended } = tshark('-l', '-i', 'modbus-sim-lan', '-o', 'mbrtu.udp.port:5020');
    const client = connect(program.tcpPort('lan'), '127.0.0.1');
    const responses = () => printed.text.split('Response: Unit:   1, Func:   3').length - 1;
    // The capture begins some time after tshark says so.
    while (responses() === 0) {
      expect(child.exitCode, printed.errors).toBeNull();
      client.write(REQUEST);
      await sleep(200);
    }
    const before = responses();
    for (let i = 0; i < 3; i++) client.write(REQUEST);
    await until(() => responses() >= before + 3, 'the responses are shown');
    client.destroy();
    child.kill('SIGINT');
    await ended;
  });
});
