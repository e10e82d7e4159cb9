import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { ExtcapRequest, RunningAt } from '../config/commands/extcap.js';
import { unreachableReason } from '../monitor/unreachable.js';
import { installExtcap } from './extcap-install.js';
import { configText, DLTS_TEXT, type ExtcapLine, interfacesText, lineOfInterface } from './extcap-text.js';
import { complain, OK, say } from './say.js';

/** Wireshark waits for the list of interfaces before it shows its window. */
const LIST_LIMIT_MS = 1000;

/** Does what Wireshark asks of an extcap program: the lines of a running simulator are its interfaces. */
export async function extcap(request: ExtcapRequest, version: string): Promise<number> {
  switch (request.what) {
    case 'install':
      return installExtcap(request.directory);
    case 'interfaces':
      return say(interfacesText(version, await linesOf(request.at)));
    case 'dlts':
      return say(DLTS_TEXT);
    case 'options':
      return say(configText(request.url));
    case 'capture':
      return capture(request);
  }
}

/** The lines of the simulator. Where none is running there are none: Wireshark asks at each of its starts. */
async function linesOf({ url, token }: RunningAt): Promise<ExtcapLine[]> {
  try {
    const answer = await fetch(`${url}/api/v1/lines`, {
      headers: headersOf(token),
      signal: AbortSignal.timeout(LIST_LIMIT_MS),
    });
    if (!answer.ok) return [];
    return ((await answer.json()) as { lines: ExtcapLine[] }).lines;
  } catch {
    return [];
  }
}

/** Copies a live capture into the pipe until either end is closed. */
async function capture({
  at: { url, token },
  form,
  interface: name,
  fifo,
}: Extract<ExtcapRequest, { what: 'capture' }>): Promise<number> {
  const line = lineOfInterface(name);
  if (line === undefined) return complain(`${name}: no interface of modbus-sim`);
  const query = new URLSearchParams({ follow: 'true', form, line });
  try {
    const answer = await fetch(`${url}/api/v1/capture.pcapng?${query}`, { headers: headersOf(token) });
    if (!answer.ok || answer.body === null) {
      const { error } = (await answer.json()) as { error?: string };
      return complain(`${url}: ${error ?? `status ${answer.status}`}`);
    }
    await pipeline(Readable.fromWeb(answer.body as ReadableStream), createWriteStream(fifo));
    return OK;
  } catch (error) {
    // Wireshark closes the pipe when the user stops the capture.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return OK;
    return complain(`${url}: ${unreachableReason(error as Error)}`);
  }
}

function headersOf(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
