import { type Check, fail, inconclusive, pass } from '../../check.js';

/** Requests that are watched, and how long at most, in ms. */
const ENOUGH = 20;
const LONGEST_MS = 30_000;
const FEWEST = 6;
/** A connection is used again when it carries so many requests on average. */
const REUSED = 5;
const MOST_SHOWN = 6;

/** One connection for many requests. */
export const connectionsReused: Check = {
  id: 'connections-reused',
  group: 'watching',
  title: 'Uses its connection again',
  does: 'Counts the connections and the requests on them.',
  matters:
    'Many devices take few connections and are slow to forget old ones; a new one for each poll uses them up.',
  rule: 'Passes when a connection carries five requests or more on average, or there is only one; fails otherwise.',
  source: 'Messaging on TCP/IP Implementation Guide V1.0b, 4.2.1',
  transports: ['tcp', 'tls'],
  async run(exam) {
    const asked = () => exam.log.after(0);
    await exam.until(() => (asked().length >= ENOUGH ? true : undefined), LONGEST_MS);
    const requests = asked();
    if (requests.length < FEWEST) return inconclusive('too few requests came to count connections');
    const connections = new Set(requests.map(({ request }) => request.clientId)).size;
    const told =
      connections === 1
        ? `all ${requests.length} requests came over one connection`
        : `${requests.length} requests came over ${connections} connections`;
    if (connections === 1 || requests.length >= REUSED * connections) {
      return pass(told, requests.slice(-2));
    }
    const opened = exam.log.othersAfter(0).filter(({ kind }) => kind === 'client');
    return fail(
      told,
      [...requests.slice(-MOST_SHOWN), ...opened.slice(-MOST_SHOWN)],
      'opens a new connection again and again',
    );
  },
};
