import { resolve } from 'node:path';
import { z } from 'zod';
import type { At } from '../../common/schema/at.js';
import { flag, oneOf, readApart, secret, section, text, wholeNumber } from '../../common/schema/parts.js';
import { expectedMessage } from '../../common/schema/problem.js';
import { size } from '../../common/schema/units.js';
import { documentAs } from '../../common/schema/written-as.js';
import { ruleForm } from '../../device/faults/rule.js';
import { MAX_RULES } from '../../device/faults/rules.js';
import type { TrafficDefinition, TrafficFileDefinition } from '../configuration.js';
import { devicesForm } from './device-schema.js';
import { LISTENS, linesForm, startSchema } from './line-schema.js';
import { mqttSchema } from './mqtt.js';

/**
 * The schemas of the native file, except those of devices, registers and lines. Which parts go together, and
 * which values a type can hold, is checked where the part is built.
 */

/** If the value is not a list, the usual message would quote it, and it may be a token. */
const tokenList = z
  .custom<unknown[]>(Array.isArray, { error: 'expected a list of tokens' })
  .pipe(z.array(secret));
documentAs(tokenList, () => z.array(secret));

const ORIGIN = 'the origin of a site, such as https://bench.example.org';

/** Browsers send an origin in exactly this form: without a path, and without the default port. */
const origin = z
  .string({ error: ORIGIN })
  .refine((text) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text, {
    error: ({ input }) => expectedMessage(ORIGIN, input),
  });

const apiSchema = section(
  {
    host: text('a host name or an address').optional(),
    port: wholeNumber(0, 65535).optional(),
    token: secret.optional(),
    readTokens: tokenList.optional(),
    origins: z.array(origin, { error: 'a list of origins' }).optional(),
    insecure: flag.default(false),
    tls: section(
      {
        cert: text('the path of a certificate (PEM)'),
        key: text('the path of its private key (PEM)'),
      },
      {
        cert: 'A certificate, followed by any intermediate CA certificates (PEM).',
        key: 'Its private key (PEM).',
      },
    ).optional(),
    maxConnections: wholeNumber(1, 65535).optional(),
    mayReach: z
      .array(text('a host name or an address'), { error: 'a list of hosts' })
      .max(256, { error: 'at most 256 hosts' })
      .optional(),
  },
  {
    host: 'The address to listen on. Default: 127.0.0.1.',
    port: 'The TCP port; 0 picks a free one. Default: 8080.',
    token: 'Clients that send it may do everything. Required when other machines can connect.',
    readTokens: 'Tokens that only allow reading.',
    origins: 'Web sites whose pages may use the interface.',
    insecure: '`true` allows other machines without a token.',
    tls: 'The certificate for HTTPS.',
    maxConnections: 'The maximum number of connections at a time. Default: 64.',
    mayReach: 'Hosts of real devices that clients may name. Default: none.',
  },
);

const fileShape = {
  format: oneOf(['ndjson', 'pcapng']).default('ndjson'),
  rotate: section(
    {
      size: size(1, 4096).default(16 * 2 ** 20),
      files: wholeNumber(1, 1000).default(10),
    },
    {
      size: 'The maximum size of a file, such as 16MB.',
      files: 'The maximum number of files in the directory.',
    },
  ).prefault({}),
};
const trafficDirectory = text('the path of a directory');

/** What is written to disk; `file` is the directory of the files. */
export const trafficFileSchema = section({ file: trafficDirectory, ...fileShape });

const trafficSchema = section(
  {
    events: wholeNumber(0, 100_000_000).default(100_000),
    bytes: size(1, 4096).default(64 * 2 ** 20),
    file: trafficDirectory.optional(),
    ...fileShape,
  },
  {
    events: 'The maximum number of events kept in memory; 0 keeps none.',
    bytes: 'The maximum memory for them, such as 64MB.',
    file: 'The directory for traffic files. Without it, nothing is written.',
    format: 'The format of these files.',
    rotate: 'Their maximum size and number.',
  },
);

/** Devices are required if a line answers. */
const NEEDS_DEVICES = {
  anyOf: [
    { required: ['devices'] },
    { properties: { lines: { type: 'object', additionalProperties: { type: 'object', ...LISTENS } } } },
  ],
};

const rule = z.unknown();
documentAs(rule, () => ruleForm(true));

/** The file as a whole. Add a new section here; file.ts builds it. */
export const fileSections = section(
  {
    devices: readApart(devicesForm),
    lines: readApart(linesForm),
    faults: z
      .array(rule, { error: 'a list of fault rules' })
      .max(MAX_RULES, { error: `at most ${MAX_RULES} fault rules` })
      .optional(),
    api: apiSchema.optional(),
    mqtt: mqttSchema.optional(),
    traffic: trafficSchema.optional(),
    start: startSchema.optional(),
    /** Whether changes made at run time survive a restart. */
    state: oneOf(['discard', 'keep']).optional(),
  },
  {
    devices: 'The simulated devices, by names of your choice.',
    lines: 'Serial ports and listening sockets, by names of your choice.',
    faults: 'Rules that spoil replies (docs/faults.md).',
    api: 'Where the REST interface and the console listen, and who may use them.',
    mqtt: 'The MQTT broker of the bench (docs/mqtt.md).',
    traffic: 'How much traffic to keep in memory, and what to write to disk.',
    start:
      'What to do if a line fails to open: `waiting` keeps trying; `required` ends the program (default).',
    state: '`keep` restores run-time changes after a restart. Default: `discard`.',
  },
  { required: ['lines'], ...NEEDS_DEVICES },
);

/** Reads `traffic` of a file, which is at `at`. Reports settings that do not go together. */
export function nativeTraffic(
  read: z.output<typeof trafficSchema>,
  at: At,
  directory: string,
): TrafficDefinition {
  const { events, bytes, file, format, rotate } = read;
  if (file !== undefined) return { events, bytes, file: trafficFile({ file, format, rotate }, directory) };
  if (at.key('format').value !== undefined) at.key('format').wrong('needs file, which is missing');
  if (at.key('rotate').value !== undefined) at.key('rotate').wrong('needs file, which is missing');
  return { events, bytes };
}

/** @param directory the base directory of a relative path */
export function trafficFile(
  { file, format, rotate }: z.output<typeof trafficFileSchema>,
  directory: string,
): TrafficFileDefinition {
  return { directory: resolve(directory, file), format, size: rotate.size, files: rotate.files };
}
