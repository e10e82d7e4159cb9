import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastOf } from '../../../src/extensions/view/captured-traffic.js';
import { shownFile } from '../../../src/extensions/view/shown-file.js';
import { run, runHere, scratchSpace } from '../../cli/verbs/run.js';
import { packet, pcap } from '../learn/helpers.js';

const { newDirectory } = scratchSpace();

const REQUEST = '0001 0000 0006 05 03 0010 0002';
const REPLY = '0001 0000 0007 05 03 04 00070008';
const CAPTURE = pcap(
  101,
  packet({ from: 40_000, to: 502, hex: REQUEST }),
  packet({ from: 502, to: 40_000, hex: REPLY }),
);

/** An event as a line of NDJSON. */
function event(fields: object): string {
  const about = { line: 'bench', kind: 'echo', direction: 'none', text: 'echo', monotonicUs: 7 };
  return `${JSON.stringify({ seq: 1, time: '2026-01-02T03:04:05.000006Z', ...about, ...fields })}\n`;
}

function shown(file: string | Uint8Array) {
  const read = shownFile(Buffer.from(file));
  if (!read.ok) throw new Error(read.error);
  return { ...read.value, events: read.value.events ?? [] };
}

function refused(file: string | Uint8Array): string {
  const read = shownFile(Buffer.from(file));
  return read.ok ? '' : read.error;
}

/** A capture of serial packets (link type 250), which are all marked as received, with a time in s each. */
function serial(...packets: readonly (readonly [at: number, hex: string])[]): Buffer {
  const file = pcap(
    250,
    ...packets.map(([, hex]) => Buffer.from(`${'00'.repeat(8)}02000000${hex.replaceAll(' ', '')}`, 'hex')),
  );
  let place = 24;
  for (const [at] of packets) {
    file.writeUInt32LE(at, place);
    place += 16 + file.readUInt32LE(place + 8);
  }
  return file;
}

it('modbus-sim view writes a page of a capture, and overwrites nothing without --force', async () => {
  const file = join(newDirectory(), 'bus.pcap');
  writeFileSync(file, CAPTURE);
  const output = join(newDirectory(), 'page.html');
  const { code, stdout, stderr } = await run(['view', file, '-o', output], newDirectory());
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: `wrote ${output} with 2 frames and events; open it in a browser\n`,
    stderr: '',
  });
  const page = readFileSync(output, 'utf8');
  const [, data = ''] = /id="recorded">(.*)<\/script>/.exec(page) ?? [];
  expect(JSON.parse(data)).toMatchObject({
    title: 'bus.pcap',
    reports: [],
    events: [{ unit: 5 }, { unit: 5 }],
  });
  const again = await runHere(['view', file, '-o', output]);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('--force overwrites it');
  // What it has written can be read again, and no other page.
  const copy = join(newDirectory(), 'copy.html');
  expect(await runHere(['view', output, '-o', copy])).toMatchObject({ code: 0 });
  const [, copied = ''] = /id="recorded">(.*)<\/script>/.exec(readFileSync(copy, 'utf8')) ?? [];
  expect(JSON.parse(copied)).toEqual({ ...JSON.parse(data), title: 'page.html' });
  expect(refused('<!doctype html><p>hello')).toContain('not a report of this program');
});

describe('the traffic of a capture', () => {
  it('has the addresses and values of replies, and which request each answers', () => {
    expect(shown(CAPTURE).events).toMatchObject([
      {
        seq: 1,
        kind: 'foreign request',
        line: '0.0.0.1:502',
        client: '0.0.0.100:40000',
        address: 16,
        quantity: 2,
      },
      {
        seq: 2,
        kind: 'foreign response',
        request: 1,
        address: 16,
        values: [7, 8],
        bytes: expect.any(String),
      },
    ]);
  });

  it('has the frames of a serial line, the damaged one as well, by what their bytes are', () => {
    const read = shown(
      serial(
        [1, '01 03 0000 0001 840a'],
        [2, '01 03 02 0007 f986'],
        [3, '01 03 0000 0001 840b'],
        [5, '01 06 0001 0007 99c8'],
        [6, '01 06 0001 0007 99c8'],
      ),
    );
    expect(read.events.map(({ kind, request }) => [kind, request])).toEqual([
      ['foreign request', undefined],
      ['foreign response', 1],
      ['damaged', undefined],
      ['foreign request', undefined],
      ['foreign response', 4],
    ]);
    expect(read.events.map(({ monotonicUs }) => monotonicUs)).toEqual([0, 1e6, 2e6, 4e6, 5e6]);
  });

  it('is cut to what a page has room for, and says so', () => {
    const { list, notes } = lastOf(
      Array.from({ length: 50_003 }, (_, i) => i),
      'frames',
    );
    expect([list.length, list[0]]).toEqual([50_000, 3]);
    expect(notes).toEqual(['only the last 50000 of 50003 frames are shown']);
  });

  it('is refused with its packet if its time is not a valid date', () => {
    const block = Buffer.alloc(20 + 12 + 12);
    block.writeUInt32LE(1, 0);
    block.writeUInt32LE(44, 4);
    block.writeUInt16LE(250, 8);
    // A resolution of whole seconds.
    block.set([9, 0, 1, 0, 0], 16);
    block.writeUInt32LE(44, 40);
    const data = Buffer.from(`${'00'.repeat(8)}02000000010300000001840a`, 'hex');
    const packetBlock = Buffer.alloc(32 + data.length);
    packetBlock.writeUInt32LE(6, 0);
    packetBlock.writeUInt32LE(packetBlock.length, 4);
    packetBlock.writeUInt32LE(0xffffffff, 12);
    packetBlock.writeUInt32LE(data.length, 20);
    packetBlock.writeUInt32LE(data.length, 24);
    packetBlock.set(data, 28);
    packetBlock.writeUInt32LE(packetBlock.length, packetBlock.length - 4);
    const section = Buffer.from('0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000', 'hex');
    expect(refused(Buffer.concat([section, block, packetBlock]))).toBe(
      'packet 1: its time is not a valid date',
    );
  });

  it('is refused if there is none', () => {
    expect(refused(pcap(101))).toBe('the capture has no packets, or ends within the first one');
    expect(refused(pcap(147, Buffer.from('aa')))).toContain(
      'has no Modbus frames; 1 packet left out, with unsupported link type 147',
    );
  });
});

describe('the traffic of NDJSON', () => {
  it('is as it was written; half a line at the end is left out, what is missing is named', () => {
    const left = `${JSON.stringify({ kind: 'left out', count: 3, text: '3 left out' })}\n`;
    const { events, notes } = shown(`${event({})}${left}\n${event({ seq: 9, unit: 4 })}{"seq": 1`);
    expect(events).toMatchObject([
      { seq: 1, text: 'echo' },
      { seq: 9, unit: 4 },
    ]);
    expect(notes).toEqual(['3 events missing from the file']);
  });

  it('is that of the last run of the simulator', () => {
    const { events, notes } = shown(event({ seq: 8 }) + event({ seq: 9 }) + event({ seq: 2 }));
    expect(events.map(({ seq }) => seq)).toEqual([2]);
    expect(notes).toEqual(['2 events of an earlier run left out']);
  });

  it.each([
    ['', 'has no events'],
    ['{"verdict": "pass"}', 'line 1: seq: expected'],
    [`${event({})}hello\n`, 'line 2: expected one JSON event'],
    [event({ kind: 'party' }), 'line 1: kind: '],
    [event({ time: 'yesterday' }), 'line 1: time: expected an ISO 8601 time'],
    [event({ seq: 1e300 }), 'line 1: seq: '],
    [event({ monotonicUs: 1e300 }), 'line 1: monotonicUs: '],
    [event({ bytes: '<b>' }), 'line 1: bytes: expected bytes in hexadecimal'],
    [event({ bytes: '00'.repeat(600_000) }), 'line 1: bytes: '],
    [`${'['.repeat(100_000)}\n`, 'line 1: '],
    ['\u0000\u0001', 'line 1: expected one JSON event'],
    [
      Buffer.from('ff00ff00', 'hex'),
      'expected a report in HTML, a capture (pcapng, pcap) or traffic as NDJSON',
    ],
  ])('%# is refused with its place', (file, message) => {
    expect(refused(file)).toContain(message);
  });
});
