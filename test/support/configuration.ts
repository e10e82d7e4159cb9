import type { Configuration } from '../../src/document/configuration.js';
import { loadNative, loadPymodbus } from '../../src/document/load.js';

/** The configuration that a native file with this content would give in `directory`. */
export function nativeSetup(data: object | string, directory = '.'): Configuration {
  const loaded = loadNative(data, directory);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.configuration;
}

export function pymodbusSetup(file: string, server: string, device: string): Configuration {
  const loaded = loadPymodbus({ file, server, device });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.configuration;
}
