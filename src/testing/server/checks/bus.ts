import type { RawPiece } from '../../../modbus/client/raw.js';
import { concatBytes, hex } from '../../../modbus/protocol/bytes.js';
import { HIGHEST_UNIT } from '../../../modbus/protocol/limits.js';
import { BROADCAST } from '../../../modbus/protocol/rtu.js';
import type { Bench } from '../bench.js';
import {
  checksOf,
  conforms,
  counted,
  dangerous,
  fact,
  inconclusive,
  type Judged,
  unlessLossy,
  unsupported,
  violates,
} from '../check.js';
import { A, SERIAL } from '../clauses.js';
import type { BeforeRead } from '../codes/phrases.js';
import { type Exchange, heardIn, isDecisive } from '../exchange.js';
import { didOf } from '../reading.js';
import { readPdu, valuesIn } from '../requests.js';
import { hiddenWrite, readsAfter, writePdu, writeRegister } from './written.js';

const ADDRESS = `${SERIAL}, 2.4.2`;

/** A silence that ends every frame, in ms: adapters delay bytes by up to 20 ms. */
const CLEAR_MS = 60;
/** The number of units to try in the search for one that no device has. */
const UNITS_TRIED = 3;

/** A silence after which every server begins a new frame, whatever came before, in ms. */
const clear = (bench: Bench) => Math.max(CLEAR_MS, 5 * bench.asker.t35);

/** Sends something that must not be answered. If the server answers it, `blame` judges that. */
export async function unanswered(
  bench: Bench,
  pieces: readonly RawPiece[],
  unitId: number,
  pdu: Uint8Array,
  blame: typeof violates = violates,
): Promise<Judged> {
  const exchange = await bench.asker.once(pdu, { unitId, pieces, timeout: bench.asker.silence });
  if (exchange.chunks.length === 0) return conforms({ code: 'no-reply' }, exchange);
  const bytes = hex(heardIn(exchange)).slice(0, 60);
  const { answer } = exchange;
  return answer.kind === 'exception'
    ? violates({ code: 'exception-not-ignored', answer: didOf(answer), bytes }, exchange)
    : blame({ code: 'not-ignored', answer: didOf(answer), bytes }, exchange);
}

/** Sends something, followed by a good read, which must be answered. */
export async function stillAnswers(
  bench: Bench,
  before: readonly RawPiece[],
  waitMs: number,
  what: BeforeRead,
): Promise<Judged> {
  const pause = Math.max(waitMs, 1.5 * (bench.facts.pauseMs ?? 0));
  const pieces = [...before, { bytes: bench.frameOf(), waitMs: pause }];
  const exchange = await bench.ask(bench.goodRead, { pieces, isExpected: true });
  if (isDecisive(exchange)) return conforms({ code: 'read-answered-after', ms: pause, ...what }, exchange);
  const lost = { code: 'read-lost-after', ms: pause, answer: didOf(exchange.answer), ...what } as const;
  return unlessLossy(bench, lost, exchange);
}

/** Finds a unit that no device has; undefined if all that were tried are answered. */
async function absentUnit(
  bench: Bench,
): Promise<{ readonly unit?: number; readonly answered: readonly Exchange[]; readonly silent?: Exchange }> {
  const answered: Exchange[] = [];
  const known = bench.facts.absentUnit;
  if (known !== undefined) return { unit: known, answered };
  for (let i = 0; i < UNITS_TRIED; i++) {
    const unit = otherUnit(bench);
    const exchange = await bench.asker.once(bench.goodRead, { unitId: unit, timeout: bench.asker.silence });
    if (exchange.answer.kind === 'silent') {
      bench.facts.absentUnit = unit;
      return { unit, answered, silent: exchange };
    }
    answered.push(exchange);
  }
  return { answered };
}

function otherUnit(bench: Bench): number {
  const unit = 100 + bench.random.below(140);
  return unit === bench.asker.unitId ? unit + 1 : unit;
}

async function otherUnitAnswers(bench: Bench): Promise<Judged> {
  const { unit, answered } = await absentUnit(bench);
  if (unit === undefined) {
    const units = answered.map(({ unitId }) => unitId);
    return counted(dangerous, { code: 'other-units-answered', units }, answered, answered.length);
  }
  const exchange = await bench.asker.once(bench.goodRead, { unitId: unit, timeout: bench.asker.silence });
  if (exchange.chunks.length > 0)
    return dangerous({ code: 'other-unit-answered', unit, answer: didOf(exchange.answer) }, exchange);
  const next = await bench.askGood();
  if (!isDecisive(next) && bench.facts.losses === undefined)
    return violates({ code: 'deaf-after-other-unit', unit }, exchange, next);
  // A server may compare only some bits of the unit.
  for (const alike of Array.from({ length: 8 }, (_, bit) => bench.asker.unitId ^ (0x80 >> bit))) {
    if (alike <= 0 || alike > HIGHEST_UNIT) continue;
    const other = await bench.asker.once(bench.goodRead, { unitId: alike, timeout: bench.asker.silence });
    if (other.chunks.length > 0) {
      const isSame = other.oddities.includes('unit') || (await isSameServer(bench, alike));
      if (isSame === undefined) return inconclusive({ code: 'alike-unit-answered', unit: alike }, other);
      if (isSame)
        return dangerous({ code: 'other-unit-answered', unit: alike, answer: didOf(other.answer) }, other);
    }
  }
  return conforms({ code: 'other-unit-ignored', unit }, exchange);
}

/** True if a value written to the tested unit is read from the other one; undefined without a scratch range. */
async function isSameServer(bench: Bench, unitId: number): Promise<boolean | undefined> {
  if (!bench.order.scratch.holding) return undefined;
  const address = await bench.scratch.register();
  const [before = 0] = (await bench.words(3, address, 1)) ?? [];
  const value = before ^ (1 + bench.random.below(0x7ffe));
  await writeRegister(bench, address, value);
  return valuesIn(await bench.ask(readPdu(3, address, 1), { unitId }))[0] === value;
}

/** Makes a check run with a unit that no device has. */
const beside =
  (run: (bench: Bench, unit: number) => Promise<Judged>) =>
  async (bench: Bench): Promise<Judged> => {
    const { unit } = await absentUnit(bench);
    return unit === undefined ? inconclusive({ code: 'no-free-unit' }) : run(bench, unit);
  };

/** The pauses to try after an exchange with another unit, in ms. */
const PAUSES = [20, 50, 100, 250, 500];
const SOON_MS = 6;

/** Plays a request and reply of another unit, and sends a request shortly after. */
async function neighbourAnswers(bench: Bench, unit: number): Promise<Judged> {
  const { t35 } = bench.asker;
  const exchangeOfOthers: RawPiece[] = [
    { bytes: bench.frameOf(readPdu(3, 0, 2), unit) },
    { bytes: bench.frameOf(Uint8Array.of(3, 4, 0x12, 0x34, 0x56, 0x78), unit), waitMs: t35 + 2 * SOON_MS },
  ];
  const what = { after: 'others-exchange' } as const;
  const soon = await stillAnswers(bench, exchangeOfOthers, t35 + SOON_MS, what);
  if (soon.verdict !== 'violates') return soon;
  for (const pause of PAUSES) {
    const later = await stillAnswers(bench, exchangeOfOthers, t35 + pause, what);
    if (later.verdict === 'conforms' && soon.said.code === 'read-lost-after')
      return { ...soon, said: { ...soon.said, curedMs: pause } };
  }
  return soon;
}

/** The characters of software flow control: XON and XOFF. */
const FLOW = [0x11, 0x13];
/** Maximum number of values read, to find reads with and without these bytes. */
const MOST_ASKED = 20;

/** Reads different quantities, so that some frames contain one of the bytes and others contain neither. */
async function flowControl(bench: Bench): Promise<Judged> {
  const { facts } = bench;
  const { code, address } = bench.good;
  const answered: number[] = [];
  const lost: { readonly many: number; readonly exchange: Exchange }[] = [];
  for (let many = 1; many <= MOST_ASKED; many++) {
    const pdu = readPdu(code, address, many);
    const isSuspect = bench.frameOf(pdu).some((byte) => FLOW.includes(byte));
    // A few frames without these bytes are enough to show that the block exists.
    if (!isSuspect && (many < MOST_ASKED - 3 || answered.length > 3)) continue;
    const exchange = await bench.ask(pdu);
    if (exchange.answer.kind === 'data') answered.push(many);
    if (exchange.answer.kind === 'data' && isSuspect)
      return conforms({ code: 'flow-bytes-answered' }, exchange);
    if (exchange.answer.kind === 'silent') lost.push({ many, exchange });
    if (exchange.answer.kind === 'exception') break;
  }
  const suspects = lost.filter(({ exchange }) =>
    exchange.sent.some(({ bytes }) => bytes.some((byte) => FLOW.includes(byte))),
  );
  if (lost.length === 0 || suspects.length < lost.length || answered.length === 0)
    return inconclusive({ code: 'flow-bytes-unseen' });
  if (lost.length < 2 || facts.losses !== undefined) return inconclusive({ code: 'flow-bytes-unseen' });
  facts.lostBytes = FLOW;
  return violates(
    {
      code: 'bytes-lost',
      lost: lost.map(({ many }) => many),
      answered,
      bytes: FLOW,
      what: code <= 2 ? 'bits' : 'registers',
    },
    ...lost.slice(0, 2).map(({ exchange }) => exchange),
  );
}

/**
 * Replaces the code of a function that writes with another byte: 300 bytes of noise sometimes contain a whole
 * frame.
 */
const harmless = (byte: number) => ([5, 6, 15, 16, 21, 22, 23].includes(byte) ? byte | 0x80 : byte);

async function noise(bench: Bench): Promise<Judged> {
  for (const length of [1, 2, 20, 300]) {
    const bytes = Uint8Array.from({ length }, () => harmless(bench.random.below(256)));
    const judged = await stillAnswers(bench, [{ bytes }], clear(bench), { after: 'noise', bytes: length });
    if (judged.verdict !== 'conforms') return judged;
  }
  return conforms({ code: 'noise-borne' });
}

async function noiseJoined(bench: Bench): Promise<Judged> {
  const joined = concatBytes([0, 0], bench.frameOf());
  const first = await bench.asker.once(bench.goodRead, {
    pieces: [{ bytes: joined }],
    timeout: bench.asker.silence,
  });
  const second = await bench.ask(bench.goodRead, {
    isExpected: true,
    pauseMs: Math.max(clear(bench), bench.asker.pauseMs),
  });
  if (isDecisive(second)) return conforms({ code: 'disturbed-answered' }, first, second);
  return unlessLossy(bench, { code: 'lost-after-disturbed', answer: didOf(second.answer) }, first, second);
}

/** A good read, split after four bytes by a pause. */
function cut(bench: Bench, waitMs: number): RawPiece[] {
  const frame = bench.frameOf();
  return [{ bytes: frame.subarray(0, 4) }, { bytes: frame.subarray(4), waitMs }];
}

async function pauseInside(bench: Bench): Promise<Judged> {
  const exchange = await bench.asker.once(bench.goodRead, {
    pieces: cut(bench, 250),
    timeout: bench.asker.silence,
  });
  if (exchange.answer.kind === 'data') return violates({ code: 'joins-over-pause' }, exchange);
  return conforms({ code: 'pause-parts' }, exchange);
}

async function shortPauseInside(bench: Bench): Promise<Judged> {
  const exchange = await bench.asker.once(bench.goodRead, {
    pieces: cut(bench, (2.5 * bench.asker.t35) / 3.5),
    timeout: bench.asker.silence,
  });
  return fact({ code: 'short-pause', isAnswered: isDecisive(exchange) }, exchange);
}

/** A function that no server has. */
const UNKNOWN = Uint8Array.of(0x63, 0, 0, 0, 1);

/** Corrupts one byte of a frame, counted from its end. */
function spoilt(frame: Uint8Array, fromEnd: number): Uint8Array {
  const at = frame.length - fromEnd;
  frame[at] = (frame[at] ?? 0) ^ 0x5a;
  return frame;
}

/** Corrupts each byte of the CRC, and one that it covers: a server may compare only one of the two CRC bytes. */
async function wrongCrc(bench: Bench): Promise<Judged> {
  let judged: Judged = conforms({ code: 'no-reply' });
  for (const fromEnd of [1, 2, 4]) {
    const bytes = spoilt(bench.frameOf(), fromEnd);
    judged = await unanswered(bench, [{ bytes }], bench.asker.unitId, bench.goodRead, dangerous);
    if (judged.verdict !== 'conforms') return judged;
  }
  if (bench.facts.isMuteToUnknown) return judged;
  // A server may refuse a function that it lacks before it checks the CRC.
  const bytes = spoilt(bench.frameOf(UNKNOWN), 1);
  return unanswered(bench, [{ bytes }], bench.asker.unitId, UNKNOWN);
}

/** Sends a write with a wrong CRC: a server may check the CRC of reads only. */
function wrongCrcOfWrite(bench: Bench): Promise<Judged> {
  return hiddenWrite(bench, 0x2bad, async (write) => {
    const bytes = spoilt(bench.frameOf(write), 1);
    const exchange = await bench.asker.send([{ bytes }], { timeout: bench.asker.silence });
    return (isExecuted) => {
      if (isExecuted) return dangerous({ code: 'spoilt-write-executed' }, exchange);
      return exchange.chunks.length > 0
        ? violates({ code: 'spoilt-write-answered' }, exchange)
        : conforms({ code: 'no-reply' }, exchange);
    };
  });
}

async function frameInFrame(bench: Bench, unit: number): Promise<Judged> {
  return hiddenWrite(bench, 0x5555, async (write) => {
    const frame = bench.frameOf(write);
    const data = concatBytes([3, frame.length + 8], [0, 1, 0, 2], frame, [0, 3, 0, 4]);
    const exchange = await bench.asker.send([{ bytes: bench.frameOf(data, unit) }], { timeout: 300 });
    return (isExecuted) => {
      if (isExecuted) return dangerous({ code: 'inner-frame-executed' }, exchange);
      return exchange.chunks.length > 0
        ? violates({ code: 'inner-frame-answered' }, exchange)
        : conforms({ code: 'inner-frame-ignored' }, exchange);
    };
  });
}

async function broadcastRefused(bench: Bench): Promise<Judged> {
  const pdus: Uint8Array[] = [Uint8Array.of(0x63, 0, 0, 0, 1)];
  if (bench.order.scratch.coils) {
    // A server may interpret the value as a 1.
    const coil = await bench.scratch.coil();
    await bench.scratch.keepOfOthers('coils', coil);
    pdus.push(readPdu(5, coil, 0x1234));
  }
  for (const pdu of pdus) {
    const judged = await unanswered(bench, [{ bytes: bench.frameOf(pdu, BROADCAST) }], BROADCAST, pdu);
    if (judged.verdict !== 'conforms') return judged;
  }
  return conforms({ code: 'broadcasts-ignored' });
}

async function broadcastWrite(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  const before = await bench.words(3, address, 1);
  if (!before) return unsupported({ code: 'holding-not-read' });
  const wanted = (before[0] ?? 0) ^ 0x4321;
  await bench.scratch.keepOfOthers('holding', address);
  const own = await writeRegister(bench, address, before[0] ?? 0);
  if (own.answer.kind !== 'data')
    return inconclusive({ code: 'scratch-not-written', answer: didOf(own.answer) }, own);
  const pdu = writePdu(bench, address, [wanted]);
  const answer = await unanswered(bench, [{ bytes: bench.frameOf(pdu, BROADCAST) }], BROADCAST, pdu);
  if (answer.verdict !== 'conforms') return answer;
  await bench.asker.wait(TURNAROUND_MS);
  const isWritten = (await readsAfter(bench, address, wanted)) !== undefined;
  const shown = [...(answer.shown ?? []), bench.log.at(-1) as Exchange];
  await writeRegister(bench, address, before[0] ?? 0);
  bench.facts.broadcast = isWritten;
  return isWritten
    ? conforms({ code: 'broadcast-executed' }, ...shown)
    : violates({ code: 'broadcast-not-executed' }, ...shown);
}

const TURNAROUND_MS = 200;

const answered = 'Conforms when the read is answered.';
const discard = 'Discard bytes that are not a frame at the first silence of t3.5, then wait for a new frame.';
const ignore = 'Compare the unit identifier first, and stay silent unless it is your own.';

export const BUS = checksOf(
  {
    group: 'bus',
    grade: 'met',
    on: 'rtu',
    rule: 'Conforms when no reply comes.',
    clause: `${SERIAL}, 2.5.1.1`,
  },
  [
    {
      ...{ id: 'rtu-crc', grade: 'met', run: wrongCrc },
      title: 'Ignores a frame with a wrong CRC',
      does: 'Sends reads with a wrong first CRC byte, a wrong second CRC byte and a wrong data byte, and function 99 with a wrong CRC.',
      clause: `${SERIAL}, 2.4.2; ${A}, 7`,
      matters: 'A disturbance on the line becomes a wrong command: mesta1/nmodbus#21, ljean/modbus-tk#85.',
      mend: 'Check the CRC of every frame, and stay silent if it is wrong.',
    },
    {
      ...{ id: 'rtu-crc-write', grade: 'met', needs: ['holding'], run: wrongCrcOfWrite },
      title: 'Executes no write with a wrong CRC',
      does: 'Sends writes of the scratch register by functions 6 and 16 with a wrong CRC, and reads the register.',
      rule: 'Conforms when no reply comes and nothing is written.',
      clause: `${SERIAL}, 2.4.2; ${A}, 7`,
      matters: 'A disturbance on the line becomes a wrong command: mesta1/nmodbus#21.',
      mend: 'Check the CRC of every frame before executing it, and stay silent if it is wrong.',
    },
    {
      ...{ id: 'rtu-other-unit', grade: 'met', run: otherUnitAnswers },
      title: 'Ignores requests to other units',
      does: 'Reads from an unused unit, from units whose number differs from its own in one bit, and then from its own.',
      rule: 'Conforms when only its own unit is answered. Inconclusive if other servers answer for all units.',
      clause: ADDRESS,
      matters:
        'Two servers answer at once, and their frames collide: Cloud-Automation/node-modbus#295, morkai/h5.modbus#24, stephane/modbusino#23.',
      mend: ignore,
    },
    {
      ...{ id: 'rtu-other-unit-unknown-function' },
      title: 'Sends no exception for other units',
      does: 'Sends function 99 to an unused unit.',
      clause: ADDRESS,
      matters:
        'Its exception collides with the reply of the other unit: debevv/nanoMODBUS#78, yaacov/ArduinoModbusSlave#61.',
      mend: ignore,
      run: beside((bench, unit) => {
        const pdu = Uint8Array.of(0x63, 0, 0, 0, 1);
        return unanswered(bench, [{ bytes: bench.frameOf(pdu, unit) }], unit, pdu);
      }),
    },
    {
      ...{ id: 'rtu-broadcast-read', needs: ['broadcast'] },
      title: 'Does not answer a broadcast read',
      does: 'Sends a read to unit 0.',
      clause: `${SERIAL}, 2.1`,
      matters: 'All servers answer at once: stephane/libmodbus#379.',
      mend: 'Never answer unit 0.',
      run: (bench) =>
        unanswered(bench, [{ bytes: bench.frameOf(bench.goodRead, BROADCAST) }], BROADCAST, bench.goodRead),
    },
    {
      ...{ id: 'rtu-broadcast-refused', turn: 'last', needs: ['broadcast'], run: broadcastRefused },
      title: 'Refuses no broadcast',
      does: 'Sends function 99 to unit 0 and, where --scratch has coils, function 5 with the value 1234.',
      clause: `${SERIAL}, 2.1 and 6.1`,
      matters: 'All servers answer at once: debevv/nanoMODBUS#101.',
      mend: 'Never answer unit 0, exceptions included.',
    },
    {
      ...{ id: 'rtu-broadcast-write', turn: 'last', needs: ['broadcast', 'holding'], run: broadcastWrite },
      title: 'Executes a broadcast write',
      does: 'Writes the scratch register through unit 0 and reads it. The other units on the bus are found first, and their values are restored afterwards.',
      rule: 'Conforms when no reply comes and the value is written.',
      clause: `${SERIAL}, 2.1 and 2.2`,
      matters:
        'Clients set the clocks and setpoints of a whole bus this way: stephane/libmodbus#153, pymodbus-dev/pymodbus#2378.',
      mend: 'Execute writes to unit 0 and stay silent.',
    },
    {
      ...{ id: 'rtu-flow-control', isSeveral: true, run: flowControl },
      title: 'Treats flow control bytes as data',
      does: 'Reads 1 to 20 values, so that some frames contain the byte 0x11 or 0x13 and others do not.',
      rule: answered,
      clause: `${SERIAL}, 2.5.1`,
      matters: 'Some polls never get a reply.',
      mend: 'Switch off the software flow control of the port.',
    },
    {
      ...{ id: 'rtu-half-frame' },
      title: 'Forgets half a frame',
      does: 'Sends 4 bytes, waits 60 ms (or 5 times t3.5), then sends a read.',
      rule: answered,
      matters: 'The poll after a disturbance is lost as well: ljean/modbus-tk#112.',
      mend: discard,
      run: (bench) =>
        stillAnswers(bench, [{ bytes: bench.frameOf().subarray(0, 4) }], clear(bench), {
          after: 'half-frame',
        }),
    },
    {
      ...{ id: 'rtu-half-frame-long' },
      title: 'Forgets half a frame after a second',
      does: 'Sends 4 bytes, waits 1.2 s, then sends a read.',
      rule: answered,
      matters: 'A disturbance costs a poll long after it.',
      mend: discard,
      run: (bench) =>
        stillAnswers(bench, [{ bytes: bench.frameOf().subarray(0, 4) }], 1200, {
          after: 'half-frame',
        }),
    },
    {
      ...{ id: 'rtu-request-with-pause', grade: 'seldom', run: pauseInside },
      title: 'Does not join bytes across a pause',
      does: 'Sends a read as 4 bytes, a pause of 250 ms and 4 bytes.',
      rule: 'Conforms when the bytes are not treated as one request.',
      matters: 'A late byte from another device completes a frame.',
      mend: discard,
    },
    {
      ...{ id: 'rtu-request-t15', grade: 'seldom', run: shortPauseInside },
      title: 'A short pause inside a request',
      does: 'Sends a read as 4 bytes, a pause of 2.5 characters and 4 bytes.',
      rule: 'Reported only: the clause says "should".',
      matters: 'Real adapters make such pauses; a server that accepts them works with more clients.',
      mend: 'Nothing.',
    },
    {
      ...{ id: 'rtu-noise', run: noise },
      title: 'Answers after noise',
      does: 'Sends 1, 2, 20 and 300 bytes of noise, each followed by a pause of 60 ms and a read.',
      rule: answered,
      matters: 'Each disturbance costs polls: mesta1/nmodbus#21, stephane/libmodbus#302.',
      mend: discard,
    },
    {
      ...{ id: 'rtu-noise-joined', run: noiseJoined },
      title: 'Recovers after a disturbed request',
      does: 'Sends two bytes and a read without a silence between them, then another read.',
      rule: 'Conforms when the second read is answered.',
      matters: 'On a line without bias resistors, every request begins with such bytes.',
      mend: discard,
    },
    {
      ...{ id: 'rtu-neighbour-answers', run: beside(neighbourAnswers) },
      title: 'Answers soon after others',
      does: 'Sends a request and a reply as if for an unused unit, waits t3.5 plus 6 ms, then sends a read.',
      rule: `${answered} Otherwise the shortest pause that helps is reported.`,
      clause: `${ADDRESS} and 2.5.1.1`,
      matters:
        'On a bus with several devices, polls get lost: eModbus/eModbus#337, arduino-libraries/ArduinoModbus#43, NModbus4/NModbus4#88.',
      mend: 'Treat the reply of another unit as a frame that ends at the silence.',
    },
    {
      ...{ id: 'rtu-neighbour-dead' },
      title: 'Answers after a request that no unit answers',
      does: 'Sends a read to an unused unit, waits 150 ms, then sends one to its own unit.',
      rule: answered,
      clause: ADDRESS,
      matters: 'One dead device blocks the others on the bus: stephane/libmodbus#83, stephane/libmodbus#723.',
      mend: 'Do not wait for the reply of another unit.',
      run: beside((bench, unit) =>
        stillAnswers(bench, [{ bytes: bench.frameOf(readPdu(3, 0, 2), unit) }], 150, {
          after: 'unanswered-request',
        }),
      ),
    },
    {
      ...{ id: 'rtu-frame-in-frame', grade: 'met', needs: ['holding'], run: beside(frameInFrame) },
      title: 'Ignores a request inside another frame',
      does: 'Sends a reply as if from another unit, with a write of the scratch register in its data.',
      rule: 'Conforms when the write is neither answered nor executed.',
      matters: 'Data of another device become a command: kochedykov/jlibmodbus#75.',
      mend: 'Look for the start of a frame only after a silence.',
    },
  ],
);
