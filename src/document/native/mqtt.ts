import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { compact } from '../../common/compact.js';
import type { At } from '../../common/schema/at.js';
import { flag, oneOf, secret, section, text } from '../../common/schema/parts.js';
import { expectedMessage } from '../../common/schema/problem.js';
import { duration } from '../../common/schema/units.js';
import { documentAs } from '../../common/schema/written-as.js';
import type { MqttDefinition } from '../configuration.js';

const URL_TEXT = 'the address of a broker, such as mqtts://broker:8883';
const TOPIC_TEXT =
  'a topic prefix, such as modbus-sim/bench-7, without + or #, a leading $ or / or a trailing /';
const TOPIC = /^(?![$/])[^+#\p{Cc}]{1,256}(?<!\/)$/u;
const SCHEMES = /^(?:mqtts?|wss?):$/;

const url = z
  .string({ error: URL_TEXT })
  .refine((address) => URL.canParse(address) && SCHEMES.test(new URL(address).protocol), {
    error: ({ input }) => expectedMessage(URL_TEXT, input),
  });

const LABELS = 'labels by name, such as {rack: 3}';
const label = z.union([z.string().max(256), z.number(), z.boolean()], { error: 'text or a number' });

const SPARKPLUG_TEXT = 'one topic level, without /, + and #';
const sparkplugName = z
  .string({ error: SPARKPLUG_TEXT })
  .regex(/^[^/+#\p{Cc}]{1,256}$/u, { error: SPARKPLUG_TEXT });

const sparkplugSchema = section(
  { group: sparkplugName.default('modbus-sim'), node: sparkplugName.optional() },
  { group: 'The group of the node.', node: 'The name of the node. Default: the end of the topic.' },
);
const sparkplug = z.preprocess(
  (written) => (typeof written === 'boolean' ? (written ? {} : undefined) : written),
  sparkplugSchema.optional(),
);
documentAs(sparkplug, () => z.union([z.boolean(), sparkplugSchema]));

export const mqttSchema = section(
  {
    url,
    username: text('the name of a user').optional(),
    password: secret.optional(),
    ca: text('the path of CA certificates (PEM)').optional(),
    cert: text('the path of a certificate (PEM)').optional(),
    key: text('the path of its private key (PEM)').optional(),
    client: text('a client identifier').max(256).optional(),
    topic: z
      .string({ error: TOPIC_TEXT })
      .regex(TOPIC, { error: TOPIC_TEXT })
      .prefault(() => `modbus-sim/${hostname()}`),
    qos: oneOf([0, 1, 2]).default(1),
    labels: z
      .record(z.string(), label, { error: LABELS })
      .refine((labels) => Object.keys(labels).length <= 64, { error: 'at most 64 labels' })
      .default({}),
    commands: oneOf(['none', 'read', 'all']).default('none'),
    publish: section(
      { values: flag.default(true), every: duration(100).default(1000) },
      {
        values: 'Whether values are published.',
        every: 'The shortest time between two messages of one value, in ms.',
      },
    ).prefault({}),
    sample: duration(100).optional(),
    homeAssistant: flag.default(false),
    sparkplug,
  },
  {
    url: 'The address of the broker.',
    username: 'The user of the broker.',
    password: 'Its password. MODBUS_SIM_MQTT_PASSWORD in the environment overrides it.',
    ca: 'The CA certificates that the certificate of the broker is checked against (PEM).',
    cert: 'The certificate of this client (PEM).',
    key: 'Its private key (PEM).',
    client: 'The client identifier. Default: a new one for each connection.',
    topic: 'The prefix of all topics. Default: modbus-sim/ and the name of this machine.',
    qos: 'The quality of service.',
    labels: 'Labels of this bench, which `fleet` can select by.',
    commands: 'What others may do over the broker.',
    publish: 'Whether values are published, and how often.',
    sample: 'The shortest time between two published traffic events, in ms. Default: none are published.',
    homeAssistant: 'Whether Home Assistant discovers the values.',
    sparkplug: 'Makes the bench a Sparkplug B edge node with this group and name.',
  },
);

/** Reads the broker of a native file, which is at `at`; undefined after reporting mistakes. */
export function nativeMqtt(
  read: z.output<typeof mqttSchema>,
  at: At,
  directory: string,
): MqttDefinition | undefined {
  const { ca, cert, key, labels, sparkplug, ...settings } = read;
  const { protocol, username, password, hostname: host } = new URL(settings.url);
  if (username || password)
    return at.key('url').wrong('expected an address without a user: use username and password');
  const isPlain = protocol === 'mqtt:' || protocol === 'ws:';
  for (const [name, value] of Object.entries({ ca, cert, key }))
    if (isPlain && value !== undefined) at.key(name).wrong(`is for mqtts: and wss:, not for ${protocol}`);
  if ((cert === undefined) !== (key === undefined))
    at.key(cert === undefined ? 'cert' : 'key').wrong(
      'missing: a certificate and its key must be given together',
    );
  if (isPlain && settings.commands === 'all' && !/^(?:localhost|127\..*|\[::1\])$/.test(host))
    at.key('commands').warn(
      `anyone listening on the network can read the password and send commands: use mqtts:`,
    );
  const files = {
    ...(ca && { ca: resolve(directory, ca) }),
    ...(cert && { cert: resolve(directory, cert) }),
  };
  return {
    ...compact(settings),
    labels: Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)])),
    ...(sparkplug && { sparkplug: { node: settings.topic.split('/').at(-1), ...compact(sparkplug) } }),
    ...((ca ?? cert) && { files: { ...files, ...(key && { key: resolve(directory, key) }) } }),
  } as MqttDefinition;
}
