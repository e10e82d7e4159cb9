import { createServer } from 'node:net';
import type {
  ApiDefinition,
  Configuration,
  LineDefinition,
  LineSource,
} from '../../document/configuration.js';
import { lineWith } from '../../document/native/line.js';
import { servingProcess } from '../../modbus/transport/port/client-link.js';
import { defaultLink } from '../../modbus/transport/port/open-port.js';

/**
 * If another program has the demo's ports or link, moves the demo to free ports and another link.
 * @param mayMoveRest false if the user has chosen the REST port
 * @param say called with a sentence for each change
 */
export async function withoutTaken(
  configuration: Configuration,
  mayMoveRest: boolean,
  say: (text: string) => void,
): Promise<Configuration> {
  const lines: LineDefinition[] = [];
  for (const line of configuration.lines)
    lines.push(lineWith(await withoutTakenOf(line, say), line, configuration));
  const { api } = configuration;
  const moves = mayMoveRest && (await isTaken(api));
  if (moves) say(`port ${api.port} is taken, so REST uses a free one`);
  return { ...configuration, lines, api: moves ? { ...api, port: 0 } : api };
}

/** The change to a line that needs something another program has. */
async function withoutTakenOf(line: LineDefinition, say: (text: string) => void): Promise<LineSource> {
  const { name } = line;
  if (line.kind === 'serial') {
    const process = servingProcess(defaultLink(name));
    if (process === undefined) return {};
    const link = defaultLink(`${name}-${globalThis.process.pid}`);
    say(`process ${process} uses the link of line ${name}, so this program uses ${link}`);
    return { serial: { link } };
  }
  if (!(await isTaken(line))) return {};
  say(`port ${line.port} is taken, so line ${name} uses a free one`);
  return { [line.kind]: { port: 0 } };
}

/** True if listening at this address is impossible because another program does. */
function isTaken({ host, port }: Pick<ApiDefinition, 'host' | 'port'>): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EADDRINUSE'));
    server.listen(port, host, () => server.close(() => resolve(false)));
  });
}
