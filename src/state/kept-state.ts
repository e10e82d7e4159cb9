import type { Configuration, LineDefinition } from '../config/configuration.js';
import { sourceWithCopies } from '../config/native/copies.js';
import { sourceChange } from '../config/native/line-source.js';
import { type RunningConfiguration, ruleSource } from '../simulator/written/written-configuration.js';
import { deviceFingerprint, lineFingerprint, rulesFingerprint } from './fingerprint.js';
import { FORMAT, type KeptState } from './schema.js';

/** What the file says, with which a running simulator is compared. */
export type FileContent = Pick<Configuration, 'devices' | 'lines' | 'faults'>;

/** How what is running differs from the file, apart from the devices themselves. */
export function keptState(file: FileContent, running: RunningConfiguration): KeptState {
  const definitions = running.devices.map(({ definition }) => definition);
  const devices = new Set(definitions.map(({ name }) => name));
  const configuredDevices = new Set(file.devices.map(({ name }) => name));
  const lines = new Map(running.lines.map(({ definition }) => [definition.name, definition]));
  const configuredLines = new Set(file.lines.map(({ name }) => name));
  return {
    format: FORMAT,
    devices: {
      added: definitions
        .filter(({ name, copyOf }) => !configuredDevices.has(name) && copyOf === undefined)
        .map(({ name, source = {} }) => ({ name, source })),
      removed: file.devices
        .filter(({ name, copyOf }) => !devices.has(name) && copyOf === undefined)
        .map((each) => ({ name: each.name, fingerprint: deviceFingerprint(each) })),
    },
    lines: {
      added: Array.from(lines.values())
        .filter(({ name }) => !configuredLines.has(name))
        .map((line) => ({ name: line.name, source: sourceWithCopies(definitions, line) })),
      removed: file.lines
        .filter(({ name }) => !lines.has(name))
        .map((line) => ({ name: line.name, fingerprint: lineFingerprint(line) })),
      changed: file.lines.flatMap((line) => changeOf(file, line, definitions, lines.get(line.name))),
    },
    ...changedRules(file, running),
  };
}

/** True when nothing differs from the file. */
export function isAsInFile({ devices, lines, faults }: KeptState): boolean {
  const lists = [devices.added, devices.removed, lines.added, lines.removed, lines.changed];
  return faults === undefined && lists.every(({ length }) => length === 0);
}

function changeOf(
  { devices }: FileContent,
  before: LineDefinition,
  definitions: Configuration['devices'],
  now: LineDefinition | undefined,
): KeptState['lines']['changed'] {
  if (!now || now === before) return [];
  const change = sourceChange(sourceWithCopies(devices, before), sourceWithCopies(definitions, now));
  if (Object.keys(change).length === 0) return [];
  return [{ name: before.name, fingerprint: lineFingerprint(before), change: { ...change } }];
}

function changedRules({ faults }: FileContent, { rules }: RunningConfiguration): Pick<KeptState, 'faults'> {
  const fingerprint = rulesFingerprint(faults);
  // A program that is killed during a test or an examination must not go on disturbing the client after its restart.
  const lasting = rules.filter(({ temporary }) => !temporary);
  if (rulesFingerprint(lasting.map(({ rule }) => rule)) === fingerprint) return {};
  return { faults: { fingerprint, rules: lasting.map(ruleSource) } };
}
