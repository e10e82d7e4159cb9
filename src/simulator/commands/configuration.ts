import { isDeepStrictEqual } from 'node:util';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { isMapping } from '../../common/schema/parts.js';
import { quote } from '../../common/schema/problem.js';
import type { Configuration } from '../../files/config/configuration.js';
import { readingConfiguration } from '../../files/config/native/file.js';
import { MAX_HOSTS, readHosts } from '../../files/config/native/hosts.js';
import { MOST_ENTRIES_OVER_REST } from '../../files/config/native/sunspec.js';
import { recordingsIn } from '../../files/config/recording-file.js';
import type { Difference } from '../changeover.js';
import { MAX_DEVICES, MAX_LINES } from '../changes.js';
import { costOf, whyTooDear } from '../memory-budget.js';
import { deviceReader } from '../new-device.js';
import { inSlices } from '../slices.js';
import type { CommandContext } from './context.js';
import { notOpened } from './lines.js';
import { openRecordings } from './recordings.js';
import { done, type Outcome, type Refusal, refusal, refusalOf } from './refusal.js';
import { wrongFiles, wrongReal } from './remote-files.js';

interface OfConfiguration {
  /** As a native file has it. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** What is different, by names. */
interface ChangedNames {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What a configuration changes, or has changed. */
export interface ConfigurationChange {
  readonly devices: ChangedNames;
  readonly lines: ChangedNames;
  /** How many fault rules are in force with it. */
  readonly faults: number;
}

/** The sections that are sent. The others are for the owner of the machine: they say who may do what, and where it is told. */
const SECTIONS = ['devices', 'lines', 'faults', 'start'];

/** The rooms in which a configuration is being applied. */
const applying = new WeakSet<CommandContext['simulator']>();

/** Reads a configuration as `applyConfiguration` does, and says what it would change; nothing is changed. */
export async function checkConfiguration(
  room: CommandContext,
  input: OfConfiguration,
): Promise<Outcome<ConfigurationChange>> {
  const read = await readConfiguration(room, input);
  if (!read.ok) return read;
  const difference = await inSlices(room.simulator.changes.comparing(read.value));
  return 'devices' in difference
    ? done(changeOf(difference, read.value))
    : refusal(difference.code ?? 'configuration.invalid', '', difference.error);
}

/**
 * Has the devices, lines and fault rules of a configuration in place of those that run: all of it, or nothing when a line can't
 * be opened. What is the same goes on as it is, with its registers. The limits on memory, paths, ports and hosts are those of
 * what REST adds.
 */
export async function applyConfiguration(
  room: CommandContext,
  input: OfConfiguration,
): Promise<Outcome<ConfigurationChange>> {
  const { simulator } = room;
  if (applying.has(simulator)) return refusal('configuration.busy', '', 'another one is being applied');
  applying.add(simulator);
  try {
    const read = await readConfiguration(room, input);
    if (!read.ok) return read;
    const { faults } = read.value;
    const outcome = await simulator.changes.become(read.value);
    if (!outcome.ok) return notOpened(outcome);
    simulator.faults.become(faults, simulator.findValue);
    for (const { name, when, faults: acts } of faults)
      simulator.changes.budget.countRule(name, costOf([when, acts.map(({ written }) => written)]).bytes);
    const change = changeOf(outcome.changed, read.value);
    room.log.info(change, 'configuration applied');
    return done(change);
  } finally {
    applying.delete(simulator);
  }
}

async function readConfiguration(
  room: CommandContext,
  { configuration: written }: OfConfiguration,
): Promise<Outcome<Configuration>> {
  const { simulator } = room;
  const other = Object.keys(written).find((key) => !SECTIONS.includes(key));
  if (other !== undefined)
    return refusal(
      'configuration.invalid',
      other,
      `expected ${SECTIONS.join(', ')} only, got ${quote(other)}`,
    );
  const tooLarge = whyTooLarge(written);
  if (tooLarge) return tooLarge;
  const outside = await whyNotHere(room, written);
  if (outside) return outside;
  const spent = simulator.changes.budget.whyNot(costOf(written).bytes, simulator.changes.budget.used);
  if (spent !== undefined) return refusal('memory.spent', '', spent);
  const recordings = (await openRecordings(room, written)) ?? recordingsIn(simulator.directory);
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

/** Why there are more devices, lines or addresses than may be: they are counted before any of them is made. */
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

/** Why devices or lines may not be what they name: the limits of REST. Those that are so already may stay. */
async function whyNotHere(
  room: CommandContext,
  { devices, lines }: Readonly<Record<string, unknown>>,
): Promise<Refusal | undefined> {
  for (const [name, line] of Object.entries(isMapping(lines) ? lines : {})) {
    const wrong =
      isMapping(line) && (await wrongFiles(room, line, room.simulator.lines.get(name)?.definition));
    if (wrong) return below(wrong, `lines.${name}`);
  }
  for (const [name, device] of Object.entries(isMapping(devices) ? devices : {})) {
    if (!isMapping(device) || isDeepStrictEqual(device.real, presentReal(room, name))) continue;
    const wrong = await wrongReal(room, device);
    if (wrong) return below(wrong, `devices.${name}`);
  }
  return undefined;
}

/** What stands behind a device that runs, as it was written. */
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
  return { added: names(added), changed: names(changed), removed: gone };
}
