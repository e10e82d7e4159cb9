import { z } from 'zod';
import { section, text } from '../../../common/schema/parts.js';
import type { Target } from '../../../document/catalogue.js';
import type { DeclaredCommands } from '../declared.js';
import { done, refusal } from '../refusal.js';
import { failures } from './problem.js';

const anything = z.record(z.string(), z.unknown());

export const catalogueSchema = z
  .object({
    catalogue: z.array(
      z
        .object({
          id: z.string(),
          title: z.string(),
          sees: z.string().describe('What a client sees.'),
          devices: z.array(z.string()).describe('Devices that behave like this, as the reports name them.'),
          sources: z
            .array(z.object({ url: z.string(), fact: z.string() }))
            .describe('Reports from the field.'),
          robust: z.string().describe('What a robust client does.'),
          manners: anything.optional(),
          line: anything.optional().describe('Line settings.'),
          faults: z.array(anything).describe('Fault rules, without their device or line.'),
        })
        .meta({
          id: 'Misbehaviour',
          description: 'What real devices do wrong.',
        }),
    ),
  })
  .describe('The entries, by identifier.');

export type CatalogueView = z.output<typeof catalogueSchema>;

const name = z.string({ error: 'a name' });

const targetRequest = z
  .union([section({ device: name }), section({ line: name })], {
    error: 'either {device: NAME} or {line: NAME}',
  })
  .meta({ description: 'A device, or a line for all of its devices.', examples: [{ device: 'meter' }] });

const armedSchema = z
  .object({
    devices: z.array(z.string()).describe('Devices whose manners have changed.'),
    lines: z.array(z.string()).describe('Lines whose settings have changed.'),
    rules: z.array(z.string()).describe('Names of the fault rules.'),
  })
  .meta({
    id: 'Armed',
    description: 'What changed.',
  });

const params = z.object({
  id: z.string().meta({ description: 'Identifier of an entry.', examples: ['first-request-lost'] }),
});

const ofEntry = { of: { id: text('the identifier of a catalogue entry') }, params };

/** The commands that switch the faults of real devices on and off. `../catalogue.ts` carries them out. */
export const CATALOGUE_COMMANDS = {
  'misbehaviour.arm': {
    rest: 'POST /catalogue/:id',
    ...ofEntry,
    sent: targetRequest,
    as: 'target',
    means: arming,
    summary: 'Let devices misbehave',
    description:
      'Applies the manners and fault rules of an entry to a device or to all devices of a line, and its line settings to the line: all of them or none.',
    response: { 201: armedSchema, ...failures(400, 404, 409) },
  },
  'misbehaviour.disarm': {
    rest: 'DELETE /catalogue/:id',
    ...ofEntry,
    means: disarming,
    summary: 'Stop devices from misbehaving',
    description:
      'Removes the rules, manners and settings of an entry wherever they are in force, and resets the line settings to their defaults. The answer lists what was removed.',
    response: { 200: armedSchema, ...failures(400, 404) },
  },
} as const satisfies DeclaredCommands;

/** Most programs never read the catalogue, so the code for it is loaded when an entry is requested. */
const catalogue = () => import('../../../document/catalogue.js');

/** The catalogue entry that an input names, for its target. */
async function arming({ id, target }: { readonly id: string; readonly target: Target }) {
  const { findMisbehaviour, rulesOf } = await catalogue();
  const entry = findMisbehaviour(id);
  if (!entry.ok) return unknownEntry(entry.error);
  const { manners, line } = entry.value;
  return done({ manners, line, rules: rulesOf(entry.value, target), target });
}

async function disarming({ id }: { readonly id: string }) {
  const { findMisbehaviour } = await catalogue();
  const entry = findMisbehaviour(id);
  if (!entry.ok) return unknownEntry(entry.error);
  const { manners, line } = entry.value;
  return done({ id: entry.value.id, manners, line });
}

function unknownEntry(message: string) {
  return refusal('misbehaviour.unknown', 'id', message);
}
