import { dirname, resolve } from 'node:path';
import { HERE, type Platform, whyNotVirtual, whyNoWindowsName } from '../common/platform.js';
import { At } from '../common/schema/at.js';
import { type Findings, fileFindings } from '../common/schema/findings.js';
import { formatProblems, type Issue, type Problem, pathText } from '../common/schema/problem.js';
import { atOnce, type Work } from '../common/work.js';
import type { ApiOverrides } from './api-definition.js';
import type { Configuration, LineDefinition } from './configuration.js';
import { onFreePorts } from './free-ports.js';
import { NativeDeviceReader, type PymodbusDevices } from './native/device.js';
import { nativeConfiguration, readingConfiguration } from './native/file.js';
import {
  checkPymodbus,
  isPymodbus,
  type PymodbusChoice,
  pymodbusConfiguration,
  pymodbusDeviceNamed,
} from './pymodbus/file.js';
import { recordingsIn } from './recording-file.js';
import { type ParsedText, parseText, type SourceText } from './text/parse-text.js';
import { readConfigFile, readConfigInput } from './text/read-file.js';

/** A typical energy meter: measurements as floats, counters, status bits, set points. */
const METER = {
  identity: {
    vendorName: 'modbus-sim',
    productCode: 'demo-meter',
    majorMinorRevision: '1.0',
    productName: 'Demo energy meter',
    modelName: 'three-phase',
    userApplicationName: 'demo',
  },
  registers: {
    coils: [
      { address: 0, value: [1, 0], write: true },
      { address: 8, quantity: 8, write: true },
    ],
    discrete: [{ address: 0, value: [1, 1, 1, 0, 0, 0, 0, 0] }],
    holding: [
      { address: 0, value: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], write: true },
      { address: 100, type: 'string', value: 'SIM-000001', length: 8 },
      { address: 110, action: 'timestamp' },
      { address: 120, type: 'float32', value: [50, 400], write: true },
      { address: 124, type: 'int16', value: -5, write: true },
    ],
    input: [
      { address: 0, type: 'float32', value: [230.1, 229.8, 230.6] },
      { address: 6, type: 'float32', value: 4.2, action: 'random', min: 4, max: 4.5 },
      { address: 8, type: 'float32', value: [4.1, 4.3] },
      { address: 12, type: 'float32', value: 2890.5 },
      { address: 14, type: 'float32', value: 49.98, action: 'random', min: 49.95, max: 50.05 },
      { address: 20, type: 'uint32', value: 123456, action: 'increment' },
      { address: 22, type: 'uint64', value: 9876543210 },
      { address: 30, type: 'bits', value: 0x0005 },
      { address: 31, type: 'int16', value: 231 },
      { address: 40, type: 'uint32', action: 'uptime' },
    ],
  },
};

const SWITCH = {
  identity: { vendorName: 'modbus-sim', productCode: 'demo-switch', majorMinorRevision: '1.0' },
  registers: {
    coils: [{ address: 0, value: [0, 1, 0, 1], write: true }],
    discrete: [{ address: 0, value: [0, 1, 0, 1] }],
    holding: [{ address: 0, value: [10, 20, 30, 40], write: true }],
    input: [{ address: 0, value: 0, action: 'increment', min: 0, max: 100 }],
  },
};

/** The RTU line of the demo: a virtual one or, on systems without those, TCP. */
function rtuLine({ isLinux }: Platform): object {
  return isLinux
    ? { serial: { path: 'virtual', baudRate: 9600, parity: 'none' } }
    : { tcp: { host: '127.0.0.1', port: 5021 }, framing: 'rtu' };
}

/**
 * Explains what the demo lacks on a system without virtual lines, and where its console is; undefined on
 * Linux.
 * @param address the address of REST
 */
export function demoNote({ name, isLinux, isWindows }: Platform, address: string): string | undefined {
  if (isLinux) return undefined;
  const pair = isWindows ? ' com0com can create a pair of COM ports for your own line.' : '';
  return `console: ${address}/\nThere is no virtual serial line on ${name}: line demo uses RTU over TCP.${pair}`;
}

/**
 * Builds the configuration of the built-in demo with the code that reads native files. Only `api` can have
 * mistakes.
 */
export function demoConfiguration(api: ApiOverrides, findings: Findings, platform = HERE): Configuration {
  const units = { 1: 'meter', 2: 'switch' };
  const demo = {
    devices: { meter: METER, switch: SWITCH },
    lines: {
      demo: { ...rtuLine(platform), units },
      lan: { tcp: { host: '127.0.0.1', port: 5020 }, units },
    },
    api: { host: '127.0.0.1', port: 8080 },
  };
  const noPymodbus = () => ({ ok: false, error: [], warnings: [] }) as const;
  const devices = new NativeDeviceReader(noPymodbus, recordingsIn('.'));
  return nativeConfiguration(new At(demo, findings), { devices, api, directory: '.' });
}

/** All mistakes in a file, and all warnings about it, both in the order of the file. */
interface Mistaken {
  readonly ok: false;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** The file itself could not be read. */
  readonly unread?: true;
}

export type LoadResult =
  | { readonly ok: true; readonly configuration: Configuration; readonly warnings: readonly Problem[] }
  | Mistaken;

type CheckResult = { readonly ok: true; readonly warnings: readonly Problem[] } | Mistaken;

/** The source of a configuration. With `freePorts`, its lines and REST are moved to free ports. */
export type ConfigurationSource = { readonly freePorts?: boolean } & (
  | { readonly kind: 'demo' }
  | { readonly kind: 'native'; readonly file: string }
  | { readonly kind: 'pymodbus'; readonly file: string; readonly server?: string; readonly device?: string }
);

/** Loads a configuration. All functions of this module read files synchronously: they run before any line is served. */
export function loadConfiguration(source: ConfigurationSource, api: ApiOverrides = {}): LoadResult {
  const loaded = loadFrom(source, source.freePorts ? { httpPort: 0, ...api } : api);
  if (!source.freePorts || !loaded.ok) return loaded;
  return { ...loaded, configuration: onFreePorts(loaded.configuration) };
}

function loadFrom(source: ConfigurationSource, api: ApiOverrides): LoadResult {
  switch (source.kind) {
    case 'demo': {
      const findings = fileFindings();
      const configuration = demoConfiguration(api, findings);
      return resultOf(configuration, findings, unlocated);
    }
    case 'native':
      return loadNativeFile(source.file, api, source.freePorts ? undefined : HERE);
    case 'pymodbus':
      return loadPymodbus({ ...source, ...api });
  }
}

/**
 * Loads a native file. Relative paths of pymodbus files in it are relative to its directory.
 * @param platform the system that its lines are for; undefined if they are moved to free ports
 */
export function loadNativeFile(file: string, api: ApiOverrides = {}, platform?: Platform): LoadResult {
  return build(readConfigFile(file), (at) => {
    const configuration = buildNative(dirname(resolve(file)), at, api);
    if (platform) reportUnfit(configuration.lines, at.key('lines'), platform);
    return configuration;
  });
}

/** Reports settings of serial lines that a system does not support, so that the start would refuse them. */
function reportUnfit(lines: readonly LineDefinition[], at: At, platform: Platform): void {
  if (platform.isLinux) return;
  for (const line of lines) {
    if (line.kind !== 'serial') continue;
    const serial = at.key(line.name).key('serial');
    const name = platform.isWindows ? whyNoWindowsName(line.path) : undefined;
    if (line.path === 'virtual') serial.key('path').wrong(whyNotVirtual(platform) ?? '');
    else if (name !== undefined) serial.key('path').wrong(`${name}; got ${line.path}`);
    const reason = `needs Linux, and this is ${platform.name}`;
    if (line.rs485) serial.key('rs485').wrong(`${reason}; use an adapter that switches direction on its own`);
    if (line.parityMarks) serial.key('parityMarks').wrong(reason);
  }
}

/**
 * Loads a native configuration from YAML or JSON text, or from data. Relative paths in it are relative to
 * `directory`.
 */
export function loadNative(content: string | object, directory: string): LoadResult {
  const parsed: ParsedText =
    typeof content === 'string'
      ? parseText(content)
      : { ok: true, source: { value: content, locate: unlocated } };
  return build(parsed, (at) => buildNative(directory, at, {}));
}

/** Returns the mistakes in data, which has no line numbers. */
function unlocated(issues: readonly Issue[]): Problem[] {
  return issues.map(({ path, message }) => ({ path: pathText(path), message }));
}

/**
 * Builds the configuration inside a file of another kind. The result is usable only if no mistakes were
 * reported. Relative paths in it are relative to `directory`.
 */
export function buildNative(directory: string, at: At, api: ApiOverrides): Configuration {
  return atOnce(readingNative(directory, at, api));
}

/** Does the same as `buildNative`, as work that can pause. */
export function readingNative(directory: string, at: At, api: ApiOverrides): Work<Configuration> {
  const devices = new NativeDeviceReader(pymodbusDevicesFrom(directory), recordingsIn(directory));
  return readingConfiguration(at, { devices, api, directory });
}

/** Loads one server and one device of a pymodbus file. */
export function loadPymodbus({ file, ...choice }: PymodbusChoice & { readonly file: string }): LoadResult {
  return build(readConfigFile(file), (at) => pymodbusConfiguration(at, choice));
}

/** Checks a file of either kind, or standard input for `-`. In a pymodbus file, all servers and devices are checked. */
export function checkFile(file: string, api: ApiOverrides = {}, platform = HERE): CheckResult {
  const parsed = file === '-' ? readConfigInput() : readConfigFile(file);
  if (!parsed.ok) return { ...parsed, warnings: [] };
  const { value, locate } = parsed.source;
  const findings = fileFindings();
  const at = new At(value, findings);
  if (isPymodbus(at)) checkPymodbus(at);
  else reportUnfit(buildNative(dirname(resolve(file)), at, api).lines, at.key('lines'), platform);
  const warnings = locate(findings.warnings);
  return findings.count === 0
    ? { ok: true, warnings }
    : { ok: false, problems: locate(findings.listed), warnings };
}

function build(parsed: ParsedText, configure: (at: At) => Configuration | undefined): LoadResult {
  if (!parsed.ok) return { ...parsed, warnings: [] };
  const { value, locate } = parsed.source;
  const findings = fileFindings();
  return resultOf(configure(new At(value, findings)), findings, locate);
}

function resultOf(
  configuration: Configuration | undefined,
  { listed, warnings }: Findings,
  locate: SourceText['locate'],
): LoadResult {
  const located = { warnings: locate(warnings) };
  return configuration && listed.length === 0
    ? { ok: true, configuration, ...located }
    : { ok: false, problems: locate(listed), ...located };
}

/**
 * Reads each pymodbus file once and builds each of its devices once, so that lines and names share their
 * layouts.
 */
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
  const texts = (problems: readonly Problem[]) => problems.map((each) => formatProblems(file, [each]));
  if (!parsed.ok) return { ok: false, error: texts(parsed.problems), warnings: [] };
  const { value, locate } = parsed.source;
  const findings = fileFindings();
  const registers = pymodbusDeviceNamed(new At(value, findings), device);
  const warnings = texts(locate(findings.warnings));
  return registers && findings.count === 0
    ? { ok: true, registers, warnings }
    : { ok: false, error: texts(locate(findings.listed)), warnings };
}
