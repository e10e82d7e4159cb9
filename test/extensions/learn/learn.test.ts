import modbusSerial from 'modbus-serial';
import { describe, expect, it } from 'vitest';
import { checkLearned } from '../../../src/extensions/learn/check.js';
import { learnFiles } from '../../../src/extensions/learn/learn.js';
import { newClient } from '../../../src/modbus/client/client.js';
import { hex } from '../../../src/modbus/protocol/bytes.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { asciiHex, bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';
import { learned, packet, pcap } from './helpers.js';
import { THREADS } from './threads.js';

/* Devices learned from logs and captures: each bench gives the same bytes for the same request. */

const plain = (hex: string) => hexOf(bytesOf(hex));

describe('a public thread', () => {
  it.each(THREADS)('$thread: $what', ({ log, exchanges }) => {
    const { ask } = learned(log);
    const asked = exchanges.map((exchange) => exchange.split('>')[0] ?? '');
    const answered = asked.map((request) =>
      `${request}> ${ask(request).replace(/(..)(?=.)/g, '$1 ')}`.trim(),
    );
    expect(answered).toEqual(exchanges);
  });
});

describe('a log', () => {
  const line = (time: string, way: string, bytes: string) => `12:00:${time} ${way} ${bytes}`;

  it('of hexadecimal lines gives exceptions, silence, delays and what was never answered', () => {
    const { ask, text, summary } = learned(
      [
        line('00.000', 'TX', '00 01 00 00 00 06 05 03 00 00 00 02'),
        line('00.040', 'RX', '00 01 00 00 00 07 05 03 04 00 07 00 08'),
        line('01.000', 'TX', '00 02 00 00 00 06 05 03 00 64 00 01'),
        line('01.040', 'RX', '00 02 00 00 00 03 05 83 02'),
        line('02.000', 'TX', '00 03 00 00 00 06 05 04 00 00 00 01'),
        line('05.000', 'TX', '00 04 00 00 00 06 05 06 00 0a 00 63'),
        line('05.041', 'RX', '00 04 00 00 00 06 05 06 00 0a 00 63'),
      ].join('\n'),
    );
    expect(ask('00 09 00 00 00 06 05 03 00 00 00 02')).toBe(plain('00 09 00 00 00 07 05 03 04 00 07 00 08'));
    expect(ask('00 09 00 00 00 06 05 03 00 64 00 01')).toBe(plain('00 09 00 00 00 03 05 83 02'));
    expect(ask('00 09 00 00 00 06 05 04 00 00 00 01')).toBe('');
    expect(ask('00 09 00 00 00 06 05 06 00 0a 00 01')).toBe(plain('00 09 00 00 00 06 05 06 00 0a 00 01'));
    expect(text).toContain(
      '# unit-5: answered with exception 02: holding 100\n# unit-5: never answered: input 0\n',
    );
    expect(text).toMatch(/delay: \{ms: 40/);
    expect(summary).toBe('log: 4 requests to unit 5, 1 without a reply');
  });

  it('in which a value moves begins with the first one and plays the others in their turn', () => {
    const at = (second: number, id: number, value: string) => [
      line(`0${second}.000`, '->', `00 0${id} 00 00 00 06 01 03 00 00 00 01`),
      line(`0${second}.010`, '<-', `00 0${id} 00 00 00 05 01 03 02 ${value}`),
    ];
    const { ask, text } = learned(
      [...at(1, 1, '00 01'), ...at(3, 2, '00 02'), ...at(4, 3, '00 02'), ...at(5, 4, '00 03')].join('\n'),
    );
    expect(text).toContain('{address: 0, value: 1, action: replay, reads: [[2, 2], [4, 3]]}');
    const values = [1, 2, 3, 4, 5].map(() => ask('00 09 00 00 00 06 01 03 00 00 00 01').slice(-4));
    expect(values).toEqual(['0001', '0002', '0002', '0003', '0003']);
  });

  it('without any direction is read by what the frames are', () => {
    const { ask } = learned('0001000000060103000a0001\n0001000000050103020063\n');
    expect(ask('0001 0000 0006 01 03 000a 0001')).toBe('0001000000050103020063');
  });

  it.each([
    ['[meter] TRACE 2024/10/30 18:19:13 modbus: send ', '[meter] TRACE 2024/10/30 18:19:14 modbus: recv '],
    ['2024-10-30 18:19:13 send ', '2024-10-30 18:19:14 recv '],
    ['30.10.2024 18:19:13:250 TX ', '30.10.2024 18:19:14:250 RX '],
    ['Mar 14 17:03:52 host mbusd[12]: request ', 'Mar 14 17:03:53 host mbusd[12]: response '],
    ['17:03:52 -> ', '17:03:53 <- '],
    [
      '2024-03-14T17:03:52Z D! [inputs.modbus] modbus: send ',
      '2024-03-14T17:03:53Z D! [inputs.modbus] recv ',
    ],
    // Telegraf (logger/text_logger.go: RFC 3339 in the zone of the machine, a letter for the level, the plug-in).
    [
      '2026-03-14T17:03:52+05:30 T! [inputs.modbus] send ',
      '2026-03-14T17:03:53+05:30 T! [inputs.modbus] recv ',
    ],
    ['2024-03-14T17:03:52.000+01:00 send ', '2024-03-14T17:03:53.000+01:00 recv '],
    ['[20240314 17:03:52] send ', '[20240314 17:03:53] recv '],
  ])('with dates and times is read without them: %s', (out, back) => {
    for (const between of [' ', '-', ':', '']) {
      const bytes = (hex: string) =>
        bytesOf(hex).reduce(
          (text, byte) => `${text}${text && between}${byte.toString(16).padStart(2, '0')}`,
          '',
        );
      const { ask, text, notes } = learned(
        `${out}${bytes('0001 0000 0006 01 03 0010 0001')}\n${back}${bytes('0001 0000 0005 01 03 02 1703')}\n`,
      );
      expect(ask('0001 0000 0006 01 03 0010 0001')).toBe(plain('0001 0000 0005 01 03 02 1703'));
      expect(text).toMatch(/delay: \{ms: 1000/);
      expect(notes).toEqual([]);
    }
  });

  const rtu = (pdu: string) => encodeRtu(1, bytesOf(pdu));
  const [REQUEST, REPLY] = [rtu('03 0000 0002'), rtu('03 04 0007 ff08')];

  it.each<[string, (frame: Uint8Array) => string]>([
    ['decimal numbers with hyphens', (frame) => [...frame].join('-')],
    ['decimal numbers in a list', (frame) => `[${[...frame].join(', ')}]`],
    ['decimal numbers in JSON', (frame) => JSON.stringify({ type: 'Buffer', data: [...frame] })],
    ['a buffer of Node.js', (frame) => `<Buffer ${hex(frame)}>`],
    ['hexadecimal numbers with commas', (frame) => hex(frame).replaceAll(' ', ', ')],
    ['hexadecimal numbers with dots', (frame) => hex(frame).replaceAll(' ', '.')],
  ])('with bytes as %s is read', (_, shown) => {
    const { ask } = learned(`send: ${shown(REQUEST)}\nreceived: ${shown(REPLY)}\n`);
    expect(ask(hexOf(REQUEST))).toBe(hexOf(REPLY));
  });

  it.each([
    ['text', (frame: string) => frame],
    ['its characters', (frame: string) => `<Buffer ${hex(Buffer.from(`${frame}\r\n`))}>`],
  ])('of Modbus ASCII as %s gives a line with that framing, and wrong check values', (_, shown) => {
    const [good, bad] = [':010300000002FA', ':010300010002F9'];
    const { ask, text } = learned(
      [good, ':01030400070008E9', bad, ':010304000700080F']
        .map((frame, i) => `${i % 2 ? 'recv' : 'send'} ${shown(frame)}`)
        .join('\n'),
    );
    const hexOfText = (frame: string) => asciiHex(`${frame}\r\n`);
    expect(text).toContain('framing: ascii');
    expect(ask(hexOfText(good))).toBe(hexOfText(':01030400070008E9'));
    expect(ask(hexOfText(bad))).toBe(hexOfText(':010304000700080F'));
  });

  it.each([
    [
      'after offsets',
      (row: string, i: number) => `  ${(16 * i).toString(16).padStart(4, '0')} | ${row} | ..*..`,
    ],
    [
      'as hexdump -C has them',
      (row: string, i: number) => `${(16 * i).toString(16).padStart(8, '0')}  ${row}  |..|`,
    ],
    ['alone', (row: string) => row],
  ])('with 16 bytes a line, %s, is read', (_, shown) => {
    const request = rtu('03 0000 0014');
    const reply = rtu(`03 28 ${'0102'.repeat(20)}`);
    const rows = (frame: Uint8Array) =>
      Array.from({ length: Math.ceil(frame.length / 16) }, (_, i) =>
        shown(hex(frame.subarray(16 * i, 16 * (i + 1))), i),
      ).join('\n');
    const { ask, notes } = learned(
      `Request @3FFB/8:\n${rows(request)}\nResponse @3FFC/45:\n${rows(reply)}\nRequest @3FFD/8:\n${rows(request)}\n`,
    );
    expect(ask(hexOf(request))).toBe(hexOf(reply));
    expect(notes).toEqual([expect.stringContaining('just before the end of the log or a gap in it')]);
  });

  it('with a reply in pieces, and what has come so far, has the pieces', () => {
    const { ask } = learned(
      `send <Buffer ${hex(REQUEST)}>\nreceived data: <Buffer 01>\nreceived buffer: <Buffer 01>\nreceived data: <Buffer ${hex(REPLY.subarray(1))}>\nreceived buffer: <Buffer ${hex(REPLY)}>\n`,
    );
    expect(ask(hexOf(REQUEST))).toBe(hexOf(REPLY));
  });

  it('in which a program has cut off bytes leaves these exchanges out', () => {
    const { text, notes } = learned(
      `send <Buffer ${hex(REQUEST)}>\nreceived <Buffer ${hex(REPLY)}>\nsend <Buffer ${hex(rtu('03 0009 0028'))}>\nreceived <Buffer 01 03 50 00 ... 35 more bytes>\n`,
    );
    expect(notes).toEqual([
      '1 line with bytes cut short in the log, with requests left out: line 4 (received <Buffer 01 03 50 00 ... 35 more bytes>)',
    ]);
    expect(text).not.toContain('faults');
  });

  it('with a heading for all frames is read by what the frames are', () => {
    const { ask } = learned(`The request and the response:\n${hex(REQUEST)}\n${hex(REPLY)}\n`);
    expect(ask(hexOf(REQUEST))).toBe(hexOf(REPLY));
  });

  it('in which equal requests have different replies plays them in order', () => {
    const [late, busy] = ['01 03 04', rtu('83 06')];
    const said = [undefined, REPLY, REPLY, busy, bytesOf(`${late} 00`), REPLY];
    const { ask, text } = learned(
      said.map((reply) => `send ${hex(REQUEST)}\n${reply ? `recv ${hex(reply)}\n` : ''}`).join(''),
    );
    expect([...said, REPLY].map(() => ask(hexOf(REQUEST)))).toEqual(
      [...said, REPLY].map((reply) => (reply ? hexOf(reply) : '')),
    );
    expect(text).not.toContain('answered');
  });

  it.each([
    ['03 0000 0000', '83 03'],
    ['03 0000 0800', '83 03'],
    ['03 ffff 0004', '83 02'],
    ['10 0000 0002 04 0001', '90 03'],
    ['03 0000', '83 03'],
    ['00', '80 01'],
  ])('in which a wrong request, %s, is answered with an exception has that', (request, reply) => {
    const { ask } = learned(`send ${hex(rtu(request))}\nrecv ${hex(rtu(reply))}\n`);
    expect(ask(hexOf(rtu(request)))).toBe(hexOf(rtu(reply)));
  });

  it('of a serial line leaves out broadcasts, which no device has to itself', () => {
    const broadcast = encodeRtu(0, bytesOf('06 0000 0001'));
    const { names, notes } = learned(`send ${hex(broadcast)}\nsend ${hex(REQUEST)}\nrecv ${hex(REPLY)}\n`);
    expect(names).toEqual(['bus']);
    expect(notes).toEqual([
      `1 line with bytes for unit 0 or a unit above 247, which no device on a serial line can have: line 1 (send ${hex(broadcast)})`,
    ]);
  });

  it('in which every other request got no reply is one rule with the turns of the silence', () => {
    const { ask, text } = learned(
      `send ${hex(REQUEST)}\nsend ${hex(REQUEST)}\nrecv ${hex(REPLY)}\n`.repeat(99),
    );
    const asked = Array.from({ length: 199 }, () => ask(hexOf(REQUEST)) !== '');
    expect(asked).toEqual(Array.from({ length: 199 }, (_, i) => i % 2 === 1 || i === 198));
    expect(text).toContain('turns: [1, 3, 5, 7,');
  });

  it('of a serial line whose device answers requests to unit 0 as itself has one that does', () => {
    const broadcast = encodeRtu(0, bytesOf('03 0073 0001'));
    const reply = rtu('03 02 0029');
    const { ask, notes } = learned(
      `send ${hex(REQUEST)}\nrecv ${hex(REPLY)}\nsend ${hex(broadcast)}\nrecv ${hex(reply)}\n`,
    );
    expect(ask(hexOf(broadcast))).toBe(hexOf(reply));
    expect(ask(hexOf(REQUEST))).toBe(hexOf(REPLY));
    expect(notes).toEqual([]);
  });

  it('in which replies change too often for the rules has the last one, and says so', () => {
    const odd = Array.from({ length: 201 }, (_, i) => rtu(`83 ${hex(Uint8Array.of(i + 3))}`));
    const { ask, text } = learned(
      [...odd, REPLY].map((reply) => `send ${hex(REQUEST)}\nrecv ${hex(reply)}\n`).join(''),
    );
    expect(ask(hexOf(REQUEST))).toBe(hexOf(REPLY));
    expect(text).toContain(
      '# unit-1: replies changed too often for the rules, so only the last one is used: holding 0-1\n',
    );
  });

  it('of this program is read line by line', () => {
    const event = (direction: string, bytes: string) =>
      JSON.stringify({ time: '2026-11-24T05:00:00.000Z', direction, bytes });
    const { ask } = learned(
      `${event('in', '0103000000018 40a'.replace(' ', ''))}\n${event('out', '01030200077986')}\n{"text": "no bytes"}\n`,
    );
    expect(ask('01 03 0000 0001 84 0a')).toBe('01030200077986');
  });

  it('of pymodbus on a serial port has the reply in pieces, and then what it makes of them', () => {
    const shown = (frame: Uint8Array) => [...frame].map((byte) => `0x${byte.toString(16)}`).join(' ');
    const request = rtu('03 6275 000c');
    const reply = rtu(`03 18 ${'01e808ec'.repeat(6)}`);
    const pieces = [reply.subarray(0, 12), reply.subarray(12, 28), reply.subarray(28)];
    expect(pieces.at(-1)).toHaveLength(1);
    const log = [
      'Connecting to /dev/ttyS9.',
      `send: ${shown(request)}`,
      ...pieces.flatMap((piece) => [
        `recv: ${shown(piece)}`,
        `Processing: ${shown(piece)}`,
        'Frame - not ready',
      ]),
      `Getting Frame - ${shown(reply.subarray(1, -2))}`,
      "Factory Response[ReadHoldingRegistersResponse': 3]",
    ];
    const { ask, notes, text } = learned(`${log.join('\n')}\n`);
    expect(ask(hexOf(request))).toBe(hexOf(reply));
    expect(notes).toEqual([]);
    expect(text).not.toContain('junk');
  });

  it('in which pieces belong to no reply tells of them, however short they are', () => {
    const { notes } = learned(`recv: 0x98 0x1\nsend ${hex(REQUEST)}\nrecv ${hex(REPLY)}\n`);
    expect(notes).toEqual([
      '1 line with bytes left out, neither a request nor a reply to one: line 1 (recv: 0x98 0x1)',
    ]);
  });

  it('with several exchanges on one line has all of them', () => {
    const log =
      '2026-05-02 10:11:12.013 ERROR (Main) [pymodbus.logging] No response received after 3 retries >>>>> send: 0x0 0x3a 0x0 0x0 0x0 0x6 0x1 0x3 0x33 0x2b 0x0 0x1 >>>>> recv: 0x0 0x3a 0x0 0x0 0x0 0x5 0x1 0x3 0x2 0x0 0x29 extra data: >>>>> send: 0x0 0x3b 0x0 0x0 0x0 0x6 0x1 0x4 0x33 0xd0 0x0 0xf >>>>> Repeating.... >>>>> send: 0x0 0x3b 0x0 0x0 0x0 0x6 0x1 0x4 0x33 0xd0 0x0 0xf';
    const { ask, summary } = learned(log);
    expect(summary).toBe('log: 3 requests to unit 1, 2 without a reply');
    expect(ask('0009 0000 0006 01 03 332b 0001')).toBe(plain('0009 0000 0005 01 03 02 0029'));
    expect(ask('0009 0000 0006 01 04 33d0 000f')).toBe('');
  });

  it('with bytes as a text with escapes is read, as Python and ESPHome print them', () => {
    const python = learned(
      String.raw`38.5 to meter: b'\x01\x03\x00\x00\x00\x01\x84\n'
40.2 to serial: b'\x01\x03\x02\x00x\xb8f'`,
    );
    expect(python.ask('01 03 0000 0001 840a')).toBe(plain('01 03 02 0078 b866'));
    const esphome = learned(
      String.raw`it's >>> "\x01\x03\x00\x00\x00\x04D\t"
it's <<< "\x01\x03\x08\t\"\x00\x00\x00\x00\x00\x00W\xBF"`,
    );
    expect(esphome.ask('01 03 0000 0004 4409')).toBe(plain('01 03 08 0922 0000 0000 0000 57bf'));
    expect([...python.notes, ...esphome.notes]).toEqual([]);
  });

  it('with remarks above a few frames is read by what the frames are', () => {
    const { ask, notes, summary } = learned(`# unit 1
${hex(rtu('03 000b 0001'))}

# the response: revision 4
${hex(rtu('03 0303 0001'))}
# the response to this request
${hex(rtu('03 02 0004'))}

# a request for the mode
${hex(rtu('03 1103 0001'))}
# mode 1

${hex(rtu('03 02 0001'))}
${hex(rtu('03 0000 0001'))}
${hex(rtu('03 02 0922'))}
`);
    expect(notes).toEqual([]);
    expect(summary).toBe('log: 4 requests to unit 1, 1 without a reply');
    expect(ask(hexOf(rtu('03 0303 0001')))).toBe(hexOf(rtu('03 02 0004')));
  });

  it('of a gateway without check values is read', () => {
    const log = `26 Jan 2026 14:15:55 conn[192.0.2.7]: read request fc 4
26 Jan 2026 14:15:55 conn[192.0.2.7]: request: [14][04][2a][93][00][02]
26 Jan 2026 14:15:55 tty: request written (total 8 bytes)
26 Jan 2026 14:15:55 tty: estimated 9 bytes, waiting 518905 usec
26 Jan 2026 14:15:55 tty: response: [14][04][04][12][34][56][78]
26 Jan 2026 14:15:55 conn[192.0.2.7]: response: [14][04][04][12][34][56][78]
`;
    const { ask, notes } = learned(log);
    expect(ask('0001 0000 0006 14 04 2a93 0002')).toBe(plain('0001 0000 0007 14 04 04 1234 5678'));
    expect(notes).toEqual([]);
  });

  it('of a port monitor with a column of characters is read', () => {
    const request = rtu('03 0000 0014');
    const reply = rtu(`03 28 ${'3132'.repeat(20)}`);
    const rows = (frame: Uint8Array) =>
      Array.from({ length: Math.ceil(frame.length / 16) }, (_, i) => {
        const row = frame.subarray(16 * i, 16 * (i + 1));
        return `    ${hex(row).padEnd(50)}${Buffer.from(row)
          .toString('latin1')
          .replace(/[^ -~]/g, '.')}`;
      }).join('\n');
    const { ask } = learned(`Written data (COM3)\n${rows(request)}\nRead data (COM3)\n${rows(reply)}\n`);
    expect(ask(hexOf(request))).toBe(hexOf(reply));
  });

  const exchange = (id: number, request: string, reply = '', unit = '06') => {
    const adu = (pdu: string) => {
      const bytes = bytesOf(pdu);
      return `00 0${id} 00 00 00 ${hex(Uint8Array.of(bytes.length + 1))} ${unit} ${hex(bytes)}`;
    };
    return `send: ${adu(request)}\n${reply && `recv: ${adu(reply)}\n`}`;
  };

  it('in which function 23 writes has its registers, and clients may write them', () => {
    const { ask } = learned(exchange(1, '17 0064 0002 0065 0001 02 002a', '17 04 0007 002a'));
    expect(ask('0009 0000 0006 06 03 0064 0002')).toBe(plain('0009 0000 0007 06 03 04 0007 002a'));
    expect(ask('0009 0000 0006 06 06 0065 0001')).toBe(plain('0009 0000 0006 06 06 0065 0001'));
    expect(ask('0009 0000 0006 06 06 0064 0001')).toBe(plain('0009 0000 0003 06 86 02'));
  });

  it('in which function 22 masks a register has the bits that it did not set', () => {
    const mask = '16 0004 00f2 0025';
    const { ask } = learned(
      exchange(1, '03 0004 0001', '03 02 0012') +
        exchange(2, mask, mask) +
        exchange(3, '03 0004 0001', '03 02 0017'),
    );
    const read = '0009 0000 0006 06 03 0004 0001';
    expect(ask(read)).toBe(plain('0009 0000 0005 06 03 02 0012'));
    expect(ask(`0009 0000 0008 06 ${mask}`)).toBe(plain(`0009 0000 0008 06 ${mask}`));
    expect(ask(read)).toBe(plain('0009 0000 0005 06 03 02 0017'));
  });

  it('in which a register is written and then read otherwise has both, and is writable', () => {
    const write = '06 0005 0063';
    const { ask } = learned(
      exchange(1, '03 0005 0001', '03 02 0001') +
        exchange(2, write, write) +
        exchange(3, '03 0005 0001', '03 02 0063') +
        exchange(4, '03 0005 0001', '03 02 0007'),
    );
    const asked = ['03 0005 0001', write, '03 0005 0001', '03 0005 0001'];
    expect(asked.map((pdu) => ask(`0009 0000 0006 06 ${pdu}`).slice(-4))).toEqual([
      '0001',
      '0063',
      '0063',
      '0007',
    ]);
  });

  it('in which a unit never answered has no device for it', () => {
    const { ask, text } = learned(
      exchange(1, '03 0005 0001', '03 02 0001') +
        exchange(2, '03 0005 0001', '', '07') +
        exchange(3, '03 0005 0001', '', 'ff') +
        exchange(4, '03 0005 0001', '03 02 0001'),
    );
    expect(text).toContain('# lan: these units never answered: 7, 255\n');
    expect(text).not.toContain('unit-7');
    expect(ask('0009 0000 0006 07 03 0005 0001')).toBe('');
    expect(ask('0009 0000 0006 ff 03 0005 0001')).toBe('');
    expect(ask('0009 0000 0006 06 03 0005 0001')).toBe(plain('0009 0000 0005 06 03 02 0001'));
  });

  it('in which a wrong request got another exception than usual has a rule that is for such requests alone', () => {
    const { ask } = learned(
      exchange(1, '03 0005 0001', '03 02 0001') +
        exchange(2, '03 0005 0000', '83 02') +
        exchange(3, '03 0005', '83 02'),
    );
    expect(ask('0009 0000 0006 06 03 0005 0000')).toBe(plain('0009 0000 0003 06 83 02'));
    expect(ask('0009 0000 0004 06 03 0005')).toBe(plain('0009 0000 0003 06 83 02'));
    expect(ask('0009 0000 0006 06 03 0005 0001')).toBe(plain('0009 0000 0005 06 03 02 0001'));
  });

  it('is checked: what the devices answer otherwise is named with its line', () => {
    const { learned: made } = learned(
      exchange(1, '03 0005 0001', '03 02 0001') +
        exchange(2, '03 0006 0001') +
        exchange(3, '03 0005 0001', '03 02 0001'),
    );
    const check = checkLearned(made, (_, { transactionId }) =>
      bytesOf(`000${transactionId} 0000 0005 06 03 02 0001`),
    );
    expect(check).toEqual({
      asked: 3,
      same: 2,
      others: ['line 3: 03 00 06 00 01 to unit 6: 00 02 00 00 00 05 06 03 02 00 01, not no reply'],
    });
  });

  it.each([
    ['', 'no line contains the bytes of a frame'],
    ['hello\nworld', 'no line contains the bytes of a frame'],
    [
      'RX 01 83 02 c0 f1',
      '1 line with bytes left out, neither a request nor a reply to one: line 1 (RX 01 83 02 c0 f1)\nnothing was learned from 1 frame; the first is in line 1',
    ],
  ])('without a request is refused: %j', (text, problem) => {
    expect(learnFiles([Buffer.from(text)], 'log')).toEqual({ ok: false, error: problem });
  });

  it('without a frame is refused, a capture too', () => {
    const nothing = { ok: false, error: 'no packet contains a Modbus frame' };
    expect(learnFiles([pcap(1, packet({ from: 40_000, to: 502, hex: '' }))], 'night.pcap')).toEqual(nothing);
  });
});

describe('a capture', () => {
  stopAfterEach();

  const bench = {
    devices: { meter: { registers: { holding: [{ address: 0, value: [7, 8, 9] }] } } },
    lines: {
      lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
      bus: { serial: { path: 'virtual', baudRate: 115200 }, units: { 1: 'meter' } },
    },
    faults: [{ name: 'wrong', when: { line: 'lan', quantity: 2 }, do: [{ transaction: '+1' }] }],
  };
  const REQUESTS = ['03 0000 0001', '03 0001 0002', '03 0009 0001', '04 0000 0001'].map(bytesOf);

  /** Asks our own simulator, and gives its capture of one line. */
  async function captureOf(line: 'lan' | 'bus'): Promise<Uint8Array> {
    const running = await startSimulator(nativeSetup(bench));
    if (line === 'lan') {
      const client = newClient({
        kind: 'tcp',
        host: '127.0.0.1',
        port: running.port('lan'),
        framing: 'socket',
      });
      // The second reply has another transaction identifier, and is waited for in vain.
      for (const [i, pdu] of REQUESTS.entries())
        await client.ask({ unitId: 1, pdu, timeout: i === 1 ? 1000 : 20_000 });
      await client.close();
    } else {
      const client = new modbusSerial.default();
      await client.connectRTUBuffered(running.path('bus'), { baudRate: 115200, parity: 'even' });
      client.setID(1);
      client.setTimeout(20_000);
      await client.readHoldingRegisters(0, 1);
      await client.readHoldingRegisters(1, 2);
      await client.readHoldingRegisters(9, 1).catch(() => {});
      await new Promise<void>((resolve) => client.close(() => resolve()));
    }
    const answer = await running.rest.app.inject({
      url: `/api/v1/capture.pcapng?line=${line}`,
      headers: { host: 'localhost' },
    });
    expect(answer.statusCode).toBe(200);
    return answer.rawPayload;
  }

  it('of Modbus TCP gives what was answered, with a wrong transaction identifier', async () => {
    const { ask, summary } = learned(await captureOf('lan'));
    expect(summary).toBe('log: 4 requests to unit 1, 0 without a reply');
    expect(ask('0005 0000 0006 01 03 0000 0001')).toBe(plain('0005 0000 0005 01 03 02 0007'));
    expect(ask('0005 0000 0006 01 03 0001 0002')).toBe(plain('0006 0000 0007 01 03 04 0008 0009'));
    expect(ask('0005 0000 0006 01 03 0009 0001')).toBe(plain('0005 0000 0003 01 83 02'));
  });

  it('of a serial line gives what was answered', async () => {
    const { ask, summary } = learned(await captureOf('bus'));
    expect(summary).toBe('log: 3 requests to unit 1, 0 without a reply');
    const rtu = (hex: string) => hexOf(encodeRtu(1, bytesOf(hex)));
    expect(ask(rtu('03 0001 0002'))).toBe(rtu('03 04 0008 0009'));
    expect(ask(rtu('03 0009 0001'))).toBe(rtu('83 02'));
  });

  it.each([
    ['contradict each other are devices on lines of their own', '0008', ['lan', 'lan-2']],
    ['agree are one device', '0007', ['lan']],
  ])('of two servers with the same unit identifier that %s', (_, value, lines) => {
    const exchange = (server: number, reply: string) => [
      packet({ from: 40000, to: 502, server, hex: '0001 0000 0006 01 03 0000 0001' }),
      packet({ from: 502, to: 40000, server, hex: `0001 0000 0005 01 03 02 ${reply}` }),
    ];
    // Their last bytes are no UTF-8.
    const { ask, names } = learned(pcap(1, ...exchange(200, '0007'), ...exchange(201, value)));
    expect(names).toEqual(lines);
    expect(lines.map((line) => ask('0001 0000 0006 01 03 0000 0001', line))).toEqual(
      ['0007', value].slice(0, lines.length).map((each) => plain(`0001 0000 0005 01 03 02 ${each}`)),
    );
  });

  it('of a line that only listened tells requests from replies', () => {
    const record = (hex: string) =>
      Buffer.concat([bytesOf('0000000000000000 02 000000'), encodeRtu(1, bytesOf(hex))]);
    const hex = [
      '03 0000 0002',
      '03 04 0007 0008',
      '06 0000 0001',
      '06 0000 0001',
      '04 0000 0001',
      '04 0000 0001',
      '03 0000 0001',
      '03 02 0000',
    ];
    const { ask, summary } = learned(pcap(250, ...hex.map(record)));
    expect(summary).toBe('log: 5 requests to unit 1, 2 without a reply');
    const rtu = (pdu: string) => hexOf(encodeRtu(1, bytesOf(pdu)));
    expect(ask(rtu('06 0000 0001'))).toBe(rtu('06 0000 0001'));
    expect(ask(rtu('04 0000 0001'))).toBe('');
  });

  it.each([
    ['loopback', 0],
    ['loopback of OpenBSD', 108],
    ['Linux cooked, version 1', 113],
    ['Linux cooked, version 2', 276],
    ['raw IP', 101],
    ['raw IPv4', 228],
  ])('of the link type %s is read', (_, link) => {
    const file = pcap(
      link,
      packet({ from: 40000, to: 502, hex: '0001 0000 0006 01 03 0000 0001' }),
      packet({ from: 502, to: 40000, hex: '0001 0000 0005 01 03 02 0063' }),
    );
    expect(learned(file).ask('0001 0000 0006 01 03 0000 0001')).toBe(plain('0001 0000 0005 01 03 02 0063'));
  });

  it.each([
    ['the end of a reply', { sequence: 13, hex: '0001 0000 0007 01 03 04' }, 6],
    ['the beginning of a reply', { sequence: 22, hex: '0007 0008' }, 6],
    ['a reply', undefined, 5],
  ] as const)('that lacks %s leaves out its request', (_, part, line) => {
    const request = (id: number) => ({
      from: 40000,
      to: 502,
      sequence: 12 * id,
      hex: `000${id} 0000 0006 01 03 000${id} 0002`,
    });
    const reply = (id: number) => ({
      from: 502,
      to: 40000,
      sequence: 13 * id,
      hex: `000${id} 0000 0007 01 03 04 0005 0006`,
    });
    const some = part ? [{ ...reply(1), ...part }] : [];
    const packets = [request(0), reply(0), request(1), ...some, request(2), reply(2)];
    const { ask, notes, summary } = learned(pcap(1, ...packets.map(packet)));
    expect(summary).toBe('log: 2 requests to unit 1, 0 without a reply');
    expect(ask(request(2).hex)).toBe(plain(reply(2).hex));
    expect(notes).toEqual([
      `1 packet with bytes after missing TCP segments, so an exchange before them may be left out: packet ${line}`,
    ]);
    // A reply whose request is missing is left out as well.
    const answers = learned(pcap(1, ...[request(0), reply(0), reply(1), request(2), reply(2)].map(packet)));
    expect(answers.notes[1]).toBe(
      '1 packet with bytes left out, neither a request nor a reply to one: packet 3',
    );
  });

  const ask = (id: number, address: number, client = 40000) => ({
    from: client,
    to: 502,
    sequence: 12 * id,
    hex: `000${id} 0000 0006 01 03 000${address} 0001`,
  });
  const answer = (id: number, value: number, sequence: number, client = 40000) => ({
    from: 502,
    to: client,
    sequence,
    hex: `000${id} 0000 0005 01 03 02 000${value}`,
  });

  it('of requests that did not wait for their replies pairs them by their transaction identifiers', () => {
    const packets = [ask(1, 1), ask(2, 2), ask(3, 3), answer(2, 8, 0), answer(1, 7, 11), answer(3, 9, 22)];
    const made = learned(pcap(1, ...packets.map(packet)));
    expect(made.summary).toBe('log: 3 requests to unit 1, 0 without a reply');
    const values = [1, 2, 3].map((address) => made.ask(`0009 0000 0006 01 03 000${address} 0001`).slice(-1));
    expect(values).toEqual(['7', '8', '9']);
  });

  it('with segments in another order than they were sent is put in order', () => {
    const packets = [ask(1, 1), answer(2, 8, 11), ask(2, 2), answer(1, 7, 0)];
    const first = { ...ask(0, 0), hex: '0000 0000 0006 01 03 0000 0001' };
    const before = [first, { ...answer(0, 6, -11 >>> 0) }];
    const { summary, notes } = learned(pcap(1, ...[...before, ...packets].map(packet)));
    expect(summary).toBe('log: 3 requests to unit 1, 0 without a reply');
    expect(notes).toEqual([]);
  });

  it('of other protocols beside Modbus leaves them out, and says on which ports they are', () => {
    const web = { from: 40001, to: 80, hex: '474554202f20485454502f312e310d0a' };
    const tpkt = { from: 40002, to: 102, hex: '0300 0016 11e0 0000 0001 00c0 0109 c102 0100 c202 0102' };
    // Looks like Modbus TCP, with functions that no request has.
    const other = [
      { from: 40003, to: 5026, hex: '0000 0000 0006 00 00 0001 0002' },
      { from: 5026, to: 40003, hex: '0000 0000 0006 00 73 0001 0002' },
    ];
    const packets = [ask(1, 1), answer(1, 7, 0), web, tpkt, ...other];
    const { summary, notes } = learned(pcap(1, ...packets.map(packet)));
    expect(summary).toBe('log: 1 request to unit 1, 0 without a reply');
    expect(notes).toEqual([
      '3 connections without Modbus frames left out: ports 80, 102, 5026, the first from packet 3 on',
    ]);
  });

  it('that lacks segments gives no reply with another identifier to a request', () => {
    const packets = [ask(0, 0), answer(0, 1, 0), ask(1, 1), { ...answer(3, 7, 99) }];
    const { summary, notes } = learned(pcap(1, ...packets.map(packet)));
    expect(summary).toBe('log: 1 request to unit 1, 0 without a reply');
    expect(notes.join('\n')).toContain('left out, neither a request nor a reply to one');
  });

  it('as pcap of Ethernet, with a segment that was sent twice, is read', () => {
    const file = pcap(
      1,
      packet({ from: 40000, to: 502, sequence: 100, hex: '0001 0000 0006 01 03' }),
      packet({ from: 40000, to: 502, sequence: 100, hex: '0001 0000 0006 01 03' }),
      packet({ from: 40000, to: 502, sequence: 108, hex: '0000 0001' }),
      packet({ from: 502, to: 40000, hex: '0001 0000 0005 01 03 02 0063' }),
    );
    expect(learned(file).ask('0001 0000 0006 01 03 0000 0001')).toBe(plain('0001 0000 0005 01 03 02 0063'));
    // Cut off anywhere, it is refused with a sentence, or has what came before.
    for (let length = 4; length < file.length; length += 7) {
      const made = learnFiles([file.subarray(0, length)], 'log');
      expect(made.ok ? made.value.summary : made.error).toMatch(made.ok ? /requests/ : /./);
    }
  });
});
