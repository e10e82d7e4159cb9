import { THEN } from '../../device/faults/then.js';
import type { LineSource } from '../../document/configuration.js';
import { SHORTEST_UNSOLICITED_MS } from '../../document/native/line-schema.js';
import { keyOf } from '../../document/native/real.js';
import { hex, wordAt } from '../../modbus/protocol/bytes.js';
import { FRAMINGS } from '../../modbus/protocol/framings.js';
import type { TestedWays } from '../survey/survey.js';
import { READ_FUNCTIONS } from '../survey/table-survey.js';
import { type Clone, writeClone } from '../survey/write.js';
import { median } from '../times.js';
import { behavesAs, LIKENESSES } from './behaves-as.js';
import { textOf } from './check.js';
import { FEWEST } from './checks/frames.js';
import type { Oddity } from './codes/oddities.js';
import type { Exchange } from './exchange.js';
import { valuesOf } from './requests.js';
import type { ServerFinding, ServerTest } from './server-test.js';
import { addressOf, faultFor, whenOf } from './spoilt.js';

type Rule = Readonly<Record<string, unknown>>;

/**
 * How a file expresses a deviation: keys of the device and the line, and rules. If all are empty, reading the
 * server already expresses it.
 */
interface Said {
  readonly manners?: Readonly<Record<string, unknown>>;
  readonly line?: LineSource;
  readonly faults?: readonly Rule[];
}

/** Expresses a violation as measured; undefined if a file can't express it. */
type Saying = (serverTest: ServerTest, finding: ServerFinding) => Said | undefined;

const AS_READ: Saying = () => ({});

/** Measured deviations, by check. The others are expressed by the matching catalogue entry. */
const SAYINGS: Readonly<Record<string, Saying>> = {
  'back-to-back': ({ facts: { pauseMs } }) =>
    pauseMs === undefined ? undefined : { manners: { pauseBefore: pauseMs } },
  frames: (serverTest) => joined(framesSaid(serverTest)),
  'stray-bytes': strayBytes,
  'mbap-echo': ({ log, carrier }) => {
    const rule = oddityRule('transaction', log, carrier.target.framing);
    return rule && { faults: [rule] };
  },
  'rtu-reply-silence': () => ({ faults: [{ name: 'too-soon', do: [{ early: true }] }] }),
  idle: ({ order: { idleMs } }) => ({ manners: { sleeps: { after: idleMs } } }),
  'repeat-pair': otherValues,
  'same-value': (serverTest, finding) =>
    serverTest.findings.some(({ check, verdict }) => check.id === 'repeat-pair' && verdict === 'violates')
      ? {}
      : otherValues(serverTest, finding),
  'fc03-quantity-125': most,
  'fc04-quantity-125': most,
  'fc01-quantity-2000': most,
  'fc02-quantity-2000': most,
  'address-unknown': (_, { shown: [exchange] = [] }) =>
    exchange?.answer.kind === 'silent' ? { manners: { holes: 'silence' } } : undefined,
  'write-read-back': lateWrite,
  'fc01-padding': constantReply,
  'fc02-padding': constantReply,
  'fc08-loopback': constantReply,
  'fc43-basic': asRefused,
  'function-unknown': AS_READ,
  ...Object.fromEntries(
    ['fc07-shape', 'fc11-shape', 'fc12-answered', 'fc17-shape', 'fc20-answered', 'fc24-answered'].map(
      (id) => [
        id,
        (serverTest: ServerTest, finding: ServerFinding) =>
          asRefused(serverTest, finding) ?? constantReply(serverTest, finding),
      ],
    ),
  ),
};

/** Checks for quantities that the specification does not allow but the server answers. */
const ANSWERED_QUANTITY = /^fc0\d-quantity-/;

/**
 * Writes a tested server as a native file: the output of `clone`, with manners, rules and line settings for
 * each deviation. Undefined if the server was not read.
 */
export function writeTested(serverTest: ServerTest): string | undefined {
  const { device, carrier, order, findings } = serverTest;
  if (!device) return undefined;
  const { line, ...tested } = waysOf(serverTest);
  const texts = (order.survey ?? []).map(([first, last]) => `${first}-${last}`).join(', ');
  const other = findings.find(({ check }) => check.id === 'unit-other')?.shown?.[0]?.answer.kind;
  const { target } = carrier;
  const settings =
    target.kind === 'serial'
      ? { serial: { baudRate: target.baudRate, parity: target.parity, stopBits: target.stopBits } }
      : target.framing === 'socket'
        ? {}
        : { framing: target.framing };
  const clone: Clone = {
    from: keyOf(target),
    notRead: `Only addresses ${texts} of each table were searched.`,
    devices: [{ ...device, tested }],
    line: {
      kind: target.kind === 'serial' ? (target.framing === 'ascii' ? 'ascii' : 'rtu') : 'tcp',
      isSilent: other === 'silent',
      settings: { ...line, ...settings },
    },
    isAnyUnit: other === 'data',
  };
  return writeClone(clone);
}

/** All deviations of a server, in the form of a file. */
function waysOf(serverTest: ServerTest): TestedWays & { readonly line: LineSource } {
  const { facts, order, findings } = serverTest;
  const open = new Map(
    findings.flatMap((finding) =>
      finding.verdict === 'violates'
        ? [[finding.check.id, { finding, said: say(serverTest, finding) }] as const]
        : [],
    ),
  );
  const all: Said[] = [...locks(serverTest), clients(serverTest), functionsAndTables(serverTest)];
  const { there, missing, silent } = facts.functions;
  const untried = WRITES.filter((code) => ![there, missing, silent].some((codes) => codes.has(code)));
  const remarks =
    untried.length === 0
      ? []
      : [`functions that were not tried, because they write and need --scratch: ${untried.join(', ')}`];
  for (const { id, manners, faults, line } of behavesAs(serverTest)) {
    const { shows, too = [] } = LIKENESSES[id] ?? { shows: {} };
    const shown = Object.keys(shows).filter((check) => open.has(check));
    if (shown.length === 0) continue;
    if (shown.some((check) => open.get(check)?.said === undefined)) {
      all.push({ faults, ...(manners && { manners }), ...(line && { line }) });
      remarks.push(
        `behaves like ${id} of the catalogue: timing and frequency come from the catalogue and were not measured`,
      );
      for (const check of shown) open.delete(check);
    }
    for (const check of too) open.delete(check);
  }
  for (const { finding, said } of open.values()) {
    if (said) all.push(said);
    else remarks.push(`${finding.check.id}: not reproduced: ${textOf(finding)}`);
  }
  const spans = { holding: order.scratch.holding, coils: order.scratch.coils };
  return {
    remarks,
    ...joined(all),
    writable: Object.fromEntries(
      Object.entries(spans).flatMap(([table, span]) => (span ? [[table, [span.first, span.last]]] : [])),
    ),
    functions: facts.functions.there,
    unknownFunction: unknownFunction(findings),
  };
}

function say(serverTest: ServerTest, finding: ServerFinding): Said | undefined {
  const { id, provokes } = finding.check;
  if (provokes?.some((each) => serverTest.silencers.get(each)?.check === id)) return {};
  if (ANSWERED_QUANTITY.test(id) && !SAYINGS[id])
    return constantReply(serverTest, finding) ?? quantityRefused(serverTest, finding);
  return SAYINGS[id]?.(serverTest, finding);
}

function joined(parts: readonly Said[]) {
  const unsolicited = parts.flatMap(({ line }) => line?.unsolicited ?? []);
  return {
    manners: Object.assign({}, ...parts.map(({ manners }) => manners)) as Record<string, unknown>,
    line: {
      ...Object.assign({}, ...parts.map(({ line }) => line)),
      ...(unsolicited.length > 0 && { unsolicited }),
    } as LineSource,
    faults: parts.flatMap(({ faults = [] }) => faults),
  };
}

/** The requests that silence the server for some time. */
function locks({ silencers }: ServerTest): Said[] {
  const [first] = silencers.values();
  if (!first) return [];
  const lasts = [...silencers.values()].map(({ ms }) => ms);
  const longest = Math.max(...lasts.map((ms) => ms ?? Number.POSITIVE_INFINITY));
  const lasting = Number.isFinite(longest) ? Math.max(1, Math.round(longest)) : 'power';
  return [{ manners: { locksUp: { on: [...silencers.keys()], for: lasting } } }];
}

const WHEN_FULL = { refused: 'refuse', closed: 'refuse', evicts: 'evict' } as const;

/** How many connections the server accepts. */
function clients({ facts: { connections } }: ServerTest): Said {
  if (connections === undefined || connections.next === 'untried') return {};
  const { served, next } = connections;
  return { line: { tcp: { maxClients: Math.max(1, served), whenFull: WHEN_FULL[next] } } };
}

const WRITES = [5, 6, 15, 16];

/** The write functions that the server lacks, and whether holding and input registers are one table. */
function functionsAndTables({ facts: { functions }, findings }: ServerTest): Said {
  const isOne = findings.some(({ said }) => said.code === 'one-table');
  return {
    ...(isOne && { manners: { sharedMemory: [['holding', 'input']] } }),
    faults: WRITES.filter((code) => !functions.there.has(code)).flatMap((code) => {
      const fault = functions.missing.has(code)
        ? { exception: 1 }
        : functions.silent.has(code) && { silence: true };
      return fault ? [{ name: `function-${code}`, when: { function: code }, do: [fault] }] : [];
    }),
  };
}

/** The maximum quantity of a read. A survey that reads addresses individually does not find it. */
function most({ device, facts }: ServerTest, { shown: [refused] = [] }: ServerFinding): Said | undefined {
  const code = refused?.pdu?.[0] ?? 0;
  const isBits = code <= 2;
  // A device has a single limit for both tables.
  const [many, other] =
    code % 2 === 1
      ? [facts.most[code as 1 | 3], facts.most[(code + 1) as 2 | 4]]
      : [facts.most[code as 2 | 4], facts.most[(code - 1) as 1 | 3]];
  if (many !== undefined && other !== undefined && other !== many) return undefined;
  if (device?.survey.tables.some((table) => table.isBits === isBits && table.block.otherwise !== undefined))
    return {};
  const { answer } = refused ?? {};
  const otherwise = answer?.kind === 'exception' ? answer.code : 'silence';
  return many === undefined
    ? {}
    : { manners: { most: { [isBits ? 'bits' : 'registers']: many, otherwise } } };
}

/** The rule that sometimes sends other values instead of those in the registers. */
function otherValues(_: ServerTest, { shown: [exchange] = [], seen }: ServerFinding): Said | undefined {
  if (exchange?.answer.kind !== 'data' || !seen || seen.times === 0) return undefined;
  const every = Math.round(seen.of / seen.times);
  return {
    faults: [
      {
        name: 'other-values',
        when: { function: [3, 4], every },
        do: [{ values: valuesOf(exchange.answer.pdu) }],
      },
    ],
  };
}

/** How long reads return the old value after a write, in ms: an immediate read did, one a second later did not. */
const LATE_MS = 2000;

function lateWrite(_: ServerTest, { said, shown = [] }: ServerFinding): Said | undefined {
  const old = shown.find(({ pdu, answer }) => pdu?.[0] === 3 && answer.kind === 'data');
  if (said.code !== 'stored-late' || old?.answer.kind !== 'data') return undefined;
  const address = addressOf(old);
  const state = 'settling';
  return {
    faults: [
      { name: 'written', when: { function: [6, 16], address }, [THEN]: { state, for: LATE_MS } },
      {
        name: 'old-value',
        when: { function: 3, address, quantity: 1, state },
        do: [{ values: valuesOf(old.answer.pdu) }],
      },
    ],
  };
}

/** A reply that is the same whenever the request is sent. */
function constantReply(_: ServerTest, { check, shown: [exchange] = [] }: ServerFinding): Said | undefined {
  const { pdu, answer } = exchange ?? {};
  if (!pdu || answer?.kind !== 'data' || answer.pdu.length > MOST_PDU) return undefined;
  const code = pdu[0] as number;
  const quantity = code <= 4 ? ((pdu[3] ?? 0) << 8) | (pdu[4] ?? 0) : undefined;
  return {
    faults: [
      {
        name: check.id,
        when: { function: code, ...(quantity !== undefined && { quantity }) },
        do: [{ pdu: hex(answer.pdu) }],
      },
    ],
  };
}

/** A quantity that is refused with an exception other than 03, or with silence: the survey has made a rule. */
function quantityRefused(
  { device }: ServerTest,
  { shown: [exchange] = [] }: ServerFinding,
): Said | undefined {
  const { pdu = new Uint8Array(), answer } = exchange ?? {};
  const way = answer?.kind === 'exception' ? answer.code : answer?.kind === 'silent' ? 'silence' : undefined;
  const quantity = pdu.length >= 5 ? wordAt(pdu, 3) : undefined;
  if (quantity === undefined || way === undefined) return undefined;
  const table = device?.survey.tables.find((each) => READ_FUNCTIONS[each.table] === pdu[0]);
  const isSaid = [...(table?.wrongQuantities ?? [])].some(([range, refusal]) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return refusal === way && quantity >= first && quantity <= last;
  });
  return isSaid ? {} : undefined;
}

const MOST_PDU = 253;

/** A function that is refused other than with exception 01: the survey has found that too. */
function asRefused({ device }: ServerTest, { shown: [exchange] = [] }: ServerFinding): Said | undefined {
  return device?.survey.refused.has(exchange?.pdu?.[0] ?? 0) ? {} : undefined;
}

/** How the server refuses a function that no server has. */
function unknownFunction(findings: readonly ServerFinding[]): TestedWays['unknownFunction'] {
  const { answer } = findings.find(({ check }) => check.id === 'function-unknown')?.shown?.[0] ?? {};
  if (answer?.kind === 'exception') return answer.code;
  return answer?.kind === 'silent' || answer?.kind === 'closed' ? 'silence' : undefined;
}

/** Bytes around replies, and errors in their headers. */
function framesSaid({ log, carrier: { target } }: ServerTest): Said[] {
  const oddities = [...new Set(log.flatMap((each) => (each.isPlain ? each.oddities : [])))];
  return oddities.flatMap((oddity): Said[] => {
    if (oddity === 'transaction' || oddity === 'earlier-transaction') return [];
    const rule = oddityRule(oddity, log, target.framing);
    const [fault = {}] = rule?.do ?? [];
    const frame =
      oddity === 'frame-before' && target.kind === 'serial' && typeof fault.noise === 'string'
        ? frameIn(fault.noise, target.framing)
        : undefined;
    if (frame) return [{ line: { unsolicited: [{ frame, before: 'reply' }] } }];
    return rule ? [{ faults: [rule] }] : [];
  });
}

/** The rule that alters replies in one way, with the frequency that was seen. */
function oddityRule(oddity: Oddity, log: readonly Exchange[], framing: keyof typeof FRAMINGS) {
  const unit = log[0]?.unitId;
  const replies = log.filter((each) => each.isPlain && each.chunks.length > 0 && each.unitId === unit);
  const odd = replies.filter(({ oddities }) => oddities.includes(oddity));
  if (odd.length < FEWEST) return undefined;
  const fault = faultFor(oddity, odd, FRAMINGS[framing]);
  return fault && { name: oddity, when: whenOf(odd, replies), do: [fault] };
}

function frameIn(text: string, framing: keyof typeof FRAMINGS): object | undefined {
  const content = FRAMINGS[framing].decode(Buffer.from(text.replaceAll(' ', ''), 'hex'));
  return content && { unit: content.unitId, pdu: hex(content.pdu) };
}

/** Unsolicited bytes: on a serial line at any time, on a network after replies. */
function strayBytes(serverTest: ServerTest): Said | undefined {
  const { log, carrier } = serverTest;
  const { target } = carrier;
  const chunks = log.flatMap(({ unsolicited }) => unsolicited);
  if (target.kind === 'tcp') {
    const rules = (['bytes-after', 'frame-behind'] as const).flatMap(
      (oddity) => oddityRule(oddity, log, target.framing) ?? [],
    );
    if (rules.length > 0) return { faults: rules };
  }
  const [first] = chunks;
  if (!first || chunks.length < FEWEST) return undefined;
  // A frame that comes before each reply also comes before replies that are no longer awaited.
  const before = JSON.stringify(joined(framesSaid(serverTest)).line.unsolicited ?? []);
  const isBefore = (bytes: Uint8Array) => {
    const frame = frameIn(hex(bytes), target.framing);
    return frame !== undefined && before.includes(JSON.stringify(frame));
  };
  if (chunks.some(({ bytes }) => isBefore(bytes))) return {};
  const frame = frameIn(hex(first.bytes), target.framing);
  const gaps = chunks
    .slice(1)
    .map(({ at }, i) => at - (chunks[i]?.at ?? at))
    .sort((a, b) => a - b);
  const every = Math.max(SHORTEST_UNSOLICITED_MS, Math.round(median(gaps)));
  const spread =
    (gaps.at(Math.floor(0.9 * gaps.length)) ?? every) - (gaps.at(Math.floor(0.1 * gaps.length)) ?? every);
  const jitter = Math.min(every, Math.round(spread / 2));
  return { line: { unsolicited: [{ ...(frame ? { frame } : { bytes: hex(first.bytes) }), every, jitter }] } };
}
