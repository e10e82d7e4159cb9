/**
 * The worked examples of the specifications themselves, byte by byte:
 * MODBUS Application Protocol Specification V1.1b3, and MODBUS over Serial Line V1.02.
 */

/** What the example's device holds: words as hex, bits as a text of 0 and 1 from the address upwards. */
export interface ExampleContent {
  readonly table: 'coils' | 'discrete' | 'input' | 'holding';
  readonly address: number;
  readonly data: string;
}

export interface SpecificationExample {
  readonly clause: string;
  readonly name: string;
  readonly before: readonly ExampleContent[];
  readonly request: string;
  readonly response: string;
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
