import type { RawConnection } from '../../../modbus/client/raw.js';
import { concatBytes, setWord } from '../../../modbus/protocol/bytes.js';
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
import { ROBUSTNESS, TCP } from '../clauses.js';
import { type BeforeConnection, connectionBeforeText, togetherText } from '../found.js';
import { didOf } from '../reading.js';
import { readPdu } from '../requests.js';
import type { ConnectionsFound } from '../words.js';

const frameOf = (bench: Bench, transactionId: number, pdu = bench.goodRead) =>
  bench.asker.framing.encode({ transactionId, unitId: bench.asker.unitId, pdu });

/** Reads on the same or a new connection; that has to be answered unless replies get lost by chance. */
async function served(bench: Bench, after: BeforeConnection, ...shown: readonly Exchange[]): Promise<Judged> {
  const next = await bench.ask(bench.goodRead, { isExpected: true });
  if (isDecisive(next)) return conforms(`${connectionBeforeText(after)}, a read is answered`, ...shown);
  return bench.facts.losses === undefined
    ? violates({ code: 'not-served-after', after, answer: didOf(next.answer) }, ...shown, next)
    : inconclusive({ code: 'replies-lost' }, next);
}

async function wrongProtocol(bench: Bench): Promise<Judged> {
  const frame = frameOf(bench, 0x0101);
  setWord(frame, 2, 1);
  const exchange = await bench.asker.once(bench.goodRead, {
    transactionId: 0x0101,
    pieces: [{ bytes: frame }],
    timeout: bench.asker.silence,
    keepsOpen: true,
  });
  if (exchange.chunks.length > 0)
    return violates({ code: 'other-protocol-answered', answer: didOf(exchange.answer) }, exchange);
  if (exchange.answer.kind === 'closed') return inconclusive({ code: 'closes-and-serves-next' }, exchange);
  const next = await bench.askGood();
  await bench.asker.disconnect();
  if (isDecisive(next)) return conforms('the frame is discarded, and the next one answered', exchange);
  if (bench.facts.losses !== undefined) return inconclusive({ code: 'replies-lost' }, next);
  return violates({ code: 'deaf-after-other-protocol', answer: didOf(next.answer) }, exchange, next);
}

async function wrongLength(bench: Bench): Promise<Judged> {
  const shown: Exchange[] = [];
  for (const length of [0, 1, 3, 65535]) {
    const frame = frameOf(bench, 0x0202);
    setWord(frame, 4, length);
    const exchange = await bench.asker.once(bench.goodRead, {
      transactionId: 0x0202,
      pieces: [{ bytes: frame }],
      timeout: bench.asker.silence,
    });
    shown.push(exchange);
    if (exchange.answer.kind === 'data') return violates({ code: 'wrong-length-answered', length }, exchange);
    await bench.asker.disconnect();
  }
  return served(bench, 'wrong-lengths', ...shown);
}

async function lengthIsTheFrame(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  const before = await bench.words(3, address, 1);
  if (!before) return unsupported({ code: 'holding-not-read' });
  const wanted = (before[0] ?? 0) ^ 0x3c3c;
  const hidden = frameOf(bench, 0x0304, readPdu(6, address, wanted));
  const pdu = concatBytes(bench.goodRead, hidden);
  const exchange = await bench.asker.once(bench.goodRead, {
    transactionId: 0x0303,
    pieces: [{ bytes: frameOf(bench, 0x0303, pdu) }],
  });
  await bench.asker.disconnect();
  const after = await bench.words(3, address, 1);
  return after?.[0] === wanted
    ? dangerous({ code: 'inner-write-executed' }, exchange)
    : conforms('a write inside the frame of a read is not executed', exchange);
}

/** Asks another unit identifier: open for a gateway, told for others. */
async function unit(bench: Bench, unitId: number): Promise<Judged> {
  // Silence decides nothing, so the question is asked once.
  const exchange = await bench.ask(bench.goodRead, { unitId, tries: 1 });
  const { answer, oddities } = exchange;
  if (answer.kind === 'exception' && [10, 11].includes(answer.code))
    return inconclusive({ code: 'gateway-exception' }, exchange);
  if (answer.kind === 'silent' || answer.kind === 'closed')
    return inconclusive({ code: 'unit-not-answered', unit: unitId, answer: didOf(answer) }, exchange);
  if (
    oddities.includes('unit') &&
    !bench.log.some((each) => each.unitId === bench.asker.unitId && each.oddities.includes('unit'))
  )
    return violates({ code: 'unit-replaced', unit: unitId }, exchange);
  return conforms({ code: 'unit-answered', unit: unitId }, exchange);
}

async function unitOther(bench: Bench): Promise<Judged> {
  return { ...(await unit(bench, 77)), verdict: 'fact' };
}

async function split(bench: Bench): Promise<Judged> {
  const frame = frameOf(bench, 0x0405);
  const ask = (pieces: readonly Uint8Array[], waitMs: number) =>
    bench.ask(bench.goodRead, {
      transactionId: 0x0405,
      pieces: pieces.map((bytes) => ({ bytes, waitMs })),
      isExpected: true,
    });
  const bytes = await ask(
    [...frame].map((byte) => Uint8Array.of(byte)),
    20,
  );
  const halves = await ask([frame.subarray(0, 7), frame.subarray(7)], 60);
  const lost = [bytes, halves].filter((each) => !isDecisive(each));
  if (lost.length === 0) return conforms('a request in 12 pieces and one in 2 are answered', bytes, halves);
  if (bench.facts.losses !== undefined) return inconclusive({ code: 'replies-lost' }, ...lost);
  const [{ answer }] = lost as [Exchange];
  return violates(
    { code: 'pieces-lost', pieces: lost[0] === bytes ? 12 : 2, answer: didOf(answer) },
    ...lost,
  );
}

/** How many of the first identifiers from `first` on stand in the bytes, each before a protocol 0. */
function transactionsIn(heard: Uint8Array, first: number, many: number): number {
  const bytes = Buffer.from(heard.buffer, heard.byteOffset, heard.length);
  const isThere = (id: number) => bytes.indexOf(Uint8Array.of(id >> 8, id & 0xff, 0, 0)) >= 0;
  return Array.from({ length: many }, (_, i) => first + i).filter(isThere).length;
}

const FIRST_TOGETHER = 0x5a01;

/** Sends several requests without waiting for replies, in one segment or in several. */
async function together(bench: Bench, many: number, inOne: boolean): Promise<Judged> {
  const { facts } = bench;
  if (facts.pauseMs !== undefined) return inconclusive({ code: 'pause-in-the-way' });
  if (facts.losses !== undefined) return inconclusive({ code: 'replies-lost-before' });
  if (bench.log.some(({ oddities }) => oddities.includes('transaction')))
    return inconclusive({ code: 'transactions-not-copied' });
  const frames = Array.from({ length: many }, (_, i) => frameOf(bench, FIRST_TOGETHER + i));
  const pieces = inOne ? [{ bytes: concatBytes(...frames) }] : frames.map((bytes) => ({ bytes }));
  const exchange = await bench.asker.send(pieces, {
    timeout: 2 * bench.asker.timeout(bench.goodRead[0] ?? 0),
    keepsOpen: true,
    look: (heard) => (transactionsIn(heard, FIRST_TOGETHER, many) === many ? 'perhaps' : 'more'),
  });
  await bench.asker.disconnect();
  const found = transactionsIn(heardIn(exchange), FIRST_TOGETHER, many);
  const answered = { answered: found, of: many, isOneSegment: inOne };
  return found === many
    ? conforms(togetherText(answered), exchange)
    : violates({ code: 'together-lost', ...answered }, exchange);
}

const MOST_CONNECTIONS = 6;

/** Opens connection after connection, and asks on all of them. */
async function connections(bench: Bench): Promise<Judged> {
  const { asker, facts } = bench;
  await asker.disconnect();
  const opened: RawConnection[] = [];
  const ask = (connection: RawConnection) => asker.askOn(connection, bench.goodRead);
  let next: ConnectionsFound['next'] | undefined;
  try {
    for (let i = 0; i < MOST_CONNECTIONS; i++) {
      const connection = await asker.another();
      if (!connection.ok) {
        next = 'refused';
        break;
      }
      opened.push(connection.value);
      const exchange = await ask(connection.value);
      const { answer } = exchange;
      if (answer.kind === 'closed') {
        next = 'closed';
        opened.pop();
        break;
      }
      if (answer.kind === 'silent') {
        await opened[0]?.close();
        return violates({ code: 'accepted-not-answered', connection: i + 1 }, exchange);
      }
    }
    let alive = 0;
    for (const connection of opened) if ((await ask(connection)).answer.kind === 'data') alive++;
    if (alive < opened.length) next ??= 'evicts';
    facts.connections = { served: alive, next: next ?? 'untried' };
    return (alive === MOST_CONNECTIONS ? conforms : fact)({
      code: 'connections',
      ...facts.connections,
    });
  } finally {
    for (const connection of opened) await connection.close();
    asker.closed();
  }
}

const RECONNECTS = 6;
const RECONNECT_PAUSES = [1200, 2500, 6000];

/** Closes, connects and reads, six times without a pause; after a failure looks for the pause that cures. */
async function reconnects(bench: Bench): Promise<Judged> {
  const { asker } = bench;
  const lost: Exchange[] = [];
  const again = async () => {
    await asker.disconnect();
    return bench.askGood();
  };
  for (let i = 0; i < RECONNECTS; i++) {
    const exchange = await again();
    if (!isDecisive(exchange)) lost.push(exchange);
  }
  if (lost.length === 0) return conforms(`${RECONNECTS} times closed and opened at once, a read is answered`);
  if (bench.facts.losses !== undefined) return inconclusive({ code: 'replies-lost-before' }, ...lost);
  if (lost.every(({ answer }) => answer.kind === 'closed'))
    return fact({ code: 'refused-until-gone' }, ...lost.slice(0, 3));
  if (lost.length < 2) return inconclusive({ code: 'one-reconnect-lost' }, ...lost);
  const seen = { times: lost.length, of: RECONNECTS };
  for (const pause of RECONNECT_PAUSES) {
    asker.reconnectPauseMs = pause;
    await asker.wait(2 * pause);
    if (isDecisive(await again()) && isDecisive(await again())) {
      return {
        ...violates({ code: 'deaf-after-close', curedMs: pause }, ...lost.slice(0, 3)),
        seen,
      };
    }
  }
  asker.reconnectPauseMs = 0;
  return {
    ...violates(
      { code: 'lost-after-reconnect', answer: didOf((lost[0] as Exchange).answer) },
      ...lost.slice(0, 3),
    ),
    seen,
  };
}

async function halfFrameElsewhere(bench: Bench): Promise<Judged> {
  const { asker } = bench;
  await asker.disconnect();
  const first = await asker.another();
  if (!first.ok) return inconclusive(first.error);
  const second = await asker.another();
  try {
    if (!second.ok) return unsupported({ code: 'one-connection' });
    const before = await asker.askOn(second.value, bench.goodRead);
    if (before.answer.kind !== 'data') return unsupported({ code: 'second-connection-deaf' }, before);
    const half = frameOf(bench, 0x0607).subarray(0, 5);
    void first.value.exchange([{ bytes: half }], { timeout: 1 });
    await asker.wait(20);
    const exchange = await asker.askOn(second.value, bench.goodRead);
    const { answer } = exchange;
    if (answer.kind === 'data')
      return conforms('half a request on one connection does not hold up another one', exchange);
    return violates({ code: 'held-up', answer: didOf(answer) }, exchange);
  } finally {
    await first.value.close();
    if (second.ok) await second.value.close();
    asker.closed();
  }
}

async function halfFrameAndGone(bench: Bench): Promise<Judged> {
  const exchange = await bench.asker.send([{ bytes: frameOf(bench, 0x0708).subarray(0, 9) }], {
    timeout: 20,
  });
  await bench.asker.disconnect();
  return served(bench, 'client-left', exchange);
}

async function reset(bench: Bench): Promise<Judged> {
  const exchange = await bench.asker.send([{ bytes: frameOf(bench, 0x0809) }], {
    timeout: 1,
    keepsOpen: true,
  });
  await bench.asker.connection.reset();
  await bench.asker.disconnect();
  return served(bench, 'client-reset', exchange);
}

/** The rows of this group have these fields in common. */
function row(
  id: string,
  title: string,
  does: string,
  rule: string,
  run: ServerCheck['run'],
  more: Pick<ServerCheck, 'matters' | 'mend' | 'clause'> & Partial<ServerCheck>,
): ServerCheck {
  return { ...{ id, group: 'connections', title, does, rule, grade: 'met', on: 'tcp', run }, ...more };
}

const gateway =
  'Conforms when it is answered with the same identifier. Silence, 0A and 0B are right for a gateway: not decided.';
const stream =
  'Collect bytes until the length of the header is there, and begin the next request with the byte after it.';
const perConnection = 'Give each connection its own buffer and its own place in it.';

export const CONNECTIONS: readonly ServerCheck[] = [
  row(
    'mbap-protocol',
    'Discards another protocol',
    'Sends a read with protocol identifier 1, and a good one after it.',
    'Conforms when the first is discarded and the second answered. A closed connection decides nothing.',
    wrongProtocol,
    {
      clause: `${TCP}, 4.4.2.2`,
      matters: 'Servers hang: stephane/libmodbus#814, cwalter-at/freemodbus#62.',
      mend: 'Skip the frame by its length.',
      grade: 'seldom',
    },
  ),
  row(
    'mbap-length',
    'Survives wrong lengths',
    'Sends reads whose header says 0, 1, 3 and 65535 bytes, each on a connection of its own.',
    'Conforms when they are discarded or the connection is closed, and the next one is served.',
    wrongLength,
    {
      clause: `${TCP}, 3.1.3 and figure 16`,
      matters:
        'One client of another protocol stops the server: stephane/libmodbus#810, stephane/libmodbus#848.',
      mend: 'Close a connection whose length is not 2 to 254.',
      grade: 'seldom',
      provokes: ['value'],
    },
  ),
  row(
    'mbap-length-is-the-frame',
    'Believes the length of the header',
    'Sends a read whose header covers a whole write of the scratch register behind it.',
    'Conforms when the write is not executed.',
    lengthIsTheFrame,
    {
      clause: `${TCP}, 3.1.3`,
      matters: 'Writes pass a firewall that allows reads: stephane/libmodbus#514.',
      mend: 'Skip as many bytes as the header says, whatever the function needs.',
      grade: 'dangerous',
      provokes: ['value'],
      needs: ['holding'],
    },
  ),
  row(
    'unit-255',
    'Answers unit 255',
    'Reads with unit identifier 255.',
    gateway,
    (bench) => unit(bench, 255),
    {
      clause: `${TCP}, 4.4.1.2`,
      matters:
        'Clients that follow the guide use 255 for a device without a gateway: stephane/libmodbus#121.',
      mend: 'Copy the unit identifier of the request.',
      grade: 'seldom',
    },
  ),
  row('unit-0', 'Answers unit 0', 'Reads with unit identifier 0.', gateway, (bench) => unit(bench, 0), {
    clause: `${TCP}, 4.4.1.2`,
    matters: 'As with unit 255: stephane/libmodbus#376.',
    mend: 'Copy the unit identifier of the request.',
    grade: 'seldom',
  }),
  row(
    'unit-other',
    'What it does with another unit',
    'Reads with unit identifier 77.',
    'Told, not judged.',
    unitOther,
    {
      clause: `${TCP}, 4.4.1.2`,
      matters: 'Clients with a wrong unit identifier find out, or not: pymodbus-dev/pymodbus#2762.',
      mend: 'Nothing.',
      grade: 'seldom',
    },
  ),
  row(
    'tcp-split',
    'Takes a request in pieces',
    'Sends a read byte by byte, 20 ms apart, and one as 7 and 5 bytes.',
    'Conforms when both are answered.',
    split,
    {
      clause: 'RFC 9293',
      matters: 'Requests over mobile networks get lost: mesta1/nmodbus#54, valiot/modbux#20.',
      mend: stream,
    },
  ),
  row(
    'tcp-coalesced',
    'Takes two requests in one segment',
    'Sends two reads in one segment.',
    'Conforms when both are answered.',
    (bench) => together(bench, 2, true),
    {
      clause: `RFC 9293; ${TCP}, 4.2.1.1`,
      matters:
        'The second request of a client gets lost: thiagoralves/OpenPLC_v3#253, yaacov/node-modbus-serial#264.',
      mend: stream,
    },
  ),
  row(
    'tcp-pipelined',
    'Takes eight requests without waiting',
    'Sends eight reads without waiting for replies.',
    'Conforms when all are answered, or refused with exception 06.',
    (bench) => together(bench, 8, false),
    {
      clause: `${TCP}, 4.2.1.1 and 4.4.2.2`,
      matters: 'Clients with several requests under way lose some: libplctag/libplctag#192.',
      mend: 'Queue requests, or refuse them with exception 06.',
    },
  ),
  row(
    'connections',
    'How many connections it has',
    'Opens up to 6 connections, reads on each, and on all again.',
    'Told. Violates when a connection is accepted and never answered.',
    connections,
    {
      clause: `${TCP}, 4.2.1.2`,
      matters:
        'A second client waits for ever: brainelectronics/micropython-modbus#11, NModbus4/NModbus4#152.',
      mend: 'Refuse what is not served, or close the oldest.',
    },
  ),
  row(
    'reconnect-at-once',
    'Bears clients that reconnect',
    'Closes, connects and reads, six times without a pause.',
    'Conforms when all reads are answered.',
    reconnects,
    {
      clause: ROBUSTNESS,
      matters:
        'Clients that connect for each poll get nothing (catalogue: locks-up-on-fast-reconnect, first-request-lost).',
      mend: 'Free the place of a connection when it is closed.',
      isSeveral: true,
    },
  ),
  row(
    'half-frame-elsewhere',
    'Serves others while one is slow',
    'Sends 5 bytes on one connection, and a read on another.',
    'Conforms when the read is answered. One connection: not supported.',
    halfFrameElsewhere,
    {
      clause: ROBUSTNESS,
      matters: 'One client stops all others: emelianov/modbus-esp8266#387.',
      mend: perConnection,
    },
  ),
  row(
    'half-frame-and-gone',
    'Forgets half a request',
    'Sends 9 bytes, closes, connects, and reads.',
    'Conforms when the read is answered.',
    halfFrameAndGone,
    {
      clause: ROBUSTNESS,
      matters: 'A client that crashes spoils the next: stephane/libmodbus#415.',
      mend: perConnection,
    },
  ),
  row(
    'reset',
    'Bears a reset',
    'Sends a read and resets the connection; connects, and reads.',
    'Conforms when the second read is answered.',
    reset,
    {
      clause: ROBUSTNESS,
      matters: 'A process ends by the signal: NModbus4/NModbus4#7.',
      mend: 'Expect that writing to a connection fails.',
    },
  ),
];
