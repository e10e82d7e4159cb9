import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Device } from '../../device/device.js';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { flag, numberFrom, oneOf, section } from '../../schema/parts.js';
import { duration } from '../../schema/units.js';
import { MAX_SPEED } from '../../signals/clock.js';
import type { Simulator } from '../../simulator/simulator.js';
import { deviceParams, deviceViewSchema, unknownDevice, viewDevice } from './device-view.js';
import { errorSchema, issuesBody } from './problem.js';

const WEEK_MS = 7 * 86_400_000;

const powerRequest = section({
  state: oneOf(['on', 'off', 'cycle']),
  forMs: duration(0, WEEK_MS).optional(),
  bootMs: duration(0, WEEK_MS).default(0),
});

export type PowerRequest = z.input<typeof powerRequest>;

/** How long a supply that is cycled is off when nothing is said. */
const USUAL_CYCLE_MS = 1000;

const clockRequest = section({
  speed: numberFrom(0, MAX_SPEED, 'a speed').optional(),
  pause: flag.optional(),
  step: duration(0, 10 * 365 * 86_400_000).default(0),
});

export type ClockRequest = z.input<typeof clockRequest>;

const deviceList = z.object({ devices: z.array(deviceViewSchema) }).describe('The devices.');

/** What the document says about POST /devices/{name}/{command}. */
const DESCRIBED = {
  power: {
    summary: 'Switch the supply of a device',
    description: '`cycle` switches it off and on again. A device without supply answers nothing.',
    checkedBody: powerRequest.meta({ examples: [{ state: 'cycle', forMs: 200, bootMs: 100 }] }),
  },
  clock: {
    summary: 'Set the clock of a device',
    description: 'Lets its signals run faster, slower or not at all, or go on by a step.',
    checkedBody: clockRequest.meta({ examples: [{ speed: 60, step: '1h' }] }),
  },
  reset: {
    summary: 'Restart a device',
    description:
      'Registers and signals are as configured, except retained values. Its clock begins again at 0.',
  },
};

type Command = keyof typeof DESCRIBED;

/** What POST /devices/{name}/{command} does with its body; undefined after telling mistakes. */
const COMMANDS: Readonly<Record<Command, (device: Device, body: At) => true | undefined>> = {
  power(device, body) {
    const request = body.check(powerRequest);
    if (!request) return undefined;
    const { state, forMs, bootMs } = request;
    if (state === 'on') device.restore(bootMs);
    else device.interrupt({ forMs: forMs ?? (state === 'cycle' ? USUAL_CYCLE_MS : undefined), bootMs });
    return true;
  },
  clock(device, body) {
    const request = body.check(clockRequest);
    if (!request) return undefined;
    const { speed, pause, step } = request;
    device.setClock(
      { ...(speed !== undefined && { speed }), ...(pause !== undefined && { paused: pause }) },
      step,
    );
    return true;
  },
  reset(device) {
    device.restart();
    return true;
  },
};

/** `/api/v1/devices`: the devices, their supply and their clocks. */
export function deviceRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    const view = (device: Device) => viewDevice(simulator, device);

    app.get(
      '/devices',
      {
        schema: {
          summary: 'List the devices',
          description: 'Every device, with its supply, its clock and the lines where it answers.',
          tags: ['devices'],
          response: { 200: deviceList },
        },
      },
      () => ({ devices: Array.from(simulator.devices.values(), view) }),
    );

    app.get(
      '/devices/:name',
      {
        schema: {
          summary: 'Get a device',
          description: 'Its supply, its clock, the lines where it answers, and the names of its values.',
          tags: ['devices'],
          params: deviceParams,
          response: { 200: deviceViewSchema, 404: errorSchema },
        },
      },
      async ({ params: { name } }, reply) => {
        const device = simulator.devices.get(name);
        return device ? view(device) : reply.code(404).send(unknownDevice(simulator, name));
      },
    );

    for (const [command, carryOut] of Object.entries(COMMANDS)) {
      app.post(
        `/devices/:name/${command}`,
        {
          schema: {
            ...DESCRIBED[command as Command],
            tags: ['devices'],
            params: deviceParams,
            response: { 200: deviceViewSchema, 400: errorSchema, 404: errorSchema },
          },
        },
        async ({ params: { name }, body }, reply) => {
          const device = simulator.devices.get(name);
          if (!device) return reply.code(404).send(unknownDevice(simulator, name));
          const at = new At(body, new Findings());
          return carryOut(device, at) ? view(device) : reply.code(400).send(issuesBody(at.findings));
        },
      );
    }
    done();
  };
}
