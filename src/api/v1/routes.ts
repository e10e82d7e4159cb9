import type { FastifyPluginCallback } from 'fastify';
import type { Simulator } from '../../simulator/simulator.js';
import type { LongAnswers } from '../long-answers.js';
import { captureRoutes } from './capture.js';
import { deviceRoutes } from './devices.js';
import { eventRoutes } from './events.js';
import { exchangeRoutes } from './exchanges.js';
import { faultRoutes } from './faults.js';
import { lineRoutes } from './lines.js';
import { portRoutes } from './ports.js';
import { registerRoutes } from './registers.js';
import { signalRoutes } from './signals.js';
import { trafficRoutes } from './traffic.js';
import { trafficFileRoutes } from './traffic-file.js';

/** `/api/v1`: the interface of our own. Every error has the same body: a text, and the places of the mistakes. */
export function v1Routes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallback {
  return (app, _, done) => {
    app.register(deviceRoutes(simulator));
    app.register(registerRoutes(simulator));
    app.register(signalRoutes(simulator));
    app.register(lineRoutes(simulator, answers));
    app.register(portRoutes(simulator));
    app.register(faultRoutes(simulator, answers));
    app.register(exchangeRoutes(simulator, answers));
    app.register(captureRoutes(simulator, answers));
    app.register(trafficFileRoutes(simulator));
    app.register(trafficRoutes(simulator, answers));
    app.register(eventRoutes(simulator, answers));
    done();
  };
}
