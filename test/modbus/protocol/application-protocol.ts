/**
 * The worked examples of the specifications themselves, byte by byte:
 * MODBUS Application Protocol Specification V1.1b3, and MODBUS over Serial Line V1.02.
 */

import { asciiHex } from './hex.js';

/**
 * What the example's device holds: words as hex, bits as a text of 0 and 1 from the address upwards. In a file the
 * address is that of a record, for a queue that of its pointer.
 */
export interface ExampleContent {
  readonly table: 'coils' | 'discrete' | 'input' | 'holding' | 'file' | 'queue';
  /** Number of the file. */
  readonly file?: number;
  readonly address: number;
  readonly data: string;
}

export interface SpecificationExample {
  readonly clause: string;
  readonly name: string;
  readonly before: readonly ExampleContent[];
  /** Objects of the device identification, from 0 on. */
  readonly identity?: readonly string[];
  /** Communication since the last restart: requests that succeeded, and messages on the line, this one included. */
  readonly history?: { readonly succeeded: number; readonly heard: number };
  readonly request: string;
  readonly response: string;
  /** What the specification prints instead, and why a simulator says something else. */
  readonly printed?: { readonly response: string; readonly because: string };
  /** Content of the registers that the example changes. */
  readonly after: readonly ExampleContent[];
}

export const SPECIFICATION_EXAMPLES: readonly SpecificationExample[] = [
  {
    clause: '6.1',
    name: 'read discrete outputs 20 to 38',
    // 27 to 20 are 1100 1101, 35 to 28 are 0110 1011, 38 to 36 are 101; written here from 20 upwards
    before: [{ table: 'coils', address: 0x13, data: '10110011 11010110 101' }],
    request: '01 0013 0013',
    response: '01 03 CD6B05',
    after: [],
  },
  {
    clause: '6.2',
    name: 'read discrete inputs 197 to 218',
    before: [{ table: 'discrete', address: 0xc4, data: '00110101 11011011 101011' }],
    request: '02 00C4 0016',
    response: '02 03 ACDB35',
    after: [],
  },
  {
    clause: '6.3',
    name: 'read registers 108 to 110',
    before: [{ table: 'holding', address: 0x6b, data: '022B 0000 0064' }],
    request: '03 006B 0003',
    response: '03 06 022B 0000 0064',
    after: [],
  },
  {
    clause: '6.4',
    name: 'read input register 9',
    before: [{ table: 'input', address: 8, data: '000A' }],
    request: '04 0008 0001',
    response: '04 02 000A',
    after: [],
  },
  {
    clause: '6.5',
    name: 'write coil 173 on',
    before: [{ table: 'coils', address: 0xac, data: '0' }],
    request: '05 00AC FF00',
    response: '05 00AC FF00',
    after: [{ table: 'coils', address: 0xac, data: '1' }],
  },
  {
    clause: '6.6',
    name: 'write register 2 to 00 03',
    before: [{ table: 'holding', address: 1, data: '0000' }],
    request: '06 0001 0003',
    response: '06 0001 0003',
    after: [{ table: 'holding', address: 1, data: '0003' }],
  },
  {
    clause: '6.7',
    name: 'read the exception status',
    // the outputs are 0110 1101 from the highest address to the lowest; written here from the lowest upwards
    before: [{ table: 'coils', address: 0, data: '10110110' }],
    request: '07',
    response: '07 6D',
    after: [],
  },
  {
    clause: '6.8',
    name: 'return query data',
    before: [],
    request: '08 0000 A537',
    response: '08 0000 A537',
    after: [],
  },
  {
    clause: '6.9',
    name: 'get the comm event counter',
    before: [],
    history: { succeeded: 264, heard: 289 },
    request: '0B',
    response: '0B 0000 0108',
    printed: {
      response: '0B FFFF 0108',
      because: 'status FFFF says that a program command is being processed, and there are none',
    },
    after: [],
  },
  {
    clause: '6.10',
    name: 'get the comm event log',
    before: [],
    history: { succeeded: 264, heard: 289 },
    request: '0C',
    response: `0C 46 0000 0108 0121 80${'4080'.repeat(31)}40`,
    printed: {
      response: '0C 08 0000 0108 0121 20 00',
      because:
        '264 requests leave 64 events; and 20 is none of the four types of event that the clause defines',
    },
    after: [],
  },
  {
    clause: '6.11',
    name: 'write a series of 10 coils starting at coil 20',
    before: [{ table: 'coils', address: 0x13, data: '0000000000' }],
    request: '0F 0013 000A 02 CD01',
    response: '0F 0013 000A',
    after: [{ table: 'coils', address: 0x13, data: '10110011 10' }],
  },
  {
    clause: '6.12',
    name: 'write two registers starting at 2',
    before: [{ table: 'holding', address: 1, data: '0000 0000' }],
    request: '10 0001 0002 04 000A 0102',
    response: '10 0001 0002',
    after: [{ table: 'holding', address: 1, data: '000A 0102' }],
  },
  {
    clause: '6.13',
    name: 'report the server identifier, which the specification leaves to the device',
    before: [],
    identity: ['Example Co', 'EX-1', '1.2'],
    request: '11',
    response: `11 11 00 FF ${asciiHex('Example Co EX-1')}`,
    after: [],
  },
  {
    clause: '6.14',
    name: 'read two groups of file records',
    before: [
      { table: 'file', file: 4, address: 1, data: '0DFE 0020' },
      { table: 'file', file: 3, address: 9, data: '33CD 0040' },
    ],
    request: '14 0E 06 0004 0001 0002 06 0003 0009 0002',
    response: '14 0C 05 06 0DFE 0020 05 06 33CD 0040',
    after: [],
  },
  {
    clause: '6.15',
    name: 'write one group of file records',
    before: [{ table: 'file', file: 4, address: 6, data: '1111 0000 0000 0000 2222' }],
    request: '15 0D 06 0004 0007 0003 06AF 04BE 100D',
    response: '15 0D 06 0004 0007 0003 06AF 04BE 100D',
    after: [{ table: 'file', file: 4, address: 6, data: '1111 06AF 04BE 100D 2222' }],
  },
  {
    clause: '6.16',
    name: 'mask write to register 5',
    before: [{ table: 'holding', address: 4, data: '0012' }],
    request: '16 0004 00F2 0025',
    response: '16 0004 00F2 0025',
    after: [{ table: 'holding', address: 4, data: '0017' }],
  },
  {
    clause: '6.17',
    name: 'read six registers starting at register 4, write three starting at register 15',
    before: [
      { table: 'holding', address: 3, data: '00FE 0ACD 0001 0003 000D 00FF' },
      { table: 'holding', address: 0x0e, data: '0000 0000 0000' },
    ],
    request: '17 0003 0006 000E 0003 06 00FF 00FF 00FF',
    response: '17 0C 00FE 0ACD 0001 0003 000D 00FF',
    after: [{ table: 'holding', address: 0x0e, data: '00FF 00FF 00FF' }],
  },
  {
    clause: '6.18',
    name: 'read the FIFO queue at 1246',
    before: [{ table: 'queue', address: 0x04de, data: '01B8 1284' }],
    request: '18 04DE',
    response: '18 0006 0002 01B8 1284',
    // "The function reads the queue contents, but does not clear them."
    after: [{ table: 'queue', address: 0x04de, data: '01B8 1284' }],
  },
  {
    clause: '6.21',
    name: 'read the basic device identification',
    before: [],
    identity: ['Company identification', 'Product code XX', 'V2.11'],
    request: '2B 0E 01 00',
    response: `2B 0E 01 81 00 00 03
      00 16 ${asciiHex('Company identification')}
      01 0F ${asciiHex('Product code XX')}
      02 05 ${asciiHex('V2.11')}`,
    printed: {
      response: `2B 0E 01 01 00 00 03
        00 16 ${asciiHex('Company identification')}
        01 0F ${asciiHex('Product code XX')}
        02 05 ${asciiHex('V2.11')}`,
      because: 'conformity level 01 is that of a device without individual access, which this one has: 81',
    },
    after: [],
  },
  {
    clause: '7',
    name: 'read output 1185, which the server does not have',
    before: [{ table: 'coils', address: 0, data: '1' }],
    request: '01 04A1 0001',
    response: '81 02',
    after: [],
  },
];

/** MODBUS over Serial Line V1.02, 6.2.2: the CRC calculation for the frame 02 07. */
export const CRC_EXAMPLE = { message: '02 07', crc: 0x1241, sent: '41 12' } as const;
