import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { randomNumbers } from './requests.mjs';

/** Delays some replies and changes none, so that every client can check all its answers. */
const RULES = {
  slow: { when: { every: 7 }, do: [{ delay: 3 }] },
  split: {
    when: { every: 5, line: ['serial rtu', 'rtu over tcp'] },
    do: [{ split: { at: 'middle', gap: 1 } }],
  },
  never: { when: { unit: 99 }, do: [{ silence: true }] },
};

/** A device and a line that nothing else uses, which are added and removed. */
const GUEST = {
  name: 'guest',
  registers: {
    holding: [
      { address: 0, value: [1, 2, 3], write: true },
      { address: 10, name: 'level', type: 'float32', value: 1.5, write: true },
      { address: 20, name: 'wave', signal: { sine: { amplitude: 50, period: '10s' } } },
    ],
    coils: [{ address: 0, value: [1, 0], write: true }],
  },
};
const GUEST_LINE = { name: 'guest', tcp: { port: 0 }, units: { 1: 'guest' } };
const SCENARIO = { name: 'soak', steps: [{ name: 'a while', wait: '30ms' }] };
/** The pause between two REST requests, in ms. */
const PAUSE_MS = 20;
/** How long a stream is read before its reader leaves, in ms. */
const READS_MS = 150;

/** @typedef {{method: string, path: string, body?: object, leaves?: boolean}} Request */

/** @type {readonly string[]} */
const LOOKS = [
  ...['lines', 'devices', 'faults', 'exchanges?limit=100', 'traffic?limit=100', 'ports', 'mqtt'],
  ...['devices/guest', 'devices/guest/registers?table=holding&from=0&to=30', 'devices/guest/values/level'],
  ...['devices/guest/words?table=holding&from=0&to=9', 'lines/guest', 'configuration', 'catalogue', 'checks'],
  ...['signals', 'schemas/line', 'openapi.json', 'runs', 'traffic?unit=1&function=3&limit=50'],
];

/**
 * One round of everything, in an order that works. `{id}` is the id in the previous answer. @type {readonly
 * Request[]}
 */
const ROUND = [
  ...Object.entries(RULES).map(([name, body]) => ({ method: 'PUT', path: `faults/${name}`, body })),
  { method: 'POST', path: 'devices', body: GUEST },
  { method: 'POST', path: 'lines', body: GUEST_LINE },
  ...LOOKS.map((path) => ({ method: 'GET', path })),
  {
    method: 'PATCH',
    path: 'devices/guest/registers',
    body: { changes: [{ table: 'holding', address: 0, value: 7 }] },
  },
  { method: 'POST', path: 'devices/guest/registers', body: { table: 'holding', address: 30, quantity: 1 } },
  { method: 'PUT', path: 'devices/guest/values/level', body: { value: 2.5 } },
  { method: 'PUT', path: 'devices/guest/signals/level', body: { sine: { amplitude: 9, period: '1s' } } },
  { method: 'DELETE', path: 'devices/guest/signals/level' },
  { method: 'POST', path: 'devices/guest/clock', body: { speed: 60, step: '1h' } },
  { method: 'POST', path: 'devices/guest/power', body: { state: 'cycle', forMs: 20, bootMs: 10 } },
  { method: 'POST', path: 'faults/preview', body: { rule: { name: 'p', do: [{ delay: 5 }] } } },
  { method: 'POST', path: 'lines/guest/restart' },
  { method: 'POST', path: 'runs?kind=scenario', body: SCENARIO },
  ...['', '/report.json', '/report.html', '/junit.xml'].map((part) => ({
    method: 'GET',
    path: `runs/{id}${part}`,
  })),
  // On a busy machine the run may still be active, and a line allows only one at a time.
  { method: 'DELETE', path: 'runs/{id}' },
  { method: 'POST', path: 'runs', body: { kind: 'client', line: 'guest', limit: '2s' } },
  { method: 'GET', path: 'runs/{id}' },
  { method: 'DELETE', path: 'runs/{id}' },
  ...['events', 'capture.pcapng', 'traffic?limit=100000', 'learned.yaml', 'capture.pcapng?follow=false'].map(
    (path) => ({ method: 'GET', path, leaves: true }),
  ),
  { method: 'GET', path: 'traffic?format=csv&limit=1000' },
  { method: 'DELETE', path: 'lines/guest' },
  { method: 'DELETE', path: 'devices/guest' },
  ...Object.keys(RULES).map((name) => ({ method: 'DELETE', path: `faults/${name}` })),
];

/**
 * Uses everything in REST: items are added and removed, streams are read for some time and closed, scenarios
 * and client tests are started and stopped.
 * @param {import('../hostile/good-client.mjs').Target} target
 * @param {{rest: number, failed: string[]}} counts
 * @param {AbortSignal} signal
 */
export async function useRest({ port, token }, counts, signal) {
  const headers = { authorization: `Bearer ${token}` };
  let id = '';
  for (let i = 0; !signal.aborted || i > 0; i = (i + 1) % ROUND.length) {
    const { method, path, body, leaves = false } = /** @type {Request} */ (ROUND[i]);
    const url = `http://127.0.0.1:${port}/api/v1/${path.replace('{id}', id)}`;
    const left = new AbortController();
    if (leaves) setTimeout(() => left.abort(), READS_MS);
    try {
      const response = await fetch(url, {
        method,
        headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
        signal: left.signal,
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok && counts.failed.length < 20)
        counts.failed.push(`${method} ${path}: ${text.slice(0, 300)}`);
      if (method === 'POST' && response.ok) id = String(idIn(text) ?? id);
    } catch (error) {
      // The program may close an idle connection at the moment when it is used again.
      const { cause } = /** @type {Error} */ (error);
      if (!left.signal.aborted) counts.failed.push(`${method} ${path}: ${cause ?? error}`);
    }
    counts.rest++;
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

/** @param {string} text */
function idIn(text) {
  return /^\{"id":(\d+)/.exec(text)?.[1];
}

/** Maximum length of a request PDU from this client, in bytes. */
const LONGEST_PDU = 30;

/**
 * A client that sends random requests on a Modbus TCP line, does not wait long for answers, and reconnects.
 * @param {number} port
 * @param {number} seed
 * @param {AbortSignal} signal
 */
export async function askForAnything(port, seed, signal) {
  const random = randomNumbers(seed);
  while (!signal.aborted) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.resume();
    for (let i = 0; i < 20 && !signal.aborted; i++) {
      const pdu = Buffer.from(Array.from({ length: 1 + random(LONGEST_PDU) }, () => random(256)));
      // Half of the requests have an existing function.
      if (random(2) === 0) pdu[0] = [1, 2, 3, 4, 5, 6, 15, 16, 22, 43][random(10)] ?? 3;
      // Registers that the well-behaved clients read must not change.
      if (pdu.length > 1) pdu[1] = 0x80 | (pdu[1] ?? 0);
      const head = Buffer.alloc(7);
      head.writeUInt16BE(i, 0);
      head.writeUInt16BE(pdu.length + 1, 4);
      head[6] = random(4) === 0 ? random(256) : 1;
      socket.write(Buffer.concat([head, pdu]));
      await delay(10, undefined, { signal }).catch(() => {});
    }
    socket.destroy();
  }
}
