import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { parseText } from '../../files/config/text/parse-text.js';
import { piecesOf } from '../../files/config/text/pieces.js';
import { readText } from '../../files/config/text/read-file.js';
import type { Parsed, ParseOrder, ToParser } from './configuration-file.js';

/*
 * Reads and parses one configuration file while the lines are served, and sends its content in pieces, each
 * on request. In one message, all of it would stop the lines while they unpack it.
 */

const { file, most, digest } = workerData as ParseOrder;

function* answers(): Generator<Parsed, Parsed, ToParser> {
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

const answering = answers();
parentPort?.on('message', (asked: ToParser) => {
  const { value } = answering.next(asked);
  parentPort?.postMessage(value);
});
