import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import type { Simulator } from '../../simulator/simulator.js';
import { valueNamed } from '../../simulator/values.js';
import { unknownDevice } from './device-view.js';
import { errorSchema, issuesBody } from './problem.js';
import { unknownValue } from './registers.js';
import { registerViewSchema, viewRegister } from './value-view.js';

const signalParams = z.object({ name: z.string(), value: z.string() });

/** `/api/v1/devices/NAME/signals/VALUE`: what moves a value. */
export function signalRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    const schema = {
      params: signalParams,
      response: { 200: registerViewSchema, 400: errorSchema, 404: errorSchema },
    };

    app.put('/devices/:name/signals/:value', { schema }, async ({ params, body }, reply) => {
      const device = simulator.devices.get(params.name);
      if (!device) return reply.code(404).send(unknownDevice(simulator, params.name));
      const found = valueNamed(device, params.value);
      if (!found?.point) return reply.code(404).send(unknownValue(device, params.value));
      const at = new At(body, new Findings());
      const changed = simulator.changeSignal(device, found.point, at);
      return changed ? viewRegister(found) : reply.code(400).send(issuesBody(at.findings));
    });

    app.delete('/devices/:name/signals/:value', { schema }, async ({ params }, reply) => {
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
