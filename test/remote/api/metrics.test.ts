import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SOCKET } from '../../../src/modbus/protocol/framing.js';
import { brokerFamilies } from '../../../src/remote/api/metrics.js';
import { COUNTERS, MAX_PAIRS } from '../../../src/simulator/traffic/counters.js';
import { openRawClient } from '../../cli/verbs/clients.js';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';
import { Rest } from './rest.js';

stopAfterEach();

const METER = { registers: { holding: [{ address: 0, value: [1, 2, 3], write: true }] } };

const start = (more: object = {}) =>
  startSimulator(
    nativeSetup({
      devices: { meter: METER },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
        bench: { serial: { path: 'virtual' }, units: { 1: 'meter' } },
      },
      ...more,
    }),
  );

const request = (unitId: number, ...pdu: number[]) =>
  SOCKET.encode({ transactionId: 1, unitId, pdu: Uint8Array.from(pdu) });
const READ = [3, 0, 0, 0, 1];

async function metricsOf({ rest }: Pick<RunningSimulator, 'rest'>): Promise<string> {
  const { statusCode, headers, body } = await rest.app.inject({
    url: '/metrics',
    headers: { host: 'localhost' },
  });
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return body;
}

/** The samples of an exposition: name and labels, as they are written, to value. */
function samples(exposition: string): Map<string, number> {
  const lines = exposition.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

describe('GET /metrics', () => {
  it('counts requests and replies by line, unit and function, exceptions by code, and hits of rules', async () => {
    const running = await start({
      faults: [{ name: 'quiet', when: { function: 6 }, do: [{ silence: true }] }],
    });
    const client = running.client();
    client.send(request(1, ...READ));
    client.send(request(1, ...READ));
    client.send(request(1, 3, 0x10, 0, 0, 1));
    client.send(request(9, ...READ));
    client.send(request(1, 6, 0, 0, 0, 5));
    await client.responsesOf(4);
    await until(() => running.simulator.lines.get('lan')?.counters.requests === 5, 'all are counted');
    const found = samples(await metricsOf(running));
    expect(Object.fromEntries(found)).toMatchObject({
      'modbus_sim_requests_total{line="lan",unit="1",function="3"}': 3,
      'modbus_sim_requests_total{line="lan",unit="9",function="3"}': 1,
      'modbus_sim_requests_total{line="lan",unit="1",function="6"}': 1,
      'modbus_sim_replies_total{line="lan",unit="1",function="3"}': 3,
      'modbus_sim_replies_total{line="lan",unit="9",function="3"}': 1,
      'modbus_sim_exceptions_total{line="lan",code="2"}': 1,
      'modbus_sim_exceptions_total{line="lan",code="11"}': 1,
      'modbus_sim_rule_hits_total{rule="quiet"}': 1,
      'modbus_sim_clients{line="lan"}': 1,
      'modbus_sim_line_open{line="bench"}': 1,
      'modbus_sim_turnaround_seconds_count{line="lan"}': 4,
      'modbus_sim_lateness_seconds_count{line="lan"}': 4,
      modbus_sim_traffic_events_dropped_total: 0,
    });
    expect(found.has('modbus_sim_replies_total{line="lan",unit="1",function="6"}')).toBe(false);
    expect(found.get('modbus_sim_traffic_events_total')).toBe(running.simulator.traffic.last);
  });

  it('counts damaged frames and discarded bytes of a serial line', async () => {
    const running = await start();
    const client = await openRawClient(running.path('bench'));
    client.send(Uint8Array.of(1, 3, 0, 0, 0, 1, 0x84, 0x0b));
    const { counters } = running.simulator.lines.get('bench') ?? {};
    await until(() => counters?.damagedFrames === 1, 'the frame is counted');
    expect(Object.fromEntries(samples(await metricsOf(running)))).toMatchObject({
      'modbus_sim_damaged_frames_total{line="bench"}': 1,
      'modbus_sim_noise_bytes_total{line="bench"}': 8,
    });
  });

  it('has histograms whose buckets count all times up to their bound, in seconds', async () => {
    const running = await start({ faults: [{ name: 'slow', do: [{ delay: 150 }] }] });
    const client = running.client();
    client.send(request(1, ...READ));
    await client.responsesOf(1);
    const found = samples(await metricsOf(running));
    const bucket = (le: string) => found.get(`modbus_sim_turnaround_seconds_bucket{line="lan",le="${le}"}`);
    expect([bucket('0.0001'), bucket('0.1'), bucket('+Inf')]).toEqual([0, 0, 1]);
    expect(found.get('modbus_sim_turnaround_seconds_sum{line="lan"}')).toBeGreaterThan(0.149);
  });

  it('tells the lag of the event loop from the second time on', async () => {
    const running = await start();
    expect(await metricsOf(running)).not.toContain('modbus_sim_event_loop_lag_seconds{');
    expect(samples(await metricsOf(running)).has('modbus_sim_event_loop_lag_seconds{quantile="0.99"}')).toBe(
      true,
    );
  });

  it('keeps a bounded number of counts, however many units and functions are asked for', async () => {
    const running = await start();
    const client = running.client();
    const asked = MAX_PAIRS + 50;
    for (let i = 0; i < asked; i++) client.send(request(i & 0xff, 1 + (i >> 8), 0, 0, 0, 1));
    await client.responsesOf(asked);
    const found = [...samples(await metricsOf(running))].filter(([name]) =>
      name.startsWith('modbus_sim_requests_total{line="lan"'),
    );
    expect(found).toHaveLength(MAX_PAIRS + 1);
    expect(Object.fromEntries(found)).toMatchObject({
      'modbus_sim_requests_total{line="lan",unit="other",function="other"}': 50,
    });
  });

  it('needs the token where there is one', async () => {
    const configuration = nativeSetup({
      devices: { meter: METER },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    });
    const rest = new Rest(configuration, { host: '127.0.0.1', token: 'secret' });
    expect((await rest.send('GET', '/metrics')).status).toBe(401);
    const headers = { host: 'localhost', authorization: 'Bearer secret' };
    expect((await rest.app.inject({ url: '/metrics', headers })).statusCode).toBe(200);
  });
});

describe('docs/rest.md', async () => {
  const written = readFileSync('docs/rest.md', 'utf8');
  const exposition = await metricsOf({
    rest: new Rest(nativeSetup({ lines: { spy: { serial: { path: 'virtual' }, mode: 'monitor' } } })),
  });
  const metrics = [...exposition.matchAll(/^# HELP (\w+) (.+)$/gm)].map(([, name = '', help = '']) => ({
    name,
    help,
  }));

  it.each(Object.entries(COUNTERS))('explains the counter %s as the program does', (name, meaning) => {
    expect(written).toContain(`| \`${name}\` | ${meaning} |`);
    expect(metrics.map(({ help }) => help)).toContain(meaning);
  });

  it.each(metrics)('explains the metric $name', ({ name, help }) => {
    const row = written.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}`));
    if (!Object.values(COUNTERS).some((meaning) => meaning === help)) expect(row).toContain(help);
  });
});

describe('the metrics of a bench on a broker', () => {
  it('are how it is there, and what went and came', () => {
    const counts = { sent: 5, received: 4, waiting: 3, lost: 2, unreadable: 0, missed: 0 };
    const status = {
      topic: 't',
      connected: true,
      reason: null,
      since: '2026-11-24T09:30:00.000Z',
      ...counts,
    };
    const families = [...brokerFamilies(status)];
    expect(families.map(({ name, values }) => [name, values[0]?.value])).toEqual([
      ['modbus_sim_mqtt_connected', 1],
      ['modbus_sim_mqtt_messages_out_total', 5],
      ['modbus_sim_mqtt_messages_in_total', 4],
      ['modbus_sim_mqtt_messages_waiting', 3],
      ['modbus_sim_mqtt_messages_lost_total', 2],
    ]);
    const documented = readFileSync('docs/rest.md', 'utf8');
    for (const { name, help } of families) expect(documented).toContain(`| \`${name}\` | | ${help}`);
  });
});
