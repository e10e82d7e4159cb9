import type { Configuration } from '../../src/config/configuration.js';
import { loadPymodbus } from '../../src/config/load.js';
import { nativeConfiguration } from '../../src/config/native/file.js';
import { At } from '../../src/schema/at.js';
import { fileFindings } from '../../src/schema/findings.js';

/** The configuration that a native file with this content would give. */
export function nativeSetup(data: unknown): Configuration {
  const at = new At(data, fileFindings());
  const pymodbusDevices = () => ({ ok: false, messages: ['not here'], warnings: [] }) as const;
  const configuration = nativeConfiguration(at, { pymodbusDevices, api: {}, directory: '.' });
  if (at.findings.count > 0) throw new Error(JSON.stringify(at.findings.listed));
  return configuration;
}

export function pymodbusSetup(file: string, server: string, device: string): Configuration {
  const loaded = loadPymodbus({ file, server, device });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.configuration;
}
