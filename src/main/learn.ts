import { dirname, relative } from 'node:path';
import type { LearnCommand } from '../config/commands/learn.js';
import { loadNative } from '../config/load.js';
import { readBytes } from '../config/text/read-file.js';
import { learnFiles } from '../learn/learn.js';
import { writeScenario } from '../learn/scenario.js';
import { formatProblems } from '../schema/problem.js';
import { save } from './save.js';
import { complain, note, OK, say } from './say.js';

const LARGEST_BYTES = 16 * 1024 * 1024;

/** Writes a native file from the logs of clients and servers, and says what was not understood. */
export async function learn({ files, from, output, scenario, force }: LearnCommand): Promise<number> {
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
  const loaded = loadNative(learned.text, '.');
  if (!loaded.ok) return complain(`nothing was written: ${formatProblems('the file', loaded.problems)}`);
  note([learned.summary, ...learned.notes].join('\n'));
  if (output === undefined) {
    process.stdout.write(learned.text);
    return OK;
  }
  const failure = save(output, learned.text, force);
  if (failure !== undefined) return complain(failure);
  say(`wrote ${output}; serve it with modbus-sim --config ${output}`);
  if (scenario === undefined) return OK;
  const bench = relative(dirname(scenario), output);
  const unwritten = save(scenario, writeScenario(learned.learned, bench), force);
  if (unwritten !== undefined) return complain(unwritten);
  return say(`wrote ${scenario}; run it with modbus-sim test ${scenario}`);
}

/** The traffic of a line of a running simulator, as a capture. @returns what is wrong, as a sentence */
async function readLine({
  url,
  token,
  line,
}: NonNullable<LearnCommand['from']>): Promise<Uint8Array | string> {
  try {
    const answer = await fetch(
      `${url.replace(/\/$/, '')}/api/v1/capture.pcapng?line=${encodeURIComponent(line)}`,
      {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      },
    );
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of answer.body ?? []) {
      length += (piece as Uint8Array).length;
      if (length > LARGEST_BYTES) break;
      pieces.push(piece as Uint8Array);
    }
    const bytes = Buffer.concat(pieces);
    return answer.ok ? bytes : `${url}: ${problemOf(bytes.toString())}`;
  } catch (error) {
    const { cause, message } = error as Error;
    return `${url}: ${cause instanceof Error ? cause.message : message}`;
  }
}

function problemOf(body: string): string {
  try {
    return String((JSON.parse(body) as { detail?: unknown }).detail);
  } catch {
    return 'this is no REST interface of modbus-sim';
  }
}
