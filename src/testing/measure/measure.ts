import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { failure, type Result, success } from '../../common/result.js';
import type { LineDefinition, SerialLineDefinition } from '../../document/configuration.js';
import { concatBytes, packWords } from '../../modbus/protocol/bytes.js';
import type { AduContent } from '../../modbus/protocol/framing.js';
import { ExceptionCode, FunctionCode, SubFunction } from '../../modbus/protocol/function-code.js';
import { exceptionResponse } from '../../modbus/protocol/pdu.js';
import { systemClock } from '../../modbus/transport/clock.js';
import type { PortFacts } from '../../modbus/transport/port/port.js';
import { shortenTimeSlice, type TimeSlice } from '../../modbus/transport/port/time-slice.js';
import type { ErrorCounts } from '../../modbus/transport/port/uart.js';
import type { SerialTimes } from '../../modbus/transport/serial/behaviour.js';
import type { Line } from '../../simulator/line.js';
import { describeLine, lineStatus } from '../../simulator/line-status.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { LineCounters } from '../../simulator/traffic/counters.js';
import { newestFirst } from '../../simulator/traffic/reading.js';
import { type QueryClient, serialClient, tcpClient, udpClient } from './client.js';

/** Summary of a set of measured times, in ms. */
export interface Percentiles {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

/** The minimum number of samples for a median: with fewer, one bad sample can be the median. */
export const ENOUGH = 10;

/** Summarises times in ms; undefined for an empty list. */
export function percentiles(samples: readonly number[]): Percentiles | undefined {
  if (samples.length === 0) return undefined;
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  return { count: sorted.length, min: at(0), median: at(0.5), p99: at(0.99), max: at(1) };
}

/** A request and its only correct reply. */
interface Query {
  readonly request: AduContent;
  readonly reply: AduContent;
}

/** The step is odd, so that all 65,536 words occur. Successive words differ in both bytes. */
const STEP = 40503;

/**
 * Every fourth query is long, beginning with the second. Long queries take many times longer on a slow line.
 */
const LONG_EVERY = 4;
const FIRST_LONG = 2;
/**
 * Makes a request of 63 bytes in RTU. No adapter delivers that many bytes at once (USB 62, a FIFO 8, 16 or
 * 32). The last piece never fills the adapter's buffer, so the adapter delivers it as late as possible.
 */
const LONG_DATA_WORDS = 27;

/**
 * The n-th query of a measurement. Every device gives the same reply, and no register changes. Successive
 * queries have different replies, so a late reply can't pass for the reply to the next query.
 */
export function query(n: number, unitId: number): Query {
  const pdus = n % LONG_EVERY === FIRST_LONG ? longQuery(n) : shortQuery(n);
  const adu = (pdu: Uint8Array): AduContent => ({ transactionId: n & 0xffff, unitId, pdu });
  return { request: adu(pdus.request), reply: adu(pdus.reply) };
}

interface Pdus {
  readonly request: Uint8Array;
  readonly reply: Uint8Array;
}

/**
 * Return query data (Application Protocol V1.1b3, 6.8): the reply equals the request. The data change with
 * each query, so that the line does not mistake the next query for an echo of its reply.
 */
function shortQuery(n: number): Pdus {
  const pdu = concatBytes([FunctionCode.diagnostics], packWords([SubFunction.returnQueryData, word(n)]));
  return { request: pdu, reply: pdu };
}

/**
 * A write of zero registers that still carries data. Devices reject it before they check addresses (6.12).
 * Return query data could be as long, but in RTU only silence ends such a request: the reply would come after
 * the discard gap.
 */
function longQuery(n: number): Pdus {
  const data = packWords(Array.from({ length: LONG_DATA_WORDS }, (_, i) => word(n + i)));
  return {
    request: concatBytes([FunctionCode.writeMultipleRegisters], packWords([0, 0]), [data.length], data),
    reply: exceptionResponse(FunctionCode.writeMultipleRegisters, ExceptionCode.illegalDataValue),
  };
}

function word(n: number): number {
  return (n * STEP) & 0xffff;
}

/** Limits for the queries: their number, and the time in ms. */
const MOST = 500;
const USUAL_MS = 5000;
/** Time limit in ms if all requests are answered but there are fewer than `ENOUGH`. */
const LONGEST_MS = 15_000;
/** Always sent, whatever the time limit: one short request and one long one. */
const FEWEST_REQUESTS = 2;

/**
 * How long to wait for a reply in addition to the time of its bytes, in ms. Unless the reply is lost, the
 * adapter, the system and a busy machine delay it by less.
 */
const SLACK_MS = 3000;

/** True if another request should be sent, `elapsed` ms after the first one. */
export function asksOn(asked: number, answered: number, elapsed: number): boolean {
  if (asked < FEWEST_REQUESTS) return true;
  if (asked >= MOST) return false;
  return elapsed < (asked === answered && asked < ENOUGH ? LONGEST_MS : USUAL_MS);
}

/**
 * How long to wait for a reply, in ms. `bytes` is the length of request and reply; only serial lines have
 * `times`.
 */
export function patience(times: SerialTimes | undefined, bytes: number): number {
  return SLACK_MS + (times ? (times.turnaround ?? 0) + bytes * times.characterTime : 0);
}

/** A client's pause before its next request on a bus, in ms: at least t3.5. */
function pauseBetween({ t35 }: SerialTimes): number {
  return Math.max(5, t35 + 1);
}

/** Measurements of a line on this machine. Times are in ms unless stated otherwise. */
export interface Measurements {
  readonly description: string;
  /** How the system schedules the thread that serves the line, and on how many cores. */
  readonly slice: TimeSlice;
  readonly cores: number;
  /** The requests of the built-in client; undefined if only other clients can send requests. */
  readonly own: OwnRequests | undefined;
  /** How long the line accepted requests, in s. */
  readonly seconds: number;
  readonly port: PortFacts | undefined;
  readonly times: SerialTimes | undefined;
  /** How late waits of t3.5 ended, in ms. */
  readonly timers: Percentiles | undefined;
  /** Time from the end of a request to the beginning of its reply. */
  readonly turnaround: Percentiles | undefined;
  readonly chunks: readonly (readonly [size: number, count: number])[];
  /** The longest pause between two chunks of one frame, including frames that the pause split. */
  readonly longestPause: number;
  readonly counters: Readonly<LineCounters>;
  /** The `echo` setting: whether the adapter hears what it sends. Undefined on a socket. */
  readonly echo: SerialLineDefinition['echo'] | undefined;
  /** Characters lost during the measurement, as counted by the driver. */
  readonly overruns: number;
}

interface OwnRequests {
  /** Requests with a known result: answered, or timed out. */
  readonly asked: number;
  readonly answered: number;
  /** Set when the line closed the connection, with the reason in words if it is known. */
  readonly closed?: { readonly reason: string | undefined };
}

/**
 * Limits of the timer measurement: the number of waits, and the time in ms after which no new wait begins.
 */
const TIMER_SAMPLES = 500;
const TIMER_TIME_MS = 3000;
/** Length of the measured waits if the line has no t3.5. */
const USUAL_WAIT_MS = 1.75;

/**
 * Measures a line of a simulator that was created for this purpose. Fails if the line or the built-in client
 * does not open.
 */
export async function measureLine(
  simulator: Simulator,
  line: Line,
  seconds: number,
): Promise<Result<Measurements>> {
  if (line.definition.kind === 'serial' && line.definition.mode === 'monitor') {
    return failure('only listens (mode: monitor), so it has no replies to measure');
  }
  // `serve` shortens the time slice too, so the measurement matches the line's behaviour there.
  const slice = await shortenTimeSlice();
  const started = await line.start();
  if (!started.ok) return started;
  const { state } = line;
  if (state.kind === 'waiting') {
    await line.stop();
    return failure(state.reason);
  }
  const startedAt = performance.now();
  try {
    const before = lineStatus(line).errorCounts;
    const timers = await timerLateness(lineStatus(line).times?.t35 ?? USUAL_WAIT_MS);
    const client = await ownClient(line);
    if (client?.ok === false) return client;
    const own = client && (await askRepeatedly(client.value, line, simulator));
    if (!client) await delay(1000 * seconds);
    const { port, times, errorCounts } = lineStatus(line);
    return success({
      description: describeLine(line),
      slice,
      cores: availableParallelism(),
      own,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      port,
      times,
      timers,
      turnaround: percentiles(turnarounds(simulator)),
      chunks: line.serial?.chunks.sizes ?? [],
      longestPause: line.serial?.chunks.longestPause ?? 0,
      counters: line.counters,
      echo: line.definition.kind === 'serial' ? line.definition.echo : undefined,
      overruns: lostBetween(before, errorCounts),
    });
  } finally {
    await line.stop();
  }
}

async function timerLateness(waitMs: number): Promise<Percentiles | undefined> {
  const samples: number[] = [];
  const until = performance.now() + TIMER_TIME_MS;
  while (samples.length < TIMER_SAMPLES && performance.now() < until) {
    const due = performance.now() + waitMs;
    await new Promise<void>((resolve) => {
      systemClock.callAt(due, resolve);
    });
    samples.push(performance.now() - due);
  }
  return percentiles(samples);
}

/** True on a real bus, and with TLS, where clients usually need a certificate: the built-in client can't be used. */
export function waitsForOthers(definition: LineDefinition): boolean {
  return definition.kind === 'tls' || (definition.kind === 'serial' && definition.path !== 'virtual');
}

/** The built-in client, or why it could not connect; undefined if only other clients can send requests. */
async function ownClient(line: Line): Promise<Result<QueryClient> | undefined> {
  const { definition, state } = line;
  if (state.kind !== 'open' || waitsForOthers(definition)) return undefined;
  if (definition.kind === 'serial') return serialClient(state.endpoint, definition);
  const { port = definition.port } = state;
  const host = LOOPBACK[definition.host] ?? definition.host;
  return definition.kind === 'tcp' ? tcpClient(host, port) : success(udpClient(host, port));
}

/** The address to connect to if the line listens on all addresses. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Sends queries to the first unit of the line, one after another. */
async function askRepeatedly(client: QueryClient, line: Line, simulator: Simulator): Promise<OwnRequests> {
  const { framing } = line.bus;
  const { times } = lineStatus(line);
  const [unit = '*'] = line.definition.units.keys();
  const unitId = unit === '*' ? 1 : unit;
  const startedAt = performance.now();
  let asked = 0;
  let answered = 0;
  let closed: OwnRequests['closed'];
  while (asksOn(asked, answered, performance.now() - startedAt)) {
    const { request, reply } = query(asked + 1, unitId);
    const [requestAdu, replyAdu] = [framing.encode(request), framing.encode(reply)];
    const bytes = requestAdu.length + replyAdu.length;
    const fate = await client.ask(requestAdu, replyAdu, patience(times, bytes));
    if (fate === 'closed') {
      closed = { reason: whyClosed(line, simulator) };
      break;
    }
    asked++;
    if (fate === 'answered') answered++;
    if (times) await delay(pauseBetween(times));
  }
  await client.close();
  return { asked, answered, ...(closed && { closed }) };
}

/** Why the line has just closed the built-in client's connection; undefined if the reason is unknown. */
function whyClosed({ definition }: Line, { traffic }: Simulator): string | undefined {
  if (definition.kind === 'serial') return undefined;
  const rejected = newestFirst(traffic, ['client rejected']).next().value;
  if (rejected?.reason === 'limit')
    return `another client took its place, because maxClients is ${definition.maxClients}`;
  return rejected?.reason === 'idle'
    ? `no request arrived within its idleTimeout, ${definition.idleTimeout} ms; increase it`
    : rejected?.text;
}

/** Characters lost in the UART, or because the kernel's buffer was full; 0 if the driver does not count them. */
export function lostBetween(before: ErrorCounts | undefined, after: ErrorCounts | undefined): number {
  if (!before || !after) return 0;
  return after.overrun + after.bufferOverrun - before.overrun - before.bufferOverrun;
}

function turnarounds({ traffic }: Simulator): number[] {
  return Array.from(newestFirst(traffic, ['reply'])).flatMap(({ report, requestedAt }) => {
    const [first] = report.steps;
    return first?.outcome === 'achieved' ? [first.achievedAt - requestedAt] : [];
  });
}
