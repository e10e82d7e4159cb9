import { z } from 'zod';
import { section } from '../../../common/schema/parts.js';

const anything = z.record(z.string(), z.unknown());

export const catalogueSchema = z
  .object({
    catalogue: z.array(
      z
        .object({
          id: z.string(),
          title: z.string(),
          sees: z.string().describe('What a client sees of it.'),
          devices: z.array(z.string()).describe('Devices that do so.'),
          sources: z.array(z.object({ url: z.string(), fact: z.string() })).describe('Who has reported it.'),
          robust: z.string().describe('What a robust client does.'),
          manners: anything.optional(),
          line: anything.optional().describe('Settings of a line.'),
          faults: z
            .array(anything)
            .describe('Fault rules, without the device or the line that they are for.'),
        })
        .meta({
          id: 'Misbehaviour',
          description: 'What real devices do wrong.',
        }),
    ),
  })
  .describe('The entries, by their identifiers.');

export type CatalogueView = z.output<typeof catalogueSchema>;

const name = z.string({ error: 'a name' });

export const targetRequest = z
  .union([section({ device: name }), section({ line: name })], {
    error: 'either {device: NAME} or {line: NAME}',
  })
  .meta({ description: 'A device, or a line whose devices are all meant.', examples: [{ device: 'meter' }] });

export const armedSchema = z
  .object({
    devices: z.array(z.string()).describe('Devices whose manners have changed.'),
    lines: z.array(z.string()).describe('Lines whose settings have changed.'),
    rules: z.array(z.string()).describe('Names of the fault rules.'),
  })
  .meta({
    id: 'Armed',
    description: 'What has changed.',
  });
