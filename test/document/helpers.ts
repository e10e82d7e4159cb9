import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { At } from '../../src/common/schema/at.js';
import { fileFindings } from '../../src/common/schema/findings.js';
import { type Issue, type Problem, pathText } from '../../src/common/schema/problem.js';
import { RegisterImage } from '../../src/device/registers/image.js';
import type { RegisterLayout } from '../../src/device/registers/layout.js';
import type { TableName } from '../../src/device/tables.js';
import type { Configuration, DeviceDefinition } from '../../src/document/configuration.js';
import type { LoadResult } from '../../src/document/load.js';
import { NativeDeviceReader } from '../../src/document/native/device.js';
import { nativeConfiguration } from '../../src/document/native/file.js';
import { type PymodbusChoice, pymodbusConfiguration } from '../../src/document/pymodbus/file.js';
import { recordingsIn } from '../../src/document/recording-file.js';
import { parseText } from '../../src/document/text/parse-text.js';
import { expectEditorToAgree } from '../support/editor.js';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`./${name}`, import.meta.url));
}

/** A function that writes a file into a directory that is gone after the tests. */
export function scratchFiles(): (name: string, content: string | Uint8Array) => string {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-config-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return (name, content) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
}

/** `path: message` of each mistake in a native file's text, about which the schema for editors has to agree. */
export function nativeMistakes(text: string): string[] {
  const data = dataOf(text);
  const at = cursor(data);
  const pymodbusDevices = () => ({ ok: false, error: ['not here'], warnings: [] }) as const;
  const devices = new NativeDeviceReader(pymodbusDevices, recordingsIn('/etc'));
  nativeConfiguration(at, { devices, api: {}, directory: '/etc' });
  const mistakes = mistakesOf(at);
  expectEditorToAgree(data, mistakes);
  return mistakes;
}

export function pymodbusMistakes(data: unknown, choice: PymodbusChoice = {}): string[] {
  const at = cursor(data);
  pymodbusConfiguration(at, choice);
  return mistakesOf(at);
}

/** A cursor into data as a file would have it. */
export function cursor(data: unknown): At {
  return new At(data, fileFindings());
}

/** `path: message` of each mistake that was told. */
export function mistakesOf({ findings }: At): string[] {
  return findings.listed.map(asText);
}

/** `path: message` of each warning that was told. */
export function warningsOf({ findings }: At): string[] {
  return findings.warnings.map(asText);
}

function asText({ path, message }: Issue): string {
  return `${pathText(path)}: ${message}`;
}

function dataOf(text: string): unknown {
  const parsed = parseText(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.source.value;
}

export function loaded(result: LoadResult): Configuration {
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.configuration;
}

export function problemsOf(
  result: { ok: true } | { ok: false; problems: readonly Problem[] },
): readonly Problem[] {
  if (result.ok) throw new Error('expected mistakes');
  return result.problems;
}

export function deviceOf(configuration: Configuration, name: string): DeviceDefinition {
  const device = configuration.devices.find((each) => each.name === name);
  if (!device) throw new Error(`no device ${name}`);
  return device;
}

/** The registers as a device would hold them. */
export function imageOf(layout: RegisterLayout): RegisterImage {
  return new RegisterImage(layout, { random: () => 0.5, now: () => new Date(0), uptime: () => 0 });
}

/** The typed value at an address of a table. */
export function valueAt(device: DeviceDefinition, table: TableName, address: number): unknown {
  const { layout, base } = device.tables[table];
  const image = imageOf(layout);
  const span = image.valueSpan(base + address);
  return span && image.valueAt(span);
}
