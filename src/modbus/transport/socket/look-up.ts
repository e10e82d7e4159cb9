import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

/** A name that is not found within this time is not waited for any longer, in ms. */
export const LOOK_UP_MS = 5000;

/** This many names may be looked up at the same time. */
const MOST_NAMES = 16;

/** The code of a look-up that took too long. */
export const LOOK_UP_TIMEOUT = 'ETIMEOUT';

type Found = Parameters<LookupFunction>[2];

/**
 * Looks up names with a time limit. The system's function can't be called off: it holds one of libuv's threads until it
 * returns, 30 s and longer where no name server answers, and at most two of them look up names for the whole process. So
 * whoever asks for a name that is being looked up shares the answer, and attempts that are repeated don't pile up.
 * IP addresses are not looked up: they are found within the call, so that a UDP reply leaves in the same turn.
 * @param find looks up a name, as `dns.lookup` does
 */
export function boundedLookup(find: LookupFunction, limitMs = LOOK_UP_MS): LookupFunction {
  const underWay = new Map<string, Set<Found>>();
  return (host, options, found) => {
    const family = isIP(host);
    if (family !== 0) {
      if (options.all) found(null, [{ address: host, family }]);
      else found(null, host, family);
      return;
    }
    const key = [host, options.family, options.hints, options.all].join(' ');
    const shared = underWay.get(key);
    if (!shared && underWay.size >= MOST_NAMES) {
      const text = `${MOST_NAMES} names are being looked up already`;
      process.nextTick(() => found(Object.assign(new Error(text), { code: 'EAI_AGAIN' }), ''));
      return;
    }
    const waiting = shared ?? new Set<Found>();
    const timer = setTimeout(() => {
      waiting.delete(answer);
      const text = `${host} could not be looked up within ${limitMs / 1000} s`;
      found(Object.assign(new Error(text), { code: LOOK_UP_TIMEOUT }), '');
    }, limitMs).unref();
    const answer: Found = (...result) => {
      clearTimeout(timer);
      found(...result);
    };
    waiting.add(answer);
    if (shared) return;
    underWay.set(key, waiting);
    find(host, options, (...result) => {
      underWay.delete(key);
      for (const each of waiting) each(...result);
    });
  };
}

/** The one that all lines, clients and brokers of a thread share. */
export const lookUpName = boundedLookup((host, options, found) => dns.lookup(host, options, found));
