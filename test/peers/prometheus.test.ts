import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { newClient } from '../../src/modbus/client/client.js';
import { freePort } from '../remote/api/masters.js';
import { dist, makeTempDir, startProgram } from '../support/program.mjs';
import { mosquitto, noMosquitto } from './mosquitto.js';
import { describeWithPeer, isInstalled } from './peer.js';

const LIMIT_MS = 600_000;
const BENCH = 'modbus-sim/bench-1';

const noPrometheus =
  isInstalled('prometheus', '--version') && isInstalled('promtool', '--version')
    ? noMosquitto
    : 'prometheus is not installed (apt-get install --no-install-recommends prometheus)';

/** The parts of a dashboard that name queries. */
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly type: string; readonly name: string; readonly definition?: string }[];
  };
}

const dashboard = JSON.parse(readFileSync('examples/grafana/dashboard.json', 'utf8')) as Dashboard;

/** A query as Grafana sends it: the variables are filled in. */
function filledIn(query: string, values: Readonly<Record<string, string>>): string {
  return query.replace(/\$(\w+)/g, (whole, name: string) => values[name] ?? whole);
}

/** A bench whose line is asked all the time, with a rule that acts on some requests. */
async function busyBench(broker: number) {
  const program = await startProgram({
    config: {
      devices: { meter: { registers: { holding: [{ address: 0 }] } } },
      lines: { lan: { tcp: { host: '127.0.0.1', port: 0 }, units: { 1: 'meter' } } },
      faults: [{ name: 'busy', when: { every: 2 }, do: [{ exception: 6 }] }],
      mqtt: { url: `mqtt://127.0.0.1:${broker}`, topic: BENCH, labels: { rack: 3 } },
    },
  });
  const client = newClient({
    kind: 'tcp',
    host: '127.0.0.1',
    port: program.tcpPort('lan'),
    framing: 'socket',
  });
  let asks = true;
  const asking = (async () => {
    while (asks) {
      await client.ask({ unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 1), timeout: 1000 });
      await delay(20);
    }
  })();
  onTestFinished(async () => {
    asks = false;
    await asking;
    await client.close();
    await program.stop();
  });
  return program;
}

/** A Prometheus that asks the targets in this file every second; where its HTTP API is. */
async function prometheus(directory: string, targets: string): Promise<string> {
  const port = await freePort();
  const file = join(directory, 'prometheus.yml');
  const job = { job_name: 'modbus-sim', file_sd_configs: [{ files: [targets] }] };
  // Every JSON document is a YAML document.
  writeFileSync(file, JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [job] }));
  expect(execFileSync('promtool', ['check', 'config', file], { encoding: 'utf8' })).toContain('SUCCESS');
  const started = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  onTestFinished(async () => {
    const ended = once(started, 'exit');
    started.kill('SIGTERM');
    await ended;
  });
  return `http://127.0.0.1:${port}/api/v1`;
}

/** What the API answers; undefined while there is nobody. */
async function ask(api: string, path: string, parameters: Readonly<Record<string, string>>) {
  const response = await fetch(`${api}/${path}?${new URLSearchParams(parameters)}`).catch(() => undefined);
  return (await response?.json()) as { status: string; error?: string; data: unknown } | undefined;
}

describeWithPeer('what Prometheus reads', noPrometheus, () => {
  it('has no mistake that promtool knows', async () => {
    const { port } = await mosquitto(makeTempDir());
    const metrics = `${(await busyBench(port)).restUrl()}/metrics`;
    // The lag of the event loop is there from the second time on.
    await fetch(metrics);
    const input = await (await fetch(metrics)).text();
    expect(input).toContain('modbus_sim_event_loop_lag_seconds{quantile="0.99"}');
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

describeWithPeer('the dashboard for Grafana', noPrometheus, () => {
  it(
    'has a figure from Prometheus in every panel, for benches that fleet targets has found',
    async () => {
      const directory = makeTempDir();
      const { port } = await mosquitto(directory);
      await busyBench(port);
      const targets = join(directory, 'sd.json');
      const broker = `mqtt://127.0.0.1:${port}`;
      const written = () =>
        execFileSync(
          process.execPath,
          [join(dist, 'main.js'), 'fleet', 'targets', '--file', targets, '--broker', broker],
          {
            encoding: 'utf8',
          },
        );
      // The bench is ready before the broker has heard of it.
      await expect.poll(written, { interval: 500 }).toContain('1 of 1');
      const api = await prometheus(directory, targets);

      const values: Record<string, string> = { __rate_interval: '30s' };
      for (const { type, name, definition = '' } of dashboard.templating.list) {
        if (type !== 'query') continue;
        const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? [];
        const found = async () =>
          (await ask(api, `label/${label}/values`, { 'match[]': filledIn(series, values) }))?.data;
        await expect.poll(found).toHaveLength(1);
        values[name] = String(((await found()) as string[])[0]);
      }
      expect(values).toMatchObject({ bench: BENCH, line: 'lan' });

      const queries = dashboard.panels.flatMap(({ title, targets }) =>
        targets.map(({ expr }) => ({ title, query: filledIn(expr, values) })),
      );
      expect(queries.length).toBeGreaterThan(dashboard.panels.length);
      for (const { title, query } of queries) {
        const figures = async () => {
          const { data } = (await ask(api, 'query', { query })) ?? {};
          const { result = [] } = (data ?? {}) as { result?: { value: [number, string] }[] };
          return result.map(({ value }) => Number(value[1]));
        };
        // A rate needs two scrapes.
        await expect.poll(figures, { message: `${title}: ${query}` }).toSatisfy(hasFigures);
      }

      const rates = async (query: string) => await ask(api, 'query', { query: filledIn(query, values) });
      const faults = dashboard.panels.find(({ title }) => title === 'Faults a second, by rule')?.targets[0]
        ?.expr;
      await expect
        .poll(async () => JSON.stringify(await rates(`${faults} > 0`)))
        .toContain(`"metric":{"bench":"${BENCH}","rule":"busy"}`);
      // With All chosen, the benches of a Prometheus that has no such label are shown, too.
      const all = { ...values, bench: '.*', instance: '.*', line: '.*' };
      expect(await ask(api, 'query', { query: filledIn(faults ?? '', all) })).toMatchObject({
        data: { result: [{}] },
      });
    },
    LIMIT_MS,
  );
});

/** Whether there are some, and all of them are numbers. */
function hasFigures(figures: readonly number[]): boolean {
  return figures.length > 0 && figures.every(Number.isFinite);
}
