import { compact } from '../common/compact.js';
import type { At } from '../common/schema/at.js';
import type { ApiDefinition } from './configuration.js';

/** REST settings from the command line and the environment. They take precedence over the file. */
export interface ApiOverrides {
  readonly httpHost?: string;
  readonly httpPort?: number;
  /** The port to use if neither the command line nor the file specifies one. */
  readonly defaultPort?: number;
  readonly token?: string;
}

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** REST settings from a file. */
export interface ConfiguredApi extends Optional<ApiDefinition> {
  /** Allows REST without a token from other machines. */
  readonly insecure?: boolean;
}

export const DEFAULT_API: ApiDefinition = { host: '127.0.0.1', port: 8080 };

/**
 * Decides which REST interface to open. Clients of REST control the bus, so an interface that other machines
 * can reach needs a token.
 */
export function resolveApi(
  configured: ConfiguredApi,
  overrides: ApiOverrides,
  file: At,
  defaults: ApiDefinition = DEFAULT_API,
): ApiDefinition {
  const { insecure = false, ...settings } = configured;
  const host = overrides.httpHost ?? configured.host ?? defaults.host;
  const port = overrides.httpPort ?? configured.port ?? overrides.defaultPort ?? defaults.port;
  const token = overrides.token ?? configured.token;
  const tokens = tokensOf(configured, overrides, file);
  if (tokens.length === 0 && !insecure && !isLoopback(host)) {
    const at = overrides.httpHost === undefined ? file.key('api').key('host') : file.key('--http_host');
    at.wrong(
      `${host} can be reached from other machines, so a token is required: set api.token or MODBUS_SIM_TOKEN`,
    );
  }
  const known = new Set<string>();
  for (const { text, at } of tokens) {
    checkToken(text, at);
    if (known.has(text)) at.wrong('is the same as another token');
    known.add(text);
  }
  return compact({ ...settings, host, port, token });
}

interface Token {
  readonly text: string;
  /** The place of the token in the file. */
  readonly at: At;
}

function tokensOf({ token, readTokens = [] }: ConfiguredApi, overrides: ApiOverrides, file: At): Token[] {
  const api = file.key('api');
  const own =
    overrides.token === undefined
      ? { text: token, at: api.key('token') }
      : { text: overrides.token, at: file.key('MODBUS_SIM_TOKEN') };
  const forReading = readTokens.map((text, i) => ({ text, at: api.key('readTokens').key(i) }));
  return [own, ...forReading].filter((each): each is Token => each.text !== undefined);
}

/** Reports what is wrong with a token. A message never contains the token, because messages are logged. */
function checkToken(token: string, at: At): void {
  if (!SENDABLE.test(token)) {
    at.wrong('expected ASCII characters without spaces: clients send it in an HTTP header');
  } else if (token.length < SHORT_TOKEN) {
    at.warn(
      `a token of fewer than ${SHORT_TOKEN} characters can be guessed; openssl rand -hex 16 makes a good one`,
    );
  }
}

/** Characters that every client can put into a header, and that every server reads the same way. */
const SENDABLE = /^[!-~]+$/;

/** Tokens shorter than this get a warning. */
const SHORT_TOKEN = 16;

function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
