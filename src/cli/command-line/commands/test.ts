import { compact } from '../../../common/compact.js';
import { failure, type Result, success } from '../../../common/result.js';
import { allOf, command } from './scan.js';
import {
  FREE_PORTS_OPTION,
  FREE_PORTS_REMOTE,
  REMOTE_OPTIONS,
  REPORT_OPTIONS,
  type Reports,
  reportsOf,
  text,
} from './values.js';

export interface TestCommand extends Reports {
  readonly kind: 'test';
  readonly files: readonly string[];
  /** Scenario parameters, as `name=value`. */
  readonly settings: readonly string[];
  /** Whether all lines of each simulator use free ports, whatever the configuration says. */
  readonly freePorts?: boolean;
  /** The command line of the program under test, instead of the one in the scenarios. */
  readonly dut?: string;
  /** REST URL of a running simulator. If undefined, each scenario gets its own simulator. */
  readonly url?: string;
  readonly token?: string;
}

export const TEST = command({
  name: 'test',
  words: 'FILE...',
  summary: 'run scenarios against a client and report how it behaved',
  details: "Exit 1 if a step did not pass, 2 if a file is invalid or the bench can't run.",
  examples: ['test scenario.yaml --junit report.xml'],
  options: {
    set: text('NAME=VALUE', 'a scenario parameter; can be repeated'),
    dut: text('COMMAND', 'start this program under test instead of the command in the scenario'),
    ...FREE_PORTS_OPTION,
    ...REPORT_OPTIONS,
    ...REMOTE_OPTIONS,
  },
  parse({ words, values, options, token: tokenInEnvironment }): Result<TestCommand> {
    if (words.length === 0) return failure('test needs one or more scenario files');
    const { url, token = tokenInEnvironment, 'free-ports': freePorts, dut } = values;
    if (freePorts && url !== undefined) return failure(FREE_PORTS_REMOTE);
    return success({
      kind: 'test',
      files: words,
      settings: allOf(options, 'set'),
      ...reportsOf(values),
      ...compact({ freePorts, dut, url, token }),
    });
  },
});
