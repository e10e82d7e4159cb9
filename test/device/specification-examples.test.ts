import { describe, expect, it } from 'vitest';
import type { Device } from '../../src/device/device.js';
import { Diagnostics } from '../../src/device/diagnostics.js';
import { type FileDefinition, Files } from '../../src/device/files.js';
import { identityObjects } from '../../src/device/identification.js';
import { concatBytes, packWords, wordsAt } from '../../src/modbus/protocol/bytes.js';
import {
  type ExampleContent,
  SPECIFICATION_EXAMPLES,
  type SpecificationExample,
} from '../modbus/protocol/application-protocol.js';
import { EXCEPTIONS } from '../modbus/protocol/exceptions.js';
import { bytesOf, hexOf } from '../modbus/protocol/hex.js';
import { ask, deviceOf, respond } from './build.js';
import { run, wordsOf } from './registers/build.js';

const isBits = ({ table }: ExampleContent): boolean => table === 'coils' || table === 'discrete';

/** Words as numbers, bits as 0 and 1. */
function cellsOf(content: ExampleContent): number[] {
  const digits = content.data.replaceAll(' ', '');
  const pattern = isBits(content) ? /./g : /.{4}/g;
  return [...digits.matchAll(pattern)].map(([cell]) => Number.parseInt(cell, isBits(content) ? 2 : 16));
}

function deviceWith({ before, identity }: SpecificationExample): Device {
  const entries = (table: string) =>
    before
      .filter((content) => content.table === table)
      .flatMap((content) => cellsOf(content).map((value, i) => ({ address: content.address + i, value })));
  const files = before.flatMap((content): [number, FileDefinition][] => {
    if (content.file === undefined) return [];
    const values = [...Array<number>(content.address).fill(0), ...cellsOf(content)];
    return [[content.file, { records: 100, writable: true, values }]];
  });
  const queues = before
    .filter(({ table }) => table === 'queue')
    .map((content) => [content.address, cellsOf(content)] as const);
  const [vendorName = '', productCode = '', majorMinorRevision = ''] = identity ?? [];
  return deviceOf(
    {
      coils: entries('coils'),
      discrete: entries('discrete'),
      input: entries('input'),
      holding: entries('holding'),
    },
    {
      exceptionStatus: [0, 1, 2, 3, 4, 5, 6, 7],
      files: new Files(new Map(files)),
      queues: new Map(queues),
      identity: identityObjects({ vendorName, productCode, majorMinorRevision }),
    },
  );
}

/** What stands where an example says that something stands. */
function found(
  device: Device,
  { table, file = 0, address }: Omit<ExampleContent, 'data'>,
  length: number,
): number[] {
  if (table === 'queue') {
    return wordsAt(respond(device, concatBytes([24], packWords([address]))), 5, length);
  }
  if (table === 'file') {
    return wordsAt(respond(device, concatBytes([20, 7, 6], packWords([file, address, length]))), 4, length);
  }
  const { image } = device.tables[table].window;
  return Array.from({ length }, (_, i) => image.wordAt(address + i));
}

function diagnosticsAfter({ history }: SpecificationExample): Diagnostics {
  const activity = { messages: 0, errors: 0, overruns: 0 };
  const diagnostics = new Diagnostics(activity);
  for (let i = 0; i < (history?.succeeded ?? 0); i++) {
    diagnostics.received(false);
    diagnostics.processed(Uint8Array.of(3, 2, 0, 0), true);
  }
  activity.messages = history?.heard ?? 1;
  return diagnostics;
}

describe('the examples of the Application Protocol specification', () => {
  it.each(SPECIFICATION_EXAMPLES)('$clause: $name', (example) => {
    const device = deviceWith(example);
    const diagnostics = diagnosticsAfter(example);
    diagnostics.received(false);
    const response = respond(device, bytesOf(example.request), diagnostics);
    expect(hexOf(response)).toBe(hexOf(bytesOf(example.response)));
    for (const content of example.after) {
      const cells = cellsOf(content);
      expect(found(device, content, cells.length)).toEqual(cells);
    }
  });

  it('are there for all nineteen functions', () => {
    const functions = new Set(SPECIFICATION_EXAMPLES.map(({ request }) => bytesOf(request)[0]));
    expect([...functions].sort((a = 0, b = 0) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 17, 20, 21, 22, 23, 24, 43,
    ]);
  });
});

describe('an exception, and nothing is written', () => {
  const registers = [...run(0, 9, { value: 1 }), { address: 9, value: 1, writable: false }];
  const content = { coils: registers, discrete: registers, input: registers, holding: registers };
  const values = Array.from({ length: 10 }, (_, i) => i + 100);
  const files: [number, FileDefinition][] = [
    [1, { records: 10, writable: true, values }],
    [2, { records: 10, writable: false, values }],
  ];
  const queues = new Map([2, 31, 32].map((length, address) => [address, Array<number>(length).fill(7)]));

  it.each(EXCEPTIONS)('%s: %s', (_clause, _why, request, response) => {
    const device = deviceOf(content, { size: 12, files: new Files(new Map(files)), queues });
    expect(ask(device, request)).toBe(response.toLowerCase());
    for (const { window } of Object.values(device.tables)) {
      expect(wordsOf(window.image)).toEqual([...Array<number>(10).fill(1), 0, 0]);
    }
    for (const file of [1, 2]) {
      expect(found(device, { table: 'file', file, address: 0 }, 10)).toEqual(values);
    }
  });
});
