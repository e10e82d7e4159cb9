import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ExtcapRequest, RunningAt } from '../command-line/commands/extcap.js';
import { installExtcap } from './extcap-install.js';
import { configText, DLTS_TEXT, type ExtcapLine, interfacesText, lineOfInterface } from './extcap-text.js';
import { Remote } from './remote.js';
import { complain, OK, say } from './say.js';

/**
 * Longest time to ask for the lines, in ms. Wireshark waits for the list of interfaces before it shows its
 * window.
 */
const LIST_LIMIT_MS = 1000;

/** Answers Wireshark as an extcap program whose interfaces are the lines of a running simulator. */
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

/** The lines of the simulator; none if it does not run, because Wireshark asks at each of its starts. */
async function linesOf({ url, token }: RunningAt): Promise<ExtcapLine[]> {
  const remote = new Remote(url, token, LIST_LIMIT_MS);
  const answer = await remote.lines();
  return answer.ok ? answer.body.lines : [];
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
  const remote = new Remote(url, token);
  const query = new URLSearchParams({ follow: 'true', form, line });
  const answer = await remote.download(`/api/v1/capture.pcapng?${query}`);
  if (!answer.ok) return complain(answer.error);
  try {
    await pipeline(Readable.fromWeb(answer.body), createWriteStream(fifo));
    return OK;
  } catch (error) {
    // Wireshark closes the pipe when the user stops the capture.
    return (error as NodeJS.ErrnoException).code === 'EPIPE' ? OK : complain(remote.noAnswer(error as Error));
  }
}
