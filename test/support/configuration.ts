import type { Configuration } from '../../src/config/configuration.js';
import { loadPymodbus } from '../../src/config/load.js';
import { nativeConfiguration } from '../../src/config/native.js';
import type { Issue } from '../../src/schema/problem.js';

/** The configuration that a native file with this content would give. */
export function nativeSetup(data: unknown): Configuration {
  const issues: Issue[] = [];
  const pymodbusDevices = () => ({ ok: false, messages: ['not here'] }) as const;
  const configuration = nativeConfiguration(data, { pymodbusDevices, api: {}, directory: '.' }, issues);
  if (issues.length > 0) throw new Error(JSON.stringify(issues));
  return configuration;
}

export function pymodbusSetup(file: string, server: string, device: string): Configuration {
  const loaded = loadPymodbus({ file, server, device });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.configuration;
}
