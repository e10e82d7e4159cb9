import type { ComponentType } from 'preact';
import type { ViewName } from '../api/console/paths.js';
import { FaultsView } from './views/faults/faults.js';
import { LinesView } from './views/lines/lines.js';
import { RegistersView } from './views/registers/registers.js';
import { TestsView } from './views/tests/tests.js';
import { TrafficView } from './views/traffic/traffic.js';

/** The views, in the order of the navigation. A view takes no properties: where it is, `place` of `route.ts` says. */
export const VIEWS: Readonly<Record<ViewName, { readonly title: string; readonly View: ComponentType }>> = {
  lines: { title: 'Lines', View: LinesView },
  registers: { title: 'Registers', View: RegistersView },
  traffic: { title: 'Traffic', View: TrafficView },
  faults: { title: 'Faults', View: FaultsView },
  tests: { title: 'Tests', View: TestsView },
};
