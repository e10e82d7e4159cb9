import { printableLine } from '../../../common/rest-client/printable.js';
import { REFERENCE_TYPE } from '../../../device/functions.js';
import { wordAt } from '../../../modbus/protocol/bytes.js';
import type { Bench } from '../bench.js';
import {
  absent,
  checksOf,
  codeless,
  conforms,
  inconclusive,
  isAbsent,
  type Judged,
  notAnswered,
  refused,
  type ServerCheck,
  unsupported,
  violates,
} from '../check.js';
import { A, SERIAL } from '../clauses.js';
import type { Found } from '../found.js';
import { didOf } from '../reading.js';
import { codeText } from '../words.js';

/** The MEI type of device identification (6.21). */
const MEI = 14;

const identify = (access: number, object: number) => Uint8Array.of(0x2b, MEI, access, object);

/** The conformity levels of device identification (6.21). */
const LEVELS = [1, 2, 3, 0x81, 0x82, 0x83];

/** Maximum number of requests for a list of objects: each of 256 objects may begin one. */
const MOST_PARTS = 256;

/** Reads the objects of a level until no more follow. */
async function readObjects(
  bench: Bench,
  access: number,
): Promise<Judged | { readonly objects: Map<number, string>; readonly level: number }> {
  const objects = new Map<number, string>();
  let [next, level] = [0, 0];
  for (let part = 0; part < MOST_PARTS; part++) {
    const exchange = await bench.ask(identify(access, next));
    bench.noteFunction(43, exchange);
    const { answer } = exchange;
    if (isAbsent(exchange)) return absent(exchange, MEI);
    if (exchange.oddities.includes('no-exception-code')) return codeless(exchange);
    if (answer.kind !== 'data') return violates({ code: 'not-identified', answer: didOf(answer) }, exchange);
    const [, mei = 0, , conformity = 0, more = 0, following = 0, count = 0] = answer.pdu;
    if (mei !== MEI || answer.pdu.length < 7) return violates({ code: 'no-identification' }, exchange);
    if (!LEVELS.includes(conformity)) return violates({ code: 'level-unknown', level: conformity }, exchange);
    level = conformity;
    let at = 7;
    for (let i = 0; i < count; i++) {
      const [id, length] = [answer.pdu[at], answer.pdu[at + 1]];
      if (id === undefined || length === undefined || at + 2 + length > answer.pdu.length) {
        return violates({ code: 'objects-cut', objects: count }, exchange);
      }
      objects.set(id, Buffer.from(answer.pdu.subarray(at + 2, at + 2 + length)).toString('latin1'));
      at += 2 + length;
    }
    if (at !== answer.pdu.length && !bench.isOdd('bytes-after'))
      return violates({ code: 'bytes-after-objects', bytes: answer.pdu.length - at }, exchange);
    if (more === 0)
      return following === 0
        ? { objects, level }
        : violates({ code: 'object-never-follows', object: following }, exchange);
    if (more !== 0xff || following <= next)
      return violates({ code: 'more-follows', more, object: following }, exchange);
    next = following;
  }
  return violates({ code: 'objects-endless' });
}

async function basic(bench: Bench): Promise<Judged> {
  const read = await readObjects(bench, 1);
  if ('verdict' in read) return read;
  const { objects, level } = read;
  const names = [...objects].sort((a, b) => a[0] - b[0]).map(([, text]) => text);
  if (names.length > 0) bench.facts.vendor = names;
  bench.facts.identificationLevel = level;
  const missing = [0, 1, 2].filter((id) => !objects.has(id));
  if (missing.length > 0)
    return violates({ code: 'objects-missing', objects: missing }, ...bench.log.slice(-1));
  return conforms({ code: 'identified', names: names.map(printableLine), level }, ...bench.log.slice(-1));
}

async function extended(bench: Bench): Promise<Judged> {
  const read = await readObjects(bench, 3);
  if ('verdict' in read) {
    const { answer } = bench.log.at(-1) ?? {};
    const isLower = answer?.kind === 'exception' && answer.code === 3;
    return isLower ? violates({ code: 'level-refused' }, ...(read.shown ?? [])) : read;
  }
  return conforms({ code: 'objects', objects: read.objects.size, level: read.level }, ...bench.log.slice(-1));
}

const individually = (bench: Bench) => ((bench.facts.identificationLevel ?? 0x80) & 0x80) !== 0;

/** Makes a check of function 43 apply only to servers that have it, whichever check runs first, or alone. */
const with43 =
  (run: (bench: Bench) => Promise<Judged>) =>
  async (bench: Bench): Promise<Judged> => {
    if (!bench.isFunctionKnown(43)) await basic(bench);
    if (bench.facts.functions.missing.has(43))
      return unsupported({ code: 'function-absent', function: 43, mei: MEI });
    if (bench.facts.functions.silent.has(43))
      return bench.facts.isMuteToUnknown
        ? unsupported({ code: 'function-mute', function: 43 })
        : inconclusive({ code: 'identification-deaf' });
    return run(bench);
  };

async function restart(bench: Bench): Promise<Judged> {
  const exchange = await bench.ask(identify(1, 0x50));
  const { answer } = exchange;
  if (isAbsent(exchange)) return absent(exchange, MEI);
  if (answer.kind === 'data' && answer.pdu[7] === 0) return conforms({ code: 'begins-again' }, exchange);
  if (exchange.oddities.includes('no-exception-code')) return codeless(exchange);
  return violates({ code: 'no-restart', answer: didOf(answer) }, exchange);
}

/** Sub-function 0, which returns the data sent to it (6.8.1): a server with function 8 has at least this one. */
const LOOPBACK = [8, 0, 0, 0xa5, 0x37] as const;

/** An unknown sub-function is refused with the code of an unknown function, so the server must have function 8. */
async function unknownSubFunction(bench: Bench): Promise<Judged> {
  if (!bench.isFunctionKnown(8)) bench.noteFunction(8, await bench.ask(Uint8Array.from(LOOPBACK)));
  if (bench.facts.functions.missing.has(8)) return unsupported({ code: 'function-absent', function: 8 });
  return refused(bench, Uint8Array.of(8, 0, 0x13, 0, 0), {
    right: [1],
    open: { 3: 'refused-otherwise' },
    isOptional: false,
  });
}

/** The replies allowed for a function: a description of correct ones, and what is wrong with others. */
type ReplyShape = readonly [right: string, judge: (pdu: Uint8Array) => Found | undefined];

/** A check of an optional function: judges the form of its reply. */
function shape(
  id: string,
  pdu: readonly number[],
  texts: Pick<ServerCheck, 'title' | 'clause' | 'matters'>,
  [right, judge]: ReplyShape,
  next: (bench: Bench) => Promise<Judged | undefined> = async () => undefined,
): ServerCheck {
  const code = pdu[0] as number;
  return {
    ...{ id, group: 'identification', grade: 'met', provokes: ['function'], ...texts },
    clause: `${A}, ${texts.clause}`,
    does: `Sends function ${code}${pdu.length > 1 ? ` (${pdu.map(codeText).join(' ')})` : ''}.`,
    rule: `Conforms when the reply is ${right}. Exception 01: not supported. Silence costs each client a time-out.`,
    mend: 'Answer unsupported functions with exception 01.',
    run: async (bench) => {
      const exchange = await bench.ask(Uint8Array.from(pdu));
      bench.noteFunction(code, exchange);
      const { answer } = exchange;
      switch (answer.kind) {
        case 'exception':
          if (isAbsent(exchange)) return absent(exchange);
          if (exchange.oddities.includes('no-exception-code')) return codeless(exchange);
          return code >= 20 && [2, 3, 4].includes(answer.code)
            ? conforms({ code: 'exception', exception: answer.code }, exchange)
            : violates({ code: 'wrong-exception', exception: answer.code, right: [1] }, exchange);
        case 'data': {
          const wrong = judge(answer.pdu);
          if (wrong !== undefined) return violates(wrong, exchange);
          return (await next(bench)) ?? conforms({ code: 'answered', answer: didOf(answer) }, exchange);
        }
        case 'silent':
          return notAnswered(exchange, bench.asker.isSerial);
        default:
          return violates({ code: 'function-misanswered', answer: didOf(answer) }, exchange);
      }
    },
  };
}

/** Reads counters 8/12 and 8/13, sends a bad frame and an illegal request, and reads them again. */
async function counters(bench: Bench): Promise<Judged> {
  const counter = async (sub: number) => {
    const { answer } = await bench.ask(Uint8Array.of(8, 0, sub, 0, 0));
    return answer.kind === 'data' ? ((answer.pdu[3] ?? 0) << 8) | (answer.pdu[4] ?? 0) : undefined;
  };
  const before = [await counter(12), await counter(13)];
  if (before.includes(undefined)) return unsupported({ code: 'no-counters' });
  const frame = bench.frameOf();
  frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 0xff;
  await bench.asker.send([{ bytes: frame }], { timeout: 300 });
  const illegal = await bench.ask(Uint8Array.of(0x63, 0, 0, 0, 1), { tries: 1 });
  const after = [await counter(12), await counter(13)];
  const [errors = 0, exceptions = 0] = [0, 1].map((i) => ((after[i] ?? 0) - (before[i] ?? 0)) & 0xffff);
  if (illegal.answer.kind !== 'exception') return inconclusive({ code: 'no-exception-counted' }, illegal);
  if (errors === 1 && exceptions === 1) return conforms({ code: 'counted' }, illegal);
  return violates({ code: 'miscounted', errors, exceptions }, ...bench.log.slice(-6));
}

/** How long the event count is left idle, in ms. */
const COUNTED_MS = 1000;

/** Function 11 counts neither exceptions nor its own requests as events (6.9). */
async function events(bench: Bench): Promise<Judged | undefined> {
  const count = async (pauseMs?: number) => {
    const { answer } = await bench.ask(Uint8Array.of(11), pauseMs === undefined ? {} : { pauseMs });
    return answer.kind === 'data' && answer.pdu.length === 5 ? wordAt(answer.pdu, 3) : undefined;
  };
  const [first, second] = [await count(), await count()];
  // Requests of other masters count too: if so, the count also grows while it is left idle.
  const later = await count(COUNTED_MS);
  if (first === undefined || second === undefined || later === undefined) return undefined;
  if (((later - second) & 0xffff) !== ((second - first) & 0xffff)) return undefined;
  const illegal = await bench.ask(Uint8Array.of(0x63, 0, 0, 0, 1), { tries: 1 });
  const third = await count();
  if (third === undefined) return undefined;
  const [own, exceptions] = [(second - first) & 0xffff, (third - later) & 0xffff];
  const isException = illegal.answer.kind === 'exception';
  if (own === 0 && (exceptions === 0 || !isException)) return undefined;
  return {
    ...violates(
      { code: 'events-miscounted', own, exceptions: Math.max(0, exceptions - own) },
      ...bench.log.slice(-4),
    ),
    grade: 'seldom',
  };
}

/** Judges the byte count of a reply. */
function byteCount(pdu: Uint8Array): Found | undefined {
  const [counted = 0, bytes] = [pdu[1], pdu.length - 2];
  return counted === bytes ? undefined : { code: 'byte-count-wrong', byteCount: counted, bytes };
}

const COST = 'A client that probes for the function waits for its time-out: stephane/libmodbus#813.';

const OF_43 = checksOf(
  {
    ...{ group: 'identification', grade: 'seldom', clause: `${A}, 6.21` },
    matters: 'Clients get lists that are truncated or never end: debevv/nanoMODBUS#126.',
    mend: 'Follow the table of objects and the rules of "more follows".',
  },
  [
    {
      ...{ id: 'fc43-basic', grade: 'met', run: basic },
      title: 'Identifies itself',
      does: 'Reads the basic objects with function 43/14 to the end.',
      rule: 'Conforms when objects 0, 1 and 2 are returned, and the next object at the end is 00. Exception 01: not supported.',
    },
    {
      ...{ id: 'fc43-extended', run: with43(extended) },
      title: 'Answers requests for a higher level',
      does: 'Reads the extended objects.',
      rule: 'Conforms when the server answers with the objects of its own level.',
    },
    {
      ...{ id: 'fc43-code-illegal', provokes: ['value'] },
      title: 'Refuses an unknown read code',
      does: 'Sends 2B 0E 05 00.',
      rule: 'Conforms when the reply is exception 03. Exception 02 is inconclusive.',
      run: with43((bench) =>
        refused(bench, identify(5, 0), { right: [3], open: { 2: 'refused-otherwise' } }),
      ),
    },
    {
      ...{ id: 'fc43-object-unknown', provokes: ['address'] },
      title: 'Refuses an object that it does not have',
      does: 'Requests object 7F alone.',
      rule: 'Conforms when the reply is exception 02. Not supported without individual access.',
      run: with43(async (bench) =>
        individually(bench)
          ? refused(bench, identify(4, 0x7f), { right: [2] })
          : unsupported({ code: 'objects-not-single' }),
      ),
    },
    {
      ...{ id: 'fc43-restart', run: with43(restart) },
      title: 'Restarts the list at an unknown object',
      does: 'Requests the basic objects from object 50.',
      rule: 'Conforms when the list restarts at object 00.',
    },
    {
      ...{ id: 'fc43-mei-unknown', provokes: ['function'], clause: `${A}, 6.19 and figure 30` },
      title: 'Refuses another MEI type',
      does: 'Sends 2B 0F 01 00.',
      rule: 'Conforms when the reply is exception 01. Exceptions 02 and 03 are inconclusive.',
      run: with43((bench) =>
        refused(bench, Uint8Array.of(0x2b, 0x0f, 1, 0), {
          right: [1],
          open: { 2: 'refused-otherwise', 3: 'refused-otherwise' },
          isOptional: false,
        }),
      ),
    },
  ],
);

const OF_8 = checksOf({ group: 'identification', grade: 'seldom', provokes: ['function'] }, [
  {
    ...{ id: 'fc08-sub-unknown', run: unknownSubFunction },
    title: 'Refuses an unknown sub-function',
    does: 'Sends 08 0013 0000.',
    rule: 'Conforms when the reply is exception 01. Exception 03 is inconclusive. Not supported if the server lacks function 8.',
    clause: `${A}, figure 18`,
    matters: COST,
    mend: 'Answer with exception 01.',
  },
  {
    ...{ id: 'fc08-counters', on: 'rtu', run: counters },
    title: 'Counts errors and exceptions',
    does: 'Reads the counters 8/12 and 8/13 before and after one frame with a wrong CRC and one exception.',
    rule: 'Conforms when each counter increased by one. Inconclusive if other devices talk on the line.',
    clause: `${SERIAL}, 6.1`,
    matters: 'These counters are used to find a bad line.',
    mend: 'Count errors in the receiver, and exceptions where they are created.',
  },
]);

const LOOPBACK_SHAPE: ReplyShape = [
  'an echo',
  (pdu) => (Buffer.compare(pdu, Uint8Array.from(LOOPBACK)) === 0 ? undefined : { code: 'echo-differs' }),
];
const STATUS_SHAPE: ReplyShape = [
  '2 bytes',
  (pdu) => (pdu.length === 2 ? undefined : { code: 'reply-length', bytes: pdu.length, right: 2 }),
];
const EVENTS_SHAPE: ReplyShape = [
  'status 0000 or FFFF, and a count that neither exceptions nor function 11 itself add to',
  (pdu) =>
    pdu.length === 5 && pdu[1] === pdu[2] && (pdu[1] === 0 || pdu[1] === 0xff)
      ? undefined
      : { code: 'status-wrong' },
];
const counting = (right: string): ReplyShape => [right, byteCount];
/** Maximum number of values in a FIFO queue (6.18). */
const MOST_IN_QUEUE = 31;
const QUEUE_SHAPE: ReplyShape = [
  'a queue, or exception 02 or 03',
  (pdu) => {
    const many = wordAt(pdu, 3);
    return pdu.length >= 5 && many > MOST_IN_QUEUE ? { code: 'queue-too-long', values: many } : undefined;
  },
];
const RECORD_SHAPE: ReplyShape = [
  'data or exception 02',
  (pdu) =>
    pdu.length > 3 && pdu[3] !== REFERENCE_TYPE ? { code: 'reference-type', type: pdu[3] ?? 0 } : undefined,
];

export const IDENTIFICATION: readonly ServerCheck[] = [
  ...OF_43,
  shape(
    'fc08-loopback',
    LOOPBACK,
    { title: 'Echoes a diagnostic request', clause: '6.8', matters: 'Beckhoff FB_MBDiagnose polls it.' },
    LOOPBACK_SHAPE,
  ),
  ...OF_8,
  shape('fc07-shape', [7], { title: 'Exception status', clause: '6.7', matters: COST }, STATUS_SHAPE),
  shape(
    'fc11-shape',
    [11],
    { title: 'Communication events', clause: '6.9', matters: COST },
    EVENTS_SHAPE,
    events,
  ),
  shape(
    'fc17-shape',
    [17],
    {
      ...{ title: 'Server identifier', clause: '6.13' },
      matters:
        'Clients cannot parse the reply without a byte count (cwalter-at/freemodbus#17); silence costs a time-out.',
    },
    counting('a byte count, an identifier and a run indicator'),
  ),
  shape(
    'fc12-answered',
    [12],
    { title: 'Communication log', clause: '6.10', matters: COST },
    counting('the log'),
  ),
  shape(
    'fc20-answered',
    [20, 7, 6, 0, 1, 0, 0, 0, 1],
    { title: 'File records', clause: '6.14', matters: COST },
    RECORD_SHAPE,
  ),
  shape('fc24-answered', [24, 0, 0], { title: 'FIFO queue', clause: '6.18', matters: COST }, QUEUE_SHAPE),
];
