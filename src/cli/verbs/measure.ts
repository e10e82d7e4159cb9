import { unknownName } from '../../common/schema/nearest.js';
import { Simulator } from '../../simulator/simulator.js';
import { measureLine, waitsForOthers } from '../../testing/measure/measure.js';
import { verdict } from '../../testing/measure/verdict.js';
import type { MeasureCommand } from '../command-line/commands/measure.js';
import { load } from './load.js';
import { warningLog } from './log.js';
import { complain, FAILED, NOT_DONE, note, OK, STOPPED, say, sayJson } from './say.js';
import { standardOutput } from './standard.js';
import { stopSignal } from './stop-signal.js';

/** Measures one line, without faults. If asked to stop, closes the line and prints no verdict. */
export async function measure(command: MeasureCommand): Promise<number> {
  const { source, api, line: name, seconds, asJson } = command;
  const configuration = load(source, api);
  if (!configuration) return NOT_DONE;
  const simulator = new Simulator({ ...configuration, faults: [] }, await warningLog());
  const line = simulator.lines.get(name);
  if (!line) return complain(unknownName('line', name, [...simulator.lines.keys()]), NOT_DONE);
  const stop = stopSignal(STOPPED, { reader: standardOutput() });
  const waits = waitsForOthers(line.definition) ? '; let your client poll it during this time' : '';
  (asJson ? note : say)(`line ${name}: measuring${waits}`);
  const measured = await Promise.race([measureLine(simulator, line, seconds), stop]);
  if (measured === undefined) {
    await line.stop();
    return complain(`line ${name}: stopped early; nothing was judged`, STOPPED);
  }
  if (!measured.ok) return complain(`line ${name}: ${measured.error}`, NOT_DONE);
  const { ok, text } = verdict(measured.value);
  if (asJson) sayJson({ line: name, ok, text, measured: measured.value });
  else say(text);
  return ok ? OK : FAILED;
}
