import { createHash } from 'node:crypto';
import type { FaultRule } from '../../device/faults/rule.js';
import type { RegisterLayout } from '../../device/registers/layout.js';
import type { DeviceDefinition, LineDefinition } from '../../files/config/configuration.js';
import { lineSource } from '../../files/config/native/line-source.js';
import { flow } from '../written/flow.js';
import { ruleSource } from '../written/written-configuration.js';
import { jsonOf } from './json.js';

/** Known fingerprints. Definitions never change. */
const fingerprints = new WeakMap<DeviceDefinition, string>();

/** Known digests. Layouts never change, and devices share them. */
const digests = new WeakMap<RegisterLayout, string>();

/**
 * A short text that changes when the file defines the device differently: its entry, or the registers of a
 * pymodbus file. A state belongs to the definition with the same fingerprint.
 */
export function deviceFingerprint(definition: DeviceDefinition): string {
  const known = fingerprints.get(definition);
  if (known !== undefined) return known;
  const made = fingerprintOf(definition);
  fingerprints.set(definition, made);
  return made;
}

function fingerprintOf({ source, identity, tables, cells, life }: DeviceDefinition): string {
  const windows = Object.values(tables).map(({ layout, ...window }) => ({
    ...window,
    layout: digestOf(layout),
  }));
  const { extended, ...names } = identity;
  const parts = {
    // As the state of the simulator has it, which is JSON.
    source: source && JSON.parse(jsonOf(source)),
    identity: { ...names, ...(extended && { extended: Object.fromEntries(extended) }) },
    windows,
    cells: cells && digestOf(cells),
    points: life?.points.length,
  };
  return digest(flow(parts));
}

export function lineFingerprint(definition: LineDefinition): string {
  return digest(flow(lineSource(definition)));
}

export function rulesFingerprint(rules: readonly FaultRule[]): string {
  return digest(flow(rules.map((rule) => ({ ...ruleSource({ rule, seed: 0 }), seed: rule.seed }))));
}

function digestOf(layout: RegisterLayout): string {
  const known = digests.get(layout);
  if (known !== undefined) return known;
  const { words, meta, actions } = layout;
  const hash = createHash('sha256').update(words).update(meta);
  const made = hash
    .update(flow(Array.from(actions, ([cell, action]) => ({ cell, ...action }))))
    .digest('hex');
  digests.set(layout, made);
  return made;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
