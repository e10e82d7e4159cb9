import { describe, expect, it } from 'vitest';
import { AsciiFraming } from '../../../../src/modbus/protocol/ascii.js';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { notAchieved, silence } from '../../../../src/modbus/protocol/reply-plan.js';
import { Capture, decodedForm, wireForm } from '../../../../src/simulator/traffic/capture/capture.js';
import type { CaptureLine } from '../../../../src/simulator/traffic/capture/packet.js';
import type { NoticeEvent, TrafficEvent } from '../../../../src/simulator/traffic/event.js';
import { adu, bytesOf, frameEvent, replyEvent, sendPlan } from '../events.js';

const SERIAL: CaptureLine = { name: 'bench', kind: 'serial', describe: () => 'RTU' };
const LAN: CaptureLine = { name: 'bench', kind: 'tcp', host: '0.0.0.0', port: 502, describe: () => 'TCP' };
const CLIENT = { client: '192.168.0.7:40112', clientId: 3 };

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Event code, bytes, comment and time of each packet. */
function onWire(event: TrafficEvent) {
  return wireForm()(event, SERIAL).map(({ bytes, comment, time }) => [
    bytes[8],
    hexOf(bytes.subarray(12)),
    comment,
    time,
  ]);
}

/** Source and destination port, payload and comment of each packet. */
function decoded(event: TrafficEvent) {
  return decodedForm()(event, SERIAL).map(({ bytes, comment }) => {
    const packet = Buffer.from(bytes);
    return [packet.readUInt16BE(20), packet.readUInt16BE(22), hexOf(bytes.subarray(28)), comment];
  });
}

const READ = '03 0000 0001';
const VALUE = '03 02 0007';
const notice = (kind: NoticeEvent['kind'], count: number): NoticeEvent => {
  const { seq, line, at, time } = frameEvent(READ);
  return { seq, line, at, time, kind, count, isRest: false };
};

describe('a serial line in the wire form', () => {
  it('has a request at the time of its first byte, and an ordinary reply without a comment', () => {
    const request = frameEvent(READ);
    expect(onWire(request)).toEqual([[2, hexOf(adu(READ)), undefined, request.time - 8]]);
    const reply = replyEvent(READ, VALUE);
    expect(onWire(reply)).toEqual([[1, hexOf(adu(VALUE)), undefined, reply.time]]);
  });

  it('names the rule that acted, with its times, and the steps that were not done', () => {
    const bytes = adu(VALUE);
    const plan = sendPlan(
      { kind: 'bytes', waitMs: 4, bytes, continues: false },
      { kind: 'break', waitMs: 1, ms: 2 },
    );
    const [step] = replyEvent(READ, VALUE).report.steps;
    const report = {
      steps: [step as NonNullable<typeof step>, notAchieved(1011, 1011, 'no breaks here')],
      ended: 'complete' as const,
    };
    const acted = [{ rule: 'late', kind: 'delay' }];
    const [packet] = onWire(replyEvent(READ, VALUE, { plan, report, acted }));
    expect(packet?.[2]).toBe(
      'rule late: delay\n' +
        'step 1 of 2: planned 4000 µs after the request, achieved 4000 µs, at most 0 µs later\n' +
        '1 step was not carried out: no breaks here',
    );
  });

  it('tells why there is no reply', () => {
    const event = replyEvent(READ, VALUE, {
      plan: silence('a fault'),
      acted: [{ rule: 'mute', kind: 'silence' }],
    });
    expect(onWire(event)).toEqual([[0, '', 'rule mute: silence\nno reply: a fault', expect.any(Number)]]);
  });

  it.each([
    ['damaged characters', 8, '2 characters damaged on the wire (parity or framing error)'],
    ['overrun', 10, 'overrun: the UART lost 2 characters'],
    ['echo', 0, 'echo: our own reply came back and was removed'],
  ] as const)('has %s as an event of its own', (kind, code, comment) => {
    expect(onWire(notice(kind, 2))).toEqual([[code, '', comment, expect.any(Number)]]);
  });

  it('tells a damaged frame by its check', () => {
    const { unitId: _, functionCode: __, answers: ___, ...frame } = frameEvent(READ);
    const bytes = frame.bytes.with(-1, (frame.bytes.at(-1) ?? 0) ^ 1);
    const damaged = { ...frame, bytes, kind: 'damaged', isRest: false } as const;
    expect(onWire(damaged)[0]?.[2]).toMatch(/^damaged: CRC error: \w{4}, expected /);
  });
});

describe('the decoded form', () => {
  it.each([
    ['ASCII', new AsciiFraming()],
    ['MBAP', SOCKET],
  ])('shows a frame in %s as RTU', (_, framing) => {
    expect(decoded(frameEvent(READ, { framing }))).toEqual([[49_152, 5020, hexOf(adu(READ)), undefined]]);
    expect(decoded(replyEvent(READ, VALUE, { framing }))).toEqual([
      [5020, 49_152, hexOf(adu(VALUE)), undefined],
    ]);
  });

  it('gives a damaged frame in ASCII a wrong CRC', () => {
    const framing = new AsciiFraming();
    const bytes = adu(READ, framing);
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] as number) ^ 1;
    const rtu = hexOf(adu(READ));
    const [packet] = decoded(frameEvent(READ, { kind: 'dropped', framing, bytes }));
    expect(packet?.[2]).not.toBe(rtu);
    expect(String(packet?.[2]).slice(0, -4)).toBe(rtu.slice(0, -4));
  });

  it('joins the pieces of a frame', () => {
    const bytes = adu(VALUE);
    const piece = (from: number, to: number, continues: boolean) =>
      ({ kind: 'bytes', waitMs: 0, bytes: bytes.subarray(from, to), continues }) as const;
    const plan = sendPlan(piece(0, 3, false), piece(3, bytes.length, true));
    const [packet, ...more] = decoded(replyEvent(READ, VALUE, { plan }));
    expect(packet?.[2]).toBe(hexOf(bytes));
    expect(more).toEqual([]);
  });

  it('sends what is no frame to another port', () => {
    const { unitId: _, functionCode: __, answers: ___, ...frame } = frameEvent(READ);
    const discarded = { ...frame, kind: 'discarded', isRest: false, bytes: bytesOf('0103') } as const;
    expect(decoded(discarded)).toEqual([[49_152, 5021, '0103', 'discarded: no valid frame']]);
  });

  it('sends the responses of other devices from the port of a device', () => {
    expect(decoded(frameEvent(VALUE, { kind: 'foreign response' }))[0]?.slice(0, 2)).toEqual([5020, 49_152]);
  });
});

describe('a capture', () => {
  const capture = () => new Capture('wire', { names: () => ['bench'], get: () => LAN });
  const text = (blocks: readonly Uint8Array[]) => Buffer.concat(blocks).toString('latin1');

  it('describes an interface once', () => {
    const one = capture();
    expect(one.header().map((block) => block[0])).toEqual([0x0a, 1]);
    expect(one.blocksOf(frameEvent(READ, CLIENT)).map((block) => block[0])).toEqual([6]);
  });

  it('tells with the next packet what was left out, once', () => {
    const one = capture();
    one.missed(12);
    expect(text(one.blocksOf(frameEvent(READ, CLIENT)))).toContain('12 events before this one left out');
    one.missed(12);
    expect(text(one.blocksOf(frameEvent(READ, CLIENT)))).not.toContain('left out');
    one.missed(15);
    expect(text(one.blocksOf(frameEvent(READ, CLIENT)))).toContain('3 events before this one');
  });

  it('shows a silence on TCP as an acknowledgement alone', () => {
    const [packet] = wireForm()(replyEvent(READ, VALUE, { ...CLIENT, plan: silence('a fault') }), LAN);
    expect(packet?.bytes).toHaveLength(40);
    expect(packet?.comment).toBe('no reply: a fault');
  });

  it('has a datagram for each step on UDP, and none for a silence', () => {
    const udp = { ...LAN, kind: 'udp' } as const;
    expect(wireForm()(replyEvent(READ, VALUE, CLIENT), udp)).toHaveLength(1);
    expect(wireForm()(replyEvent(READ, VALUE, { ...CLIENT, plan: silence('a fault') }), udp)).toEqual([]);
  });
});
