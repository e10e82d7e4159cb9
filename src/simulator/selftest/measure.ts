import { setTimeout as delay } from 'node:timers/promises';
import type { LineDefinition } from '../../config/configuration.js';
import type { ErrorCounts } from '../../transport/port/error-counts.js';
import type { PortFacts } from '../../transport/port/port.js';
import { callAt } from '../../transport/precise-timer.js';
import { describeLine } from '../describe-line.js';
import type { Line } from '../line.js';
import type { LineCounters } from '../line-record.js';
import { lineStatus } from '../line-status.js';
import type { SerialTimes } from '../serial-transport.js';
import type { Simulator } from '../simulator.js';
import { type Client, serialClient, tcpClient, udpClient } from './client.js';
import { type Percentiles, percentiles } from './percentiles.js';
import { query } from './query.js';

/** What a line was found to do on this machine. Times in ms. */
export interface Measurements {
  readonly description: string;
  /** What a client of our own asked on the other end; undefined where only others can ask. */
  readonly own: OwnRequests | undefined;
  /** For how long requests were taken, in s. */
  readonly seconds: number;
  readonly port: PortFacts | undefined;
  readonly times: SerialTimes | undefined;
  /** How late waits of t3.5 ended. */
  readonly timers: Percentiles | undefined;
  /** From the end of a request to the beginning of its reply. */
  readonly turnaround: Percentiles | undefined;
  readonly chunks: readonly (readonly [size: number, count: number])[];
  /** The longest time between two chunks of one frame, be it one that was cut because of it. */
  readonly longestPause: number;
  readonly counters: Readonly<LineCounters>;
  /** Characters that were lost meanwhile, as the driver counts them. */
  readonly overruns: number;
}

interface OwnRequests {
  readonly asked: number;
  readonly answered: number;
}

const TIMER_SAMPLES = 500;
/** What is waited for when a line has no t3.5 to keep. */
const USUAL_WAIT_MS = 1.75;

/** Requests of our own, one after the other; fewer where the line is slow. */
const OWN_REQUESTS = 500;
const OWN_TIME_MS = 5000;

/** Measures a line of a simulator that was built for it; an error when it does not open, or its client doesn't. */
export async function measureLine(
  simulator: Simulator,
  line: Line,
  seconds: number,
): Promise<Measurements | { readonly error: string }> {
  const started = await line.start();
  if (!started.ok) return started;
  const startedAt = performance.now();
  try {
    const before = lineStatus(line).errorCounts;
    const timers = await timerLateness(lineStatus(line).times?.t35 ?? USUAL_WAIT_MS);
    const client = await ownClient(line);
    if (typeof client === 'string') return { error: client };
    const own = client && (await askRepeatedly(client, line));
    if (!client) await delay(1000 * seconds);
    const { port, times, errorCounts } = lineStatus(line);
    return {
      description: describeLine(line),
      own,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      port,
      times,
      timers,
      turnaround: percentiles(turnarounds(simulator)),
      chunks: line.serial?.chunks.sizes ?? [],
      longestPause: line.serial?.chunks.longestPause ?? 0,
      counters: line.counters,
      overruns: lostBetween(before, errorCounts),
    };
  } finally {
    await line.stop();
  }
}

async function timerLateness(waitMs: number): Promise<Percentiles | undefined> {
  const samples: number[] = [];
  for (let i = 0; i < TIMER_SAMPLES; i++) {
    const due = performance.now() + waitMs;
    await new Promise<void>((resolve) => {
      callAt(due, resolve);
    });
    samples.push(performance.now() - due);
  }
  return percentiles(samples);
}

/** Whether only others can ask: on a real bus, and with TLS, where clients mostly need a certificate. */
export function waitsForOthers(definition: LineDefinition): boolean {
  return definition.kind === 'tls' || (definition.kind === 'serial' && definition.path !== 'virtual');
}

/** Undefined where only others can ask. */
async function ownClient(line: Line): Promise<Client | string | undefined> {
  const { definition, state } = line;
  if (state.kind !== 'open' || waitsForOthers(definition)) return undefined;
  if (definition.kind === 'serial') return serialClient(state.place, definition);
  const port = Number(state.place.slice(state.place.lastIndexOf(':') + 1));
  const host = LOOPBACK[definition.host] ?? definition.host;
  return definition.kind === 'tcp' ? tcpClient(host, port) : udpClient(host, port);
}

/** Where all addresses of this machine are listened on, this one is. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

async function askRepeatedly(client: Client, { bus, definition }: Line): Promise<OwnRequests> {
  const [unit = '*'] = definition.units.keys();
  const unitId = unit === '*' ? 1 : unit;
  const until = performance.now() + OWN_TIME_MS;
  let asked = 0;
  let answered = 0;
  while (asked < OWN_REQUESTS && performance.now() < until) {
    asked++;
    if (await client.ask(bus.framing.encode(query(asked, unitId)))) answered++;
    // A client on a bus lets t3.5 pass, and more, before it asks again.
    if (definition.kind === 'serial') await delay(5);
  }
  await client.close();
  return { asked, answered };
}

/** Characters lost in the UART, or because the kernel's buffer was full; 0 where the driver doesn't count. */
export function lostBetween(before: ErrorCounts | undefined, after: ErrorCounts | undefined): number {
  if (!before || !after) return 0;
  return after.overrun + after.bufferOverrun - before.overrun - before.bufferOverrun;
}

function turnarounds({ ledger }: Simulator): number[] {
  return ledger.latest().flatMap(({ report, receivedAt }) => {
    const first = report?.steps[0];
    return first?.outcome === 'achieved' ? [first.achievedAt - receivedAt] : [];
  });
}
