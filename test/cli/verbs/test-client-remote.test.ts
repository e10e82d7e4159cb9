import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testClientRemotely } from '../../../src/cli/verbs/test-client.js';
import { clientReportSchema } from '../../../src/testing/report/shapes.js';
import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';
import { BENCH } from '../../testing/scenario/read.js';
import { run, scratchSpace } from './run.js';

const { newDirectory } = scratchSpace();
stopAfterEach();

const POLLER = `${process.execPath} ${resolve('examples/poller.mjs')} {lines.bus.host} {lines.bus.port}`;
const NEVER = new Promise<void>(() => {});

async function listening(): Promise<{ running: RunningSimulator; url: string }> {
  const running = await startSimulator(nativeSetup(BENCH));
  const url = await running.rest.app.listen({ host: '127.0.0.1', port: 0 });
  return { running, url };
}

const WANTED = { line: 'bus', checks: ['legal-requests', 'connections-reused'], limitMs: 120_000, seed: 7 };

describe('a client test on a simulator that runs already', () => {
  it('starts the client here, tells each check and brings the report', { timeout: 120_000 }, async () => {
    const { url } = await listening();
    const told: string[] = [];
    const report = await testClientRemotely(
      { ...WANTED, dut: POLLER },
      { url, token: undefined },
      { onFinding: ({ title, verdict }) => void told.push(`${title}: ${verdict}`), stop: NEVER },
    );
    if (!report.ok) throw new Error(report.error);
    // Both watch at the same time, so either may be over first.
    expect(told.sort()).toEqual(['Reuses its connection: pass', 'Sends only valid requests: pass']);
    expect(report.value).toMatchObject({ kind: 'client', line: 'bus', seed: 7, verdict: 'pass' });
    expect(report.value.findings[0]?.frames[0]).toMatchObject({ kind: 'request' });
  });

  it('says what the simulator refuses, and that none is there', { timeout: 60_000 }, async () => {
    const { running, url } = await listening();
    const audience = { onFinding: () => {}, stop: NEVER };
    const wrong = { ...WANTED, line: 'bsu' };
    expect(await testClientRemotely(wrong, { url, token: undefined }, audience)).toMatchObject({
      error: expect.stringContaining('line: '),
    });
    await running.rest.app.close();
    expect(await testClientRemotely(WANTED, { url, token: undefined }, audience)).toMatchObject({
      error: expect.stringContaining('no answer'),
    });
  });

  it.each([{}, { state: 'over', checks: [{ id: 7 }] }, { state: 'over', checks: [] }])(
    'says that another program answers: %j',
    async (answer) => {
      const server = createServer(({ method }, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(method === 'POST' ? { id: 1 } : answer));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const audience = { onFinding: () => {}, stop: NEVER };
      const came = await testClientRemotely(WANTED, { url, token: undefined }, audience);
      expect(came).toEqual({ ok: false, error: `${url}: this is not modbus-sim` });
      server.close();
    },
  );

  it('stops when it is told to, with what it has', { timeout: 60_000 }, async () => {
    const { running, url } = await listening();
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const over = testClientRemotely(
      WANTED,
      { url, token: undefined },
      { onFinding: () => {}, stop: stopped },
    );
    const state = async () => {
      const { body } = await running.rest.send<{ runs: object[] }>('GET', '/api/v1/runs?kind=client');
      return body.runs.length;
    };
    await expect.poll(state, { timeout: 20_000 }).toBe(1);
    stop();
    const report = await over;
    expect(report).toMatchObject({ value: { findings: [{ verdict: 'not run' }, { verdict: 'not run' }] } });
  });

  it('is what the command does with --url', { timeout: 120_000 }, async () => {
    const { url } = await listening();
    const directory = newDirectory();
    const json = join(directory, 'r.json');
    const checks = 'legal-requests,connections-reused';
    const { code, stdout, stderr } = await run(
      [
        'test-client',
        'bus',
        '--url',
        url,
        '--dut',
        POLLER,
        '--checks',
        checks,
        '--seed',
        '7',
        '--observer-register',
        'meter.limit',
        '--json',
        json,
      ],
      directory,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`line bus at ${url}: watching the client`);
    expect(stdout).toMatch(/^pass +\d Reuses its connection/m);
    const report = clientReportSchema.parse(JSON.parse(readFileSync(json, 'utf8')));
    expect(report).toMatchObject({ seed: 7, checks: [{ verdict: 'pass' }, { verdict: 'pass' }] });
    const refused = await run(
      ['test-client', 'bus', '--url', url, '--observer-register', 'nowhere.seen'],
      directory,
    );
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('observer.register: unknown device "nowhere"');
  });
});
