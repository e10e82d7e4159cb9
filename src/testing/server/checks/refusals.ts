import { type Bench, READ_CODES, type ReadCode } from '../bench.js';
import {
  checksOf,
  codeless,
  conforms,
  dangerous,
  fact,
  inconclusive,
  type Judged,
  judgeRefusal,
  refused,
  type ServerCheck,
  unsupported,
  violates,
  worstOf,
} from '../check.js';
import { A } from '../clauses.js';
import { type Exchange, hasValues } from '../exchange.js';
import { didOf, tallyOf } from '../reading.js';
import { readPdu, valuesIn } from '../requests.js';
import { startOr } from './has.js';

/** Addresses that hardly any server has. */
const UNLIKELY = [0xffff, 0xfffe, 0xff00, 0xeeee, 0x7fff, 50_000, 20_000];

/** Finds an address in the good table that does not exist; undefined if all do. */
async function absentAddress(
  bench: Bench,
  code = bench.good.code,
): Promise<{ readonly address: number; readonly exchange: Exchange } | undefined> {
  for (const address of UNLIKELY) {
    const exchange = await bench.ask(readPdu(code, address, 1));
    if (!hasValues(exchange)) return { address, exchange };
  }
  return undefined;
}

/** Tries each readable table; for a slow server, only the one that answers. */
async function addressUnknown(bench: Bench): Promise<Judged> {
  const good = bench.good.code;
  const first = await refusesAbsent(bench, good);
  if (!first) return unsupported({ code: 'all-addresses-exist' });
  // If the refusal has silenced the server, the other tables can't be tried.
  if (first.verdict !== 'conforms' || bench.asker.waits.isSlow || !(await bench.isAlive())) return first;
  for (const code of READ_CODES.filter((each) => each !== good)) {
    const judged =
      typeof (await bench.table(code)) === 'number' ? await refusesAbsent(bench, code) : undefined;
    if (judged?.verdict === 'violates') return judged;
  }
  return (await cutAddress(bench)) ?? first;
}

async function refusesAbsent(bench: Bench, code: ReadCode): Promise<Judged | undefined> {
  const absent = await absentAddress(bench, code);
  if (!absent) return undefined;
  const { exchange, address } = absent;
  const judged = judgeRefusal(exchange, { right: [2], silence: 'violates', isOptional: false });
  return { ...judged, at: code === bench.good.code ? { address } : { address, function: code } };
}

/**
 * How many registers to compare with others whose addresses have the same low byte, and how many of them must
 * differ.
 */
const COMPARED = 8;
const DIFFERENT = 3;
/**
 * The offsets between the compared addresses. Blocks of channels may repeat at the first ones; no map repeats
 * at the others.
 */
const ALIKE = [0x100, 0x200, 0x400, 0x3700, 0xa500, 0xfe00];

/**
 * Compares registers whose addresses have the same low byte, with undefined addresses in between. If they all
 * equal the first, the server uses only eight bits of an address.
 */
async function cutAddress(bench: Bench): Promise<Judged | undefined> {
  const { code, address } = bench.good;
  if (code !== 3 && code !== 4) return undefined;
  const from = (at: number) => bench.words(code, at, COMPARED);
  const values = await from(address);
  if (!values || new Set(values).size < DIFFERENT) return undefined;
  const addresses = ALIKE.map((each) => address ^ each);
  for (const at of addresses) if ((await from(at))?.join() !== values.join()) return undefined;
  // A map that has all addresses in between may simply repeat.
  const between = Array.from({ length: 8 }, (_, i) => address + 0x100 - 0x10 * (i + 1));
  for (const at of between) {
    const { answer } = await bench.ask(readPdu(code, at, 1));
    if (answer.kind === 'exception' && answer.code === 2)
      return dangerous({ code: 'address-cut', addresses, address, absent: at }, ...bench.log.slice(-3));
  }
  return undefined;
}

/** The specification's figures for the read functions: each checks the quantity before the address. */
const FIGURES = { 1: 11, 2: 12, 3: 13, 4: 14 } as const;

/**
 * Requests a wrong quantity at an address that does not exist. The exception code shows the order only if the
 * server refuses the same quantity at a good address with a different code.
 */
async function orderOfChecks(bench: Bench): Promise<Judged> {
  const absent = await absentAddress(bench);
  if (!absent) return unsupported({ code: 'all-addresses-exist' });
  const { code, address } = bench.good;
  const ofAddress = absent.exchange.answer;
  if (absent.exchange.oddities.includes('no-exception-code')) return codeless(absent.exchange);
  if (ofAddress.kind !== 'exception')
    return inconclusive({ code: 'address-not-refused', answer: didOf(ofAddress) }, absent.exchange);
  const same: Exchange[] = [];
  for (const many of [0, code <= 2 ? 2001 : 126]) {
    const good = await bench.ask(readPdu(code, address, many));
    same.push(good);
    if (good.answer.kind !== 'exception' || good.answer.code === ofAddress.code) continue;
    const exchange = await bench.ask(readPdu(code, absent.address, many));
    const { answer } = exchange;
    const figure = FIGURES[code as ReadCode];
    if (answer.kind === 'exception' && answer.code === good.answer.code)
      return fact({ code: 'quantity-first', exception: answer.code, figure }, exchange);
    if (answer.kind === 'exception' && answer.code === ofAddress.code)
      return fact({ code: 'address-first', exception: answer.code, figure }, exchange);
    return fact({ code: 'other-answer', answer: didOf(answer) }, exchange);
  }
  return inconclusive(
    {
      code: 'order-unclear',
      answers: tallyOf(same.map(({ answer }) => answer)),
      exception: ofAddress.code,
    },
    ...same,
  );
}

const MAY_BE_ADDRESS =
  'Exception 02 is inconclusive: the map may end earlier, and some servers check the address first, as in figure 9 for all functions.';

/** Reads a quantity that the specification does not allow. */
function quantity(
  code: ReadCode,
  many: number,
  text: { title?: string; matters: string; turn?: 'late' },
): ServerCheck {
  const limit = code <= 2 ? 2000 : 125;
  const isOver = many > limit;
  const figure = FIGURES[code];
  const what = code <= 2 ? 'bits' : 'registers';
  return {
    id: `fc0${code}-quantity-${many}`,
    group: 'refusals',
    title: text.title ?? `Function ${code} refuses ${many} ${what}`,
    does: `Reads ${many} ${what} with function ${code}.`,
    rule: `Conforms when the reply is exception 03.${isOver ? ` ${MAY_BE_ADDRESS}` : ''}`,
    clause: `${A}, figure ${figure}`,
    matters: text.matters,
    mend: `Refuse quantities other than 1 to ${limit} with exception 03 before any other check.`,
    grade: 'seldom',
    provokes: ['value'],
    ...(text.turn && { turn: text.turn }),
    run: async (bench) => {
      const address = await startOr(bench, code);
      if (typeof address !== 'number') return address;
      return refused(bench, readPdu(code, address, many), {
        right: [3],
        ...(isOver && { open: { 2: 'refused-as-address' } }),
        data: (exchange) => tooMany(exchange, many, what),
      });
    },
  };
}

function tooMany(exchange: Exchange, many: number, what: string): Judged {
  const { answer } = exchange;
  const bytes = answer.kind === 'data' ? answer.pdu.length - 2 : 0;
  return violates({ code: 'wrong-quantity-answered', quantity: many, what, bytes }, exchange);
}

const AS_READ = 'A client does not notice that its quantity is wrong: ';
const asFunction3 = `${AS_READ}xiegeo/modbusone#16.`;

function badFunction(pdu: Uint8Array, silence: 'conforms' | 'inconclusive' | 'violates', right = [1]) {
  return (bench: Bench) => refused(bench, pdu, { right, silence, isOptional: false });
}

async function tooShort(bench: Bench): Promise<Judged> {
  const { code, address } = bench.good;
  const results: Judged[] = [];
  for (const pdu of [Uint8Array.of(code), Uint8Array.of(code, address >> 8)]) {
    // The buffer still contains the previous request, whose bytes would complete this one.
    await bench.ask(readPdu(code, address, 2));
    results.push(await refused(bench, pdu, { right: [3], open: { 2: 'refused-as-other-address' } }));
    if (results.at(-1)?.verdict === 'violates') break;
  }
  return worstOf(results);
}

function tooLong(bench: Bench): Promise<Judged> {
  const { code, address } = bench.good;
  return refused(bench, Uint8Array.of(...readPdu(code, address, 1), 0xaa, 0xbb), {
    right: [3],
    silence: 'conforms',
    data: (exchange) => violates({ code: 'too-long-answered' }, exchange),
  });
}

export const REFUSALS = checksOf({ group: 'refusals' }, [
  {
    ...{ id: 'address-unknown', grade: 'met', provokes: ['address'], run: addressUnknown },
    title: 'Refuses an address that it does not have',
    does: 'Reads one value at FFFF or at another refused address of each table, and registers 256, 512 and 1024 addresses above known ones.',
    rule: 'Conforms when the reply is exception 02. Not supported if every address exists.',
    clause: `${A}, 7, code 02, and figure 13`,
    matters:
      'Clients wait for the time-out or lose the connection: emelianov/modbus-esp8266#255, NModbus4/NModbus4#5, yaacov/node-modbus-serial#505.',
    mend: 'Answer with exception 02.',
  },
  {
    ...{ id: 'address-wraps', grade: 'met', provokes: ['address'] },
    title: 'Refuses a block beyond address FFFF',
    does: 'Reads two registers from FFFF.',
    rule: 'Conforms when the reply is exception 02 or 03.',
    clause: `${A}, 7, code 02`,
    matters:
      'A value from outside the map is mistaken for a measurement: wlcrs/tmodbus#116, CONTROLLINO-PLC/CONTROLLINO_Library#58.',
    mend: 'Add address and quantity with more than 16 bits.',
    run: (bench) =>
      refused(bench, readPdu(bench.good.code, 0xffff, 2), {
        right: [2],
        open: { 3: 'refused-as-quantity' },
        data: (exchange) =>
          hasValues(exchange)
            ? dangerous({ code: 'address-wraps', values: valuesIn(exchange).slice(0, 4) }, exchange)
            : violates(
                { code: 'answered-not-refused', answer: didOf(exchange.answer), right: [2] },
                exchange,
              ),
      }),
  },
  {
    ...{ id: 'order-quantity-address', grade: 'seldom', provokes: ['address', 'value'] },
    ...{ run: orderOfChecks },
    title: 'Checks the quantity before the address',
    does: 'Reads zero registers, or one too many, at an address that does not exist.',
    rule: 'Reported only: figure 13 checks the quantity first, figure 9 the address. Inconclusive if both give the same code.',
    clause: `${A}, figure 9 against figure 13`,
    matters: 'The order explains why two servers refuse one request with different codes.',
    mend: 'None: the specification has both orders.',
  },
  {
    ...{ id: 'function-unknown', grade: 'met', provokes: ['function'] },
    title: 'Refuses a function that it does not have',
    does: 'Sends function 99 (63) with four bytes.',
    rule: 'Conforms when the reply is function E3 with exception 01.',
    clause: `${A}, 7, code 01; Messaging on TCP/IP V1.0b, 4.4.2.2`,
    matters:
      'Each request costs a time-out or the connection: stephane/libmodbus#142, stephane/libmodbus#314, mesta1/nmodbus#74.',
    mend: 'Answer with the function code plus 80 and exception 01.',
    run: async (bench) => {
      const judged = await badFunction(Uint8Array.of(0x63, 0, 0, 0, 1), 'violates')(bench);
      const { answer } = bench.log.at(-1) ?? {};
      bench.facts.isMuteToUnknown = answer?.kind === 'silent';
      if (answer?.kind === 'exception' && answer.code > 1) bench.facts.unknownRefusal = answer.code;
      return judged;
    },
  },
  {
    ...{ id: 'function-0', grade: 'seldom', provokes: ['function'] },
    ...{ run: badFunction(Uint8Array.of(0, 0, 0, 0, 1), 'conforms') },
    title: 'Survives function 0',
    does: 'Sends function 0.',
    rule: 'Conforms when the reply is exception 01, or when there is no reply and the server keeps working.',
    clause: `${A}, 4.1`,
    matters: 'A parser that does not expect function code 0 may hang.',
    mend: 'Treat 0 as an unknown function.',
  },
  {
    ...{ id: 'function-over-127', grade: 'seldom', provokes: ['function'] },
    title: 'Survives a function code above 127',
    does: 'Sends function 83, the exception code of function 3.',
    rule: 'Conforms when it is refused or ignored.',
    clause: `${A}, 4.1`,
    matters: 'If 83 + 80 overflows eight bits, the refusal looks like a reply to function 3.',
    mend: 'Ignore codes above 7F.',
    run: async (bench) => {
      const exchange = await bench.ask(Uint8Array.of(0x83, 0, 0, 0, 1), { tries: 1 });
      const { answer } = exchange;
      const isOverflow = answer.kind === 'data' && (answer.pdu[0] as number) < 0x80;
      const [oddity] = exchange.oddities;
      const isData = isOverflow && answer.pdu.length > 2;
      if (isData && oddity) return inconclusive({ code: 'frames-odd', oddity }, exchange);
      if (isData) return { ...violates({ code: 'flag-ignored' }, exchange), grade: 'met' };
      return isOverflow
        ? violates({ code: 'refusal-looks-like-data' }, exchange)
        : conforms({ code: 'answered', answer: didOf(answer) }, exchange);
    },
  },
  quantity(3, 0, { matters: `${AS_READ}xiegeo/modbusone#16, ModbusScope/ModbusScope#424.` }),
  quantity(3, 126, { matters: `${AS_READ}pymodbus-dev/pymodbus#2613, stephane/libmodbus#26.` }),
  quantity(4, 0, { matters: asFunction3 }),
  quantity(4, 126, { matters: asFunction3 }),
  quantity(1, 0, { matters: asFunction3 }),
  quantity(1, 2001, { matters: asFunction3 }),
  quantity(2, 0, { matters: asFunction3 }),
  quantity(2, 2001, { matters: asFunction3 }),
  quantity(3, 256, {
    matters: 'The byte count wraps to 0, and a process crashed: Cloud-Automation/node-modbus#359.',
    turn: 'late',
  }),
  quantity(3, 65535, {
    matters: 'BiancoRoyal/node-red-contrib-modbus#35, ClassicDIY/ModbusTool#32.',
    turn: 'late',
  }),
  {
    ...{ id: 'request-too-short', grade: 'seldom', turn: 'late', provokes: ['value'], run: tooShort },
    title: 'Refuses a request that is too short',
    does: 'Sends the function code alone and with one byte, in frames of the right length. An earlier read fills the buffer.',
    rule: 'Conforms when the reply is exception 03. A closed connection or silence is inconclusive if the server keeps working.',
    clause: `${A}, 7, code 03`,
    matters:
      'Servers hang or use bytes of the previous request: emelianov/modbus-esp8266#387, pymodbus-dev/pymodbus#2698, mushorg/conpot#511.',
    mend: 'Check the length of the PDU before reading its fields.',
  },
  {
    ...{ id: 'request-too-long', grade: 'seldom', turn: 'late', provokes: ['value'], run: tooLong },
    title: 'Refuses a request that is too long',
    does: 'Sends a valid read with two extra bytes, in a frame of the right length.',
    rule: 'Conforms when the reply is exception 03, or when the request is ignored and the next one is answered.',
    clause: `${A}, 7, code 03`,
    matters: 'A client never learns that its request was wrong: stephane/libmodbus#867.',
    mend: 'Compare the length of the PDU with the length that its function requires.',
  },
]);
