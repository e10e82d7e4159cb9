import type { At } from '../schema/at.js';
import { compact } from './compact.js';
import type { ApiDefinition } from './configuration.js';

/** REST settings of the command line and the environment. They take precedence over the file. */
export interface ApiOverrides {
  readonly httpHost?: string;
  readonly httpPort?: number;
  readonly token?: string;
}

/** What a file says. */
export interface ConfiguredApi {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly token?: string | undefined;
  readonly maxConnections?: number | undefined;
}

export const DEFAULT_API: ApiDefinition = { host: '127.0.0.1', port: 8080 };

/** The REST interface to open. Its clients control the bus, so it needs a token when it is open beyond this machine. */
export function resolveApi(
  configured: ConfiguredApi,
  overrides: ApiOverrides,
  file: At,
  defaults: ApiDefinition = DEFAULT_API,
): ApiDefinition {
  const host = overrides.httpHost ?? configured.host ?? defaults.host;
  const port = overrides.httpPort ?? configured.port ?? defaults.port;
  const token = overrides.token ?? configured.token;
  if (token === undefined && !isLoopback(host)) {
    const at = overrides.httpHost === undefined ? file.key('api').key('host') : file.key('--http_host');
    at.wrong(
      `${host} can be reached from other machines, which needs a token: in api.token or MODBUS_SIM_TOKEN`,
    );
  }
  // The token itself is not shown: messages go into logs.
  if (token !== undefined && !SENDABLE.test(token)) {
    const at = overrides.token === undefined ? file.key('api').key('token') : file.key('MODBUS_SIM_TOKEN');
    at.wrong('expected ASCII characters without spaces: clients send it in an HTTP header');
  }
  return compact({ host, port, token, maxConnections: configured.maxConnections });
}

/** Characters that every client can put into a header, and that mean the same to all. */
const SENDABLE = /^[!-~]+$/;

function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
