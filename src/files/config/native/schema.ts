import { z } from 'zod';
import { flag, oneOf, readApart, secret, section, text, wholeNumber } from '../../../common/schema/parts.js';
import { expectedMessage } from '../../../common/schema/problem.js';
import { size } from '../../../common/schema/units.js';

/**
 * The schemas of the native file, apart from those of devices, registers and lines. Each part is checked
 * separately, so that a mistake in one part hides none in another. Which parts go together, and which values
 * a type can hold, is checked where the part is built.
 */

/** The file as a whole. Add a new section here; file.ts builds it. */
export const fileSections = section(
  readApart('devices', 'lines', 'faults', 'api', 'mqtt', 'traffic', 'start', 'state'),
);

/** Whether a line that can't be opened ends the start of the program, or is waited for. */
export const startSchema = oneOf(['required', 'waiting']);

/** Whether changes at run time survive a restart. */
export const stateSchema = oneOf(['discard', 'keep']);

/** For a value that is no list, the usual message would quote it, and it may be a token. */
const tokenList = z
  .custom<unknown[]>(Array.isArray, { error: 'expected a list of tokens' })
  .pipe(z.array(secret));

const ORIGIN = 'the origin of a site, such as https://bench.example.org';

/** Browsers send an origin in exactly this form: without a path, and without the default port. */
const origin = z
  .string({ error: ORIGIN })
  .refine((text) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text, {
    error: ({ input }) => expectedMessage(ORIGIN, input),
  });

export const apiSchema = section({
  host: text('a host name or an address').optional(),
  port: wholeNumber(0, 65535).optional(),
  token: secret.optional(),
  readTokens: tokenList.optional(),
  origins: z.array(origin, { error: 'a list of origins' }).optional(),
  insecure: flag.default(false),
  tls: section({
    cert: text('the path of a certificate (PEM)'),
    key: text('the path of its private key (PEM)'),
  }).optional(),
  maxConnections: wholeNumber(1, 65535).optional(),
  mayReach: z
    .array(text('a host name or an address'), { error: 'a list of hosts' })
    .max(256, { error: 'at most 256 hosts' })
    .optional(),
});

const fileShape = {
  format: oneOf(['ndjson', 'pcapng']).default('ndjson'),
  rotate: section({
    size: size(1, 4096).default(16 * 2 ** 20),
    files: wholeNumber(1, 1000).default(10),
  }).prefault({}),
};
const trafficDirectory = text('the path of a directory');

/** What is written to disk; `file` is the directory of the files. */
export const trafficFileSchema = section({ file: trafficDirectory, ...fileShape });

export const trafficSchema = section({
  events: wholeNumber(0, 100_000_000).default(100_000),
  bytes: size(1, 4096).default(64 * 2 ** 20),
  file: trafficDirectory.optional(),
  ...fileShape,
});
