import { z } from 'zod';
import { oneOfKinds } from '../../common/schema/parts.js';
import { documentAs } from '../../common/schema/written-as.js';
import { DAMAGE } from './kinds/damage.js';
import { FIELDS, HEADER } from './kinds/fields.js';
import { REPLIES } from './kinds/replies.js';
import { TIMING } from './kinds/timing.js';

/** Every kind of fault by its key in a rule's `do`. To add one, add an entry to one of these tables. */
const KINDS = new Map(Object.entries({ ...TIMING, ...REPLIES, ...DAMAGE, ...FIELDS, ...HEADER }));

export const FAULT_KINDS: readonly string[] = [...KINDS.keys()];

/** The schema of one entry of `do`: `{delay: 100}`. */
export const faultSchema = oneOfKinds('fault', '{delay: 100}', KINDS);

/** The documented form of an entry of `do`. */
export const writtenFault = z
  .union(Array.from(KINDS, ([name, { schema, does }]) => z.strictObject({ [name]: schema }).describe(does)))
  .meta({ id: 'Fault', description: 'One kind of fault. docs/faults.md explains each.' });
documentAs(faultSchema, () => writtenFault);
