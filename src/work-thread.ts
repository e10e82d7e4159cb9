import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import type { Parsed, ToParser } from './cli/verbs/configuration-file.js';
import { END, type ParseOrder, setNiceness, thisThread, type WorkOrder } from './cli/verbs/work.js';
import { parseText } from './document/text/parse-text.js';
import { piecesOf } from './document/text/pieces.js';
import { readText } from './document/text/read-file.js';

/*
 * Does one piece of long work outside the lines and the desk: parses a configuration file, or runs an
 * extension's long task. The result is sent in pieces, each on request. A single large message would block
 * the other thread while it is unpacked.
 */

/** Niceness of this thread where nothing waits for its work but one client of the desk, which has 10. */
const NICENESS = 19;

function* parsing({ file, most, digest }: ParseOrder): Generator<Parsed, Parsed, ToParser> {
  const text = readText(file, most);
  if (!text.ok) return { kind: 'failed', problems: [{ path: '', message: text.error }] };
  const now = createHash('sha256').update(text.value).digest('hex');
  if (now === digest) return { kind: 'same' };
  const parsed = parseText(text.value);
  if (!parsed.ok) return { kind: 'failed', problems: parsed.problems };
  const { value, locate } = parsed.source;
  let pieces = [];
  for (const piece of piecesOf(value)) {
    if (pieces.push(piece) < PIECES) continue;
    yield { kind: 'pieces', pieces };
    pieces = [];
  }
  yield { kind: 'pieces', pieces };
  const asked = yield { kind: 'end', digest: now };
  return {
    kind: 'located',
    lists: asked.kind === 'locate' ? asked.lists.map((issues) => locate(issues)) : [],
  };
}

/** Number of small pieces, such as the entries of a table, that go in one message. */
const PIECES = 32;

async function begin(order: WorkOrder): Promise<Generator<unknown, unknown, never>> {
  if (order.kind === 'parse') return parsing(order);
  setNiceness(thisThread(), NICENESS);
  const { EXTENSIONS } = await import('./extensions/all.js');
  const work = await EXTENSIONS.find(({ name }) => name === order.name)?.work?.();
  if (!work) throw new Error(`${order.name} has no long work`);
  return work;
}

const answers = await begin(workerData as WorkOrder);
parentPort?.on('message', (asked: unknown) => {
  if (asked === END) process.exit();
  const { value } = answers.next(asked as never);
  parentPort?.postMessage(value);
});
