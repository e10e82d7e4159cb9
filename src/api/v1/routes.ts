import type { FastifyPluginCallback } from 'fastify';
import type { Access } from '../access/access.js';
import type { Desk } from '../desk.js';
import { captureRoutes } from './capture.js';
import { catalogueRoutes } from './catalogue.js';
import { deviceRoutes } from './devices.js';
import { eventRoutes } from './events.js';
import { examinationRoutes } from './examinations.js';
import { faultRoutes } from './faults.js';
import { lineRoutes } from './lines.js';
import { programRoutes } from './program.js';
import { sessionRoutes } from './session.js';
import { testRoutes } from './tests.js';
import { trafficRoutes } from './traffic.js';
import { trafficFileRoutes } from './traffic-file.js';
import { valueRoutes } from './values.js';

/** `/api/v1`: the interface of our own. Every error has the same body: a text, and the places of the mistakes. */
export function v1Routes(desk: Desk, access: Access): FastifyPluginCallback {
  return (app, _, done) => {
    app.register(deviceRoutes(desk));
    app.register(valueRoutes(desk));
    app.register(lineRoutes(desk));
    app.register(faultRoutes(desk));
    app.register(catalogueRoutes(desk));
    app.register(programRoutes(desk));
    app.register(sessionRoutes(access));
    app.register(testRoutes(desk));
    app.register(examinationRoutes(desk));
    app.register(captureRoutes(desk));
    app.register(trafficFileRoutes(desk));
    app.register(trafficRoutes(desk));
    app.register(eventRoutes(desk));
    done();
  };
}
