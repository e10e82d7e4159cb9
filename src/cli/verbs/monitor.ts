import { z } from 'zod';
import { ask, BAD_REQUEST, sendTo } from '../../common/rest-client/client.js';
import { printable } from '../../common/rest-client/printable.js';
import type { MonitorCommand } from '../command-line/commands/monitor.js';
import { coloured, eventLine, plain, type ShownEvent } from '../tail/event-line.js';
import { follow } from '../tail/follow.js';
import { complain, FAILED, OK, WRONG_USAGE } from './say.js';
import { standardError, standardOutput } from './standard.js';
import { stopSignal } from './stop-signal.js';

const RETRY_MS = 1000;

const us = z.number().nullish();
/** The events to print. Other versions may have other kinds, and any program may answer at the address. */
const EVENTS = z.array(
  z.union([
    z.looseObject({ kind: z.literal('left out'), text: z.string() }),
    z.looseObject({
      kind: z.string(),
      line: z.string(),
      time: z.string(),
      text: z.string(),
      pauseUs: us,
      pauseCharacters: z.number().nullish(),
      responseTimeUs: us,
      client: z.string().optional(),
      bytes: z.string().optional(),
      omittedBytes: z.number().optional(),
      faults: z
        .array(z.looseObject({ rule: z.string(), kind: z.string(), reason: z.string().optional() }))
        .optional(),
      omittedFaults: z.number().optional(),
    }),
  ]),
);

/**
 * Prints the traffic of a running simulator until the process is asked to stop, or the reader of its output
 * is gone.
 */
export async function monitor(command: MonitorCommand): Promise<number> {
  const ending = new AbortController();
  // Also on a full disk: further output would be lost as well.
  standardOutput().onFailure = () => ending.abort();
  void stopSignal(OK, { reader: standardOutput() }).then(() => ending.abort());
  const print = printer(command, ending.signal);
  const before = command.last === undefined ? undefined : await lastEvents(command, command.last);
  if (before && !EVENTS.safeParse(before.events).success)
    return complain(`${command.url}: this is not modbus-sim`);
  if (before) await print(before.events);
  const followed = follow({
    url: filteredUrl('/api/v1/events', command),
    token: command.token,
    after: before?.last,
    signal: ending.signal,
    retryMs: RETRY_MS,
  });
  for await (const each of followed) {
    switch (each.kind) {
      case 'events':
        if (!EVENTS.safeParse(each.events).success) return complain(`${command.url}: this is not modbus-sim`);
        await print(each.events as readonly ShownEvent[]);
        break;
      case 'lost':
        tell(`${command.url}: ${each.reason}; waiting for the simulator`);
        break;
      case 'connected':
        tell(`${command.url}: connected`);
        break;
      case 'restarted':
        tell(`${command.url}: the simulator was restarted`);
        break;
      case 'refused':
        return complain(`${command.url}: ${each.reason}`, each.status === BAD_REQUEST ? WRONG_USAGE : FAILED);
    }
  }
  return OK;
}

function tell(text: string): void {
  standardError().print(`${printable(text)}\n`);
}

/**
 * The newest stored events, and the number of the latest one. Undefined if the simulator does not answer;
 * following it will report why.
 */
async function lastEvents(command: MonitorCommand, count: number) {
  const url = filteredUrl('/api/v1/traffic', command);
  url.searchParams.set('limit', String(count));
  const page = await ask<{ readonly events: readonly ShownEvent[]; readonly last: number }>(
    sendTo(url.origin, command.token),
    'GET',
    `${url.pathname}${url.search}`,
  );
  return page.ok ? page.value : undefined;
}

/** The address of a traffic list, with the command's filters. */
function filteredUrl(path: string, { url, filters }: MonitorCommand): URL {
  const events = new URL(path, url);
  for (const [name, value] of Object.entries(filters)) events.searchParams.set(name, value);
  return events;
}

/**
 * Makes a function that prints events. It resolves when the terminal or pipe has accepted them, so that
 * events are fetched no faster than they can be printed.
 */
function printer({ hex, asJson }: MonitorCommand, ending: AbortSignal) {
  const { stdout } = process;
  const paint = stdout.isTTY && stdout.hasColors() ? coloured : plain;
  let nameWidth = 0;
  return async (events: readonly ShownEvent[]): Promise<void> => {
    let text = '';
    for (const event of events) {
      if (event.kind !== 'left out') nameWidth = Math.max(nameWidth, event.line.length);
      text += `${asJson ? JSON.stringify(event) : eventLine(event, { hex, paint, nameWidth })}\n`;
    }
    const output = standardOutput();
    output.print(text);
    await new Promise<void>((resolve) => {
      const done = () => {
        ending.removeEventListener('abort', done);
        resolve();
      };
      ending.addEventListener('abort', done);
      void output.empty().then(done);
    });
  };
}
