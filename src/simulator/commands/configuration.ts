import { isDeepStrictEqual } from 'node:util';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { isMapping } from '../../common/schema/parts.js';
import { quote } from '../../common/schema/problem.js';
import { inSlices } from '../../common/work.js';
import type { Configuration } from '../../document/configuration.js';
import { MAX_HOSTS, readHosts } from '../../document/native/endpoints.js';
import { readingConfiguration } from '../../document/native/file.js';
import { MOST_ENTRIES_OVER_REST } from '../../document/native/sunspec.js';
import { recordingsIn } from '../../document/recording-file.js';
import { MAX_DEVICES, MAX_LINES } from '../changes.js';
import { costOf, whyTooDear } from '../memory-budget.js';
import { deviceReader } from '../new-device.js';
import type { Difference } from '../plan.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import { openRecordings } from './recordings.js';
import { done, notDone, type Outcome, type Refusal, refusal, refusalOf } from './refusal.js';
import { wrongFiles, wrongReal } from './remote-files.js';
import type { CONFIGURATION_COMMANDS } from './schemas/program.js';

/** A configuration in the form of a native file. */
type OfConfiguration = DeclaredInput<(typeof CONFIGURATION_COMMANDS)['configuration.check']>;

interface ChangedNames {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export interface ConfigurationChange {
  readonly devices: ChangedNames;
  readonly lines: ChangedNames;
  /** The number of fault rules in force under the configuration. */
  readonly faults: number;
}

/**
 * The sections that a client may send. The others belong to the owner of the machine: they say who may do
 * what, and where that is reported.
 */
const SECTIONS = ['devices', 'lines', 'faults', 'start'];

/** The simulators to which a configuration is being applied. */
const applying = new WeakSet<CommandContext['simulator']>();

/** Reads a configuration as `applyConfiguration` does, and says what it would change. Nothing is changed. */
export async function checkConfiguration(
  context: CommandContext,
  input: OfConfiguration,
): Promise<Outcome<ConfigurationChange>> {
  const read = await readConfiguration(context, input);
  if (!read.ok) return read;
  const difference = await inSlices(context.simulator.changes.comparing(read.value));
  return 'devices' in difference ? done(changeOf(difference, read.value)) : notDone(difference);
}

/**
 * Replaces the devices, lines and fault rules that run by those of a configuration: all of it, or nothing
 * when a line can't be opened. What is equal is not interrupted and keeps its registers. Memory, paths, ports
 * and hosts have the limits of what REST adds.
 */
async function applyConfiguration(
  context: CommandContext,
  input: OfConfiguration,
): Promise<Outcome<ConfigurationChange>> {
  const { simulator } = context;
  if (applying.has(simulator)) return refusal('configuration.busy', '', 'another one is being applied');
  applying.add(simulator);
  try {
    const read = await readConfiguration(context, input);
    if (!read.ok) return read;
    const { faults } = read.value;
    const outcome = await simulator.changes.become(read.value);
    if (!outcome.ok) return notDone(outcome);
    simulator.faults.become(faults, simulator.findValue, faults);
    for (const { name, when, faults: acts } of faults)
      simulator.changes.budget.countRule(name, costOf([when, acts.map(({ written }) => written)]).bytes);
    const change = changeOf(outcome.changed, read.value);
    context.log.info(change, 'configuration applied');
    return done(change);
  } finally {
    applying.delete(simulator);
  }
}

async function readConfiguration(
  context: CommandContext,
  { configuration: written }: OfConfiguration,
): Promise<Outcome<Configuration>> {
  const { simulator } = context;
  const other = Object.keys(written).find((key) => !SECTIONS.includes(key));
  if (other !== undefined)
    return refusal(
      'configuration.invalid',
      other,
      `expected ${SECTIONS.join(', ')} only, got ${quote(other)}`,
    );
  const tooLarge = whyTooLarge(written);
  if (tooLarge) return tooLarge;
  const outside = await whyNotHere(context, written);
  if (outside) return outside;
  const spent = simulator.changes.budget.whyNot(costOf(written).bytes, simulator.changes.budget.used);
  if (spent !== undefined) return refusal('memory.spent', '', spent);
  const recordings = (await openRecordings(context, written)) ?? recordingsIn(simulator.directory);
  const devices = deviceReader(recordings);
  const findings = new Findings();
  const { port: httpPort } = simulator.running.api;
  const { directory } = simulator;
  const reading = readingConfiguration(new At(written, findings), {
    ...{ devices, directory, mostModelPoints: MOST_ENTRIES_OVER_REST },
    api: { httpPort },
  });
  const configuration = await inSlices(reading);
  return findings.count > 0 ? refusalOf(findings, 'configuration.invalid') : done(configuration);
}

/** Why there are too many devices, lines or addresses. They are counted before any of them is made. */
function whyTooLarge({ devices, lines }: Readonly<Record<string, unknown>>): Refusal | undefined {
  const [written, sources] = [devices, lines].map((all) => (isMapping(all) ? Object.values(all) : []));
  if ((written?.length ?? 0) > MAX_DEVICES)
    return refusal('device.too_many', 'devices', `expected at most ${MAX_DEVICES} devices`);
  if ((sources?.length ?? 0) > MAX_LINES)
    return refusal('line.too_many', 'lines', `expected at most ${MAX_LINES} lines`);
  for (const [name, device] of Object.entries(isMapping(devices) ? devices : {})) {
    const tooDear = whyTooDear(device);
    if (tooDear !== undefined) return refusal('request.too_dear', `devices.${name}`, tooDear);
  }
  let addresses = 0;
  for (const source of sources ?? []) {
    for (const kind of ['tcp', 'udp']) {
      const hosts = new At(source, new Findings()).key(kind).key('hosts');
      if (typeof hosts.value === 'string') addresses += readHosts(hosts)?.hosts.length ?? 0;
    }
    if (addresses > MAX_HOSTS)
      return refusal(
        'configuration.invalid',
        'lines',
        `expected at most ${MAX_HOSTS} addresses on all lines`,
      );
  }
  return undefined;
}

/** Why devices or lines may not use what they name, by the limits of REST. What they use already may stay. */
async function whyNotHere(
  context: CommandContext,
  { devices, lines }: Readonly<Record<string, unknown>>,
): Promise<Refusal | undefined> {
  for (const [name, line] of Object.entries(isMapping(lines) ? lines : {})) {
    const wrong =
      isMapping(line) && (await wrongFiles(context, line, context.simulator.lines.get(name)?.definition));
    if (wrong) return below(wrong, `lines.${name}`);
  }
  for (const [name, device] of Object.entries(isMapping(devices) ? devices : {})) {
    if (!isMapping(device) || isDeepStrictEqual(device.real, presentReal(context, name))) continue;
    const wrong = await wrongReal(context, device);
    if (wrong) return below(wrong, `devices.${name}`);
  }
  return undefined;
}

/** The key `real` of a running device in the form of a native file. */
function presentReal({ simulator }: CommandContext, name: string): unknown {
  const source = simulator.devices.has(name) ? simulator.definitionOf(name).source : undefined;
  return isMapping(source) ? source.real : undefined;
}

function below(wrong: Refusal, path: string): Refusal {
  return { ...wrong, problems: wrong.problems.map((each) => ({ ...each, path: `${path}.${each.path}` })) };
}

function changeOf({ devices, lines }: Difference, { faults }: Configuration): ConfigurationChange {
  return { devices: namesOf(devices), lines: namesOf(lines), faults: faults.length };
}

function namesOf({ added, changed, gone }: Difference['devices' | 'lines']): ChangedNames {
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
  return { added: names(added), changed: names(changed), removed: names(gone) };
}

export const CONFIGURATION_FUNCTIONS = {
  'configuration.check': checkConfiguration,
  'configuration.apply': applyConfiguration,
} satisfies FunctionsOf<typeof CONFIGURATION_COMMANDS>;
