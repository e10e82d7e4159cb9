import { dirname, relative } from 'node:path';
import { warningLog } from '../../cli/verbs/log.js';
import { Remote } from '../../cli/verbs/remote.js';
import { complain, NOT_DONE, note, OK, say } from '../../cli/verbs/say.js';
import { editorLineFor, save, writeNativeFile } from '../../cli/verbs/write-files.js';
import { failure, type Result, success } from '../../common/result.js';
import { counted } from '../../common/words.js';
import { loadNative } from '../../document/load.js';
import { readBytes } from '../../document/text/read-file.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import { Simulator } from '../../simulator/simulator.js';
import { isCapture } from './capture-file.js';
import { type Check, checkLearned, compared } from './check.js';
import type { LearnCommand } from './command.js';
import { type LearnedFile, learnFiles, MOST_LEARNED } from './learn.js';
import { countsOfCapture, countsOfLog } from './second-reading.js';
import { writeScenario } from './write.js';

/** A log with this many requests or more is checked only on request. */
const MANY_REQUESTS = 20_000;
const MOST_PRINTED = 20;

/**
 * Writes a native file from the logs of clients and servers. Reports the parts that were not understood, and
 * the requests that the learned devices answer differently from the log.
 */
export async function learn(command: LearnCommand): Promise<number> {
  const { files, from, output, scenario, force = false } = command;
  const contents: Uint8Array[] = [];
  for (const file of files) {
    const read = readBytes(file, MOST_LEARNED);
    if (!read.ok) return complain(`${file}: ${read.error}`, NOT_DONE);
    contents.push(read.value);
  }
  if (from) {
    const read = await readLine(from);
    if (!read.ok) return complain(read.error, NOT_DONE);
    contents.push(read.value);
  }
  const source = [...files, ...(from ? [`line ${from.line} of ${from.url}`] : [])].join(', ');
  const result = learnFiles(contents, source, command.recorded);
  if (!result.ok) return complain(`${source}: ${result.error}`);
  const learned = result.value;
  note([learned.summary, ...learned.notes].join('\n'));
  const { verify = learned.learned.conversation.exchanges.length < MANY_REQUESTS } = command;
  if (verify) note([...checkText(await checkOf(learned)), ...secondReading(learned, contents)].join('\n'));
  // The file is written anyway, from the other logs.
  const code =
    writeNativeFile(learned.text, command) ||
    (learned.unused.length > 0 ? complain(learned.unused.join('\n')) : OK);
  if (code !== OK || output === undefined || scenario === undefined) return code;
  const configuration = relative(dirname(scenario), output);
  const unwritten = save(
    scenario,
    editorLineFor('scenario') + writeScenario(learned.learned, configuration),
    force,
  );
  if (unwritten !== undefined) return complain(unwritten);
  return say(`wrote ${scenario}; run it with modbus-sim test ${scenario}`);
}

/**
 * Reads the traffic of a line from a running simulator, as a capture.
 * @returns it, or an error message
 */
async function readLine({
  url,
  token,
  line,
}: NonNullable<LearnCommand['from']>): Promise<Result<Uint8Array>> {
  const remote = new Remote(url, token);
  const answer = await remote.download(`/api/v1/capture.pcapng?line=${encodeURIComponent(line)}`);
  if (!answer.ok) return failure(answer.error);
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of answer.value) {
      length += piece.length;
      if (length > MOST_LEARNED) break;
      pieces.push(piece);
    }
  } catch (error) {
    return failure(remote.noAnswer(error as Error));
  }
  return success(Buffer.concat(pieces));
}

/** Serves the learned devices in this process, and sends them the requests in the log. */
async function checkOf({ text, learned }: LearnedFile): Promise<Check> {
  const loaded = loadNative(text, '.');
  if (!loaded.ok) return { asked: 0, same: 0, others: [] };
  const { lines, devices } = new Simulator(loaded.configuration, await warningLog());
  const clocks = Array.from(devices.values(), ({ clock }) => clock);
  for (const clock of clocks) clock.set({ paused: true });
  return checkLearned(learned, (name, request, ms) => {
    for (const clock of clocks) clock.step(Math.max(0, ms - clock.time));
    const plan = lines.get(name)?.bus.answer({ ...request, clientId: 1 })?.plan;
    const steps = plan?.kind === 'send' ? plan.steps : [];
    return concatBytes(...steps.map((step) => (step.kind === 'bytes' ? step.bytes : [])));
  });
}

/** The result of the second reading of the same files, if they have words or headers that it can use. */
function secondReading({ learned }: LearnedFile, contents: readonly Uint8Array[]): string[] {
  let [requests, replies] = [0, 0];
  for (const bytes of contents) {
    const counts = isCapture(bytes) ? countsOfCapture(bytes) : countsOfLog(new TextDecoder().decode(bytes));
    if (!counts) return [];
    requests += counts.requests;
    replies += counts.replies;
  }
  return [compared(learned, { requests, replies })];
}

function checkText({ asked, same, others }: Check): string[] {
  const more = others.length - MOST_PRINTED;
  return [
    `sent again: ${same} of ${counted(asked, 'request')} got the same reply, byte for byte`,
    ...others.slice(0, MOST_PRINTED),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}
