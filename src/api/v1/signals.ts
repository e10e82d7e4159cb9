import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import type { Simulator } from '../../simulator/simulator.js';
import { valueNamed } from '../../simulator/values.js';
import { unknownDevice } from './device-view.js';
import { errorSchema, issuesBody } from './problem.js';
import { unknownValue, valueParams } from './registers.js';
import { registerViewSchema, viewRegister } from './value-view.js';

/** One kind of signal by its name; the reader of signals checks it. */
const signalBody = z.record(z.string(), z.unknown()).meta({
  description: 'One kind of signal.',
  examples: [{ sine: { period: '60s', amplitude: 5, offset: 230 } }],
});

/** `/api/v1/devices/NAME/signals/VALUE`: what moves a value. */
export function signalRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
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
      const device = simulator.devices.get(params.name);
      if (!device) return reply.code(404).send(unknownDevice(simulator, params.name));
      const found = valueNamed(device, params.value);
      if (!found?.point) return reply.code(404).send(unknownValue(device, params.value));
      const at = new At(body, new Findings());
      const changed = simulator.changes.changeSignal(device, found.point, at);
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
