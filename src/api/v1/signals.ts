import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { SIGNAL_KINDS } from '../../signals/kinds.js';
import type { Simulator } from '../../simulator/simulator.js';
import { valueNamed } from '../../simulator/values.js';
import type { LongAnswers } from '../long-answers.js';
import { JSON_TYPE, madeOnce } from '../openapi/made.js';
import { Components } from '../openapi/schema-json.js';
import { unknownDevice } from './device-view.js';
import { SIGNAL_KIND } from './examples.js';
import { errorSchema, issuesBody } from './problem.js';
import { openRecordings } from './recordings.js';
import { unknownValue, valueParams } from './registers.js';
import { registerViewSchema, viewRegister } from './value-view.js';

/** One kind of signal by its name; the reader of signals checks it. */
const signalBody = z.record(z.string(), z.unknown()).meta({
  description: 'One kind of signal.',
  examples: [{ sine: { period: '60s', amplitude: 5, offset: 230 } }],
});

const kindSchema = z
  .object({
    name: z.string(),
    value: z.string().describe('What the value does.'),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the parameters.'),
  })
  .meta({ id: 'SignalKind', description: 'A kind of signal.', examples: [SIGNAL_KIND] });

export type SignalKindView = z.infer<typeof kindSchema>;

const kindList = z.object({ kinds: z.array(kindSchema) }).describe('The kinds of signals.');

const kinds = madeOnce('signals.json', () => {
  const components = new Components();
  return {
    kinds: SIGNAL_KINDS.map(({ name, value, schema }) => ({
      name,
      value,
      schema: { ...components.convert(schema, 'input') },
    })),
  };
});

/** `/api/v1/devices/NAME/signals/VALUE`: what moves a value; `/api/v1/signals`: what could. */
export function signalRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get(
      '/signals',
      {
        schema: {
          summary: 'List the kinds of signals',
          description: 'Every kind with the JSON Schema of its parameters, from which a form can be made.',
          tags: ['devices'],
          response: { 200: kindList },
        },
      },
      async (_, reply) => reply.type(JSON_TYPE).send((await kinds()) as never),
    );

    const schema = {
      tags: ['devices'],
      params: valueParams,
      response: { 200: registerViewSchema, 400: errorSchema, 404: errorSchema },
    };

    const setting = {
      ...schema,
      summary: 'Let a signal move a value',
      description: 'Replaces the signal of the value. docs/signals.md explains each kind.',
      checkedBody: signalBody,
    };
    app.put('/devices/:name/signals/:value', { schema: setting }, async ({ params, body }, reply) => {
      const recordings = await openRecordings(simulator, answers, body);
      const device = simulator.devices.get(params.name);
      if (!device) return reply.code(404).send(unknownDevice(simulator, params.name));
      const found = valueNamed(device, params.value);
      if (!found?.point) return reply.code(404).send(unknownValue(device, params.value));
      const at = new At(body, new Findings());
      const changed = simulator.changes.changeSignal(device, found.point, at, recordings);
      return changed ? viewRegister(found) : reply.code(400).send(issuesBody(at.findings));
    });

    const removal = {
      ...schema,
      summary: 'Let a value stand still',
      description: 'Removes the signal of the value, which keeps its present value.',
    };
    app.delete('/devices/:name/signals/:value', { schema: removal }, async ({ params }, reply) => {
      const device = simulator.devices.get(params.name);
      if (!device) return reply.code(404).send(unknownDevice(simulator, params.name));
      const found = valueNamed(device, params.value);
      if (!found?.point) return reply.code(404).send(unknownValue(device, params.value));
      device.points.setSignal(found.point, undefined);
      return viewRegister(found);
    });
    done();
  };
}
