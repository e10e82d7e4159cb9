import type { FastifyPluginCallback } from 'fastify';
import type { Access } from '../access/access.js';
import type { ApiContext } from '../desk.js';
import { captureRoutes } from './capture.js';
import { CATALOGUE_ROUTES } from './catalogue.js';
import { DEVICE_ROUTES } from './devices.js';
import { eventRoutes } from './events.js';
import { examinationRoutes } from './examinations.js';
import { FAULT_ROUTES } from './faults.js';
import { LINE_ROUTES } from './lines.js';
import { programRoutes } from './program.js';
import { addRoutes } from './route.js';
import { sessionRoutes } from './session.js';
import { acceptYaml, testRoutes } from './tests.js';
import { trafficRoutes } from './traffic.js';
import { trafficFileRoutes } from './traffic-file.js';
import { VALUE_ROUTES } from './values.js';

/** `/api/v1`: our own interface. Every error has the same body: a text, and the paths of the mistakes. */
export function v1Routes(desk: ApiContext, access: Access): FastifyPluginCallback {
  return (app, _, done) => {
    addRoutes(app, desk, 'devices', { ...DEVICE_ROUTES, ...VALUE_ROUTES });
    addRoutes(app, desk, 'lines', LINE_ROUTES);
    addRoutes(app, desk, 'faults', FAULT_ROUTES);
    addRoutes(app, desk, 'catalogue', CATALOGUE_ROUTES);
    addRoutes(app, desk, 'program', programRoutes(desk));
    addRoutes(app, desk, 'access', sessionRoutes(access));
    // Scopes are filled in their order, after the routes above. Only the scope of tests accepts YAML.
    app.register((scope, _, ready) => {
      acceptYaml(scope);
      addRoutes(scope, desk, 'tests', testRoutes(desk));
      ready();
    });
    app.register((scope, _, ready) => {
      addRoutes(scope, desk, 'tests', examinationRoutes(desk));
      const traffic = { ...captureRoutes(desk), ...trafficFileRoutes(desk), ...trafficRoutes(desk) };
      addRoutes(scope, desk, 'traffic', { ...traffic, ...eventRoutes(desk) });
      ready();
    });
    done();
  };
}
