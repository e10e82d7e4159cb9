import { z } from 'zod';
import { formOf } from '../../common/schema/written-as.js';
import { devicesForm, linesForm, ruleForm, scalarForm } from '../../document/native/forms.js';
import { mannersSchema } from '../../document/native/manners-schema.js';
import {
  alwaysSchema,
  dutSchema,
  expectedSchema,
  forwardSchema,
  groupSchema,
  MOST_STEPS,
  neverSchema,
  powerSchema,
  scenarioSchema,
  stepSchema,
  unsolicitedBytesSchema,
} from './schema.js';

/** A parameter in place of a number, a flag or a word: `$patience`. */
export const PARAMETER = '^\\$[A-Za-z_]\\w*$';

const oneOrMore = (form: z.ZodType) => z.union([form, z.array(form).min(1).max(256)]);

export function scenarioForm(): z.ZodType {
  const requests = {
    write: z.union([z.string(), z.record(z.string(), z.union([scalarForm, z.array(z.number())]))]),
  };
  const forbidden = oneOrMore(formOf(neverSchema, requests));
  const step = formOf(stepSchema, {
    fault: oneOrMore(ruleForm(false)),
    set: z.record(z.string(), scalarForm),
    manners: z.record(z.string(), mannersSchema),
    closed: oneOrMore(z.string().describe('The name of a line.')),
    power: z.record(z.string(), powerSchema),
    clock: z.record(z.string(), forwardSchema),
    unsolicited: z.record(z.string(), unsolicitedBytesSchema),
    expect: oneOrMore(formOf(expectedSchema, requests)),
    never: forbidden,
  });
  const steps: z.ZodType = z
    .lazy(() =>
      z
        .array(z.union([step, group]))
        .min(1)
        .max(MOST_STEPS),
    )
    .meta({ id: 'Steps' });
  const use = z.string().describe('A file with a list of steps that take the place of this one.');
  const group = formOf(groupSchema, { steps, use }).meta({
    anyOf: [{ required: ['steps'] }, { required: ['use'] }],
  });
  return formOf(scenarioSchema, {
    lines: linesForm(),
    configuration: z.string(),
    devices: devicesForm(),
    parameters: z.record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), scalarForm),
    dut: dutSchema,
    always: z.array(formOf(alwaysSchema, { never: forbidden })),
    steps,
  }).meta({ required: ['name', 'steps'] });
}
