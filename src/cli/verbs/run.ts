import { version } from '../../common/package.js';
import { type Command, parseCommandLine } from '../command-line/command-line.js';
import type { Extension } from '../command-line/extension.js';
import { withCredentials } from '../service/credential.js';
import { startDeskThread } from './desk-messages.js';
import { complain, say, WRONG_USAGE } from './say.js';

/** Runs the command on the command line; resolves with the exit code. */
export async function main(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  extensions: readonly Extension[],
): Promise<number> {
  const withToken = await withCredentials(environment);
  if (!withToken.ok) return complain(withToken.error);
  return run(parseCommandLine(args, withToken.value, extensions), extensions);
}

/**
 * Runs a command. Each command loads only the part of the program that it needs, so `--version` takes no
 * longer than Node itself.
 */
async function run(command: Command, extensions: readonly Extension[]): Promise<number> {
  switch (command.kind) {
    case 'help':
      return say(command.text);
    case 'version':
      return say(version());
    case 'error':
      return complain(command.message, WRONG_USAGE);
    case 'check':
      return (await import('./load.js')).check(command);
    case 'catalogue':
      return (await import('./catalogue.js')).catalogue(command);
    case 'schema':
      return (await import('./schema.js')).schema(command);
    case 'ports':
      return (await import('./ports.js')).ports(command);
    case 'completion':
      return say((await import('../command-line/completion.js')).completion(command, extensions));
    case 'reload':
      return (await import('./reload.js')).reload(command);
    case 'report':
      return (await import('./report.js')).report(command);
    case 'measure':
      return (await import('./measure.js')).measure(command);
    case 'test':
      return (await import('./test.js')).test(command);
    case 'test-client':
      return (await import('./test-client.js')).testClient(command.request);
    case 'fuzz':
      return (await import('./fuzz.js')).fuzz(command);
    case 'test-server':
      return (await import('./test-server.js')).testServer(command.request);
    case 'monitor':
      return (await import('./monitor.js')).monitor(command);
    case 'extension':
      return command.carryOut();
    case 'serve': {
      // Both threads load their modules at the same time.
      const thread = startDeskThread();
      return (await import('./serve.js')).serve(command, thread);
    }
  }
}
