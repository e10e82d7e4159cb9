import { describe, expect, it } from 'vitest';
import { ReplySearch } from '../../../src/modbus/client/reply-search.js';
import { concatBytes } from '../../../src/modbus/protocol/bytes.js';
import { type Framing, RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { FRAMINGS } from '../../../src/modbus/protocol/framings.js';
import { bytesOf, hexOf } from '../protocol/hex.js';

/* How a client knows the reply to its request among what it hears. */

const asked = (pdu: string, framing: Framing = RTU) => ({
  unitId: 5,
  pdu: bytesOf(pdu),
  transactionId: framing.name === 'socket' ? 7 : 0,
});
const frame = (framing: Framing, pdu: string, unitId = 5, transactionId = 7) =>
  framing.encode({ transactionId: framing.name === 'socket' ? transactionId : 0, unitId, pdu: bytesOf(pdu) });

const READ = '03 0000 0002';
const REPLY = '03 04 0001 0002';

describe.each([RTU, FRAMINGS.ascii, SOCKET])('a reply in framing $name', (framing) => {
  const search = (pdu = READ) => new ReplySearch(framing, asked(pdu, framing), false);

  it('is found whole, in pieces, and behind what is none', () => {
    const reply = frame(framing, REPLY);
    expect(search().push(reply)).toEqual({ adu: reply, pdu: bytesOf(REPLY) });
    const pieces = search();
    for (const byte of reply.slice(0, -1)) expect(pieces.push(Uint8Array.of(byte))).toBeUndefined();
    expect(pieces.push(reply.slice(-1))?.pdu).toEqual(bytesOf(REPLY));
    const late = search();
    expect(late.push(concatBytes(frame(framing, REPLY, 6), reply))?.adu).toEqual(reply);
  });

  it('may be an exception of two bytes, to the function that was asked', () => {
    expect(search().push(frame(framing, '83 02'))?.pdu).toEqual(bytesOf('83 02'));
    expect(search().push(frame(framing, '84 02'))).toBeUndefined();
  });

  it.each([
    ['another unit', frame(framing, REPLY, 6)],
    ['another function', frame(framing, '04 04 0001 0002')],
    ['more registers than were asked for', frame(framing, '03 06 0001 0002 0003')],
  ])('is none of %s', (_, bytes) => {
    const found = search();
    expect(found.push(bytes, true)).toBeUndefined();
    expect(found.heard).toEqual(bytes);
  });
});

it('has the transaction identifier that was asked', () => {
  const search = new ReplySearch(SOCKET, asked(READ, SOCKET), false);
  expect(search.push(frame(SOCKET, REPLY, 5, 6))).toBeUndefined();
  expect(search.push(frame(SOCKET, REPLY))?.pdu).toEqual(bytesOf(REPLY));
});

it('is found behind stray bytes of a driver, and not with a wrong CRC', () => {
  const reply = frame(RTU, REPLY);
  expect(new ReplySearch(RTU, asked(READ), false).push(concatBytes([0, 0xff], reply))?.adu).toEqual(reply);
  const damaged = reply.with(4, 0x11);
  expect(new ReplySearch(RTU, asked(READ), false).push(damaged, true)).toBeUndefined();
});

it('of a function without a known length ends with silence', () => {
  const search = new ReplySearch(RTU, asked('41 01'), false);
  const reply = frame(RTU, '41 aabbcc');
  expect(search.push(reply)).toBeUndefined();
  expect(search.push(new Uint8Array(), true)?.pdu).toEqual(bytesOf('41 aabbcc'));
});

describe('an adapter that hears what it sends', () => {
  const write = '06 0000 0007';

  it('is noticed by a request that no reply looks like', () => {
    const search = new ReplySearch(RTU, asked(READ), true);
    expect(search.push(concatBytes(frame(RTU, READ), frame(RTU, REPLY)))?.pdu).toEqual(bytesOf(REPLY));
    expect(search.isEchoed).toBe(true);
  });

  it('is not concluded from the copy that is the reply to a write', () => {
    const search = new ReplySearch(RTU, asked(write), true);
    expect(hexOf(search.push(frame(RTU, write))?.pdu ?? new Uint8Array())).toBe('0600000007');
    expect(search.isEchoed).toBe(false);
  });

  it('once known, makes the second copy the reply to a write', () => {
    const search = new ReplySearch(RTU, asked(write), 'certainly');
    expect(search.push(frame(RTU, write))).toBeUndefined();
    expect(search.push(frame(RTU, write))?.pdu).toEqual(bytesOf(write));
  });
});

it('keeps no more than a thousand bytes of what is no reply', () => {
  const search = new ReplySearch(RTU, asked(READ), false);
  for (let i = 0; i < 20; i++) search.push(new Uint8Array(200));
  expect(search.heard.length).toBe(1024);
});
