import { isCapture, readCapture } from './capture-file.js';
import { conversationOf } from './exchanges.js';
import { learn } from './learned.js';
import { type LogLines, readLog } from './log-lines.js';
import { type Learned, writeLearned } from './write.js';

/** The result of learning: a native file, and what a person has to know of it. */
export interface LearnedFile {
  readonly text: string;
  readonly summary: string;
  readonly notes: readonly string[];
  /** What `writeScenario` needs to write a scenario. */
  readonly learned: Learned;
}

/**
 * Learns devices from logs and captures, which follow one another in time.
 * @returns what is wrong, as a sentence
 */
export function learnFiles(files: readonly Uint8Array[], source: string): LearnedFile | string {
  const logs: LogLines[] = [];
  for (const bytes of files) {
    if (isCapture(bytes)) {
      const read = readCapture(bytes);
      if (typeof read === 'string') return read;
      logs.push(read);
    } else logs.push(readLog(new TextDecoder().decode(bytes)));
  }
  const frames = logs.flatMap((log) => log.frames);
  const conversation = conversationOf(frames);
  if (!conversation)
    return frames.length === 0
      ? 'no line has the bytes of a frame'
      : `no request was found in ${frames.length} lines with bytes; the first is line ${frames[0]?.line}`;
  const notes = [...logs.flatMap((log) => log.notes), ...conversation.notes];
  const lines = learn(conversation);
  const learned: Learned = { source, conversation, lines, notes };
  const { exchanges } = conversation;
  const units = [...new Set(lines.flat().map(({ unit }) => unit))].join(', ');
  const silent = exchanges.filter(({ replies }) => replies.length === 0).length;
  const summary = `${source}: ${exchanges.length} requests to unit ${units}, ${silent} without an answer`;
  return { text: writeLearned(learned), summary, notes, learned };
}
