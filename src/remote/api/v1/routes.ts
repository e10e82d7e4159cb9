import type { FastifyPluginCallback } from 'fastify';
import { CATALOGUE_COMMANDS } from '../../../simulator/commands/schemas/catalogue.js';
import { DEVICE_COMMANDS } from '../../../simulator/commands/schemas/device.js';
import { RULE_COMMANDS } from '../../../simulator/commands/schemas/fault.js';
import { LINE_COMMANDS } from '../../../simulator/commands/schemas/line.js';
import { PORT_COMMANDS, PROGRAM_COMMANDS } from '../../../simulator/commands/schemas/program.js';
import { SIGNAL_COMMANDS, VALUE_COMMANDS } from '../../../simulator/commands/schemas/value.js';
import type { Access } from '../access/access.js';
import type { ApiContext } from '../desk.js';
import { captureRoutes } from './capture.js';
import { CATALOGUE_ROUTES } from './catalogue.js';
import { eventRoutes } from './events.js';
import { examinationRoutes } from './examinations.js';
import { REPLACED_RULE } from './faults.js';
import { inspectionRoutes } from './inspections.js';
import { configurationPart, mqttRoutes, PORTS_PART } from './program.js';
import { addRoutes, routesOf } from './route.js';
import { SCHEMA_ROUTES } from './schemas.js';
import { sessionRoutes } from './session.js';
import { shakeRoutes } from './shakes.js';
import { SIGNAL_KIND_ROUTES } from './signals.js';
import { acceptYaml, testRoutes } from './tests.js';
import { trafficRoutes } from './traffic.js';
import { trafficFileRoutes } from './traffic-file.js';

/** `/api/v1`: our own interface. Every error has the same body: a text, and the paths of the mistakes. */
export function v1Routes(desk: ApiContext, access: Access): FastifyPluginCallback {
  return (app, _, done) => {
    addRoutes(app, 'devices', {
      ...routesOf(desk, DEVICE_COMMANDS),
      ...routesOf(desk, VALUE_COMMANDS),
      ...SIGNAL_KIND_ROUTES,
      ...routesOf(desk, SIGNAL_COMMANDS),
    });
    addRoutes(app, 'lines', routesOf(desk, LINE_COMMANDS));
    addRoutes(app, 'faults', routesOf(desk, RULE_COMMANDS, { 'rule.replace': REPLACED_RULE }));
    addRoutes(app, 'catalogue', { ...CATALOGUE_ROUTES, ...routesOf(desk, CATALOGUE_COMMANDS) });
    addRoutes(app, 'program', {
      ...routesOf(desk, PROGRAM_COMMANDS, { 'program.configuration': configurationPart(desk) }),
      ...mqttRoutes(desk),
      ...routesOf(desk, PORT_COMMANDS, { 'program.ports': PORTS_PART }),
      ...SCHEMA_ROUTES,
    });
    addRoutes(app, 'access', sessionRoutes(access));
    // Scopes are filled in their order, after the routes above. Only the scope of tests accepts YAML.
    app.register((scope, _, ready) => {
      acceptYaml(scope);
      addRoutes(scope, 'tests', testRoutes(desk));
      ready();
    });
    app.register((scope, _, ready) => {
      addRoutes(scope, 'tests', {
        ...examinationRoutes(desk),
        ...shakeRoutes(desk),
        ...inspectionRoutes(desk),
      });
      const traffic = { ...captureRoutes(desk), ...trafficFileRoutes(desk), ...trafficRoutes(desk) };
      addRoutes(scope, 'traffic', { ...traffic, ...eventRoutes(desk) });
      ready();
    });
    done();
  };
}
