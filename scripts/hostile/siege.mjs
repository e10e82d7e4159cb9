import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GoodClient } from './good-client.mjs';
import { longestTurn, openDescriptors, residentMb } from './plant.mjs';

/** @typedef {import('./good-client.mjs').Target} Target */

const SAMPLE_MS = 50;
/**
 * Long enough for the program to notice closed connections, and for idle REST connections to end, even on a
 * busy machine.
 */
const DESCRIPTORS_LIMIT_MS = 30_000;
/** Longer than the pause that ends noise on a serial line. */
const SILENCE_MS = 200;
const SERIAL_CHECK_MS = 300;

/**
 * The effect of one attack on one line. Times are in ms, memory in MB.
 * @typedef {object} Effect
 * @property {string} line
 * @property {string} attack
 * @property {string} amount
 * @property {number} p99 Of the well-behaved client on the same line; on a serial line, after the attack; NaN
 * for REST, which has none.
 * @property {Record<string, number>} others The same for each other line, during the attack.
 * @property {number} stall The longest stall of the event loop.
 * @property {number} work The greatest processor time of one turn of the event loop.
 * @property {number} answered
 * @property {Record<string, number>} lost Requests of well-behaved clients that were not answered correctly,
 * by line, without zeros.
 * @property {string[]} unanswered Lines whose well-behaved clients got no answer at all.
 * @property {number} askedAgain How many times a well-behaved UDP client, whose datagrams may be lost,
 * repeated a request.
 * @property {number} before
 * @property {number} peak
 * @property {number} after
 * @property {[before: number, after: number]} descriptors
 */

/** A well-behaved client on each line, and an attacker that attacks one line after another. */
export class Siege {
  #pid;
  #probe;
  #clients;
  /**
   * The number at rest: immediately after an attack its last connection may still be open. @type {number |
   * undefined}
   */
  #descriptors;
  #attacker;

  /**
   * @param {number} pid @param {string} probe @param {readonly Target[]} targets
   * @param {'polite'[]} manners of the attacker; without them it uses its share of the processors
   */
  constructor(pid, probe, targets, ...manners) {
    this.#attacker = fork(fileURLToPath(new URL('attacker.mjs', import.meta.url)), manners);
    this.#pid = pid;
    this.#probe = probe;
    this.#clients = new Map(targets.map((target) => [target.line, new GoodClient(target)]));
    for (const client of this.#clients.values()) client.start();
  }

  /**
   * Runs only the well-behaved clients for some time: their 99th percentiles, and the longest stall and turn
   * of the event loop, in ms. Attacks are compared with the last calm.
   * @param {number} ms
   */
  async calm(ms) {
    await delay(SILENCE_MS);
    // A client that still connects is not at rest, and its descriptor would be missing below.
    await Promise.all([...this.#clients.values()].map((client) => client.settled()));
    this.#takeAll();
    await longestTurn(this.#probe);
    await delay(ms);
    // Querying the probe opens a connection.
    this.#descriptors = await this.#mostDescriptors();
    const turn = await longestTurn(this.#probe);
    const seen = this.#takeAll();
    return { ...turn, p99: new Map([...seen].map(([line, { times }]) => [line, p99(times)])) };
  }

  /**
   * @param {string} attack
   * @param {Target} target
   * @param {{ms: number, count: number}} amount
   * @returns {Promise<Effect>}
   */
  async attack(attack, target, amount) {
    // Its bytes would be mixed with the attacker's.
    const shares = target.kind === 'serial' ? this.#clients.get(target.line) : undefined;
    await shares?.stop();
    this.#takeAll();
    await longestTurn(this.#probe);
    const before = residentMb(this.#pid);
    const descriptors = this.#descriptors ?? openDescriptors(this.#pid);
    let peak = before;
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentMb(this.#pid));
    }, SAMPLE_MS);
    const did = await this.#order({ name: attack, target, ...amount });
    const { stall, work } = await longestTurn(this.#probe);
    // Requests sent during the attack count towards it, whenever they are answered.
    await Promise.all([...this.#clients.values()].map((client) => client.settled()));
    const seen = this.#takeAll();
    if (shares) {
      await delay(SILENCE_MS);
      shares.start();
      await delay(SERIAL_CHECK_MS);
      await shares.settled();
      seen.set(target.line, shares.take());
    }
    const descriptorsAfter = await this.#descriptorsBackAt(descriptors);
    clearInterval(sampling);
    const others = [...seen].filter(([line]) => line !== target.line);
    return {
      line: target.line,
      attack,
      amount: did,
      p99: p99(seen.get(target.line)?.times ?? []),
      stall,
      work,
      others: Object.fromEntries(others.map(([line, { times }]) => [line, p99(times)])),
      answered: [...seen.values()].reduce((sum, { times }) => sum + times.length, 0),
      lost: lostIn(seen),
      unanswered: [...seen].filter(([, { times }]) => times.length === 0).map(([line]) => line),
      askedAgain: [...seen.values()].reduce((sum, { askedAgain }) => sum + askedAgain, 0),
      before,
      peak,
      after: residentMb(this.#pid),
      descriptors: [descriptors, descriptorsAfter],
    };
  }

  async end() {
    this.#attacker.disconnect();
    await Promise.all([...this.#clients.values()].map((client) => client.stop()));
  }

  #takeAll() {
    return new Map([...this.#clients].map(([line, client]) => [line, client.take()]));
  }

  /** @param {object} order @returns {Promise<string>} */
  async #order(order) {
    this.#attacker.send(order);
    const ended = new AbortController();
    const failed = once(this.#attacker, 'exit', { signal: ended.signal }).then(([code]) => {
      throw new Error(`the attacker exited with code ${code}`);
    });
    failed.catch(() => {});
    try {
      const [answer] = await Promise.race([once(this.#attacker, 'message'), failed]);
      if (answer.failed !== undefined) throw new Error(answer.failed);
      return answer.did;
    } finally {
      ended.abort();
    }
  }

  /**
   * The maximum of several readings: a busy machine may suspend the program while a virtual line has one
   * descriptor closed.
   */
  async #mostDescriptors() {
    let most = 0;
    for (let look = 0; look < 10; look++, await delay(SAMPLE_MS)) {
      most = Math.max(most, openDescriptors(this.#pid));
    }
    return most;
  }

  /** The number of descriptors once it is back at `wanted`, or after half a minute. @param {number} wanted */
  async #descriptorsBackAt(wanted) {
    const giveUpAt = performance.now() + DESCRIPTORS_LIMIT_MS;
    let open = openDescriptors(this.#pid);
    for (; open > wanted && performance.now() < giveUpAt; open = openDescriptors(this.#pid))
      await delay(SAMPLE_MS);
    return open;
  }
}

/** @param {Map<string, import('./good-client.mjs').Seen>} seen */
function lostIn(seen) {
  return Object.fromEntries(
    [...seen].filter(([, { lost }]) => lost > 0).map(([line, { lost }]) => [line, lost]),
  );
}

/** @param {readonly number[]} times */
function p99(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))] ?? Number.NaN;
}
