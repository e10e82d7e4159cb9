import type { RawPiece } from '../../../modbus/client/raw.js';
import { concatBytes, hex } from '../../../modbus/protocol/bytes.js';
import { BROADCAST } from '../../../modbus/protocol/rtu.js';
import { type Exchange, heardIn, isDecisive } from '../asker.js';
import type { Bench } from '../bench.js';
import {
  conforms,
  dangerous,
  fact,
  inconclusive,
  type Judged,
  type ServerCheck,
  unsupported,
  violates,
} from '../check.js';
import { type BeforeRead, beforeText } from '../found.js';
import { didOf } from '../reading.js';
import { readPdu } from '../requests.js';
import { timeText } from '../words.js';
import { readsAfter, writePdu, writeRegister } from './writes.js';

const SILENCE = 'Serial Line V1.02, 2.5.1.1';
const ADDRESS = 'Serial Line V1.02, 2.4.2';

/** A silence that ends every frame, in ms: adapters hold bytes back for up to 20 ms. */
const CLEAR_MS = 60;
/** Units to try, when one is looked for that nobody has. */
const UNITS_TRIED = 3;

export const frameOf = (bench: Bench, pdu: Uint8Array, unitId = bench.asker.unitId) =>
  bench.asker.framing.encode({ transactionId: 0, unitId, pdu });

/** A silence after which every server begins a new frame, whatever was before, in ms. */
const clear = (bench: Bench) => Math.max(CLEAR_MS, 5 * bench.asker.t35);

/** Sends what must not be answered. Where the server does, that is judged by `blame`. */
export async function unanswered(
  bench: Bench,
  pieces: readonly RawPiece[],
  unitId: number,
  pdu: Uint8Array,
  blame: typeof violates = violates,
): Promise<Judged> {
  const exchange = await bench.asker.once(pdu, { unitId, pieces, timeout: bench.asker.silence });
  if (exchange.chunks.length === 0) return conforms('no reply came', exchange);
  const bytes = hex(heardIn(exchange)).slice(0, 60);
  return blame({ code: 'not-ignored', answer: didOf(exchange.answer), bytes }, exchange);
}

/** Sends something, then a good read, which has to be answered. */
export async function stillAnswers(
  bench: Bench,
  before: readonly RawPiece[],
  waitMs: number,
  what: BeforeRead,
): Promise<Judged> {
  const pause = Math.max(waitMs, 1.5 * (bench.facts.pauseMs ?? 0));
  const pieces = [...before, { bytes: frameOf(bench, bench.goodRead), waitMs: pause }];
  const exchange = await bench.ask(bench.goodRead, { pieces, isExpected: true });
  if (isDecisive(exchange))
    return conforms(`a read ${timeText(pause)} after ${beforeText(what)} is answered`, exchange);
  if (bench.facts.losses !== undefined) return inconclusive({ code: 'replies-lost' }, exchange);
  return violates({ code: 'read-lost-after', ms: pause, answer: didOf(exchange.answer), ...what }, exchange);
}

/** A unit that nobody has; undefined when all that were tried are answered. */
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
    return {
      ...dangerous(
        { code: 'other-units-answered', units: answered.map(({ unitId }) => unitId) },
        ...answered,
      ),
      seen: { times: answered.length, of: answered.length },
    };
  }
  const exchange = await bench.asker.once(bench.goodRead, { unitId: unit, timeout: bench.asker.silence });
  if (exchange.chunks.length > 0)
    return dangerous({ code: 'other-unit-answered', unit, answer: didOf(exchange.answer) }, exchange);
  const next = await bench.askGood();
  if (!isDecisive(next) && bench.facts.losses === undefined)
    return violates({ code: 'deaf-after-other-unit', unit }, exchange, next);
  return conforms(`a read of unit ${unit} is not answered, and its own next one is`, exchange);
}

/** Runs with a unit that nobody has. */
const beside =
  (run: (bench: Bench, unit: number) => Promise<Judged>) =>
  async (bench: Bench): Promise<Judged> => {
    const { unit } = await absentUnit(bench);
    return unit === undefined ? inconclusive({ code: 'no-free-unit' }) : run(bench, unit);
  };

/** The pauses after the exchange of another unit to try, in ms. */
const PAUSES = [20, 50, 100, 250, 500];
const SOON_MS = 6;

/** Plays request and reply of another unit, and asks soon after. */
async function neighbourAnswers(bench: Bench, unit: number): Promise<Judged> {
  const { t35 } = bench.asker;
  const exchangeOfOthers: RawPiece[] = [
    { bytes: frameOf(bench, readPdu(3, 0, 2), unit) },
    { bytes: frameOf(bench, Uint8Array.of(3, 4, 0x12, 0x34, 0x56, 0x78), unit), waitMs: t35 + 2 * SOON_MS },
  ];
  const what = { after: 'others-exchange' } as const;
  const soon = await stillAnswers(bench, exchangeOfOthers, t35 + SOON_MS, what);
  if (soon.verdict !== 'violates') return soon;
  for (const pause of PAUSES) {
    const later = await stillAnswers(bench, exchangeOfOthers, t35 + pause, what);
    if (later.verdict === 'conforms' && typeof soon.said === 'object' && soon.said.code === 'read-lost-after')
      return { ...soon, said: { ...soon.said, curedMs: pause } };
  }
  return soon;
}

async function noise(bench: Bench): Promise<Judged> {
  for (const length of [1, 2, 20, 300]) {
    const bytes = Uint8Array.from({ length }, () => bench.random.below(256));
    const judged = await stillAnswers(bench, [{ bytes }], clear(bench), { after: 'noise', bytes: length });
    if (judged.verdict !== 'conforms') return judged;
  }
  return conforms('reads after 1, 2, 20 and 300 bytes of noise are answered');
}

async function noiseJoined(bench: Bench): Promise<Judged> {
  const joined = concatBytes([0, 0], frameOf(bench, bench.goodRead));
  const first = await bench.asker.once(bench.goodRead, {
    pieces: [{ bytes: joined }],
    timeout: bench.asker.silence,
  });
  const second = await bench.ask(bench.goodRead, {
    isExpected: true,
    pauseMs: Math.max(clear(bench), bench.asker.pauseMs),
  });
  if (isDecisive(second)) return conforms('the read after a disturbed one is answered', first, second);
  return bench.facts.losses === undefined
    ? violates({ code: 'lost-after-disturbed', answer: didOf(second.answer) }, first, second)
    : inconclusive({ code: 'replies-lost' }, second);
}

/** A good read, cut after four bytes, with a pause in it. */
function cut(bench: Bench, waitMs: number): RawPiece[] {
  const frame = frameOf(bench, bench.goodRead);
  return [{ bytes: frame.subarray(0, 4) }, { bytes: frame.subarray(4), waitMs }];
}

async function pauseInside(bench: Bench): Promise<Judged> {
  const exchange = await bench.asker.once(bench.goodRead, {
    pieces: cut(bench, 250),
    timeout: bench.asker.silence,
  });
  if (exchange.answer.kind === 'data') return violates({ code: 'joins-over-pause' }, exchange);
  return conforms('4 bytes, 250 ms, 4 bytes are not taken for one request', exchange);
}

async function shortPauseInside(bench: Bench): Promise<Judged> {
  const exchange = await bench.asker.once(bench.goodRead, {
    pieces: cut(bench, (2.5 * bench.asker.t35) / 3.5),
    timeout: bench.asker.silence,
  });
  return fact({ code: 'short-pause', isAnswered: isDecisive(exchange) }, exchange);
}

async function wrongCrc(bench: Bench): Promise<Judged> {
  const frame = frameOf(bench, bench.goodRead);
  frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 0x5a;
  return unanswered(bench, [{ bytes: frame }], bench.asker.unitId, bench.goodRead, dangerous);
}

async function frameInFrame(bench: Bench, unit: number): Promise<Judged> {
  const address = await bench.scratch.register();
  const before = await bench.words(3, address, 1);
  if (!before) return unsupported({ code: 'holding-not-read' });
  const wanted = (before[0] ?? 0) ^ 0x5555;
  const write = frameOf(bench, readPdu(6, address, wanted));
  const data = concatBytes([3, 8 + 8], [0, 1, 0, 2], write, [0, 3, 0, 4]);
  const exchange = await bench.asker.send([{ bytes: frameOf(bench, data, unit) }], { timeout: 300 });
  const after = await bench.words(3, address, 1);
  if (after?.[0] === wanted) return dangerous({ code: 'inner-frame-executed' }, exchange);
  if (exchange.chunks.length > 0) return violates({ code: 'inner-frame-answered' }, exchange);
  return conforms('a write inside the reply of another unit is neither answered nor executed', exchange);
}

async function broadcastRefused(bench: Bench): Promise<Judged> {
  const pdus: Uint8Array[] = [Uint8Array.of(0x63, 0, 0, 0, 1)];
  if (bench.order.scratch.coils) {
    // A server may take the value for a 1.
    const coil = await bench.scratch.coil();
    await bench.scratch.keepOfOthers('coils', coil);
    pdus.push(readPdu(5, coil, 0x1234));
  }
  for (const pdu of pdus) {
    const judged = await unanswered(bench, [{ bytes: frameOf(bench, pdu, BROADCAST) }], BROADCAST, pdu);
    if (judged.verdict !== 'conforms') return judged;
  }
  return conforms('refused broadcasts are not answered');
}

async function broadcastWrite(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  const before = await bench.words(3, address, 1);
  if (!before) return unsupported({ code: 'holding-not-read' });
  const wanted = (before[0] ?? 0) ^ 0x4321;
  await bench.scratch.keepOfOthers('holding', address);
  await writeRegister(bench, address, before[0] ?? 0);
  const pdu = writePdu(bench, address, [wanted]);
  const answer = await unanswered(bench, [{ bytes: frameOf(bench, pdu, BROADCAST) }], BROADCAST, pdu);
  if (answer.verdict !== 'conforms') return answer;
  await bench.asker.wait(TURNAROUND_MS);
  const isWritten = (await readsAfter(bench, address, wanted)) !== undefined;
  const shown = [...(answer.shown ?? []), bench.log.at(-1) as Exchange];
  await writeRegister(bench, address, before[0] ?? 0);
  bench.facts.broadcast = isWritten;
  return isWritten
    ? conforms('a broadcast write is executed, and not answered', ...shown)
    : violates({ code: 'broadcast-not-executed' }, ...shown);
}

const TURNAROUND_MS = 200;

/** The rows of this group have these fields in common. */
function row(
  id: string,
  title: string,
  does: string,
  run: ServerCheck['run'],
  more: Pick<ServerCheck, 'matters' | 'mend'> & Partial<ServerCheck>,
): ServerCheck {
  const rule = 'Conforms when no reply comes.';
  return {
    ...{ id, group: 'bus', title, does, rule, clause: SILENCE, grade: 'met', on: 'rtu', run },
    ...more,
  };
}

const answered = 'Conforms when the read is answered.';
const discard = 'Discard what is no frame at the first silence of t3.5, and begin anew.';
const ignore = 'Compare the unit identifier before anything else, and stay silent unless it is the own one.';

export const BUS: readonly ServerCheck[] = [
  row('rtu-crc', 'Ignores a frame with a wrong CRC', 'Sends a read with a wrong CRC.', wrongCrc, {
    clause: 'Serial Line V1.02, 2.4.2; Application Protocol V1.1b3, 7',
    matters: 'A disturbed line becomes a wrong command: mesta1/nmodbus#21, ljean/modbus-tk#85.',
    mend: 'Check the CRC of every frame, and stay silent where it is wrong.',
    grade: 'dangerous',
  }),
  row(
    'rtu-other-unit',
    'Leaves other units alone',
    'Reads from units that nobody has, and then from its own.',
    otherUnitAnswers,
    {
      rule: 'Conforms when only its own unit is answered. Where all units are answered by others, nothing is decided.',
      clause: ADDRESS,
      matters:
        'Two servers answer at once, and their frames collide: Cloud-Automation/node-modbus#295, morkai/h5.modbus#24, stephane/modbusino#23.',
      mend: ignore,
      grade: 'dangerous',
    },
  ),
  row(
    'rtu-other-unit-unknown-function',
    'Refuses nothing for other units',
    'Sends function 99 to a unit that nobody has.',
    beside((bench, unit) => {
      const pdu = Uint8Array.of(0x63, 0, 0, 0, 1);
      return unanswered(bench, [{ bytes: frameOf(bench, pdu, unit) }], unit, pdu);
    }),
    {
      clause: ADDRESS,
      matters:
        'Its exception collides with the reply of the other: debevv/nanoMODBUS#78, yaacov/ArduinoModbusSlave#61.',
      mend: ignore,
    },
  ),
  row(
    'rtu-broadcast-read',
    'Does not answer a broadcast read',
    'Sends a read to unit 0.',
    (bench) =>
      unanswered(bench, [{ bytes: frameOf(bench, bench.goodRead, BROADCAST) }], BROADCAST, bench.goodRead),
    {
      clause: 'Serial Line V1.02, 2.1',
      matters: 'All servers answer at once: stephane/libmodbus#379.',
      mend: 'Never answer unit 0.',
      needs: ['broadcast'],
    },
  ),
  row(
    'rtu-broadcast-refused',
    'Refuses no broadcast',
    'Sends function 99 to unit 0 and, where --scratch has coils, function 5 with the value 1234.',
    broadcastRefused,
    {
      clause: 'Serial Line V1.02, 2.1 and 6.1',
      matters: 'All servers answer at once: debevv/nanoMODBUS#101.',
      mend: 'Never answer unit 0, exceptions included.',
      needs: ['broadcast'],
    },
  ),
  row(
    'rtu-broadcast-write',
    'Executes a broadcast write',
    'Writes the scratch register by unit 0, and reads it. The other units of the bus are found before, and get their values back.',
    broadcastWrite,
    {
      rule: 'Conforms when no reply comes, and the value is written.',
      clause: 'Serial Line V1.02, 2.1 and 2.2',
      matters:
        'Clocks and setpoints of a bus are set this way: stephane/libmodbus#153, pymodbus-dev/pymodbus#2378.',
      mend: 'Execute writes to unit 0, and stay silent.',
      needs: ['broadcast', 'holding'],
    },
  ),
  row(
    'rtu-half-frame',
    'Forgets half a frame',
    'Sends 4 bytes, waits 60 ms (or 5 times t3.5), and reads.',
    (bench) =>
      stillAnswers(bench, [{ bytes: frameOf(bench, bench.goodRead).subarray(0, 4) }], clear(bench), {
        after: 'half-frame',
      }),
    {
      rule: answered,
      matters: 'After a disturbance, the next poll is lost, too: ljean/modbus-tk#112.',
      mend: discard,
    },
  ),
  row(
    'rtu-half-frame-long',
    'Forgets half a frame after a second',
    'Sends 4 bytes, waits 1.2 s, and reads.',
    (bench) =>
      stillAnswers(bench, [{ bytes: frameOf(bench, bench.goodRead).subarray(0, 4) }], 1200, {
        after: 'half-frame',
      }),
    { rule: answered, matters: 'The server waits for the rest for ever.', mend: discard },
  ),
  row(
    'rtu-request-with-pause',
    'Does not join what a pause separates',
    'Sends a read as 4 bytes, 250 ms, 4 bytes.',
    pauseInside,
    {
      rule: 'Conforms when the bytes are not taken for one request.',
      matters: 'A late byte of somebody else completes a frame.',
      mend: discard,
      grade: 'seldom',
    },
  ),
  row(
    'rtu-request-t15',
    'A short pause inside a request',
    'Sends a read as 4 bytes, a pause of 2.5 characters, 4 bytes.',
    shortPauseInside,
    {
      rule: 'Told, not judged: the clause says "should".',
      matters: 'Real adapters make such pauses; servers that bear them serve more clients.',
      mend: 'Nothing.',
      grade: 'seldom',
    },
  ),
  row(
    'rtu-noise',
    'Answers after noise',
    'Sends 1, 2, 20 and 300 bytes of noise, each with 60 ms before a read.',
    noise,
    {
      rule: answered,
      matters: 'Each disturbance costs polls: mesta1/nmodbus#21, stephane/libmodbus#302.',
      mend: discard,
    },
  ),
  row(
    'rtu-noise-joined',
    'Recovers after a disturbed request',
    'Sends two bytes and a read without a silence between them, and a read.',
    noiseJoined,
    {
      rule: 'Conforms when the second read is answered.',
      matters: 'Without bias resistors, every request begins with such bytes.',
      mend: discard,
    },
  ),
  row(
    'rtu-neighbour-answers',
    'Answers soon after others',
    'Plays request and reply of a unit that nobody has, waits t3.5 and 6 ms, and reads.',
    beside(neighbourAnswers),
    {
      rule: `${answered} The pause that cures it is told.`,
      clause: `${ADDRESS} and 2.5.1.1`,
      matters:
        'On a bus with several devices, polls get lost: eModbus/eModbus#337, arduino-libraries/ArduinoModbus#43, NModbus4/NModbus4#88.',
      mend: 'Take the reply of another unit for a frame that ends at the silence.',
    },
  ),
  row(
    'rtu-neighbour-dead',
    'Answers after a request that nobody answers',
    'Sends a read to a unit that nobody has, waits 150 ms, and reads.',
    beside((bench, unit) =>
      stillAnswers(bench, [{ bytes: frameOf(bench, readPdu(3, 0, 2), unit) }], 150, {
        after: 'unanswered-request',
      }),
    ),
    {
      rule: answered,
      clause: ADDRESS,
      matters: 'One dead device silences its neighbours: stephane/libmodbus#83, stephane/libmodbus#723.',
      mend: 'Do not wait for the reply of another unit.',
    },
  ),
  row(
    'rtu-frame-in-frame',
    'Finds no request inside a frame',
    'Sends the reply of another unit, with a write of the scratch register among its data.',
    beside(frameInFrame),
    {
      rule: 'Conforms when the write is neither answered nor executed.',
      matters: 'Data of a neighbour become a command: kochedykov/jlibmodbus#75.',
      mend: 'Look for a frame only after a silence.',
      grade: 'dangerous',
      needs: ['holding'],
    },
  ),
];
