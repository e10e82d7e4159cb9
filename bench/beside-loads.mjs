import { CORE, message, pin, start, stepBack } from './processes.mjs';

const REST_PER_SECOND = 500;
const CLIENTS = 20;
/** Requests/s of each client: a poll every 20 ms is more than a PLC does. */
const PACE = 50;
const READERS = 10;

/**
 * What else the simulator does while a line is measured.
 * @typedef {object} BusyWith
 * @property {string} what
 * @property {() => (() => Promise<string>)[]} begin begins it; each function ends a part, and tells what that part was
 * @property {boolean} [withoutBudget] true when no budget was asked for
 */

/**
 * @param {{url: string, port: number, report: string, clients: ReturnType<import('./side-by-side.mjs').tcpClients> | undefined}} bench
 *   `report`: the path of the report of a test. Without `clients`, what needs them is left out.
 * @returns {BusyWith[]}
 */
export function besideLoads({ url, port, report, clients }) {
  const rest = () =>
    child(['rest-load.mjs', url, REST_PER_SECOND], ({ perSecond }) => `${round(perSecond)} REST requests/s`);
  const readers = () =>
    child(
      ['event-readers.mjs', url, READERS],
      ({ perSecond, mbPerSecond }) =>
        `${round(perSecond)} events/s (${mbPerSecond.toFixed(2)} MB/s) read by ${READERS} together`,
    );
  const capture = () => downloads(`${url}/api/v1/capture.pcapng?follow=false`, 'captures');
  const reports = () => downloads(`${url}${report}`, 'reports');
  const tcp = (pace) => () => {
    const load = clients.begin(port, { connections: CLIENTS, pace });
    give(load.pid);
    return async () => `${round((await load.end()).perSecond)} TCP requests/s of ${CLIENTS} clients`;
  };
  const busy = tcp(PACE);
  const some = [
    { what: `${REST_PER_SECOND} REST requests/s`, begin: () => [rest()] },
    { what: `${READERS} event readers`, begin: () => [readers()] },
    { what: 'a capture being downloaded', begin: () => [capture()] },
    { what: 'a report being written', begin: () => [reports()] },
  ];
  if (!clients) return some;
  return [
    ...some,
    { what: `${CLIENTS} TCP clients, ${PACE} requests/s each`, begin: () => [busy()] },
    { what: `${READERS} event readers, ${CLIENTS} TCP clients`, begin: () => [readers(), busy()] },
    {
      what: 'all of these together',
      begin: () => [rest(), readers(), capture(), reports(), busy()],
    },
    {
      what: `${CLIENTS} TCP clients, as fast as they can`,
      begin: () => [tcp(0)()],
      withoutBudget: true,
    },
  ];
}

function downloads(url, what) {
  return child(
    ['downloads.mjs', url],
    ({ complete, mbPerSecond }) => `${complete} ${what} complete, ${mbPerSecond.toFixed(1)} MB/s`,
  );
}

/** A program that loads the simulator until it is ended, and then says how much. */
function child(command, words) {
  const load = start(...command);
  give(load.pid);
  return async () => {
    for (let told = message(load), ended = false; ; told = message(load)) {
      if (!ended) ended = load.kill('SIGTERM');
      const figures = await told;
      // The readers have said before that they are connected.
      if (typeof figures === 'object') return words(figures);
    }
  };
}

function give(pid) {
  pin(pid, CORE.client);
  stepBack(pid);
}

const round = (value) => String(Math.round(value));
