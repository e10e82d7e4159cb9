import { z } from 'zod';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { oneOf, section, sectionOf } from '../../common/schema/parts.js';
import { expectedMessage, type Path } from '../../common/schema/problem.js';
import { counted } from '../../common/words.js';
import type { LineDefinition, LineSource } from '../../document/configuration.js';
import { transportOf } from '../../document/native/line-source.js';
import { type Failure, failure, refused } from '../../remote/api/error-answer.js';
import { snakeCase } from '../../remote/api/metrics.js';
import { allParts, type Rpc } from '../../remote/rpc/rpc.js';
import type { Outcome } from '../../simulator/commands/refusal.js';
import { type LineView, unitsWithinReason } from '../../simulator/commands/schemas/line.js';
import { COUNTERS, type LineCounters } from '../../simulator/traffic/counters.js';
import { integer, milliseconds, mistakes, requests } from './fields.js';

/** The fields of every request. `null` or an empty field means that no line was chosen. */
const anyRequest = { submit: z.string(), line: z.string({ error: 'the name of a line' }).nullish() };

/** Any request except Set. */
const commandRequest = section(anyRequest);

/** The parities: pymodbus' letters, and the words of the native file. */
const PARITIES = { N: 'none', E: 'even', O: 'odd', none: 'none', even: 'even', odd: 'odd' } as const;

const TURNAROUND = 't3.5, eager or a number of milliseconds';

const turnaround = z.union([z.literal(['t3.5', 'eager'], { error: TURNAROUND }), milliseconds(TURNAROUND)], {
  error: TURNAROUND,
});

/**
 * A Set request: settings under their pymodbus names, and under our own names if pymodbus has none. The
 * native file's checks decide which values are valid. Null restores a default that follows from other
 * settings.
 */
const setRequest = section({
  ...anyRequest,
  framer: oneOf(['socket', 'rtu', 'ascii', 'tls']).optional(),
  /** Path or name of a serial port, or port number of a socket. */
  port: z
    .union([z.string(), z.number()], { error: 'the path of a serial port, or a port number' })
    .optional(),
  host: z.string({ error: 'a host name or an address' }).optional(),
  baudrate: integer.optional(),
  bytesize: integer.optional(),
  parity: oneOf(['N', 'E', 'O', 'none', 'even', 'odd'])
    .transform((parity) => PARITIES[parity])
    .optional(),
  stopbits: integer.optional(),
  turnaround: turnaround.nullish(),
  t3_5: milliseconds().nullish(),
  gap: milliseconds().nullish(),
  units: unitsWithinReason.optional(),
});

export const SERVER_REQUESTS = requests(
  {
    ...{ Status: commandRequest, Start: commandRequest, Stop: commandRequest, Restart: commandRequest },
    Set: setRequest,
  },
  { submit: 'Status', line: 'lan' },
);

type SetRequest = z.output<typeof setRequest>;

/** The settings in a Set request, without the fields that name its target. */
type ServerSettings = Omit<SetRequest, 'submit' | 'line'>;

/** Removes empty form fields, which count as absent. */
function withoutEmptyFields(body: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== ''));
}

function kindOf({ settings }: Pick<LineView, 'settings'>): LineDefinition['kind'] {
  return transportOf(settings) ?? 'serial';
}

/** The paths of settings in a line of the native file, by this interface's flat names. */
type Paths = ReadonlyMap<string, Path>;

const SERIAL_PATHS: Paths = new Map([
  ['port', ['serial', 'path']],
  ['baudrate', ['serial', 'baudRate']],
  ['bytesize', ['serial', 'dataBits']],
  ['parity', ['serial', 'parity']],
  ['stopbits', ['serial', 'stopBits']],
  ['framer', ['framing']],
  ['turnaround', ['timing', 'turnaround']],
  ['t3_5', ['timing', 't35']],
  ['gap', ['timing', 'gap']],
  ['units', ['units']],
]);

function pathsOf(kind: LineDefinition['kind']): Paths {
  if (kind === 'serial') return SERIAL_PATHS;
  return new Map([
    ['host', [kind, 'host']],
    ['port', [kind, 'port']],
    ['framer', ['framing']],
    ['units', ['units']],
  ]);
}

/** The settings of a line by their flat names; null if this kind of line does not have the setting. */
function flatSettings(line: LineView): (field: string) => unknown {
  const paths = pathsOf(kindOf(line));
  const settings: unknown = line.settings;
  return (field) => paths.get(field)?.reduce((at, key) => sectionOf(at, String(key)), settings) ?? null;
}

/** Converts settings to a change of the native line. Reports fields that this line does not support. */
function nativeChange(line: LineView, settings: ServerSettings, request: At): LineSource {
  const kind = kindOf(line);
  const paths = pathsOf(kind);
  const change: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(settings)) {
    if (value === undefined) continue;
    const [section, key] = (paths.get(field) ?? []) as [section?: string, key?: string];
    const native = nativeValue(kind, request.key(field), value);
    if (section === undefined) {
      const other = kind === 'serial' ? 'with a socket' : 'on a serial port';
      request.key(field).wrong(`only a line ${other} has this setting`);
    } else if (key === undefined) change[section] = native;
    else change[section] = { ...(change[section] as object | undefined), [key]: native };
  }
  return withoutLeftovers(line, change);
}

/** Removes the settings that only virtual lines or only real ports have if a line changes from one to the other. */
function withoutLeftovers({ settings }: LineView, change: LineSource): LineSource {
  const path = sectionOf(change.serial, 'path');
  if (path === undefined) return change;
  const wasVirtual = sectionOf(settings.serial, 'path') === 'virtual';
  if (wasVirtual === (path === 'virtual')) return change;
  const leftovers = wasVirtual ? { link: null, pacing: null } : { rs485: null, parityMarks: null };
  return { ...change, serial: { ...(change.serial as object), ...leftovers } };
}

/** Converts form text to a value of the native file. Other text is kept; the file's schema rejects it. */
function nativeValue(kind: LineDefinition['kind'], at: At, value: unknown): unknown {
  const [field] = at.path;
  // FramerTLS of pymodbus is its FramerSocket under another name.
  if (field === 'framer' && value === 'tls') {
    if (kind === 'tls') return 'socket';
    at.expected(kind === 'serial' ? 'rtu or ascii' : 'socket, rtu or ascii');
  }
  const isNumber = kind !== 'serial' && typeof value === 'string' && /^\s*\d{1,5}\s*$/.test(value);
  return field === 'port' && isNumber ? Number(value) : value;
}

/** The flat names of settings by their paths in the native line, for use in messages. */
function flatNames(line: LineView): ReadonlyMap<string, string> {
  return new Map(Array.from(pathsOf(kindOf(line)), ([field, path]) => [path.join('.'), field]));
}

/** The counters that REST clients know, in order. */
const { unsolicited: _, ...others } = COUNTERS;
const COUNTED = [...Object.keys(others), 'unsolicited'] as (keyof LineCounters)[];

/** The name of a counter in the style of the register rows. */
function countName(name: string): string {
  return `count_${snakeCase(name)}`;
}

/**
 * A line in the form for REST clients. Fields that this kind of line does not have are null. Times are in ms,
 * the uptime in s.
 */
const serverRowSchema = z.object({
  line: z.string(),
  comm: z.enum(['serial', 'tcp', 'udp', 'tls']),
  framer: z.enum(['socket', 'rtu', 'ascii']),
  state: z.enum(['open', 'waiting', 'stopped', 'failed']),
  error: z.string().describe('Why the line is not open.'),
  place: z.string().describe('Where clients find the line; for port 0, with the chosen port.'),
  host: z.string().nullable(),
  port: z.union([z.string(), z.number()]),
  baudrate: z.number().nullable(),
  bytesize: z.number().nullable(),
  parity: z.string().nullable(),
  stopbits: z.number().nullable(),
  turnaround: z
    .union([z.string(), z.number()])
    .nullable()
    .describe('`t3.5`, `eager`, or a number of ms to add to t3.5.'),
  t1_5: z.number().nullable(),
  t3_5: z.number().nullable(),
  gap: z.number().nullable(),
  clients: z.number().nullable(),
  uptime: z.number().nullable(),
  units: z.record(z.string(), z.string()).describe('Device names by unit identifier.'),
  ...Object.fromEntries(COUNTED.map((name) => [countName(name), z.number()])),
});

type ServerRow = z.infer<typeof serverRowSchema>;

const PARITY_LETTERS: Readonly<Record<string, string>> = { none: 'N', even: 'E', odd: 'O' };

function serverRow(line: LineView): ServerRow {
  const { name, state, reason, place, clients, uptime, times, units, counters } = line;
  const set = flatSettings(line);
  return {
    line: name,
    comm: kindOf(line),
    framer: set('framer') as ServerRow['framer'],
    state,
    error: reason ?? '',
    place,
    host: set('host') as string | null,
    port: set('port') as string | number,
    baudrate: set('baudrate') as number | null,
    bytesize: set('bytesize') as number | null,
    parity: PARITY_LETTERS[String(set('parity'))] ?? null,
    stopbits: set('stopbits') as number | null,
    turnaround: set('turnaround') as string | number | null,
    t1_5: times?.t15 ?? null,
    t3_5: times?.t35 ?? null,
    gap: times?.gap ?? null,
    clients: clients ?? null,
    uptime,
    units,
    ...Object.fromEntries(COUNTED.map((name) => [countName(name), counters[name]])),
  };
}

/** The states of a line by number, as in register_types and register_actions. */
const SERVER_STATES = { open: 0, waiting: 1, stopped: 2, failed: 3 };
const SERVER_FRAMERS = { socket: 0, rtu: 1, ascii: 2 };
const SERVER_PARITIES = { N: 0, E: 1, O: 2 };

const numbers = z.record(z.string(), z.number());

export const serverAnswerSchema = z
  .object({
    result: z.literal('ok'),
    footer: z.string(),
    server_states: numbers,
    server_framers: numbers,
    server_parities: numbers,
    server_rows: z.array(serverRowSchema),
  })
  .meta({ id: 'Server', description: 'The lines.' });

type ServerAnswer = z.infer<typeof serverAnswerSchema>;

/** Answers POST /restapi/server: shows the lines, starts and stops them, and changes their settings while they run. */
export async function handleServer(rpc: Rpc, body: object): Promise<ServerAnswer | Failure> {
  const written = withoutEmptyFields(body);
  const request = SERVER_REQUESTS.read(written);
  if ('result' in request) return request;
  const lines = await allParts(await rpc.list('line.list', undefined));
  if ('ok' in lines) return refused(lines);
  const { submit, fields } = request;
  if (submit === 'Status' && fields.line == null) return answer(lines, statesText(lines));
  if (submit === 'Restart' && fields.line == null) return restartAll(rpc, lines);
  const line = findLine(lines, fields.line);
  if ('result' in line) return line;
  switch (submit) {
    case 'Status':
      return answer([line], lineText(line));
    case 'Start':
      return answerTo(line, await rpc.call('line.start', { line: line.name }));
    case 'Restart':
      return answerTo(line, await rpc.call('line.restart', { line: line.name }));
    case 'Stop':
      return answerTo(line, await rpc.call('line.stop', { line: line.name }));
    case 'Set':
      return setLine(rpc, line, request.fields, written);
  }
}

/** Restarts every line, even if an earlier one can't be reopened. */
async function restartAll(rpc: Rpc, lines: readonly LineView[]): Promise<ServerAnswer | Failure> {
  const results = await Promise.all(
    lines.map(async (line) => answerTo(line, await rpc.call('line.restart', { line: line.name }))),
  );
  const errors = results.flatMap((result) => (result.result === 'error' ? result.error : []));
  if (errors.length > 0) return failure(errors.join('; '));
  const now = await allParts(await rpc.list('line.list', undefined));
  return 'ok' in now ? refused(now) : answer(now, statesText(now));
}

async function setLine(
  rpc: Rpc,
  line: LineView,
  { submit: _, line: __, ...settings }: SetRequest,
  written: Readonly<Record<string, unknown>>,
): Promise<ServerAnswer | Failure> {
  const findings = new Findings();
  const change = nativeChange(line, settings, new At(written, findings));
  if (findings.count > 0) return mistakes(findings);
  if (Object.keys(change).length === 0) return failure('body: nothing to set, expected a line setting');
  return answerTo(line, await rpc.call('line.change', { line: line.name, settings: change }));
}

/** The line with this name. Without a name, there must be only one line. */
function findLine(lines: readonly LineView[], name: string | null | undefined): LineView | Failure {
  const known = lines.map((line) => line.name);
  const [first, second] = lines;
  if (name == null) {
    const expected = known.length > 0 ? `one of ${known.join(', ')}` : 'a line';
    return first && !second ? first : failure(`line: ${expectedMessage(expected, undefined)}`);
  }
  return lines.find((line) => line.name === name) ?? failure(`line: ${unknownName('line', name, known)}`);
}

/** The answer to a change of a line. @param line the line before the change */
function answerTo(line: LineView, ended: Outcome<LineView>): ServerAnswer | Failure {
  if (ended.ok) return answer([ended.value], lineText(ended.value));
  const [first] = ended.problems;
  if (first?.path === '') return failure(`line ${line.name}: ${first.message}`);
  return refused(ended, flatNames(line));
}

function answer(lines: readonly LineView[], footer: string): ServerAnswer {
  return {
    result: 'ok',
    footer,
    server_states: SERVER_STATES,
    server_framers: SERVER_FRAMERS,
    server_parities: SERVER_PARITIES,
    server_rows: lines.map(serverRow),
  };
}

/** A line in words: `line bench: open, RTU on /dev/ttyUSB0 9600 8E1, …` or `line bench: failed, …`. */
function lineText({ name, state, reason, description }: LineView): string {
  return [`line ${name}: ${state}`, reason ?? description].join(', ');
}

/** The states of all lines in words: `3 lines: 2 open, 1 stopped`. */
function statesText(lines: readonly LineView[]): string {
  const counts = new Map<string, number>();
  for (const { state } of lines) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = Array.from(counts, ([state, count]) => `${count} ${state}`);
  return `${counted(lines.length, 'line')}: ${parts.join(', ') || 'none'}`;
}
