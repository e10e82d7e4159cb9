import { lookup } from 'node:dns/promises';
import { parentPort } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { type DeskOrder, type FromDesk, NICENESS, type ToDesk } from './cli/verbs/desk-messages.js';
import { setNiceness, startWork, thisThread } from './cli/verbs/work.js';
import { AT_DESK } from './extensions/at-desk.js';
import { hostPort } from './modbus/transport/socket/listen.js';
import { buildApp } from './remote/api/app.js';
import { BACKLOG } from './remote/api/connection-limit.js';
import { newDesk } from './remote/api/desk.js';
import { startParts, stopParts } from './remote/api/extension.js';
import { DeskEnd } from './remote/rpc/desk-end.js';

/*
 * The thread of the desk: HTTP, the console, reports, captures and files of the traffic. It has a heap of its
 * own, so its garbage collections do not stop the lines.
 */

/** Limits of the heap of a thread for long work. Exceeding them ends that thread, and the client is refused. */
const WORK_LIMITS = { maxOldGenerationSizeMb: 192 };

function post(message: FromDesk): void {
  parentPort?.postMessage(message);
}

async function begin(order: DeskOrder): Promise<() => Promise<void>> {
  const { rpc, rules, port, level, writesIn, events, trafficFile, mqtt, zero } = order;
  const log = pino({ base: null, level }, { write: (entry) => post({ kind: 'log', entry }) });
  const end = new DeskEnd(rpc, events);
  const now = () => Number(process.hrtime.bigint() - zero) / 1e6;
  const desk = newDesk(end, end.traffic, {
    ...{ writesIn, log, now },
    beginWork: (name) => startWork({ kind: 'extension', name }, WORK_LIMITS),
  });
  const parts = AT_DESK.map((begin) => begin(desk));
  const app = buildApp(desk, rules, log, parts);
  const problem = await startParts(parts, { trafficFile });
  if (problem !== undefined) post({ kind: 'refused', error: problem });
  const addresses = problem === undefined ? await listen(app, rules, port) : undefined;
  if (mqtt && addresses) {
    const { MqttLink } = await import('./remote/mqtt/link.js');
    desk.mqtt = new MqttLink(desk, { ...mqtt, rest: addresses }, log, parts);
  }
  return async () => void (await Promise.all([stopParts(parts), desk.mqtt?.stop()]));
}

/**
 * Chooses one address of `localhost`. For both of them, Fastify would open a second server that knows nothing
 * of the limits of connections.
 */
async function oneAddress(host: string): Promise<string> {
  return host.toLowerCase() === 'localhost' ? (await lookup(host)).address : host;
}

/** @returns the addresses of REST; undefined after printing why it can't listen */
async function listen(
  app: FastifyInstance,
  { host, credentials }: DeskOrder['rules'],
  port: number,
): Promise<string[] | undefined> {
  const scheme = credentials === undefined ? 'http' : 'https';
  try {
    await app.listen({ host: await oneAddress(host), port, backlog: BACKLOG });
    // The addresses as they were bound: 0.0.0.0 stays 0.0.0.0.
    const bound = app.addresses().flatMap((each) => (typeof each === 'string' ? [] : each));
    const addresses = bound.map((each) => `${scheme}://${hostPort(each.address, each.port)}`);
    post({ kind: 'listening', addresses, port: bound[0]?.port ?? port });
    return addresses;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const address = hostPort(host, port);
    const inUse = `${address} is in use by another program; choose another port with api.port, --http_port or --free-ports`;
    const reason = code === 'EADDRINUSE' ? inUse : `can't listen on ${address}: ${message}`;
    post({ kind: 'refused', error: `REST: ${reason}` });
    return undefined;
  }
}

let finish = async () => {};
const id = thisThread();
post({ kind: 'thread', id });
setNiceness(id, NICENESS);
parentPort?.on('message', (message: ToDesk) => {
  switch (message.kind) {
    case 'begin':
      void begin(message.order).then((end) => {
        finish = end;
      });
      break;
    case 'ping':
      post({ kind: 'pong' });
      break;
    case 'end':
      // Writes the rest of the traffic to its file. Connections end with the thread.
      void finish().then(() => process.exit(0));
  }
});
