import type { FastifyPluginCallback } from 'fastify';
import { isMapping } from '../../../common/schema/parts.js';
import { done, refusal } from '../../../simulator/commands/refusal.js';
import { CATALOGUE_COMMANDS, catalogueSchema } from '../../../simulator/commands/schemas/catalogue.js';
import { DEVICE_COMMANDS } from '../../../simulator/commands/schemas/device.js';
import { RULE_COMMANDS } from '../../../simulator/commands/schemas/fault.js';
import { LINE_COMMANDS } from '../../../simulator/commands/schemas/line.js';
import {
  CONFIGURATION_COMMANDS,
  MAX_CONFIGURATION_BYTES,
  PORT_COMMANDS,
  PROGRAM_COMMANDS,
} from '../../../simulator/commands/schemas/program.js';
import { SIGNAL_COMMANDS, VALUE_COMMANDS } from '../../../simulator/commands/schemas/value.js';
import { MAX_YAML_BYTES } from '../../../testing/declared.js';
import type { Access } from '../access/access.js';
import { sendJson } from '../answers.js';
import type { ApiContext } from '../desk.js';
import type { ExtensionPart } from '../extension.js';
import { captureRoutes } from './capture.js';
import { eventRoutes } from './events.js';
import { configurationPart, mqttRoutes, PORTS_PART } from './program.js';
import { oneByOne, reportPlaces } from './reports.js';
import { addRoutes, type DeskPart, type Routes, routesOf } from './route.js';
import { runRoutes } from './runs.js';
import { SCHEMA_ROUTES, SIGNAL_KIND_ROUTES } from './schemas.js';
import { sessionRoutes } from './session.js';
import { sumsRoutes } from './sums.js';
import { trafficRoutes } from './traffic.js';
import { acceptYaml, applyPart } from './yaml-body.js';

/** `/api/v1`: our own interface. Every error has the same body: a text, and the paths of the mistakes. */
export function v1Routes(
  desk: ApiContext,
  access: Access,
  extensions: readonly ExtensionPart[],
): FastifyPluginCallback {
  const reports = reportPlaces();
  return (app, _, done) => {
    const addedTo = (tag: 'devices' | 'program' | 'traffic'): Routes =>
      Object.assign({}, ...extensions.map(({ routes }) => routes?.[tag]));
    addRoutes(app, 'devices', {
      ...routesOf(desk, DEVICE_COMMANDS),
      ...routesOf(desk, VALUE_COMMANDS),
      ...SIGNAL_KIND_ROUTES,
      ...routesOf(desk, SIGNAL_COMMANDS),
      ...addedTo('devices'),
    });
    addRoutes(app, 'lines', routesOf(desk, LINE_COMMANDS));
    addRoutes(app, 'faults', routesOf(desk, RULE_COMMANDS, { 'rule.replace': REPLACED_RULE }));
    addRoutes(app, 'catalogue', { ...CATALOGUE_ROUTES, ...routesOf(desk, CATALOGUE_COMMANDS) });
    addRoutes(app, 'program', {
      ...routesOf(desk, PROGRAM_COMMANDS, { 'program.configuration': configurationPart(desk) }),
      ...mqttRoutes(desk),
      ...addedTo('program'),
      ...routesOf(desk, PORT_COMMANDS, { 'program.ports': PORTS_PART }),
      ...SCHEMA_ROUTES,
    });
    addRoutes(app, 'access', sessionRoutes(access));
    // Scopes are filled in order, after the routes above. Only the first two accept YAML.
    app.register((scope, _, ready) => {
      acceptYaml(scope, MAX_CONFIGURATION_BYTES);
      const parts = { 'configuration.apply': applyPart(desk) };
      addRoutes(scope, 'program', routesOf(desk, CONFIGURATION_COMMANDS, parts));
      ready();
    });
    app.register((scope, _, ready) => {
      acceptYaml(scope, MAX_YAML_BYTES);
      addRoutes(scope, 'runs', runRoutes(desk, reports));
      ready();
    });
    app.register((scope, _, ready) => {
      const traffic = { ...captureRoutes(desk), ...addedTo('traffic'), ...trafficRoutes(desk) };
      addRoutes(scope, 'traffic', { ...traffic, ...eventRoutes(desk), ...sumsRoutes(desk) });
      ready();
    });
    done();
  };
}

/** `PUT /api/v1/faults/NAME`: the name may be in the path only. */
const REPLACED_RULE: DeskPart = {
  preValidation: async (request) => {
    if (isMapping(request.body)) request.body = { ...(request.params as object), ...request.body };
  },
  input: ({ params, body }) => {
    const { name } = params as { readonly name: string };
    return (body as { readonly name: string }).name === name
      ? done({ rule: body })
      : refusal('rule.invalid', 'name', `expected ${name}, as in the address`);
  },
};

/** `/api/v1/catalogue`: the faults of real devices. */
const CATALOGUE_ROUTES: Routes = {
  'GET /catalogue': {
    summary: 'List known misbehaviour of real devices',
    description: 'Every entry, with what a client sees, who reported it, and its manners and fault rules.',
    handle: async (_, reply) => {
      const { catalogueEntries } = await import('../../../document/catalogue.js');
      return sendJson(reply, { catalogue: oneByOne(catalogueEntries()) });
    },
    response: { 200: catalogueSchema },
  },
};
