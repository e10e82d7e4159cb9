import { z } from 'zod';
import { number, section } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { type InletSource, signal } from '../signal.js';

/** The schema of the name of a topic to publish to, as allowed by MQTT 5, 4.7. */
const topicName = z
  .string({ error: 'the name of a topic' })
  .regex(/^[^+#\p{Cc}]{1,1024}$/u, { error: 'the name of a topic of 1 to 1024 characters, without + and #' });

const PATH = /^\$(?:\.[\p{L}_][\p{L}\p{N}_-]*|\[(?:\d{1,6}|'[^']*'|"[^"]*")\])*$/u;
const STEPS = /\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/gu;
const PATH_ERROR = "a path into JSON such as $.value, $.sensors[0].power or $['a b']";

/** The schema of a singular query of JSONPath (RFC 9535, 2.3.5.1): no wildcards, no filters. */
const jsonPath = z
  .string({ error: PATH_ERROR })
  .max(1024, { error: PATH_ERROR })
  .regex(PATH, { error: PATH_ERROR })
  .transform((text) =>
    Array.from(text.matchAll(STEPS), ([, dotted, index, ...quoted]) =>
      index === undefined ? (dotted ?? quoted.find((each) => each !== undefined) ?? '') : Number(index),
    ),
  );

/** Signals whose values come from outside the simulator. */
export const OUTSIDE = {
  mqtt: signal({
    schema: section(
      {
        topic: topicName,
        json: jsonPath.optional(),
        scale: number.default(1),
        start: number.default(0),
        stale: duration(1).optional(),
      },
      {
        topic: 'The MQTT topic.',
        json: 'The path to the number in a JSON payload.',
        scale: 'The factor by which the number is multiplied.',
        start: 'The value until the first number arrives.',
        stale: 'The value is not available if nothing has arrived for this time, in ms.',
      },
    ),
    fits: 'numbers and bits',
    doc: {
      entry: '`mqtt: {topic, json, scale, start, stale}`',
      value:
        'the newest number on a topic of the [MQTT broker](mqtt.md), times `scale`. `json` is the path to it in a JSON payload. The value is `start` (default 0) until the first number arrives. With `stale`, the value is not available if nothing has arrived for that time',
    },
    goesStale: ({ stale }) => stale !== undefined,
    start({ topic, json = [], scale, start, stale }) {
      const source: InletSource = { topic, path: json };
      let value = start;
      let cameAt: number | undefined;
      return {
        valueAt: () => value,
        integral: (from, to) => (value * (to - from)) / 1000,
        trouble: () => (cameAt === undefined ? `nothing has arrived on the topic ${topic}` : undefined),
        inlet: {
          source,
          take(outcome, at) {
            value = outcome * scale;
            cameAt = at;
          },
          isStale: stale === undefined ? undefined : (now) => cameAt === undefined || now - cameAt >= stale,
        },
      };
    },
  }),
};
