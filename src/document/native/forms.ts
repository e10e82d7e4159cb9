import { z } from 'zod';
import { each } from '../../common/schema/parts.js';
import { formOf } from '../../common/schema/written-as.js';
import { scheduleSchema } from '../../device/faults/condition.js';
import { ruleSection } from '../../device/faults/rule.js';
import { MAX_RULES } from '../../device/faults/rules.js';
import { REACTION_KINDS } from '../../device/reactions/kinds.js';
import { SIGNAL_KINDS, signalSchema } from '../../device/signals/kinds.js';
import { catalogueEntrySchema, catalogueIds } from '../catalogue.js';
import {
  bitEntrySchema,
  clockSchema,
  deviceSections,
  exceptionStatusSchema,
  fedQueueSchema,
  fileSchema,
  identitySchema,
  NAME,
  pymodbusReferenceSchema,
  queueSchema,
  registerEntrySchema,
  seedSchema,
  serverIdSchema,
  tableSections,
} from './device-schema.js';
import { objectSchema } from './extras.js';
import { LINE_SCHEMAS, unsolicitedSchema } from './line-schema.js';
import { mannersSchema } from './manners-schema.js';
import { mqttSchema } from './mqtt.js';
import { besideReal, realSchema } from './real.js';
import { apiSchema, fileSections, startSchema, stateSchema, trafficSchema } from './schema.js';
import { modelSchema, sunspecSchema } from './sunspec.js';
import { copySchema, unitCopySchema } from './units.js';

/*
 * The documented forms of files: their schemas, with the contents of the keys that are read apart. Editors
 * complete and check files by them. What only reading can know, such as whether a name exists, stays with
 * `check`.
 */

/** Keys of JSON Schema that zod has no words for. */
function having<Schema extends z.ZodType>(
  schema: Schema,
  keywords: Readonly<Record<string, unknown>>,
): Schema {
  return schema.meta({ ...z.globalRegistry.get(schema), ...keywords });
}

/** Says that a mapping needs at least one of these keys. */
const oneOfKeys = (...keys: string[]) => ({ anyOf: keys.map((key) => ({ required: [key] })) });

const mappingOf = (key: RegExp, content: z.ZodType) =>
  having(z.record(z.string().regex(key), content), { minProperties: 1 });

const POSITIVE = '[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5]';
const ADDRESS = new RegExp(`^(0|${POSITIVE})$`);
const FILE = new RegExp(`^(${POSITIVE})$`);
const OBJECT = /^(12[89]|1[3-9]\d|2[0-4]\d|25[0-5])$/;
/** The documented form of a value. */
export const scalarForm = z.union([z.number(), z.string(), z.boolean()]);
const valueForm = z.union([scalarForm, z.array(scalarForm).min(1)]);
const ofFollows = SIGNAL_KINDS.find(({ name }) => name === 'follows')?.schema as z.ZodType;

const entryContents = {
  value: valueForm.describe('A number, text, true or false, or a list of them.'),
  reads: z.array(z.tuple([z.int().min(1), scalarForm])),
  labels: mappingOf(/^(0|-?[1-9]\d{0,15})$/, z.string()),
  unavailable: scheduleSchema,
  notAvailable: scalarForm,
  signal: signalSchema,
  follows: ofFollows.describe('Follows another value of the device, which clients write.'),
  ...Object.fromEntries(REACTION_KINDS.map(({ name, schema, effect }) => [name, schema.describe(effect)])),
};

const bit = z.union([z.literal([0, 1]), z.boolean(), z.string().regex(/^\s*(0x0*)?[01]\s*$/)]);
const bitContents = {
  ...entryContents,
  value: z.union([bit, z.array(bit).min(1)]).describe('0 or 1, true or false, or a list of them.'),
};
const bitEntries = z.array(formOf(bitEntrySchema, bitContents).meta({ id: 'Bits' }));
const registerEntries = z.array(
  formOf(registerEntrySchema, {
    ...entryContents,
    bits: mappingOf(/^([0-9]|[1-5]\d|6[0-3])$/, z.string().regex(NAME)),
  }).meta({ id: 'Registers' }),
);

const fedQueueForm = having(formOf(fedQueueSchema, { signal: signalSchema }), {
  required: ['signal', 'every'],
});

const extraContents = () => ({
  identity: formOf(identitySchema, { extended: mappingOf(OBJECT, objectSchema) }),
  exceptionStatus: exceptionStatusSchema,
  serverId: serverIdSchema,
  files: mappingOf(FILE, fileSchema),
  queues: mappingOf(ADDRESS, z.union([queueSchema, fedQueueForm])),
  manners: mannersSchema,
  like: z.enum(catalogueIds()),
});

const deviceForm = () =>
  z
    .union([
      having(
        formOf(deviceSections, {
          ...extraContents(),
          registers: formOf(tableSections, {
            ...each(['coils', 'discrete'], bitEntries),
            ...each(['holding', 'input'], registerEntries),
          }),
          clock: clockSchema,
          seed: seedSchema,
          real: having(realSchema, oneOfKeys('serial', 'tcp')),
          ...besideReal.shape,
          sunspec: z
            .union([modelsForm, formOf(sunspecSchema, { models: modelsForm })])
            .describe('Registers by SunSpec models (docs/sunspec.md): a list of models, or {models, base}.'),
        }),
        oneOfKeys('registers', 'real', 'sunspec'),
      ),
      formOf(pymodbusReferenceSchema, extraContents()),
    ])
    .meta({ id: 'Device' });

const modelNumber = modelSchema.shape.model;
const modelsForm = z
  .array(z.union([modelNumber, modelSchema]))
  .min(1)
  .max(64);

const unitsForm = (unit: string) =>
  having(z.record(z.string().regex(new RegExp(`^(\\*|${unit}(-${unit})?)$`)), deviceName), {
    examples: [{ 1: 'meter' }],
  });
const deviceName = z.union([
  z.string().describe('The name of a device.'),
  formOf(unitCopySchema, { values: z.record(z.string(), valueForm) }),
]);

/** Unit identifiers: 0 and those above 247 exist only where no bus has others (Serial Line V1.02, 2.2). */
const SERIAL_UNIT = '(24[0-7]|2[0-3]\\d|1\\d\\d|[1-9]\\d?)';
const SOCKET_UNIT = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';

const unsolicitedForm = having(unsolicitedSchema, {
  allOf: [oneOfKeys('bytes', 'frame'), oneOfKeys('every', 'before')],
});

const lineContents = (unit: string) => ({
  unsolicited: z.union([unsolicitedForm, z.array(unsolicitedForm).max(8)]),
  units: unitsForm(unit),
  like: z
    .enum(catalogueIds())
    .describe('The entry of the catalogue whose mistakes it has; `modbus-sim catalogue` lists the entries.'),
});

/** Units are needed where a line answers. */
const HAS_UNITS = { required: ['units'], properties: { units: { minProperties: 1 } } };
const LISTENS = { required: ['mode'], properties: { mode: { const: 'monitor' } } };

const lineForms = () => {
  const { serial, ...sockets } = LINE_SCHEMAS;
  const contents = {
    ...lineContents(SOCKET_UNIT),
    each: copySchema,
  };
  return [
    having(formOf(serial, lineContents(SERIAL_UNIT)), { anyOf: [HAS_UNITS, LISTENS] }),
    ...Object.values(sockets).map((schema) => having(formOf(schema, contents), { allOf: [HAS_UNITS] })),
  ] as const;
};

/** The documented form of a fault rule; in a scenario, it needs no name. */
export const ruleForm = (named: boolean) =>
  having(named ? ruleSection : ruleSection.partial({ name: true }), oneOfKeys('do', 'then'));

/** Devices are needed where a line answers. */
const NEEDS_DEVICES = {
  anyOf: [{ required: ['devices'] }, { properties: { lines: { additionalProperties: LISTENS } } }],
};

/** The documented form of a native file. */
export const configurationForm = () =>
  having(
    formOf(fileSections, {
      devices: devicesForm(),
      lines: linesForm(),
      faults: z.array(ruleForm(true)).max(MAX_RULES),
      api: apiSchema,
      mqtt: mqttSchema,
      traffic: trafficSchema,
      start: startSchema,
      state: stateSchema,
    }),
    { required: ['lines'], ...NEEDS_DEVICES },
  );

/** The documented form of the devices of a file. */
export const devicesForm = () => having(z.record(z.string(), deviceForm()), { minProperties: 1 });

/** The documented form of the lines of a file. */
export const linesForm = () =>
  having(z.record(z.string(), z.union(lineForms()).meta({ id: 'Line' })), { minProperties: 1 });

/** The documented form of a file of the catalogue. */
export const catalogueForm = () =>
  formOf(catalogueEntrySchema, {
    faults: z.array(ruleForm(true)),
    line: z.record(z.string(), z.unknown()),
  });
