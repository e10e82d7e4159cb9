import { dirname, relative } from 'node:path';
import { readBytes } from '../../files/config/text/read-file.js';
import { learnFiles } from '../../files/learn/learn.js';
import { writeScenario } from '../../files/learn/scenario.js';
import type { LearnCommand } from '../command-line/commands/learn.js';
import { Remote } from './remote.js';
import { complain, note, OK, say } from './say.js';
import { save, writeNativeFile } from './write-files.js';

const LARGEST_BYTES = 16 * 1024 * 1024;

/** Writes a native file from the logs of clients and servers, and reports what was not understood. */
export async function learn(command: LearnCommand): Promise<number> {
  const { files, from, output, scenario, force } = command;
  const contents: Uint8Array[] = [];
  for (const file of files) {
    const read = readBytes(file, LARGEST_BYTES);
    if (!read.ok) return complain(`${file}: ${read.message}`);
    contents.push(read.bytes);
  }
  if (from) {
    const read = await readLine(from);
    if (typeof read === 'string') return complain(read);
    contents.push(read);
  }
  const source = [...files, ...(from ? [`line ${from.line} of ${from.url}`] : [])].join(', ');
  const learned = learnFiles(contents, source);
  if (typeof learned === 'string') return complain(`${source}: ${learned}`);
  note([learned.summary, ...learned.notes].join('\n'));
  const code = writeNativeFile(learned.text, command);
  if (code !== OK || output === undefined || scenario === undefined) return code;
  const configuration = relative(dirname(scenario), output);
  const unwritten = save(scenario, writeScenario(learned.learned, configuration), force);
  if (unwritten !== undefined) return complain(unwritten);
  return say(`wrote ${scenario}; run it with modbus-sim test ${scenario}`);
}

/**
 * Reads the traffic of a line of a running simulator, as a capture.
 * @returns it, or what is wrong, as a sentence
 */
async function readLine({
  url,
  token,
  line,
}: NonNullable<LearnCommand['from']>): Promise<Uint8Array | string> {
  const remote = new Remote(url, token);
  const answer = await remote.download(`/api/v1/capture.pcapng?line=${encodeURIComponent(line)}`);
  if (!answer.ok) return answer.error;
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of answer.body) {
      length += piece.length;
      if (length > LARGEST_BYTES) break;
      pieces.push(piece);
    }
  } catch (error) {
    return remote.noAnswer(error as Error);
  }
  return Buffer.concat(pieces);
}
