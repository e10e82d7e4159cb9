import { z } from 'zod';
import { section } from '../../../common/schema/parts.js';
import { TABLE_NAMES } from '../../../device/tables.js';

/** Largest file that can be imported, in bytes. A file with 10,000 registers has about 1 MB. */
export const LARGEST_IMPORT = 4 * 1024 * 1024;

const text = z.string();
const note = section({
  location: text.describe('The first place, such as `line 12`.'),
  message: text,
  more: z.number().optional().describe('The number of further places.'),
});

/** A file to import, with its options. */
export const importRequest = section({
  file: text.min(1).max(255).describe('The file name; its extension helps to recognise the kind of file.'),
  content: z.base64({ error: 'base64' }).describe('The bytes of the file in base64, at most 4 MiB.'),
  from: text
    .optional()
    .describe('The kind of file, such as `csv` or `telegraf`. Default: recognised from the content.'),
  columns: z.record(text, text).optional().describe('The meaning of table columns, by header.'),
  base: z
    .enum(['wire', '1', 'entity'])
    .optional()
    .describe('How the table counts addresses: as on the wire, from 1, or as register numbers.'),
  table: z.enum(TABLE_NAMES).optional().describe('The register table for rows that do not name one.'),
  defaults: z
    .enum(['stored', 'units'])
    .optional()
    .describe('Whether default values in the table are as stored or in the unit of the value.'),
}).meta({
  examples: [
    {
      file: 'meter.csv',
      content: Buffer.from('Address;Was;Type\n0;Voltage;uint16\n').toString('base64'),
      columns: { Was: 'name' },
    },
  ],
});

/** Another program's file, with import options. */
export type ImportRequest = z.input<typeof importRequest>;

/** The result of an import. */
export const importedSchema = section({
  what: text.describe('The kind of file, in words.'),
  preview: z.array(text).describe('How the file was understood, one line each.'),
  notes: z.array(note).describe('What was not understood or was converted to a different form.'),
  summary: z.array(text).describe('The content of each device, in words.'),
  tables: z
    .array(
      section({
        line: z.number().describe('The line of the header; 0 if there is none.'),
        columns: z.array(
          section({
            header: text,
            role: text.optional().describe('The meaning of the column; absent if the column is not used.'),
            meaning: text.optional().describe('How the column is interpreted in this table.'),
            near: text.optional().describe('The header of another column that could have the same meaning.'),
          }),
        ),
        rows: z.array(z.array(text)).describe('The cells of the first rows.'),
      }),
    )
    .optional()
    .describe('The tables of the file, if it consists of tables.'),
  devices: z
    .array(
      section({
        name: text,
        unit: z.number().describe('The unit identifier.'),
        entry: z.looseObject({}).describe('The device, as in a native file.'),
      }),
    )
    .describe('The devices; they are not added to the simulator.'),
  problem: text.optional().describe('Why a table whose columns were not understood gave no device.'),
  text: text.describe('The native file.'),
}).meta({
  description: 'How the file was understood, and its devices.',
  examples: [
    {
      what: 'CSV, separated by semicolons, header in line 1',
      preview: ['column "Address": address, 0-based, as on the wire'],
      notes: [{ location: 'line 3', message: 'unknown type "BCD", so a plain register is served', more: 1 }],
      summary: ['device meter, unit 1: 1 holding (from 0 to 0)'],
      devices: [
        {
          name: 'meter',
          unit: 1,
          entry: { registers: { holding: [{ address: 0, name: 'Voltage', value: 0 }] } },
        },
      ],
      text: 'devices: {}',
    },
  ],
});

/** How a file was understood, and its devices, as REST shows it. */
export type ImportedView = z.infer<typeof importedSchema>;
