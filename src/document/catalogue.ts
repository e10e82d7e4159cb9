import { z } from 'zod';
import { failure, type Result, success } from '../common/result.js';
import { At } from '../common/schema/at.js';
import { Findings } from '../common/schema/findings.js';
import { unknownName } from '../common/schema/nearest.js';
import { isMapping, section, text } from '../common/schema/parts.js';
import { formatProblems } from '../common/schema/problem.js';
import { documentAs } from '../common/schema/written-as.js';
import { ruleForm, ruleSchema } from '../device/faults/rule.js';
import { catalogueFile, catalogueIds } from './catalogue-files.js';
import type { LineSource } from './configuration.js';
import { nativeLine } from './native/line.js';
import { lineSettings, mergedSource } from './native/line-source.js';
import { mannersSchema } from './native/manners-schema.js';
import { DeviceNames } from './native/units.js';
import { readConfigFile } from './text/read-file.js';

/** A mistake that real devices make: a file of `catalogue/`, named after its identifier. */
export interface Misbehaviour extends z.output<typeof catalogueEntrySchema> {
  readonly id: string;
}

const sentence = text('a sentence');

const rule = z.custom<Readonly<Record<string, unknown>>>(isMapping);
documentAs(rule, () => ruleForm(true));

export const catalogueEntrySchema = section(
  {
    title: sentence,
    sees: sentence,
    devices: z.array(sentence, { error: 'a list of devices' }).default([]),
    sources: z
      .array(
        section(
          { url: z.url({ error: 'a link' }), fact: sentence },
          { url: 'A link to the report.', fact: 'What was reported.' },
        ),
        {
          error: 'a list of links with facts',
        },
      )
      .min(1, { error: 'at least one source' }),
    robust: sentence,
    manners: mannersSchema.optional(),
    line: z.record(z.string(), z.unknown(), { error: 'settings of a line' }).optional(),
    faults: z.array(rule, { error: 'a list of fault rules' }).default([]),
  },
  {
    title: 'What real devices do.',
    sees: 'What a client sees.',
    devices: 'Devices reported to do this.',
    sources: 'Reports from the field.',
    robust: 'What a robust client does.',
    manners: 'How the device deviates from a conforming one.',
    line: 'Or line settings.',
    faults: 'Or fault rules, which need no device or line.',
  },
);

/**
 * Reads all entries. Throws if a file has a mistake: the files are part of the program, and a test reads each
 * of them.
 */
export function readCatalogue(): Misbehaviour[] {
  return [...catalogueEntries()];
}

/** The same, with one file per step: all of them take a second on a slow machine. */
export function* catalogueEntries(): Generator<Misbehaviour, void> {
  for (const id of catalogueIds()) yield knownEntry(id);
}

/** Reads an entry. Throws if it does not exist, or its file has a mistake. */
export function knownEntry(id: string): Misbehaviour {
  const entry = read(id);
  if (!entry.ok) throw new Error(entry.error);
  return entry.value;
}

/** Finds an entry. @returns a sentence if there is no such entry, or its file has a mistake */
export function findMisbehaviour(id: string): Result<Misbehaviour> {
  const ids = catalogueIds();
  return ids.includes(id) ? read(id) : failure(unknownName('entry of the catalogue', id, ids));
}

/** Entries that have been read. The files are part of the program and do not change while it runs. */
const known = new Map<string, Misbehaviour>();

/** Reads the file of an entry. @returns the mistakes of the file, as text */
function read(id: string): Result<Misbehaviour> {
  const before = known.get(id);
  if (before) return success(before);
  const name = `catalogue/${id}.yaml`;
  const file = readConfigFile(catalogueFile(id));
  if (!file.ok) return failure(formatProblems(name, file.problems));
  const findings = new Findings();
  const at = new At(file.source.value, findings);
  const entry = at.check(catalogueEntrySchema);
  for (const i of entry?.faults.keys() ?? []) checkRule(at.key('faults').key(i));
  const line = entry?.line && settingsOfEntry(entry.line, at.key('line'));
  if (entry && !entry.manners && !line && entry.faults.length === 0)
    at.wrong('expected manners, faults or line, got none of them');
  if (!entry || findings.count > 0) return failure(formatProblems(name, file.source.locate(findings.listed)));
  const misbehaviour = { id, ...entry, ...(line && { line }) };
  known.set(id, misbehaviour);
  return success(misbehaviour);
}

function checkRule(at: At): void {
  at.check(ruleSchema);
  for (const key of ['line', 'device']) {
    const target = at.key('when').key(key);
    if (target.value !== undefined)
      target.wrong('not allowed in an entry: it is set where the entry is used');
  }
}

/**
 * Returns the settings of an entry in the form in which a line has them after it was read: with all durations
 * in ms. Reports settings that no line of this kind has.
 */
function settingsOfEntry(line: LineSource, at: At): LineSource {
  const base = { ...(line.serial ? { serial: { path: 'virtual' } } : {}), units: { 1: 'device' } };
  const whole = at.with(mergedSource(base, line));
  const definition = nativeLine('line', whole, { devices: new DeviceNames(['device']), directory: '.' });
  return definition ? settingsAt(lineSettings(definition), line) : line;
}

/** Returns the settings of `source` whose keys are in `wanted`. */
export function settingsAt(source: LineSource, wanted: LineSource): LineSource {
  return Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => {
      const there = source[key];
      return [key, isMapping(value) && isMapping(there) ? settingsAt(there, value) : there];
    }),
  );
}

/** What misbehaves: one device, or a line with all its devices. */
export type Target = { readonly device: string } | { readonly line: string };

/**
 * Returns the fault rules of an entry, for one device or one line. Their names begin with the identifier of
 * the entry, so that the rules can be removed again.
 */
export function rulesOf(
  { id, faults }: Pick<Misbehaviour, 'id' | 'faults'>,
  target: Target,
): Readonly<Record<string, unknown>>[] {
  const [name] = Object.values(target);
  return faults.map((rule) => ({
    ...rule,
    name: `${id}.${name}${faults.length > 1 ? `.${rule.name}` : ''}`,
    when: { ...(rule.when as object | undefined), ...target },
  }));
}
