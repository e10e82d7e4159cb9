import { formatProblems } from '../../common/schema/problem.js';
import type { ApiOverrides } from '../../document/api-definition.js';
import type { Configuration } from '../../document/configuration.js';
import {
  type ConfigurationSource,
  checkFile,
  type LoadResult,
  loadConfiguration,
} from '../../document/load.js';
import type { CheckCommand } from '../command-line/commands/plain.js';
import { tokenOfService } from '../service/credential.js';
import { complain, FAILED, NOT_DONE, OK, say, sayJson, warn } from './say.js';

/**
 * Loads the configuration and prints its warnings. If it is invalid, prints every mistake and returns
 * undefined.
 * @param note called with the result
 */
export function load(
  source: ConfigurationSource,
  api: ApiOverrides,
  note?: (loaded: LoadResult) => void,
): Configuration | undefined {
  const loaded = loadConfiguration(source, api);
  note?.(loaded);
  const file = sourceName(source);
  warn(file, loaded.warnings);
  if (loaded.ok) return loaded.configuration;
  complain(formatProblems(file, loaded.problems));
  return undefined;
}

export function sourceName(source: ConfigurationSource): string {
  return source.kind === 'demo' ? 'demo' : source.file;
}

/**
 * Prints every mistake in a file. For a service's file a missing token is not a mistake, because a service
 * gets its token from elsewhere.
 */
export function check({ file, api, asJson }: CheckCommand): number {
  const token = api.token === undefined ? tokenOfService(file) : undefined;
  // Checked as if REST were only open to this machine, which needs no token.
  const result = checkFile(file, token === undefined ? api : { ...api, httpHost: '127.0.0.1' });
  if (asJson) {
    const mistakes = result.ok ? [] : result.problems;
    sayJson({ file, ok: result.ok, mistakes, warnings: result.warnings });
    return codeOf(result);
  }
  warn(file, result.warnings);
  if (token !== undefined) say(`${file}: the token comes from a credential of the service (${token})`);
  return result.ok
    ? say(`${file}: no mistakes found`)
    : complain(formatProblems(file, result.problems), codeOf(result));
}

/** The exit code for a configuration: 1 if it has mistakes, 2 if it can't be read. */
export function codeOf({ ok, unread }: { readonly ok: boolean; readonly unread?: true }): number {
  if (ok) return OK;
  return unread ? NOT_DONE : FAILED;
}
