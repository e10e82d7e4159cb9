import { foreignExchanges, SILENT, SLOW } from './foreign-units.mjs';
import { frame } from './frame.mjs';
import { newImages, ownRequests, readAll } from './own-units.mjs';
import { randomNumbers } from './requests.mjs';

/** An answer counts as missing after this many ms; the machine may be busy, and this is not a timing test. */
const PATIENCE_MS = 15_000;

/**
 * @typedef {object} BusResult
 * @property {number} transactions
 * @property {number} own Answered requests to our units.
 * @property {number} broadcasts
 * @property {number} foreign Requests to others.
 * @property {number} late Responses of the slow device after the master had given up.
 * @property {number} crossed Those that came between a request to our units and its answer.
 * @property {number} missed Unanswered requests to our units.
 * @property {number} wrong Answers with wrong bytes.
 * @property {number} stray Times that the simulator sent something when it should not.
 * @property {number} wrongImages Units that do not contain the values written to them.
 * @property {number} miscounted Difference between the messages that the units processed and those meant for
 * them.
 * @property {string[]} complaints The first few of all these, in words.
 */

/**
 * Runs a master, a silent device and a slow one on one bus with the simulator.
 * @param {import('./wire.mjs').Wire} wire
 * @param {number} quantity transactions
 * @param {number} seed
 * @returns {Promise<BusResult>}
 */
export async function soakSharedBus(wire, quantity, seed) {
  const random = randomNumbers(seed);
  const images = newImages();
  const own = ownRequests(images, random);
  const exchange = foreignExchanges(random);
  /** Responses that the slow device still owes. @type {import('./foreign-units.mjs').Foreign[]} */
  const owed = [];
  const meant = new Map(images.map(({ unitId }) => [unitId, 0]));
  /** The last frames, for complaints. @type {string[]} */
  const said = [];
  /** @type {BusResult} */
  const result = {
    transactions: 0,
    own: 0,
    broadcasts: 0,
    foreign: 0,
    late: 0,
    crossed: 0,
    missed: 0,
    wrong: 0,
    stray: 0,
    wrongImages: 0,
    miscounted: 0,
    complaints: [],
  };

  const before = await Promise.all(images.map(() => 0));
  for (const [i, { unitId }] of images.entries()) before[i] = await messageCount(unitId);
  for (; result.transactions < quantity; result.transactions++) {
    const kind = random(20);
    if (kind < 9) await askOwn(own.next());
    else if (kind < 11) await broadcast();
    else if (kind < 14) await askSilent();
    else await askSlow();
    if (owed.length > 0 && random(5) === 0) await answerLate();
    if (random(200) === 0) for (const image of images) for (const all of readAll(image)) await askOwn(all);
    if (random(4) === 0) await wire.rest(random(8));
  }
  await wire.rest(100);
  await expectNothing();
  for (const image of images) {
    const wrongBefore = result.wrong;
    for (const all of readAll(image)) await askOwn(all);
    if (result.wrong > wrongBefore) result.wrongImages++;
  }
  for (const [i, { unitId }] of images.entries()) {
    // The second reading includes itself.
    const processed = (await messageCount(unitId)) - (before[i] ?? 0) - 1;
    const surplus = ((processed - (meant.get(unitId) ?? 0)) << 16) >> 16;
    if (surplus !== 0) complain(`unit ${unitId}: message count off by ${surplus}`);
    result.miscounted += Math.abs(surplus);
  }
  return result;

  /** @param {Buffer} bytes @param {number} [pause] */
  async function say(bytes, pause) {
    said.push(bytes.toString('hex'));
    if (said.length > 6) said.shift();
    await wire.say(bytes, pause);
  }

  /** @param {import('./own-units.mjs').Own} transaction */
  async function askOwn({ name, request, answer }) {
    if (!answer) throw new Error('a broadcast');
    await expectNothing();
    result.own++;
    const unitId = /** @type {number} */ (request[0]);
    meant.set(unitId, (meant.get(unitId) ?? 0) + 1);
    await say(request);
    if (owed.length > 0 && random(2) === 0) {
      result.crossed++;
      await answerLate();
    }
    const got = await wire.hear(answer.length, PATIENCE_MS);
    if (got.equals(answer)) return;
    if (got.length === 0) result.missed++;
    else result.wrong++;
    complain(`${name}: ${answer.toString('hex')} expected, got ${got.toString('hex') || 'nothing'}`);
  }

  async function broadcast() {
    result.broadcasts++;
    for (const [unitId, count] of meant) meant.set(unitId, count + 1);
    await say(own.broadcast().request);
    await wire.rest(3 + random(10));
  }

  async function askSilent() {
    result.foreign++;
    await say(exchange(SILENT).request);
    await giveUp();
  }

  async function askSlow() {
    result.foreign++;
    const asked = exchange(SLOW);
    await say(asked.request);
    const mood = random(8);
    // It first sends the responses that it still owes.
    if (owed.length > 0 && mood < 5) await answerLate();
    if (mood < 4) await say(asked.response, random(6));
    else await giveUp();
    if (mood >= 4 && mood < 7) owed.push(asked);
  }

  async function giveUp() {
    await wire.rest(3 + random(random(4) === 0 ? 60 : 12));
  }

  async function answerLate() {
    result.late++;
    await say(/** @type {Buffer} */ (owed.shift()?.response), random(3) === 0 ? random(4) : 0);
  }

  async function expectNothing() {
    const got = wire.take();
    if (got.length === 0) return;
    result.stray++;
    complain(`expected no bytes, got ${got.toString('hex')}`);
  }

  /**
   * The number of messages that a unit reports as processed (Application Protocol V1.1b3, 6.8: 8/14). @param
   * {number} unitId
   */
  async function messageCount(unitId) {
    await say(frame(unitId, 8, 0, 14, 0, 0));
    const got = await wire.hear(8, PATIENCE_MS);
    return got.length === 8 ? got.readUInt16BE(4) : Number.NaN;
  }

  /** @param {string} what */
  function complain(what) {
    if (result.complaints.length < 5)
      result.complaints.push(`transaction ${result.transactions}: ${what}; before: ${said.join(' ')}`);
  }
}
