import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { unknownName } from '../../schema/nearest.js';
import { oneOf } from '../../schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { LongAnswers } from '../long-answers.js';
import { unitsWithinReason } from '../units.js';
import { deviceViewSchema, unknownDevice, viewDevice } from './device-view.js';
import { lineView, lineViewSchema } from './line-view.js';
import { type ErrorBody, errorBody, errorSchema, issuesBody } from './problem.js';
import { openRecordings } from './recordings.js';
import { wrongLink } from './writable-place.js';

const name = z.string({ error: 'a name' });

/** The entry of a native file, and its name. The simulator checks the entry. */
const newDevice = z.looseObject({ name }, { error: 'a device as in a native file, with its name' }).meta({
  description: 'A device as in the configuration, with its name.',
  examples: [{ name: 'sensor', registers: { holding: [{ address: 0, name: 'level', value: 40 }] } }],
});
const newLine = z
  .looseObject(
    { name, units: unitsWithinReason.optional() },
    { error: 'a line as in a native file, with its name' },
  )
  .meta({
    description: 'A line as in the configuration, with its name. Port 0 is any free port.',
    examples: [{ name: 'second', tcp: { port: 0 }, units: { 1: 'meter' } }],
  });

const leavingDevice = z.object({
  name: z.string().meta({ description: 'Name of the device.', examples: ['old-meter'] }),
});
const leavingLine = z.object({
  name: z.string().meta({ description: 'Name of the line.', examples: ['old-lan'] }),
});

const removal = z.object({
  force: oneOf(['', 'true', 'false'])
    .default('false')
    .describe('`?force` or `?force=true` removes a device that lines serve, too.'),
});

/** `POST` and `DELETE` of `/api/v1/devices` and `/api/v1/lines`: devices and lines that come and go. */
export function additionRoutes(
  simulator: Simulator,
  answers: LongAnswers,
  writesIn: string,
): FastifyPluginCallbackZod {
  const refusals = { 400: errorSchema, 409: errorSchema };
  const removed = {
    204: z.null().describe('There is no such thing any more.'),
    404: errorSchema,
    409: errorSchema,
  };

  return (app, _, done) => {
    app.post(
      '/devices',
      {
        schema: {
          summary: 'Add a device',
          description: 'It answers when a line has it among its units.',
          tags: ['devices'],
          body: newDevice,
          response: { 201: deviceViewSchema, ...refusals },
        },
      },
      async ({ body: { name, ...entry } }, reply) => {
        const recordings = await openRecordings(simulator, answers, entry);
        const added = simulator.changes.createDevice(name, entry, recordings);
        if (added.ok) return reply.code(201).send(viewDevice(simulator, added.added));
        return 'issues' in added
          ? reply.code(400).send(issuesBody(added.issues))
          : reply.code(409).send(refusalBody(added));
      },
    );

    app.delete(
      '/devices/:name',
      {
        schema: {
          summary: 'Remove a device',
          description: 'A device that lines serve stays, unless `force` takes it from them.',
          tags: ['devices'],
          params: leavingDevice,
          querystring: removal,
          response: { ...removed, 400: errorSchema },
        },
      },
      async ({ params: { name }, query: { force } }, reply) => {
        if (!simulator.devices.has(name)) return reply.code(404).send(unknownDevice(simulator, name));
        const outcome = await simulator.changes.removeDevice(name, { force: force !== 'false' });
        return outcome.ok ? reply.code(204).send(null) : reply.code(409).send(refusalBody(outcome));
      },
    );

    app.post(
      '/lines',
      {
        schema: {
          summary: 'Add a line',
          description: 'It is opened at once. When that fails, there is no new line.',
          tags: ['lines'],
          body: newLine,
          response: { 201: lineViewSchema, ...refusals },
        },
      },
      async ({ body: { name, ...entry } }, reply) => {
        const wrong = await wrongLink(writesIn, entry);
        if (wrong) return reply.code(400).send(wrong);
        const added = await simulator.changes.createLine(name, entry);
        if (added.ok) return reply.code(201).send(lineView(added.added));
        return 'issues' in added
          ? reply.code(400).send(issuesBody(added.issues))
          : reply.code(409).send(refusalBody(added));
      },
    );

    app.delete(
      '/lines/:name',
      {
        schema: {
          summary: 'Remove a line',
          description: 'It is closed first. The last line stays.',
          tags: ['lines'],
          params: leavingLine,
          response: removed,
        },
      },
      async ({ params: { name } }, reply) => {
        const known = [...simulator.lines.keys()];
        if (!known.includes(name)) {
          return reply
            .code(404)
            .send(errorBody([{ path: 'name', message: unknownName('line', name, known) }]));
        }
        if (known.length === 1) return reply.code(409).send(refusalBody(LAST_LINE));
        const outcome = await simulator.changes.removeLine(name);
        return outcome.ok ? reply.code(204).send(null) : reply.code(409).send(refusalBody(outcome));
      },
    );
    done();
  };
}

const LAST_LINE = { error: 'the last line stays, because a configuration needs one' };

function refusalBody({ error }: { readonly error: string }): ErrorBody {
  return errorBody([{ path: '', message: error }]);
}
