import type { FastifyPluginCallback } from 'fastify';
import type { Simulator } from '../../simulator/simulator.js';
import { LineLeases } from '../../testing/line-leases.js';
import type { Access } from '../access/access.js';
import type { LongAnswers } from '../long-answers.js';
import { additionRoutes } from './additions.js';
import { captureRoutes } from './capture.js';
import { configurationRoutes } from './configuration.js';
import { deviceRoutes } from './devices.js';
import { eventRoutes } from './events.js';
import { examinationRoutes } from './examinations.js';
import { exchangeRoutes } from './exchanges.js';
import { faultPreviewRoutes } from './fault-preview.js';
import { faultRoutes } from './faults.js';
import { lineRoutes } from './lines.js';
import { portRoutes } from './ports.js';
import { registerRoutes } from './registers.js';
import { schemaRoutes } from './schemas.js';
import { sessionRoutes } from './session.js';
import { signalRoutes } from './signals.js';
import { testRoutes } from './tests.js';
import { trafficRoutes } from './traffic.js';
import { trafficFileRoutes } from './traffic-file.js';
import { wordRoutes } from './words.js';

interface V1Tools {
  readonly answers: LongAnswers;
  readonly access: Access;
  /** The directory where clients may let files be written. */
  readonly writesIn: string;
}

/** `/api/v1`: the interface of our own. Every error has the same body: a text, and the places of the mistakes. */
export function v1Routes(
  simulator: Simulator,
  { answers, access, writesIn }: V1Tools,
): FastifyPluginCallback {
  const leases = new LineLeases();
  return (app, _, done) => {
    app.register(deviceRoutes(simulator));
    app.register(registerRoutes(simulator));
    app.register(wordRoutes(simulator));
    app.register(signalRoutes(simulator, answers));
    app.register(lineRoutes(simulator, answers, writesIn));
    app.register(additionRoutes(simulator, answers, writesIn));
    app.register(configurationRoutes(simulator, answers));
    app.register(portRoutes(simulator));
    app.register(faultRoutes(simulator, answers));
    app.register(faultPreviewRoutes(simulator));
    app.register(exchangeRoutes(simulator, answers));
    app.register(schemaRoutes());
    app.register(sessionRoutes(access));
    app.register(testRoutes(simulator, leases, answers));
    app.register(examinationRoutes(simulator, leases, answers));
    app.register(captureRoutes(simulator, answers));
    app.register(trafficFileRoutes(simulator, writesIn));
    app.register(trafficRoutes(simulator, answers));
    app.register(eventRoutes(simulator, answers));
    done();
  };
}
