import { readCapture } from './capture.js';
import { isCapture } from './capture-file.js';
import { conversationOf } from './exchanges.js';
import { learn } from './learned.js';
import { type LogLines, readLog } from './log-lines.js';
import { type Learned, writeLearned } from './write.js';

/** The result of learning: a native file, and what a person has to know of it. */
export interface LearnedFile {
  readonly text: string;
  readonly summary: string;
  readonly notes: readonly string[];
  /** The files with frames of which no exchange came, a sentence each. */
  readonly unused: readonly string[];
  /** What `writeScenario` and `checkLearned` need. */
  readonly learned: Learned;
}

/**
 * Learns devices from logs and captures, which follow one another in time.
 * @returns what is wrong, as a sentence
 */
export function learnFiles(files: readonly Uint8Array[], source: string): LearnedFile | string {
  const logs: LogLines[] = [];
  for (const bytes of files) {
    const read = isCapture(bytes) ? readCapture(bytes) : readLog(new TextDecoder().decode(bytes));
    if (typeof read === 'string') return read;
    logs.push(read);
  }
  const frames = logs.flatMap((log, file) => log.frames.map((frame) => ({ ...frame, file })));
  const conversation = conversationOf(frames);
  const { exchanges } = conversation;
  const notes = [...logs.flatMap((log) => log.notes), ...conversation.notes];
  const [first] = frames;
  if (!first) return [...notes, 'no line has the bytes of a frame'].join('\n');
  const isOfCapture = first.text === undefined;
  const place = `${isOfCapture ? 'packet' : 'line'} ${first.line}`;
  if (exchanges.length === 0)
    return [...notes, `nothing was learned from ${frames.length} frames, the first of them in ${place}`].join(
      '\n',
    );
  const lines = learn(conversation);
  const silent = exchanges.filter(({ reply }) => reply.length === 0).length;
  const units = [...new Set(lines.flatMap(({ devices }) => devices.map(({ unit }) => unit)))].join(', ');
  const learned: Learned = { source, conversation, lines, isCapture: isOfCapture, notes };
  const summary = `${source}: ${exchanges.length} requests to unit ${units}, ${silent} without an answer`;
  const used = new Set(exchanges.map(({ file }) => file));
  const unused = logs.flatMap((log, file) =>
    log.frames.length > 0 && !used.has(file)
      ? [`nothing was learned from the ${log.frames.length} frames of file ${file + 1}`]
      : [],
  );
  return { text: writeLearned(learned), summary, notes, unused, learned };
}
