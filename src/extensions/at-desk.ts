import type { AtDesk } from '../remote/api/extension.js';
import { fleetAtDesk } from './fleet/desk.js';
import { importAtDesk } from './import/desk.js';
import { learnAtDesk } from './learn/desk.js';
import { restapiAtDesk } from './restapi/desk.js';
import { sparkplugAtDesk } from './sparkplug/desk.js';
import { trafficFilesAtDesk } from './traffic-files/desk.js';
import { viewAtDesk } from './view/desk.js';

/** What the extensions do at the desk, in the order of the document of REST. */
export const AT_DESK: readonly AtDesk[] = [
  ...[importAtDesk, learnAtDesk, viewAtDesk, fleetAtDesk, trafficFilesAtDesk, restapiAtDesk, sparkplugAtDesk],
];
