import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { clientReportSchema } from '../../src/testing/report/shapes.js';
import { installNodeRed } from '../support/node-red.mjs';
import { dist } from '../support/program.mjs';
import { describeWithPeer } from './peer.js';

/*
 * Node-RED puts its polls into a queue. A request without a reply costs it its time-out and 4.5 s until it has connected again,
 * and then the next poll comes, which is no repetition.
 */
const TIMEOUT_MS = 300;
/** Each of some fifty requests without a reply costs 5 s. */
const LIMIT_MS = 900_000;
const CHECKS = 'watching,retries,exception-2,closed-after-reply';

const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-node-red-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describeWithPeer('Node-RED', installNodeRed(directory), () => {
  it('is tested as what it is: it asks once, and connects again', { timeout: LIMIT_MS }, async () => {
    const holding = [{ address: 0, value: Array.from({ length: 20 }, (_, i) => 100 + i) }];
    const config = join(directory, 'config.json');
    const bus = { tcp: { host: '127.0.0.1', port: 0 }, units: { 1: 'meter' } };
    writeFileSync(config, JSON.stringify({ devices: { meter: { registers: { holding } } }, lines: { bus } }));
    const json = join(directory, 'report.json');
    const poller = `${process.execPath} ${resolve('scripts/cards/node-red.mjs')}`;
    const dut = `exec ${poller} {lines.bus.host} {lines.bus.port} ${TIMEOUT_MS} ${join(directory, 'read')} ${directory}`;
    const args = ['test-client', 'bus', '--config', config, '--checks', CHECKS, '--dut', dut, '--json', json];
    const output = await new Promise<string>((done) =>
      execFile(process.execPath, [join(dist, 'main.js'), ...args], (_, stdout) => done(stdout)),
    );
    const { checks, conclusions, found } = clientReportSchema.parse(JSON.parse(readFileSync(json, 'utf8')));
    const verdicts = Object.fromEntries(checks.map(({ id, verdict }) => [id, verdict]));
    expect(verdicts, output).toMatchObject({
      'legal-requests': 'pass',
      'connections-reused': 'pass',
      'exception-2': 'pass',
      'closed-after-reply': 'pass',
    });
    expect(verdicts.retries, output).toBe('inconclusive');
    expect(found.retries ?? 0).toBe(0);
    expect(conclusions.join(' ')).not.toMatch(/asks [2-9] times/i);
  });
});
