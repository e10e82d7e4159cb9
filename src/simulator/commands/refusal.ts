import { Findings, type Mistakes } from '../../common/schema/findings.js';
import { type Issue, type Path, type Problem, pathText } from '../../common/schema/problem.js';

/** The meaning of a code. `status` is an HTTP status, which other transports can map to their own. */
interface CodeMeaning {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 421 | 429 | 431 | 500 | 503;
  readonly means: string;
}

/** The codes of all refusals. A code is public, so it is never renamed. */
export const CODES = {
  'request.invalid': { status: 400, means: 'A field is missing, unknown or not as expected.' },
  'request.not_json': { status: 400, means: 'The body is not valid JSON, or the request is not valid HTTP.' },
  'request.too_long': {
    status: 413,
    means: 'The body has too many bytes, names, values or levels.',
  },
  'request.media_type': { status: 415, means: 'This path does not accept the content type.' },
  'request.timeout': { status: 408, means: 'The request did not arrive in time.' },
  'request.header_too_long': { status: 431, means: 'The request header is too long.' },
  'request.host': { status: 421, means: 'The Host header does not name this machine.' },
  'request.origin': { status: 403, means: 'A page from another site sent the request.' },
  'request.too_dear': {
    status: 409,
    means: 'The request would create more values than one request may; a configuration file may have more.',
  },
  'request.too_many': { status: 429, means: 'The maximum number of requests is already in progress.' },
  'answer.too_long': {
    status: 413,
    means: 'The answer does not fit in one message; request it in parts over REST.',
  },
  'request.failed': { status: 500, means: 'An internal error; the log of the simulator has the reason.' },
  'path.unknown': { status: 404, means: 'There is no such path.' },
  'method.not_allowed': { status: 405, means: 'The path exists, but not with this method.' },
  'access.token': { status: 401, means: 'A token is needed, but none or a wrong one was sent.' },
  'access.read_only': { status: 403, means: 'The token may read, but not change anything.' },
  'access.too_many_attempts': { status: 429, means: 'Too many wrong tokens came from this address.' },
  'access.no_token_configured': {
    status: 409,
    means: 'No token is configured, so there is nothing to log in to.',
  },
  'readers.too_many': {
    status: 503,
    means: 'The maximum number of readers or of long lists is reached.',
  },
  'rest.restarting': { status: 503, means: 'REST is restarting. The lines continue to run.' },
  'bench.offline': { status: 503, means: 'The bench is not connected to the broker (modbus-sim fleet).' },
  'bench.silent': { status: 503, means: 'The bench did not answer in time (modbus-sim fleet).' },
  'bench.interrupted': {
    status: 503,
    means: 'The command was interrupted before the bench answered (modbus-sim fleet).',
  },
  'line.unknown': { status: 404, means: 'No line has this name.' },
  'line.invalid': { status: 400, means: 'The definition of the line is invalid.' },
  'line.name_taken': { status: 409, means: 'A line with this name already exists.' },
  'line.too_many': { status: 409, means: 'The maximum number of lines is reached.' },
  'line.last': { status: 409, means: "The last line can't be removed: a configuration needs one." },
  'line.in_use': { status: 409, means: 'A fault rule refers to the line; remove the rule first.' },
  'line.port_busy': { status: 409, means: 'Another program uses the port or the address.' },
  'line.not_serial': { status: 400, means: 'The path is not a serial port of this machine.' },
  'line.not_opened': { status: 409, means: 'The port or the system refused the request.' },
  'line.not_open': { status: 409, means: 'The line is not open.' },
  'line.under_test': { status: 409, means: 'Another run is using the line.' },
  'device.unknown': { status: 404, means: 'No device has this name.' },
  'device.invalid': { status: 400, means: 'The definition of the device is invalid.' },
  'device.name_taken': { status: 409, means: 'A device with this name already exists.' },
  'device.too_many': { status: 409, means: 'The maximum number of devices is reached.' },
  'device.in_use': { status: 409, means: 'A line, a rule or a signal needs the device.' },
  'manners.no_connection': {
    status: 400,
    means: 'Only serial lines serve the device, and they have no connections.',
  },
  'manners.real_device': {
    status: 400,
    means: 'A real device answers here. Its registers are not in the simulator.',
  },
  'device.host': { status: 403, means: 'api.mayReach does not list the host of the real device.' },
  'misbehaviour.unknown': { status: 404, means: 'The catalogue has no entry with this identifier.' },
  'device.changed': { status: 409, means: 'A device was added or removed while the request was read.' },
  'value.unknown': { status: 404, means: 'The device has no value with this name.' },
  'value.invalid': { status: 400, means: 'The value does not fit the type of the register.' },
  'value.moved_by_signal': { status: 400, means: "A signal computes the value, so it can't be set." },
  'value.no_sentinel': {
    status: 400,
    means: 'The type has no value that means "not available", and the entry has no notAvailable.',
  },
  'value.not_as_expected': {
    status: 409,
    means: 'The value differs from the value that the request expects.',
  },
  'register.undefined': { status: 400, means: 'No register is defined at the address.' },
  'register.defined': { status: 409, means: 'All registers in the range are already defined.' },
  'register.inside_value': { status: 400, means: 'The address is inside a value of several registers.' },
  'history.not_kept': { status: 409, means: 'Nothing is recorded for this moment.' },
  'rule.unknown': { status: 404, means: 'No fault rule has this name.' },
  'rule.invalid': { status: 400, means: 'The fault rule is invalid.' },
  'rule.name_taken': { status: 400, means: 'A fault rule with this name already exists.' },
  'rule.unknown_line': { status: 400, means: 'The rule names a line that does not exist.' },
  'rule.unknown_value': { status: 400, means: 'The rule names a value that does not exist.' },
  'rule.impossible': { status: 400, means: "The line can't carry out the fault." },
  'rule.too_many': { status: 400, means: 'The maximum number of fault rules is reached.' },
  'signal.invalid': { status: 400, means: 'The signal is invalid.' },
  'event.unusable': {
    status: 400,
    means: 'The event is no longer kept, or is not a request to a simulated unit.',
  },
  'import.unusable': { status: 400, means: 'No device can be made from this file.' },
  'traffic.unusable': { status: 409, means: 'No device can be made from this traffic.' },
  'memory.spent': { status: 409, means: 'Additions over REST have used up their memory.' },
  'configuration.invalid': {
    status: 400,
    means: "The configuration is invalid, or has a section that can't be changed.",
  },
  'configuration.not_undone': {
    status: 409,
    means: 'There is no change to undo, or a later change affected the same settings.',
  },
  'configuration.busy': { status: 409, means: 'Another configuration is being applied.' },
  'file.outside': { status: 400, means: 'The path is not in the directory that remote clients may use.' },
  'file.refused': { status: 409, means: 'The system refused the file.' },
  'run.unknown': { status: 404, means: 'No run has this number.' },
  'run.invalid': { status: 400, means: 'The request for the run, or its scenario, is invalid.' },
  'run.no_failure': { status: 404, means: 'The run found no schedule that makes the client fail.' },
  'server.under_test': { status: 409, means: 'The server is already being tested.' },
} as const satisfies Readonly<Record<string, CodeMeaning>>;

export type Code = keyof typeof CODES;

/** A mistake: its place, what was expected there, and the code of the reason. */
export interface CodedProblem extends Problem {
  readonly code: Code;
  /** The parts of `path`, if they are known. */
  readonly parts?: Path;
}

/** Why a command did nothing, as plain data. */
export interface Refusal {
  readonly ok: false;
  /** The kind of refusal. A problem may have a more specific code. */
  readonly code: Code;
  /** The first problems, at least one. */
  readonly problems: readonly CodedProblem[];
  /** The number of problems that are not listed. */
  readonly more: number;
  /** What was found instead of what the request expects. */
  readonly found?: readonly unknown[];
}

/** The result of a command. */
export type Outcome<Value> = { readonly ok: true; readonly value: Value } | Refusal;

export function done<Value>(value: Value): Outcome<Value> {
  return { ok: true, value };
}

/** @param path the place in the request; empty for the request as a whole */
export function refusal(code: Code, path: string, message: string): Refusal {
  return { ok: false, code, problems: [{ path, message, code }], more: 0 };
}

/** The refusal for mistakes in an input. @param code for mistakes without a code of their own */
export function refusalOf({ listed, more }: Mistakes, code: Code): Refusal {
  return { ok: false, code, problems: listed.map((issue) => coded(issue, code)), more };
}

/** Why the simulator was not changed. */
interface NotDone {
  readonly error: string | Mistakes;
  /** Absent if a port or the operating system refused. */
  readonly code?: Code;
  /** True if another program uses the port or the address. */
  readonly inUse?: boolean;
}

/** The refusal for a change that was not made. @param invalid the code for mistakes in the requested state */
export function notDone({ error, code, inUse }: NotDone, invalid: Code = 'request.invalid'): Refusal {
  if (typeof error !== 'string') return refusalOf(error, invalid);
  return refusal(code ?? (inUse ? 'line.port_busy' : 'line.not_opened'), '', error);
}

function coded({ path, message, code: own }: Issue, code: Code): CodedProblem {
  return {
    path: pathText(path),
    message,
    code: own !== undefined && own in CODES ? (own as Code) : code,
    parts: path,
  };
}

/** Why a command did nothing, in one line; undefined if it was carried out. */
export function problemText(outcome: Outcome<unknown>): string | undefined {
  if (outcome.ok) return undefined;
  return outcome.problems.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
}

/** The refusal for a list of mistakes. */
export function refusalOfIssues(issues: readonly Issue[], code: Code): Refusal {
  const findings = new Findings();
  for (const issue of issues) findings.add(() => issue);
  return refusalOf(findings, code);
}
