import { MessageChannel } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ApiRules } from '../../remote/api/app.js';
import { LineEnd } from '../../remote/rpc/line-end.js';
import type { TestContext } from '../../testing/commands.js';
import {
  type DeskOrder,
  type DeskThread,
  type FromDesk,
  startDeskThread,
  type ToDesk,
} from './desk-messages.js';

/** The settings with which a desk is started. */
interface DeskSettings {
  readonly context: TestContext;
  readonly rules: ApiRules;
  /** The port of REST; 0 is any free one. */
  readonly port: number;
  readonly log: Logger;
  /** The MQTT broker of the simulator; undefined for none. */
  readonly mqtt: DeskOrder['mqtt'];
}

type DeskStart =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly error: string };

/**
 * Interval of pings to the desk in ms, and the number of pings in a row that it may leave unanswered: 10 s
 * together.
 */
const PING_MS = 2000;
const MOST_UNANSWERED = 5;
/** The same while a desk starts, which takes long on a busy machine: one minute. */
const MOST_WHILE_STARTING = 30;
/** Pause between the end of a desk and the start of the next one, in ms. */
const RESTART_MS = 500;
/** Longest time in ms for a desk to write the rest of the traffic when it ends in an orderly way. */
const END_MS = 1500;

const LEVELS = { 60: 'fatal', 50: 'error', 40: 'warn', 30: 'info', 20: 'debug', 10: 'trace' } as const;

/**
 * The desk as the side of the lines sees it: a thread that is replaced when it dies or falls silent, while
 * the lines go on.
 */
export class DeskSupervisor {
  readonly #settings: Promise<DeskSettings>;
  #configure: (settings: DeskSettings) => void = () => {};
  #thread: DeskThread | undefined;
  #rpc: LineEnd | undefined;
  /**
   * Number of pings since the desk was last heard. It is a count and no time, because a program that was
   * stopped for a while has sent no pings.
   */
  #unanswered = 0;
  #mostUnanswered = MOST_WHILE_STARTING;
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;

  /** @param thread loads the modules of the desk, while the side of the lines gets ready */
  constructor(thread: DeskThread) {
    this.#settings = new Promise((resolve) => {
      this.#configure = resolve;
    });
    this.#thread = thread;
  }

  /** Starts to serve. @returns the addresses, or why the desk can't serve */
  async start(settings: DeskSettings): Promise<DeskStart> {
    this.#configure(settings);
    const started = await this.#begin(settings.port);
    if (!started.ok) return started;
    this.#timer = setInterval(() => this.#look(), PING_MS).unref();
    return started;
  }

  /** Lets the desk write the rest of the traffic, and ends it. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#timer);
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
    const { worker, failure } = thread;
    if (failure) return { ok: false, error: `the thread of REST has failed: ${failure.message}` };
    const { port1, port2 } = new MessageChannel();
    const rpc = new LineEnd(context, port1);
    this.#rpc = rpc;
    this.#unanswered = 0;
    this.#mostUnanswered = MOST_WHILE_STARTING;
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
      this.#unanswered = 0;
      switch (message.kind) {
        case 'listening':
          this.#mostUnanswered = MOST_UNANSWERED;
          resolve({ ok: true, addresses: message.addresses });
          worker.once('exit', () => this.#died(thread, message.port));
          break;
        case 'refused':
          resolve({ ok: false, error: message.error });
          break;
        case 'log':
          relog(log, message.entry);
          break;
        case 'pong':
      }
    });
    worker.on('error', (error: Error) => log.error(error, 'the thread of REST has failed'));
    worker.once('exit', (code) => {
      rpc.end();
      port1.close();
      resolve({ ok: false, error: `the thread of REST has ended with ${code}` });
    });
    worker.postMessage({ kind: 'begin', order } satisfies ToDesk, [port2]);
    return started;
  }

  #look(): void {
    const thread = this.#thread;
    if (!thread) return;
    if (this.#unanswered++ < this.#mostUnanswered) {
      post(thread, { kind: 'ping' });
      return;
    }
    this.#unanswered = 0;
    void this.#settings.then(({ log }) => log.error('the thread of REST is silent and is replaced'));
    void thread.worker.terminate();
  }

  /** @param port port on which the desk has listened; the next desk listens on the same */
  #died(thread: DeskThread, port: number): void {
    if (this.#isEnding || thread !== this.#thread) return;
    this.#thread = undefined;
    setTimeout(async () => {
      const { log } = await this.#settings;
      if (this.#isEnding) return;
      const started = await this.#begin(port);
      if (started.ok) log.warn({ addresses: started.addresses }, 'REST is served again');
      else {
        log.error(`REST is not served: ${started.error}`);
        const failed = this.#thread;
        if (failed) await failed.worker.terminate();
        if (failed) this.#died(failed, port);
      }
    }, RESTART_MS).unref();
  }
}

function post({ worker }: DeskThread, message: ToDesk): void {
  worker.postMessage(message);
}

/** Repeats an entry of the desk's log in the log of the program, with the present time. */
function relog(log: Logger, entry: string): void {
  const {
    level,
    time: _,
    msg,
    ...details
  } = JSON.parse(entry) as { level: keyof typeof LEVELS; msg?: string; time: number };
  log[LEVELS[level]](details, msg);
}
