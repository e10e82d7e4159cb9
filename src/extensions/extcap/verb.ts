import { spawnSync } from 'node:child_process';
import { chmodSync, createWriteStream, lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, win32 } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Remote } from '../../cli/verbs/remote.js';
import { complain, OK, say } from '../../cli/verbs/say.js';
import { version } from '../../common/package.js';
import { HERE } from '../../common/platform.js';
import { whyNotReplaced } from '../../common/replace.js';
import { makeDirectory } from '../../document/make-directory.js';
import type { ExtcapRequest, RunningAt } from './command.js';

/** Longest wait for the list of lines, in ms. Wireshark shows its window only after it has the list of interfaces. */
const LIST_LIMIT_MS = 3000;

/** Answers Wireshark as an extcap program whose interfaces are the lines of a running simulator. */
export async function extcap(request: ExtcapRequest): Promise<number> {
  switch (request.what) {
    case 'install':
      return installExtcap(request.directory);
    case 'interfaces':
      return say(interfacesText(version(), await linesOf(request.at)));
    case 'dlts':
      return say(DLTS_TEXT);
    case 'options':
      return say(configText(request.url));
    case 'capture':
      return capture(request);
  }
}

/** The lines of the simulator; none if it is not running, because Wireshark asks each time it starts. */
async function linesOf({ url, token }: RunningAt): Promise<ExtcapLine[]> {
  const remote = new Remote(url, token, LIST_LIMIT_MS);
  const answer = await remote.lines();
  return answer.ok ? answer.value.lines : [];
}

/** Copies a live capture into the pipe until either end is closed. */
async function capture({
  at: { url, token },
  form,
  interface: name,
  fifo,
}: Extract<ExtcapRequest, { what: 'capture' }>): Promise<number> {
  const line = lineOfInterface(name);
  if (line === undefined) return complain(`${name}: not an interface of modbus-sim`);
  const kept = whyNotReplaced(fifo, 'capture');
  if (kept !== undefined) return complain(kept);
  const remote = new Remote(url, token);
  const query = new URLSearchParams({ follow: 'true', form, line });
  const answer = await remote.download(`/api/v1/capture.pcapng?${query}`);
  if (!answer.ok) return complain(answer.error);
  try {
    await pipeline(Readable.fromWeb(answer.value), createWriteStream(fifo));
    return OK;
  } catch (error) {
    // Wireshark closes the pipe when the user stops the capture.
    return (error as NodeJS.ErrnoException).code === 'EPIPE' ? OK : complain(remote.noAnswer(error as Error));
  }
}

/** Installs a wrapper that calls this program in Wireshark's extcap directory. */
function installExtcap(directory = extcapDirectory()): number {
  const file = join(directory, HERE.isWindows ? 'modbus-sim.bat' : 'modbus-sim');
  try {
    makeDirectory(directory);
    if (!isWrapper(file))
      return complain(`${file}: exists and was not installed by this program; remove it first`);
    writeFileSync(file, extcapWrapper(process.execPath, realpathSync(process.argv[1] as string)));
    chmodSync(file, 0o755);
  } catch (error) {
    return complain(
      `can't write ${file}: ${(error as Error).message}. Name a directory, and start Wireshark with ` +
        'WIRESHARK_EXTCAP_DIR set to it; or install as root',
    );
  }
  return say(`installed ${file}; restart Wireshark to see the lines of a running simulator`);
}

/** The wrapper that Wireshark starts: a script for the shell or cmd.exe. */
export function extcapWrapper(node: string, program: string, { isWindows } = HERE): string {
  if (isWindows) return `@"${node}" "${program}" extcap %*\r\n`;
  return `#!/bin/sh\nexec ${shellWord(node)} ${shellWord(program)} extcap "$@"\n`;
}

/** The scripts of `extcapWrapper`, of this version or an earlier one. */
const WRAPPER = /^(#!\/bin\/sh\nexec '.*' '.*' extcap "\$@"\n|@".*" ".*" extcap %\*\r\n)$/;

/** Whether a file may be overwritten. A link is left alone, because it may lead to the program itself. */
function isWrapper(file: string): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return !stat || (stat.isFile() && WRAPPER.test(readFileSync(file, 'utf8')));
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The user's extcap directory, as Wireshark prints it; the global one if there is none. */
function extcapDirectory(): string {
  const { stdout } = spawnSync('tshark', ['-G', 'folders'], { encoding: 'utf8' });
  return extcapFolder(stdout ?? '') ?? usualFolder();
}

/**
 * The user's default extcap directory, for when `tshark` can't be run: on Windows it is seldom in the PATH
 * (Wireshark User's Guide, B.3).
 */
export function usualFolder({ isWindows } = HERE, env = process.env): string {
  if (!isWindows) return join(homedir(), '.local/lib/wireshark/extcap');
  return win32.join(env.APPDATA ?? win32.join(homedir(), 'AppData', 'Roaming'), 'Wireshark', 'extcap');
}

/**
 * Finds the extcap directory in the output of `tshark -G folders`. Before version 4.2, Wireshark had no
 * directory per user.
 */
function extcapFolder(folders: string): string | undefined {
  const own = /^Personal Extcap path:\s*(\S.*)$/m.exec(folders);
  return (own ?? /^(?:Global )?Extcap path:\s*(\S.*)$/m.exec(folders))?.[1];
}

/*
 * The texts of the extcap protocol, with which Wireshark asks a program for interfaces, their link types and
 * their options (Wireshark Developer's Guide, 8.2). Each line is a sentence: a word, then values in braces.
 */

/** A line in the form that describes it to Wireshark. */
interface ExtcapLine {
  readonly name: string;
  /** Path of the serial port, or address and port of the socket. */
  readonly place: string;
}

const PREFIX = 'modbus-sim-';

/** The interface name of a line. It has no character that is special to Wireshark or a shell. */
export function interfaceName(line: string): string {
  return `${PREFIX}${encodeURIComponent(line).replaceAll(/[!'()*]/g, percent)}`;
}

/** The line that an interface name stands for; undefined if the interface is not one of ours. */
export function lineOfInterface(name: string): string | undefined {
  if (!name.startsWith(PREFIX)) return undefined;
  try {
    return decodeURIComponent(name.slice(PREFIX.length));
  } catch {
    return undefined;
  }
}

function interfacesText(version: string, lines: readonly ExtcapLine[]): string {
  return [
    `extcap {version=${version}}{display=modbus-sim}`,
    ...lines.map(
      ({ name, place }) =>
        `interface {value=${interfaceName(name)}}{display=Modbus line ${plain(name)} (${plain(place)})}`,
    ),
  ].join('\n');
}

/** The answer to --extcap-dlts: raw IP. The capture itself states the link type of each of its interfaces. */
const DLTS_TEXT = 'dlt {number=101}{name=RAW}{display=Raw IP}';

/** The answer to --extcap-config: the options that the user can set. */
function configText(url: string): string {
  return [
    `arg {number=0}{call=--url}{display=Simulator}{tooltip=Address of its REST interface}{type=string}{default=${plain(url)}}`,
    'arg {number=1}{call=--token}{display=Token}{tooltip=Token for its REST interface, if it requires one}{type=password}',
    'arg {number=2}{call=--form}{display=Frames}{type=selector}',
    'value {arg=2}{value=decoded}{display=Modbus RTU frames in UDP, port 5020}{default=true}',
    'value {arg=2}{value=wire}{display=As on the wire}{default=false}',
  ].join('\n');
}

/** A text without braces, which would end a value. */
function plain(text: string): string {
  return text.replaceAll(/[{}]/g, '_');
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}
