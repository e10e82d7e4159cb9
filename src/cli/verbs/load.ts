import { formatProblems } from '../../common/schema/problem.js';
import type { ApiOverrides } from '../../files/config/api-definition.js';
import type { Configuration } from '../../files/config/configuration.js';
import { type ConfigurationSource, type LoadResult, loadConfiguration } from '../../files/config/load.js';
import { complain, warn } from './say.js';

/**
 * Loads the configuration and prints its warnings. Prints every mistake in it and returns undefined if it is
 * invalid.
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

/** The name of a configuration source in messages. */
export function sourceName(source: ConfigurationSource): string {
  return source.kind === 'demo' ? 'demo' : source.file;
}
