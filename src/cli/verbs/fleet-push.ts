import { failure, type Result, success } from '../../common/result.js';
import { isMapping } from '../../common/schema/parts.js';
import { formatProblems } from '../../common/schema/problem.js';
import { readConfigFile } from '../../files/config/text/read-file.js';
import type { Fleet, FleetBench } from '../../remote/mqtt/fleet.js';
import type { FleetCommand } from '../command-line/commands/fleet.js';
import { conclude, onAll, writeJson } from './fleet-answers.js';
import { complain, FAILED } from './say.js';

type PushedConfiguration = Readonly<Record<string, unknown>>;

/**
 * Reads a configuration file in the form in which it is sent.
 * @returns it, or what is wrong, as lines for a terminal
 */
export function readPushed(file: string): Result<PushedConfiguration> {
  const read = readConfigFile(file);
  if (!read.ok) return failure(formatProblems(file, read.problems));
  const { value } = read.source;
  if (!isMapping(value)) return failure(`${file}: expected a mapping with devices and lines`);
  // JSON has no integers beyond 2^53. As text they are accepted wherever they fit.
  const text = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));
  return success(JSON.parse(text) as PushedConfiguration);
}

/** Applies a configuration on all benches; on none if one of them refuses it when it is checked. */
export async function push(
  fleet: Fleet,
  benches: readonly FleetBench[],
  { timeout, json }: FleetCommand,
  configuration: PushedConfiguration,
): Promise<number> {
  const send = (command: string) => (bench: FleetBench) =>
    fleet.ask(bench, command, { configuration }, timeout);
  const checked = await onAll(benches, send('configuration.check'), () => {});
  if (checked.some(({ answer }) => !answer.ok)) {
    complain('no bench was changed: each of them has to take the configuration');
    const answers = checked.map(({ bench, answer }) => ({ bench: bench.topic, ...answer }));
    return writeJson(json, answers, FAILED);
  }
  return conclude(await onAll(benches, send('configuration.apply')), json);
}
