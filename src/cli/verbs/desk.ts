import { MessageChannel } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ApiRules } from '../../remote/api/app.js';
import { LineEnd } from '../../remote/rpc/line-end.js';
import type { TestContext } from '../../testing/commands.js';
import {
  type DeskOrder,
  type DeskThread,
  type FromDesk,
  NICENESS,
  startDeskThread,
  type ToDesk,
} from './desk-messages.js';
import { DeskSilence, type Silence, threadTimes } from './desk-silence.js';
import { DeskStandIn } from './desk-stand-in.js';
import { setNiceness } from './work.js';

interface DeskSettings {
  readonly context: TestContext;
  readonly rules: ApiRules;
  /** The REST port; 0 means any free one. */
  readonly port: number;
  readonly log: Logger;
  /** The simulator's MQTT broker; undefined for none. */
  readonly mqtt: DeskOrder['mqtt'];
}

type DeskStart =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** Interval between pings to the desk, in ms. */
const PING_MS = 2000;
/** Pause between the end of a desk and the start of the next one, in ms. */
const RESTART_MS = 500;
/** Maximum time in ms for a desk to write the rest of the traffic when it stops. */
const END_MS = 1500;

const LEVELS = { 60: 'fatal', 50: 'error', 40: 'warn', 30: 'info', 20: 'debug', 10: 'trace' } as const;

/**
 * The desk as the side of the lines sees it: a thread that is replaced if it dies or is stuck, while the
 * lines keep running.
 */
export class DeskSupervisor {
  readonly #settings: Promise<DeskSettings>;
  #configure: (settings: DeskSettings) => void = () => {};
  #thread: DeskThread | undefined;
  #rpc: LineEnd | undefined;
  #silence = new DeskSilence();
  #lookedAt = 0;
  /** Whether the log has reported that the desk is slow. */
  #isSlow = false;
  #timer: NodeJS.Timeout | undefined;
  /** Answers at the REST address while there is no desk. */
  #standIn: DeskStandIn | undefined;
  #isEnding = false;

  /** @param thread loads the desk's modules while the side of the lines gets ready */
  constructor(thread: DeskThread) {
    this.#settings = new Promise((resolve) => {
      this.#configure = resolve;
    });
    this.#thread = thread;
  }

  /** Starts the desk. @returns the addresses, or why the desk can't start */
  async start(settings: DeskSettings): Promise<DeskStart> {
    this.#configure(settings);
    const started = await this.#begin(settings.port);
    if (!started.ok) return started;
    this.#timer = setInterval(() => this.#look(), PING_MS).unref();
    return started;
  }

  /** Lets the desk write the rest of the traffic, then ends it. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#timer);
    this.#standIn?.end();
    const thread = this.#thread;
    if (!thread) return;
    const ended = new Promise<void>((resolve) => thread.worker.once('exit', () => resolve()));
    post(thread, { kind: 'end' });
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, END_MS).unref())]);
    await thread.worker.terminate();
    this.#rpc?.end();
  }

  async #begin(port: number): Promise<DeskStart> {
    const { context, rules, log, mqtt } = await this.#settings;
    const { simulator, writesIn } = context;
    const thread = this.#thread ?? startDeskThread();
    this.#thread = thread;
    this.#silence = new DeskSilence();
    this.#isSlow = false;
    const { worker } = thread;
    if (this.#standIn) await loaded(worker);
    this.#standIn?.end();
    this.#standIn = undefined;
    const { failure } = thread;
    if (failure) return { ok: false, error: `the REST thread failed: ${failure.message}` };
    const { port1, port2 } = new MessageChannel();
    const rpc = new LineEnd(context, port1);
    this.#rpc = rpc;
    const order: DeskOrder = {
      rpc: port2,
      rules,
      port,
      level: log.level === 'info' ? 'warn' : log.level,
      writesIn,
      events: simulator.traffic.limits.events,
      trafficFile: simulator.trafficFile,
      mqtt,
      zero: process.hrtime.bigint() - BigInt(Math.round(performance.now() * 1e6)),
    };
    let resolve: (started: DeskStart) => void = () => {};
    const started = new Promise<DeskStart>((settle) => {
      resolve = settle;
    });
    worker.on('message', (message: FromDesk) => {
      this.#heard(thread, log);
      switch (message.kind) {
        case 'listening':
          this.#silence.started();
          resolve({ ok: true, addresses: message.addresses });
          worker.once('exit', () => this.#died(thread, message.port));
          break;
        case 'refused':
          resolve({ ok: false, error: message.error });
          break;
        case 'log':
          relog(log, message.entry);
          break;
        case 'thread':
        case 'pong':
      }
    });
    worker.on('error', (error: Error) => log.error(error, 'the REST thread failed'));
    worker.once('exit', (code) => {
      rpc.end();
      port1.close();
      resolve({ ok: false, error: `the REST thread exited with code ${code}` });
    });
    worker.postMessage({ kind: 'begin', order } satisfies ToDesk, [port2]);
    return started;
  }

  #look(): void {
    const thread = this.#thread;
    const now = performance.now();
    const since = Math.min(now - this.#lookedAt, PING_MS);
    this.#lookedAt = now;
    if (!thread) return;
    const silence = this.#silence.look(since, threadTimes(thread.id));
    if (silence.state === 'stuck') {
      const reason = `the REST thread is stuck and is being replaced: ${silenceText(silence)}`;
      void this.#settings.then(({ log }) => log.error(reason));
      this.#silence = new DeskSilence();
      void thread.worker.terminate();
      return;
    }
    if (silence.state === 'slow' && !this.#isSlow) {
      this.#isSlow = true;
      const priority = setNiceness(thread.id) ? 'its priority is raised' : "its priority can't be raised";
      const reason = `REST is slow: ${silenceText(silence)}; ${priority}`;
      void this.#settings.then(({ log }) => log.warn(reason));
    }
    post(thread, { kind: 'ping' });
  }

  #heard({ id }: DeskThread, log: Logger): void {
    this.#silence.heard();
    if (!this.#isSlow) return;
    this.#isSlow = false;
    setNiceness(id, NICENESS);
    log.info('REST answers again');
  }

  /** @param port port on which the desk was listening; the next desk uses the same one */
  #died(thread: DeskThread, port: number): void {
    if (this.#isEnding || thread !== this.#thread) return;
    this.#thread = undefined;
    void this.#settings.then(({ rules }) => {
      // With TLS there is no stand-in: it has no certificate.
      if (!this.#isEnding && !rules.credentials) this.#standIn ??= new DeskStandIn(rules.host, port);
    });
    setTimeout(async () => {
      const { log } = await this.#settings;
      if (this.#isEnding) return;
      const started = await this.#begin(port);
      if (started.ok) log.warn({ addresses: started.addresses }, 'REST is available again');
      else {
        log.error(`REST is not available: ${started.error}`);
        const failed = this.#thread;
        if (failed) await failed.worker.terminate();
        if (failed) this.#died(failed, port);
      }
    }, RESTART_MS).unref();
  }
}

/** Resolves when a desk has loaded its modules or has ended. */
function loaded(worker: DeskThread['worker']): Promise<void> {
  return new Promise((resolve) => {
    worker.once('message', () => resolve());
    worker.once('exit', () => resolve());
  });
}

/** A silence in words, in seconds. */
function silenceText({ silent, times }: Silence): string {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const known =
    times && ` (processor time ${seconds(times.ran)}, waiting for a processor ${seconds(times.waited)})`;
  return `silent for ${seconds(silent)}${known ?? ''}`;
}

function post({ worker }: DeskThread, message: ToDesk): void {
  worker.postMessage(message);
}

/** Writes an entry of the desk's log to the program's log, with the current time. */
function relog(log: Logger, entry: string): void {
  const {
    level,
    time: _,
    msg,
    ...details
  } = JSON.parse(entry) as { level: keyof typeof LEVELS; msg?: string; time: number };
  log[LEVELS[level]](details, msg);
}
