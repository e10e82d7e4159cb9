import { describe, expect, it } from 'vitest';
import { compared } from '../../../src/extensions/learn/check.js';
import { learnFiles } from '../../../src/extensions/learn/learn.js';
import { countsOfCapture, countsOfLog } from '../../../src/extensions/learn/second-reading.js';
import { hex } from '../../../src/modbus/protocol/bytes.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { learned, packet, pcap } from './helpers.js';

/* What a log does not show is not learned: no silence after its end, no request that is a reply. */

const plain = (text: string) => hexOf(bytesOf(text));
const AT_END = 'just before the end of the log or a gap in it, so replies may be missing';

describe('a request with which a log ends', () => {
  const ask = (id: number, address = 0) => ({
    from: 40000,
    to: 502,
    sequence: 12 * id,
    hex: hex(bytesOf(`000${id} 0000 0006 01 03 000${address} 0001`)),
  });
  const answer = (id: number) => ({
    from: 502,
    to: 40000,
    sequence: 11 * id,
    hex: hex(bytesOf(`000${id} 0000 0005 01 03 02 000a`)),
  });
  /** Packets with the time of each in ms; a time alone is a packet of another conversation. */
  const capture = (...timed: readonly (readonly [at: number, packet?: object])[]) => {
    const file = pcap(1, ...timed.map(([, each]) => packet({ from: 5, to: 6, hex: '', ...each })));
    let at = 24;
    for (const [ms] of timed) {
      file.writeUInt32LE(Math.floor(ms / 1000), at);
      file.writeUInt32LE(1000 * (ms % 1000), at + 4);
      at += 16 + file.readUInt32LE(at + 8);
    }
    return file;
  };

  it('is not silence: the device answers as before, and a comment says so', () => {
    const made = learned(capture([0, ask(1)], [20, answer(1)], [40, ask(2)]));
    expect(made.summary).toBe('log: 1 request to unit 1, 0 without a reply');
    expect(made.text).toContain(`# 1 packet with bytes ${AT_END}: packet 3\n`);
    const values = [1, 2, 3].map(() => made.ask(ask(7).hex).slice(-4));
    expect(values).toEqual(['000a', '000a', '000a']);
  });

  it('is silence when the capture goes on for longer than replies took before', () => {
    const made = learned(capture([0, ask(1)], [20, answer(1)], [40, ask(2)], [61]));
    expect(made.summary).toBe('log: 2 requests to unit 1, 1 without a reply');
    const short = learned(capture([0, ask(1)], [20, answer(1)], [40, ask(2)], [60]));
    expect(short.summary).toBe('log: 1 request to unit 1, 0 without a reply');
  });

  it('is not silence at the end of the first of two files either, though the second begins much later', () => {
    const first = capture([0, ask(1)], [20, answer(1)], [40, ask(2, 5)]);
    const second = capture([90_000, ask(3)], [90_020, answer(3)]);
    const made = learnFiles([first, second], 'logs');
    if (!made.ok) throw new Error(made.error);
    expect(made.value.summary).toBe('logs: 2 requests to unit 1, 0 without a reply');
    expect(made.value.text).toContain(`# 1 packet with bytes ${AT_END}: packet 3\n`);
    const whole = learned(
      capture([0, ask(1)], [20, answer(1)], [40, ask(2, 5)], [90_000, ask(3)], [90_020, answer(3)]),
    );
    expect(whole.summary).toBe('log: 2 requests to unit 1, 0 without a reply');
  });

  it('and others that did not wait for their replies are all left out', () => {
    const made = learned(
      capture(
        [0, ask(1)],
        [1, ask(2)],
        [20, answer(1)],
        [21, answer(2)],
        [40, ask(3)],
        [41, ask(4)],
        [42, ask(5)],
      ),
    );
    expect(made.summary).toBe('log: 2 requests to unit 1, 0 without a reply');
  });

  it.each([
    ['', 1, 0],
    ['No response received after 3 retries', 2, 1],
    ['[meter] read: i/o timeout', 2, 1],
    ['RECV:', 2, 1],
  ])('in a log without times, which then says %j', (said, requests, silent) => {
    const log = `send: ${ask(1).hex}\nrecv: ${answer(1).hex}\nsend: ${ask(2).hex}\n${said}\n`;
    expect(learned(log).summary).toBe(
      `log: ${requests} request${requests === 1 ? '' : 's'} to unit 1, ${silent} without a reply`,
    );
  });

  it.each([
    ['a write through a gateway', 'TX 00 02 00 00 00 09 f7 10 00 90 00 01 02 06 c4'],
    ['decimal bytes', 'INFO Modbus.IO.ModbusSerialTransport - TX: 1, 3, 0, 22, 0, 2, 37, 207'],
  ])(
    'and begins gives no device: %s (arendst/Tasmota/issues/9586, NModbus4/NModbus4/issues/83)',
    (_, log) => {
      const result = learnFiles([Buffer.from(log)], 'log');
      expect(result).toMatchObject({ ok: false, error: expect.stringContaining(AT_END) });
    },
  );

  const said = (time: string, word: string, bytes: string) => `12:${time} ${word}: ${bytes}\n`;
  const before = said('00:00.000', 'send', ask(1).hex) + said('00:00.005', 'recv', answer(1).hex);
  const after = said('30:00.000', 'send', ask(3).hex) + said('30:00.005', 'recv', answer(3).hex);
  it.each([
    ['half an hour', said('00:01.000', 'send', ask(2).hex), ''],
    ['three dots', said('00:01.000', 'send', ask(2).hex).slice(13), '[...]\n'],
    [
      'half an hour, with the beginning of a reply',
      said('00:01.000', 'send', ask(2).hex) + said('00:01.001', 'recv', '00 02 00 00 00 05 01 03'),
      '',
    ],
  ])('in front of a gap of %s is left out as one at the end', (_, asked, gap) => {
    const { summary, text } = learned(before + asked + gap + after);
    expect(summary).toBe('log: 2 requests to unit 1, 0 without a reply');
    expect(text).toContain(AT_END);
    expect(text).not.toMatch(/silence|junk/);
  });

  it('in front of a gap is silence when the log went on for longer than replies took', () => {
    const asked = `${said('00:01.000', 'send', ask(2).hex)}12:00:04.000 polling\n`;
    expect(learned(before + asked + after).summary).toBe('log: 3 requests to unit 1, 1 without a reply');
  });

  it('is silence where the client always polls so slowly', () => {
    const polls = [0, 5, 10, 15].map((minute, i) => {
      const at = String(minute).padStart(2, '0');
      const asked = said(`${at}:00.000`, 'send', ask(i + 1).hex);
      return i === 2 ? asked : asked + said(`${at}:00.005`, 'recv', answer(i + 1).hex);
    });
    expect(learned(polls.join('')).summary).toBe('log: 4 requests to unit 1, 1 without a reply');
  });

  it('with a part of its reply is left out, too', () => {
    const log = `send: ${ask(1).hex}\nrecv: ${answer(1).hex}\nsend: ${ask(2).hex}\nrecv: 00 02 00 00 00 05 01 03\n`;
    const made = learned(log);
    expect(made.text).not.toContain('junk');
    expect(made.text).toContain(AT_END);
  });
});

describe('a reply is no request', () => {
  it('behind "Response for read request", which openHAB writes below each reply', () => {
    const at = (id: string, values: string) => `
[Thread-26] DEBUG net.wimpi.modbus.net.TCPConnectionHandler - Request (transaction id 25): 00 ${id} 00 00 00 06 01 03 00 01 00 03
[Thread-26] DEBUG net.wimpi.modbus.net.TCPConnectionHandler - Response (transaction id 25): 00 ${id} 00 00 00 09 01 03 06 ${values}
[OH-modbusManagerPollerThreadPool-1] TRACE net.wimpi.modbus.io.ModbusTCPTransaction - Received response with transaction ID 25
[OH-modbusManagerPollerThreadPool-1] TRACE org.openhab.io.transport.modbus.internal.ModbusManagerImpl - Response for read request (FC=3, transaction ID=25): 00 ${id} 00 00 00 09 01 03 06 ${values}  [operation ID 54a3a5d7-9d6f-4991-9320-2e048015a593]
`;
    const { summary, text, notes, ask } = learned(
      at('19', '00 01 00 02 00 03') + at('1a', '00 05 00 06 00 07'),
    );
    expect(summary).toBe('log: 2 requests to unit 1, 0 without a reply');
    expect(text).not.toContain('never answered');
    expect(notes).toEqual([]);
    expect(ask('0009 0000 0006 01 03 0001 0003')).toBe(plain('0009 0000 0009 01 03 06 0001 0002 0003'));
  });

  it('behind a word that calls it one, where it answers the request before', () => {
    const { summary } = learned(
      'Request: 00 01 00 00 00 06 01 03 00 01 00 01\nResult of the request: 00 01 00 00 00 05 01 03 02 00 07\n',
    );
    expect(summary).toBe('log: 1 request to unit 1, 0 without a reply');
  });

  const rtu = (pdu: string) => hex(encodeRtu(1, bytesOf(pdu)));
  it.each([
    ['behind words for both', ['Response for read request: ', 'Response for read request: ']],
    ['received', ['RX: ', 'RX: ']],
    ['without any word', ['', '']],
  ])('of a log that has replies alone, %s', (_, [first, second]) => {
    const log = `${first}${rtu('03 04 0007 0008')}\n${second}${rtu('06 0001 0002')}\n`;
    expect(learnFiles([Buffer.from(log)], 'log')).toMatchObject({ ok: false });
  });
});

describe('a frame is found', () => {
  const reply =
    '0x0 0x24 0x0 0x0 0x0 0x15 0x2 0x41 0x6 0x11 0x44 0x0 0x0 0x56 0x31 0x30 0x31 0x2 0x0 0x0 0x0 0x2 0x0 0x0 0x0 0x6c 0x76';
  const sent =
    '2026-04-27 16:48:57.500 send: 0x0 0x24 0x0 0x0 0x0 0x9 0x2 0x41 0x6 0x4 0x44 0x0 0x0 0x0 0x10';

  it.each([
    ['inside a byte', reply.indexOf('0x0 0x0 0x0 0x6c') + 1],
    ['between 0x and its digits', reply.indexOf('0x0 0x0 0x0 0x6c') + 2],
    ['inside a number of two digits', reply.indexOf('0x6c') + 3],
    ['between bytes', reply.indexOf('0x0 0x0 0x0 0x6c')],
  ])('that a page has wrapped %s', (_, at) => {
    const lines = (words: string) => `${words}${reply.slice(0, at)}\n${reply.slice(at)} old_data:  addr=None`;
    const { ask, notes } = learned(
      `${sent}\n${lines('2026-04-27 16:48:57.582 recv: ')}\n${lines('2026-04-27 16:48:57.582 Processing: ')}\n`,
    );
    const request = '0024 0000 0009 02 41 06 04 44 00000010';
    expect(ask(request)).toBe(
      plain('0024 0000 0015 02 41 06 11 44 00 00 56 31 30 31 02 00 00 00 02 00 00 00 6c 76'),
    );
    expect(notes).toEqual([]);
  });

  it('that a page has wrapped into many lines, as a quotation', () => {
    const bytes = hex(bytesOf(`0001 0000 0053 01 03 50 ${'0102'.repeat(40)}`));
    const wrapped = bytes.match(/.{1,36}/g)?.join('\n> ');
    const { ask } = learned(`> send: 00 01 00 00 00 06 01 03 00 00 00 28\n> recv: ${wrapped}\n`);
    expect(ask('0001 0000 0006 01 03 0000 0028')).toBe(plain(bytes));
  });

  it('between the stars of Markdown', () => {
    const { ask } = learned(
      '**send:** 00 01 00 00 00 06 01 03 00 **00** 00 01\n*recv:* **00 01** 00 00 00 05 01 03 02 **00 07**\n',
    );
    expect(ask('0001 0000 0006 01 03 0000 0001')).toBe(plain('0001 0000 0005 01 03 02 0007'));
  });

  const rtu = (pdu: string) => encodeRtu(1, bytesOf(pdu));
  it('in one read with another, on a serial line', () => {
    const both = Buffer.concat([rtu('06 0000 0001'), rtu('03 0000 0001')]);
    const log = `recv ${hex(both)}\nsend ${hex(rtu('06 0000 0001'))}\nrecv ${hex(rtu('03 0000 0001'))}\nsend ${hex(rtu('03 02 0001'))}\n`;
    const { ask, summary, notes } = learned(log);
    expect(summary).toBe('log: 3 requests to unit 1, 1 without a reply');
    expect(notes).toEqual([]);
    expect(ask(hexOf(rtu('06 0000 0001')))).toBe(hexOf(rtu('06 0000 0001')));
  });

  it('in pieces of three bytes, of RTU over TCP in both directions', () => {
    const frames = [rtu('03 0000 0002'), rtu('03 04 0007 0008'), rtu('03 0009 0001'), rtu('83 02')];
    const next = [1, 1];
    const packets = frames.flatMap((frame, i) => {
      const side = i % 2;
      return Array.from({ length: Math.ceil(frame.length / 3) }, (_, n) => {
        const piece = frame.subarray(3 * n, 3 * n + 3);
        const sequence = next[side] as number;
        next[side] = sequence + piece.length;
        const ends = side === 0 ? { from: 40000, to: 502 } : { from: 502, to: 40000 };
        return packet({ ...ends, sequence, hex: hex(piece) });
      });
    });
    const { ask, summary } = learned(pcap(1, ...packets));
    expect(summary).toBe('log: 2 requests to unit 1, 0 without a reply');
    expect(ask(hexOf(rtu('03 0000 0002')))).toBe(hexOf(rtu('03 04 0007 0008')));
    expect(ask(hexOf(rtu('03 0009 0001')))).toBe(hexOf(rtu('83 02')));
  });

  it('behind a header of PPPoE', () => {
    const inSession = (each: Uint8Array) =>
      Buffer.concat([bytesOf(`${'00'.repeat(12)} 8864 1100 0001 0036 0021`), each]);
    const file = pcap(
      2001,
      inSession(packet({ from: 40000, to: 502, hex: '0001 0000 0006 01 03 0000 0001' })),
      inSession(packet({ from: 502, to: 40000, hex: '0001 0000 0005 01 03 02 0063' })),
    );
    file.writeUInt32LE(1, 20);
    expect(learned(file).ask('0001 0000 0006 01 03 0000 0001')).toBe(plain('0001 0000 0005 01 03 02 0063'));
  });
});

describe('one direction only', () => {
  /** A request on a connection of its own, named by the client's port, with a transaction identifier. */
  const ask = (from: number, id: number, unit = 1, server = 1) => {
    const bytes = hex(bytesOf(`000${id} 0000 0006 0${unit} 03 0000 0001`));
    return packet({ from, to: 502, server, sequence: 12 * id, hex: bytes });
  };
  const answer = (to: number, id: number, server = 1) => {
    const bytes = hex(bytesOf(`000${id} 0000 0005 01 03 02 000a`));
    return packet({ from: 502, to, server, sequence: 11 * id, hex: bytes });
  };
  const acknowledged = (to: number, server = 1) => packet({ from: 502, to, server, hex: '' });
  const polls = (from: number, unit = 1, server = 1) => [1, 2, 3].map((id) => ask(from, id, unit, server));
  const later = packet({ from: 5, to: 6, hex: '' });
  const capture = (...packets: readonly Uint8Array[]) => {
    const file = pcap(1, ...packets, later);
    for (let at = 24, ms = 0; at < file.length; at += 16 + file.readUInt32LE(at + 8), ms += 2000)
      file.writeUInt32LE(ms / 1000, at);
    return file;
  };

  it('of a capture gives no device that is silent to everything, but the reason', () => {
    const file = capture(...polls(40000), ...polls(40001, 2));
    expect(learnFiles([file], 'log')).toEqual({
      ok: false,
      error:
        '6 packets with bytes left out because only one direction seems to be recorded, with nothing from 0.0.0.1:502: packet 1, 2, 3, 4, 5, …\nnothing was learned from 6 frames; the first is in packet 1',
    });
  });

  it('of a capture is not assumed if the server acknowledges what it does not answer', () => {
    const { summary, ask: asked } = learned(capture(...polls(40000), acknowledged(40000)));
    expect(summary).toBe('log: 3 requests to unit 1, 3 without a reply');
    expect(asked('0009 0000 0006 01 03 0000 0001')).toBe('');
  });

  it('of one of two servers: that server is not learned, and a comment says so', () => {
    const { summary, text, notes } = learned(
      capture(...polls(40000, 2, 2), ask(40001, 1), answer(40001, 1), ask(40001, 2), acknowledged(40001)),
    );
    expect(summary).toBe('log: 2 requests to unit 1, 1 without a reply');
    expect(notes).toEqual([
      '3 packets with bytes left out because only one direction seems to be recorded, with nothing from 0.0.0.2:502: packet 1, 2, 3',
    ]);
    expect(text).not.toMatch(/unit-2|never answered/);
  });

  it('is not assumed if the server answers on another connection', () => {
    const { summary } = learned(capture(...polls(40000), ask(40001, 1), answer(40001, 1)));
    expect(summary).toBe('log: 4 requests to unit 1, 3 without a reply');
  });

  it('is like segments missing from both: a request before them is not taken for unanswered', () => {
    const reply = (sequence: number, hex: string) => packet({ from: 502, to: 40000, sequence, hex });
    const other = reply(20, '0002 0000 0007 01 03 04 000a 000b');
    const last = reply(33, '0005 0000 0005 01 03 02 000a');
    const { summary, notes } = learned(capture(ask(40000, 1), other, ask(40000, 5), last));
    expect(summary).toBe('log: 1 request to unit 1, 0 without a reply');
    expect(notes[0]).toContain('after missing TCP segments');
  });

  it.each([
    ['of a log', 'TX: '],
    ['of a log without words', ''],
  ])('%s gives no device either', (_, word) => {
    const log = [1, 2, 3].map((id) => `${word}00 0${id} 00 00 00 06 01 03 00 00 00 01\n`).join('');
    expect(learnFiles([Buffer.from(log)], 'log')).toMatchObject({
      ok: false,
      error: expect.stringContaining(
        '2 lines with bytes left out because only one direction seems to be recorded: line 1, 2 (',
      ),
    });
  });

  it('of a log is not assumed if the log says that no reply came', () => {
    const log = [1, 2].map((id) => `TX: 00 0${id} 00 00 00 06 01 03 00 00 00 01\nread: i/o timeout\n`);
    expect(learned(log.join('')).summary).toBe('log: 2 requests to unit 1, 2 without a reply');
  });
});

describe('a second reading of the log', () => {
  const openhab = [
    'Request (transaction id 25): 00 19 00 00 00 06 01 03 00 01 00 03',
    'Response (transaction id 25): 00 19 00 00 00 09 01 03 06 00 01 00 02 00 03',
    'Response for read request (FC=3, transaction ID=25): 00 19 00 00 00 09 01 03 06 00 01 00 02 00 03',
  ].join('\n');

  it('counts by the words of the log, and agrees', () => {
    const counts = countsOfLog(openhab);
    expect(counts).toEqual({ requests: 1, replies: 1 });
    expect(compared(learned(openhab).learned, { requests: 1, replies: 1 })).toBe(
      'according to its text, the log has 1 request and 1 reply, as many as were learned',
    );
  });

  it('says so if a reply was learned as a request', () => {
    const counts = countsOfLog(openhab);
    const { learned: made } = learned(openhab);
    const [exchange] = made.conversation.exchanges;
    if (!exchange || !counts) throw new Error('nothing was learned');
    const invented = { ...exchange, request: { ...exchange.request, transactionId: 9 } };
    const conversation = { ...made.conversation, strays: 0, exchanges: [exchange, invented] };
    expect(compared({ ...made, conversation }, counts)).toBe(
      'according to its text, the log has 1 request and 1 reply, but 2 and 2 were learned: check the written file before you use it',
    );
  });

  it('counts the reads of a capture by their headers', () => {
    const file = pcap(
      1,
      packet({ from: 40000, to: 502, sequence: 1, hex: '0001 0000 0006 01 03 0000 0001' }),
      packet({ from: 502, to: 40000, sequence: 1, hex: '0001 0000 0005 01 03 02 0063' }),
      packet({ from: 40000, to: 502, sequence: 13, hex: '0002 0000 0006 01 03 0000 0001' }),
    );
    expect(countsOfCapture(file)).toEqual({ requests: 2, replies: 1 });
    expect(compared(learned(file).learned, { requests: 2, replies: 1 })).toBe(
      'according to its headers, the capture has 2 different reads and 1 different reply to them, as many as were learned',
    );
  });
});
