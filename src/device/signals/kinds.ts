import { z } from 'zod';
import { oneOfKinds } from '../../common/schema/parts.js';
import { documentAs } from '../../common/schema/written-as.js';
import { DERIVED } from './kinds/derived.js';
import { OUTSIDE } from './kinds/outside.js';
import { PLANNED } from './kinds/planned.js';
import { RANDOM } from './kinds/random.js';
import { WAVES } from './kinds/waves.js';

/** Every kind of signal by its key in `signal`. To add one, add an entry to one of these tables. */
const KINDS = new Map(Object.entries({ ...WAVES, ...PLANNED, ...RANDOM, ...DERIVED, ...OUTSIDE }));

/** The kinds with the schemas of their parameters, and with their rows of docs/signals.md. */
export const SIGNAL_KINDS = Array.from(KINDS, ([name, { doc, schema }]) => ({ name, schema, ...doc }));

/** The documented form of `signal`, with a description of each kind. */
const writtenSignal = () =>
  z
    .union(SIGNAL_KINDS.map(({ name, schema, value }) => z.strictObject({ [name]: schema }).describe(value)))
    .meta({ id: 'Signal', description: 'One kind of signal. docs/signals.md explains each.' });

/** The schema of `signal`: an object with one key, the kind of signal. */
export const signalSchema = oneOfKinds('signal', '{sine: {period: 10s, amplitude: 5}}', KINDS);
documentAs(signalSchema, writtenSignal);
