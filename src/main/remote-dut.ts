import { Dut } from '../testing/scenario/dut.js';
import type { DutDefinition } from '../testing/scenario/dut-definition.js';
import { withEndpoints } from '../testing/scenario/line-endpoints.js';
import type { Remote } from './remote.js';

/** Characters of what a program has said last; they go into an address. */
const LONGEST_FAILURE = 1000;

/**
 * Starts the device under test here, for lines of another simulator.
 * @param giveUp resolves when it is no longer wanted
 * @returns why it can't be started, as a sentence
 */
export async function startRemoteDut(
  definition: DutDefinition,
  directory: string,
  remote: Remote,
  giveUp: Promise<unknown>,
): Promise<Dut | string> {
  const endpoints = await remote.endpoints();
  if (typeof endpoints === 'string') return endpoints;
  const command = withEndpoints(definition.command, endpoints);
  const started = await Dut.start(definition, { command, directory, giveUp });
  return started.ok ? started.dut : started.error;
}

/** Ends what runs at `path` when it is to stop, or when its client has died. */
export function endRemotely(
  remote: Remote,
  path: string,
  stop: Promise<unknown>,
  dut: Dut | undefined,
): void {
  void stop.then(() => void remote.ask('DELETE', path));
  void dut?.died().then((how) => {
    const failure = encodeURIComponent(how.slice(0, LONGEST_FAILURE));
    void remote.ask('DELETE', `${path}?failure=${failure}`);
  });
}
