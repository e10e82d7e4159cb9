import { quote } from '../../common/schema/problem.js';
import type { FaultLine } from '../../device/faults/ability.js';
import { type FindValue, THEN, usableRule } from '../../device/faults/rule.js';
import type { RuleStatus } from '../../device/faults/rules.js';
import type {
  ApiDefinition,
  LineDefinition,
  MqttDefinition,
  TrafficDefinition,
} from '../../files/config/configuration.js';
import { copiesAt } from '../../files/config/native/each.js';
import { lineSource } from '../../files/config/native/line-source.js';
import { flow, key } from './flow.js';
import { deviceText, type WrittenDevice } from './written-device.js';

/**
 * What is to be written. Lists and definitions belong to one moment; values are read while they are written.
 */
export interface RunningConfiguration {
  readonly devices: readonly WrittenDevice[];
  readonly lines: readonly { readonly definition: LineDefinition; readonly state: string }[];
  readonly rules: readonly RuleStatus[];
  readonly faultLines: readonly FaultLine[];
  readonly findValue: FindValue;
  readonly api: ApiDefinition;
  readonly mqtt: MqttDefinition | undefined;
  readonly traffic: TrafficDefinition | undefined;
  readonly keepsState: boolean;
  readonly directory: string;
}

/** A native file (YAML) that would start what runs now, in pieces that each take little time. */
export function* configurationText(running: RunningConfiguration): Generator<string> {
  yield '# What was running when this file was made. Clocks, counts and the times of fault rules begin anew.\n';
  yield `# Relative paths begin in ${quote(running.directory)}: keep this file there.\n`;
  yield 'devices:\n';
  const copies = new Set(running.lines.flatMap(({ definition }) => copiesAt(definition)));
  const untouched = new Set(running.devices.filter(isUntouched).map(({ definition }) => definition.name));
  for (const device of running.devices) {
    const { name, copyOf } = device.definition;
    // Its line makes it again, as its source is then.
    const isMadeAgain = copies.has(name) && untouched.has(name) && untouched.has(copyOf ?? '');
    if (isMadeAgain) yield '';
    else yield* deviceText(device);
  }
  yield 'lines:\n';
  for (const line of running.lines) yield lineText(line);
  yield* rulesText(running);
  yield* apiText(running.api);
  if (running.mqtt) yield* mqttText(running.mqtt);
  if (running.traffic) yield trafficText(running.traffic);
  if (running.keepsState) yield 'state: keep\n';
}

/** True for a device that is as it is when it starts. */
function isUntouched({ device }: WrittenDevice): boolean {
  return device.changes === 0 && !hasSums(device);
}

function hasSums({ points }: WrittenDevice['device']): boolean {
  return points.all.some(({ signal }) => signal?.accumulator !== undefined);
}

function lineText({ definition, state }: RunningConfiguration['lines'][number]): string {
  const settings = Object.entries(lineSource(definition)).map(
    ([name, value]) => `    ${key(name)}: ${flow(value)}\n`,
  );
  const comment = state === 'stopped' ? '    # This line was stopped.\n' : '';
  return `  ${key(definition.name)}:\n${comment}${settings.join('')}`;
}

function* rulesText({ rules, faultLines, findValue }: RunningConfiguration): Generator<string> {
  if (rules.length === 0) return;
  const texts = rules.map((status) => {
    const why = whyUnusable(status, faultLines, findValue);
    const text = flow(ruleSource(status));
    return {
      isUsable: why === undefined,
      text: why === undefined ? `  - ${text}\n` : `  # ${why}: ${text}\n`,
    };
  });
  yield texts.some(({ isUsable }) => isUsable) ? 'faults:\n' : 'faults: []\n';
  for (const { text } of texts) yield text;
}

/** Why a rule can't be used: lines and devices may have changed since it was made. Undefined where it can. */
export function whyUnusable(
  { rule }: RuleStatus,
  faultLines: readonly FaultLine[],
  findValue: FindValue,
): string | undefined {
  const usable = usableRule(rule, { lines: faultLines, find: findValue });
  return usable.ok ? undefined : usable.issues[0]?.message;
}

/** A rule as it would stand in a file, with the seed of its random values. */
export function ruleSource({
  rule: { name, enabled, when, schedule, faults, becomes },
  seed,
}: Pick<RuleStatus, 'rule' | 'seed'>) {
  return {
    name,
    ...(enabled === false && { enabled }),
    ...(Object.keys(when).length > 0 && { when }),
    schedule,
    ...(faults.length > 0 && { do: faults.map(({ kind, written }) => ({ [kind]: written })) }),
    ...(becomes && { [THEN]: becomes }),
    seed,
  };
}

function* apiText({ token, readTokens, files, ...api }: ApiDefinition): Generator<string> {
  yield 'api:\n';
  if (token !== undefined) {
    yield '  # The token is left out: set it here as `token`, or in the environment as MODBUS_SIM_TOKEN.\n';
  }
  if (readTokens !== undefined)
    yield '  # The tokens for reading are left out: set them here as `readTokens`.\n';
  const written = Object.entries({ ...api, ...(files && { tls: files }) });
  for (const [name, value] of written) yield `  ${key(name)}: ${flow(value)}\n`;
}

function* mqttText({ password, files, publish, ...mqtt }: MqttDefinition): Generator<string> {
  yield 'mqtt:\n';
  if (password !== undefined || mqtt.username !== undefined)
    yield '  # The password is left out: set it here as `password`, or in the environment as MODBUS_SIM_MQTT_PASSWORD.\n';
  for (const [name, value] of Object.entries({ ...mqtt, ...files, publish }))
    yield `  ${key(name)}: ${flow(value)}\n`;
}

function trafficText({ events, bytes, file }: TrafficDefinition): string {
  const toFile = file && {
    file: file.directory,
    format: file.format,
    rotate: { size: file.size, files: file.files },
  };
  return `traffic: ${flow({ events, bytes, ...toFile })}\n`;
}
