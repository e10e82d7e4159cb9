import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { isMapping, isSameData } from '../../common/schema/parts.js';
import { quote } from '../../common/schema/problem.js';
import { inSlices } from '../../common/work.js';
import type { FaultRule } from '../../device/faults/rule.js';
import type { Configuration } from '../../document/configuration.js';
import { MAX_HOSTS, readHosts } from '../../document/native/endpoints.js';
import { readingConfiguration } from '../../document/native/file.js';
import { MOST_ENTRIES_OVER_REST } from '../../document/native/sunspec.js';
import { recordingsIn } from '../../document/recording-file.js';
import { sectionsOf } from '../as-file/written-configuration.js';
import { MAX_DEVICES, MAX_LINES } from '../changes.js';
import { costOf, whyTooDear } from '../memory-budget.js';
import { deviceReader } from '../new-device.js';
import type { Difference, Differing } from '../plan.js';
import { lastChangeOf, undoable, without } from '../undo.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import { openRecordings } from './recordings.js';
import { done, notDone, type Outcome, type Refusal, refusal, refusalOf } from './refusal.js';
import { wrongFiles, wrongReal } from './remote-files.js';
import type { CONFIGURATION_COMMANDS, ConfigurationChange } from './schemas/program.js';

/** A configuration in the form of a native file. */
type OfConfiguration = DeclaredInput<(typeof CONFIGURATION_COMMANDS)['configuration.check']>;

/**
 * The sections that a client may change. The others belong to the owner of the machine: they say who may do
 * what, and where it is reported.
 */
const SECTIONS = ['devices', 'lines', 'faults', 'start'];

/** The simulators to which a configuration is currently being applied. */
const applying = new WeakSet<CommandContext['simulator']>();

/** Reads a configuration like `applyConfiguration`, and says what it would change. Changes nothing. */
export async function checkConfiguration(
  context: CommandContext,
  input: OfConfiguration,
): Promise<Outcome<ConfigurationChange>> {
  const read = await readConfiguration(context, input);
  if (!read.ok) return read;
  const { changes, faults, findValue } = context.simulator;
  const difference = await inSlices(changes.comparing(read.value));
  if (!('devices' in difference)) return notDone(difference);
  return done({ steps: stepsOf(difference, faults.difference(read.value.faults, findValue)) });
}

/**
 * Replaces the running devices, lines and fault rules with those of a configuration, all or nothing: if a
 * line can't be opened, nothing changes. Anything unchanged is not interrupted and keeps its registers.
 * Memory, paths, ports and hosts have the same limits as additions through REST.
 */
function applyConfiguration(
  context: CommandContext,
  input: OfConfiguration,
): Promise<Outcome<ConfigurationChange>> {
  return alone(context, async () => {
    const read = await readConfiguration(context, input);
    return read.ok ? become(context, read.value, read.value.faults) : read;
  });
}

/** Undoes the changes that the last command made to devices, lines and rules. A second call redoes them. */
function undoChange(context: CommandContext): Promise<Outcome<ConfigurationChange>> {
  const { simulator } = context;
  return alone(context, async () => {
    const change = lastChangeOf(simulator);
    if (!change) return refusal('configuration.not_undone', '', 'nothing has been changed');
    const read = await without(simulator, change);
    if (!read.ok) return refusal('configuration.not_undone', '', read.error);
    const { devices, lines, rules } = read.value;
    return become(context, { devices: [...devices.values()], lines: [...lines.values()], faults: rules });
  });
}

async function alone<Value>(
  { simulator }: CommandContext,
  work: () => Promise<Outcome<Value>>,
): Promise<Outcome<Value>> {
  if (applying.has(simulator))
    return refusal('configuration.busy', '', 'another configuration is being applied');
  applying.add(simulator);
  return work().finally(() => applying.delete(simulator));
}

/** @param configured the rules that a reset restores from now on; without them, the previous ones */
async function become(
  { simulator, log }: CommandContext,
  wanted: Pick<Configuration, 'devices' | 'lines' | 'faults'>,
  configured?: Configuration['faults'],
): Promise<Outcome<ConfigurationChange>> {
  const outcome = await simulator.changes.become(wanted);
  if (!outcome.ok) return notDone(outcome);
  const rules = simulator.faults.difference(wanted.faults, simulator.findValue);
  simulator.faults.become(wanted.faults, simulator.findValue, configured);
  for (const { name, when, faults } of wanted.faults)
    simulator.changes.budget.countRule(name, costOf([when, faults.map(({ written }) => written)]).bytes);
  const steps = stepsOf(outcome.changed, rules);
  for (const { change, of, name } of steps) log.info({ change, of, name }, 'configuration changed');
  return done({ steps });
}

async function readConfiguration(
  context: CommandContext,
  { configuration: sent }: OfConfiguration,
): Promise<Outcome<Configuration>> {
  const { simulator } = context;
  const here: Readonly<Record<string, unknown>> = sectionsOf(simulator.running);
  const others = Object.keys(sent).filter((key) => !SECTIONS.includes(key));
  const other = others.find((key) => !isSameData(sent[key], here[key]));
  if (other !== undefined)
    return refusal(
      'configuration.invalid',
      other,
      `expected ${SECTIONS.join(', ')} only, or an unchanged section, got ${quote(other)}`,
    );
  const written = Object.fromEntries(Object.entries(sent).filter(([key]) => SECTIONS.includes(key)));
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

/** Why there are too many devices, lines or addresses. They are counted before any of them is created. */
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

/** Why devices or lines may not use what they name, under the limits of REST. What they already use may stay. */
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
    if (!isMapping(device) || isSameData(device.real, presentReal(context, name))) continue;
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

/** The steps to make, in this order. */
function stepsOf({ devices, lines }: Difference, rules: Differing<FaultRule>): ConfigurationChange['steps'] {
  const step = (change: StepView['change'], of: StepView['of'], all: readonly { readonly name: string }[]) =>
    all.map(({ name }): StepView => ({ change, of, name }));
  return [
    ...step('removed', 'line', lines.gone),
    ...step('changed', 'device', devices.changed),
    ...step('added', 'device', devices.added),
    ...step('changed', 'line', lines.changed),
    ...step('added', 'line', lines.added),
    ...step('removed', 'device', devices.gone),
    ...step('removed', 'rule', rules.gone),
    ...step('changed', 'rule', rules.changed),
    ...step('added', 'rule', rules.added),
  ];
}

type StepView = ConfigurationChange['steps'][number];

export const CONFIGURATION_FUNCTIONS = {
  'configuration.check': checkConfiguration,
  'configuration.apply': undoable(applyConfiguration),
  'configuration.undo': undoable(undoChange),
} satisfies FunctionsOf<typeof CONFIGURATION_COMMANDS>;
