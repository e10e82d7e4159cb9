import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Certificates } from '../modbus/transport/socket/certificates.js';
import { until } from '../modbus/transport/socket/raw-client.js';
import { startProgram } from '../support/program.mjs';
import type { Around } from './around.js';
import { asked, askedByUdp, reply } from './asking.js';
import { type Bench, startBench } from './bench.js';
import { beforePort } from './hosts.js';
import { mainOf, type Shipped } from './packages.js';
import { expectNoStackTrace, run } from './run.js';
import { type Trial, titleOf } from './verbs.js';

/** What the hooks of a file have made. */
export interface Made {
  readonly shipped: Shipped;
  readonly around: Around;
}

/**
 * Serves lines, REST and a real device at a host, and tries verbs there.
 * @param made asked for when the tests run
 */
export function describeAt(host: string, trials: readonly Trial[], made: () => Made): void {
  describe.concurrent(`at ${host}`, () => {
    let bench: Bench;
    beforeAll(async () => {
      const { shipped, around } = made();
      bench = await startBench(shipped, host, around);
    });
    afterAll(() => bench?.stop());

    it('serves TLS and UDP', async () => {
      const secured = connectTls({ port: bench.port('secured'), host, rejectUnauthorized: false });
      expect(await asked(secured, 1)).toBe(reply(1));
      expect(await askedByUdp(host, bench.port('datagrams'), 1)).toBe(reply(1));
    });

    it('answers for a real device', async () => {
      expect(await asked(connect(bench.port('lan'), host), 3)).toBe(reply(3));
    });

    it('serves REST', async () => {
      const answer = await bench.ask('/api/v1/lines');
      const { lines } = (await answer.json()) as { lines: { state: string }[] };
      expect(new Set(lines.map(({ state }) => state))).toEqual(new Set(['open']));
    });

    const tryIt = async (trial: Trial) => {
      const { args, says, endless, onTerminal, codes = [0] } = trial;
      const { code, printed } = await bench.run(args(bench), { until: endless && says, onTerminal });
      expect(printed).toMatch(says);
      expect(codes).toContain(code);
    };
    for (const trial of trials) (trial.alone ? it.sequential : it)(titleOf(trial), () => tryIt(trial));
  });
}

/** Tries what is said on the command line, or away: it needs programs of its own. */
export function describeServing(host: string, made: () => Made): void {
  const environment = () => {
    const { loaded } = made().around;
    return loaded === undefined ? {} : { NODE_V8_COVERAGE: loaded };
  };
  const devices = { meter: { registers: { holding: [{ address: 0 }] } } };
  const plant = { devices, lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } } };
  const start = (config: object, args: readonly string[] = []) =>
    startProgram({ main: mainOf(made().shipped), config: { ...plant, ...config }, args, env: environment() });

  describe.concurrent(`at ${host}`, () => {
    const certificates = new Certificates();
    afterAll(() => certificates.remove());

    it('serves REST on the address of --http_host, while a broker with TLS is away', async () => {
      const mqtt = { url: `mqtts://${beforePort(host)}:1`, ca: certificates.ca.cert };
      const api = { port: 0, token: 'x'.repeat(32) };
      const program = await start({ api, mqtt }, ['--http_host', host]);
      await until(
        () => program.output.stderr.includes('no connection to the broker'),
        'the broker is missed',
      );
      const port = new URL(program.restUrl()).port;
      expect((await fetch(`http://${beforePort(host)}:${port}/healthz`)).ok).toBe(true);
      expect(await program.stop()).toBe(0);
      expectNoStackTrace(program.output.stderr);
    });

    it('keeps REST while the broker is away', async () => {
      const program = await start({ mqtt: { url: `mqtt://${beforePort(host)}:1`, sparkplug: true } });
      await until(
        () => program.output.stderr.includes('no connection to the broker'),
        'the broker is missed',
      );
      // A thread of REST that has died is replaced after half a second.
      for (const end = performance.now() + 4000; performance.now() < end; await sleep(100))
        expect((await fetch(`${program.restUrl()}/healthz`)).ok).toBe(true);
      expect(await program.stop()).toBe(0);
      const { stdout, stderr } = program.output;
      expect(stdout + stderr).not.toContain('REST thread');
      expectNoStackTrace(stdout + stderr);
    });
  });
}

/** The verbs that `--help` of a package explains. */
export async function verbsOf(shipped: Shipped): Promise<string[]> {
  const { printed } = await run(shipped, ['help', 'all'], process.env);
  return [...printed.matchAll(/^modbus-sim ([\w-]+)/gm)].map(([, verb = '']) => verb);
}
