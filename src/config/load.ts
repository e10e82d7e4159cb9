import { dirname, resolve } from 'node:path';
import { formatProblems, type Issue, type Problem } from '../schema/problem.js';
import type { ApiOverrides } from './api-definition.js';
import type { Configuration } from './configuration.js';
import { demoConfiguration } from './demo.js';
import type { PymodbusDevices } from './native/device.js';
import { nativeConfiguration } from './native/file.js';
import {
  checkPymodbus,
  isPymodbus,
  type PymodbusChoice,
  pymodbusConfiguration,
  pymodbusDeviceNamed,
} from './pymodbus/file.js';
import type { ParsedText, SourceText } from './text/parse-text.js';
import { readConfigFile } from './text/read-file.js';

/** A configuration, or every mistake that was found, in the order of the file. */
export type LoadResult =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export type CheckResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Where a configuration comes from. */
export type ConfigurationSource =
  | { readonly kind: 'demo' }
  | { readonly kind: 'native'; readonly file: string }
  | { readonly kind: 'pymodbus'; readonly file: string; readonly server?: string; readonly device?: string };

/** Loads a configuration. All functions of this module read files synchronously: they run before anything serves. */
export function loadConfiguration(source: ConfigurationSource, api: ApiOverrides = {}): LoadResult {
  switch (source.kind) {
    case 'demo': {
      const issues: Issue[] = [];
      const configuration = demoConfiguration(api, issues);
      const problems = issues.map(({ path, message }) => ({ path: path.join('.'), message }));
      return problems.length === 0 ? { ok: true, configuration } : { ok: false, problems };
    }
    case 'native':
      return loadNativeFile(source.file, api);
    case 'pymodbus':
      return loadPymodbus({ ...source, ...api });
  }
}

/** Loads a native file; pymodbus files it refers to are found from its directory. */
export function loadNativeFile(file: string, api: ApiOverrides = {}): LoadResult {
  return buildNative(file, readConfigFile(file), api);
}

function buildNative(file: string, parsed: ParsedText, api: ApiOverrides): LoadResult {
  return build(parsed, (source, issues) => {
    const directory = dirname(resolve(file));
    const pymodbusDevices = pymodbusDevicesFrom(directory);
    return nativeConfiguration(source.value, { pymodbusDevices, api, directory }, issues);
  });
}

/** Loads one server and one device of a pymodbus file. */
export function loadPymodbus({ file, ...choice }: PymodbusChoice & { readonly file: string }): LoadResult {
  return build(readConfigFile(file), (source, issues) => pymodbusConfiguration(source.value, choice, issues));
}

/** Checks a file of either kind: all of it, every server and device of a pymodbus file included. */
export function checkFile(file: string, api: ApiOverrides = {}): CheckResult {
  const parsed = readConfigFile(file);
  if (!parsed.ok) return parsed;
  if (!isPymodbus(parsed.source.value)) {
    const result = buildNative(file, parsed, api);
    return result.ok ? { ok: true } : result;
  }
  const issues: Issue[] = [];
  checkPymodbus(parsed.source.value, issues);
  return issues.length === 0 ? { ok: true } : { ok: false, problems: parsed.source.locate(issues) };
}

function build(
  parsed: ParsedText,
  configure: (source: SourceText, issues: Issue[]) => Configuration | undefined,
): LoadResult {
  if (!parsed.ok) return parsed;
  const issues: Issue[] = [];
  const configuration = configure(parsed.source, issues);
  if (configuration && issues.length === 0) return { ok: true, configuration };
  return { ok: false, problems: parsed.source.locate(issues) };
}

/** Reads each file once and builds each device once, so that lines and names share their layouts. */
function pymodbusDevicesFrom(directory: string): PymodbusDevices {
  const files = new Map<string, ParsedText>();
  const results = new Map<string, ReturnType<PymodbusDevices>>();
  return (file, device) => {
    const path = resolve(directory, file);
    const key = JSON.stringify([path, device ?? null]);
    const known = results.get(key);
    if (known) return known;
    const parsed = files.get(path) ?? readConfigFile(path);
    files.set(path, parsed);
    const result = deviceOf(file, parsed, device);
    results.set(key, result);
    return result;
  };
}

function deviceOf(file: string, parsed: ParsedText, device: string | undefined): ReturnType<PymodbusDevices> {
  const failed = (problems: readonly Problem[]) =>
    ({ ok: false, messages: problems.map((each) => formatProblems(file, [each])) }) as const;
  if (!parsed.ok) return failed(parsed.problems);
  const issues: Issue[] = [];
  const registers = pymodbusDeviceNamed(parsed.source.value, device, issues);
  return registers && issues.length === 0 ? { ok: true, registers } : failed(parsed.source.locate(issues));
}
