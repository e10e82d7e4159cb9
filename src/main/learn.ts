import type { LearnCommand } from '../config/commands/learn.js';
import { loadNative } from '../config/load.js';
import { readText } from '../config/text/read-file.js';
import { learnText } from '../learn/learn.js';
import { formatProblems } from '../schema/problem.js';
import { save } from './save.js';
import { complain, note, OK, say } from './say.js';

const LARGEST_BYTES = 16 * 1024 * 1024;

/** Writes a native file from the logs of clients and servers, and says what was not understood. */
export function learn({ files, output, force }: LearnCommand): number {
  const texts: string[] = [];
  for (const file of files) {
    const read = readText(file, LARGEST_BYTES);
    if (!read.ok) return complain(`${file}: ${read.message}`);
    texts.push(read.text);
  }
  const source = files.join(', ');
  const learned = learnText(texts, source);
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
  return say(`wrote ${output}; serve it with modbus-sim --config ${output}`);
}
