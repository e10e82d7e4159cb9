import type { AtDesk } from '../remote/api/extension.js';
import { fleetAtDesk } from './fleet/desk.js';
import { importAtDesk } from './import/desk.js';
import { learnAtDesk } from './learn/desk.js';
import { restapiAtDesk } from './restapi/desk.js';
import { sparkplugAtDesk } from './sparkplug/desk.js';
import { trafficFilesAtDesk } from './traffic-files/desk.js';
import { viewAtDesk } from './view/desk.js';

/** The parts of extensions that run at the desk, in the order in which OpenAPI lists their routes. */
export const AT_DESK: readonly AtDesk[] = [
  ...[importAtDesk, learnAtDesk, viewAtDesk, fleetAtDesk, trafficFilesAtDesk, restapiAtDesk, sparkplugAtDesk],
];
