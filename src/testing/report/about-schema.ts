import type { z } from 'zod';
import { section, text } from '../../common/schema/parts.js';
import type { RunAbout } from './report.js';

const MOST_CHARACTERS = 500;

const said = (what: string) =>
  text(what).max(MOST_CHARACTERS, { error: `at most ${MOST_CHARACTERS} characters` });

/** The schema of what a tester says about a run. */
export const aboutSchema = section({
  client: said('the name and version of the client').describe('Name and version of the client.').optional(),
  tester: said('a name').describe('Who tests.').optional(),
  remark: said('a remark').describe('Anything else that belongs on the report.').optional(),
}) satisfies z.ZodType<RunAbout, unknown>;
