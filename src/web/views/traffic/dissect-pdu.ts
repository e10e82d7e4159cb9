import { ExceptionCode } from '../../../protocol/exception-code.js';
import { EXCEPTION_FLAG, FunctionCode } from '../../../protocol/function-code.js';
import { SubFunction } from '../../../protocol/sub-function.js';
import { type Described, Fields, only } from './dissect-fields.js';

/** What a PDU alone does not say. */
export interface About {
  readonly isResponse: boolean;
  /** Which registers or coils a response brings: those of its request. */
  readonly address?: number | undefined;
  readonly quantity?: number | undefined;
}

type Names = (fields: Fields, about: About) => void;

/** `readHoldingRegisters` as words. */
const inWords = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Describes a code by its name. @param what is wrong with a code without one */
function named(codes: Readonly<Record<string, number>>, what: string) {
  const names = new Map(Object.entries(codes).map(([name, code]) => [code, inWords(name)]));
  return (code: number): Described => {
    const name = names.get(code);
    return name === undefined ? { value: String(code), wrong: what } : { value: `${code} ${name}` };
  };
}

const functionCode = named(FunctionCode, 'not a function of the specification');
const exceptionCode = named(ExceptionCode, 'not an exception of the specification');
const subFunction = named(SubFunction, 'not a sub-function of the specification');
const REFERENCE_TYPE = only(6, 'expected 6');
const mask = (value: number): Described => ({ value: `0x${value.toString(16).padStart(4, '0')}` });
const coil = (value: number): Described => {
  if (value === 0xff00) return { value: 'on' };
  return {
    value: value === 0 ? 'off' : String(value),
    wrong: value === 0 ? undefined : 'expected ff00 or 0000',
  };
};

const registerFrom = (address: number | undefined) => (i: number) =>
  address === undefined ? `value ${i + 1}` : `register ${address + i}`;

/** Words, or bytes, with these names. */
const words =
  (...names: readonly string[]): Names =>
  (f) => {
    for (const name of names) f.word(name);
  };
const bytes =
  (...names: readonly string[]): Names =>
  (f) => {
    for (const name of names) f.byte(name);
  };
const range = words('starting address', 'quantity');
const writeCoil: Names = (f) => {
  f.word('output address');
  f.word('output value', coil);
};
const writeRegister = words('register address', 'register value');
const diagnostics: Names = (f) => {
  f.word('sub-function', subFunction);
  f.words(f.left / 2, (i) => (i === 0 ? 'data' : `data ${i + 1}`));
};
const maskWrite: Names = (f) => {
  f.word('reference address');
  f.word('and mask', mask);
  f.word('or mask', mask);
};
const records: Names = (f, about) => {
  f.count();
  while (f.left > 0) {
    f.byte('reference type', REFERENCE_TYPE);
    words('file number', 'record number', 'record length')(f, about);
  }
};
const writtenRecords: Names = (f) => {
  f.count();
  while (f.left > 0) {
    f.byte('reference type', REFERENCE_TYPE);
    const file = f.word('file number');
    const record = f.word('record number');
    f.words(f.word('record length'), (i) => `file ${file} record ${record + i}`);
  }
};
const counted: Names = (f, { address }) => {
  f.count();
  f.words(f.left / 2, registerFrom(address));
};
const countedBits: Names = (f, { address, quantity }) => {
  f.count();
  f.bits(address, quantity);
};
/** What comes after the MEI type. Only 14, Read Device Identification, has fields of its own. */
const encapsulated =
  (identification: Names): Names =>
  (f, about) => {
    if (f.byte('MEI type') === 14) identification(f, about);
    else f.bytes('data');
  };

/** What follows the function code in requests (Application Protocol V1.1b3, 6). */
const REQUESTS: Readonly<Record<number, Names>> = {
  1: range,
  2: range,
  3: range,
  4: range,
  5: writeCoil,
  6: writeRegister,
  7: words(),
  8: diagnostics,
  11: words(),
  12: words(),
  15: (f, about) => {
    const address = f.word('starting address');
    countedBits(f, { ...about, address, quantity: f.word('quantity') });
  },
  16: (f, about) => {
    const address = f.word('starting address');
    f.word('quantity');
    counted(f, { ...about, address });
  },
  17: words(),
  20: records,
  21: writtenRecords,
  22: maskWrite,
  23: (f, about) => {
    words('read starting address', 'quantity to read')(f, about);
    const address = f.word('write starting address');
    f.word('quantity to write');
    counted(f, { ...about, address });
  },
  24: words('FIFO pointer address'),
  43: encapsulated(bytes('read device ID code', 'object ID')),
};

/** What follows the function code in responses. */
const RESPONSES: Readonly<Record<number, Names>> = {
  1: countedBits,
  2: countedBits,
  3: counted,
  4: counted,
  5: writeCoil,
  6: writeRegister,
  7: (f) => f.bits(undefined),
  8: diagnostics,
  11: words('status', 'event count'),
  12: (f, about) => {
    f.count();
    words('status', 'event count', 'message count')(f, about);
    f.bytes('events');
  },
  15: range,
  16: range,
  17: (f) => {
    f.count();
    f.bytes('server ID and status');
  },
  20: (f) => {
    f.count('response data length');
    while (f.left > 0) {
      const length = f.byte('file response length');
      f.byte('reference type', REFERENCE_TYPE);
      f.words((length - 1) / 2, registerFrom(undefined));
    }
  },
  21: writtenRecords,
  22: maskWrite,
  23: counted,
  24: (f) => {
    f.word('byte count', (value) => ({
      value: String(value),
      wrong: value === f.left - 2 ? undefined : `${f.left - 2} bytes follow`,
    }));
    f.word('FIFO count');
    f.words(f.left / 2, registerFrom(undefined));
  },
  43: encapsulated((f, about) => {
    const header = ['read device ID code', 'conformity level', 'more follows', 'next object ID'];
    bytes(...header, 'number of objects')(f, about);
    while (f.left > 0) {
      const id = f.byte('object ID');
      f.bytes(`object ${id}`, f.byte('object length'), true);
    }
  }),
};

/** Names the fields of the PDU in `bytes[at..end)`. */
export function dissectPdu(bytes: Uint8Array, at: number, end: number, about: About): Fields['list'] {
  const fields = new Fields(bytes, at, end);
  const code = fields.byte('function', (value) => {
    const { value: name, wrong } = functionCode(value & ~EXCEPTION_FLAG);
    return { value: value & EXCEPTION_FLAG ? `exception on ${name}` : name, wrong };
  });
  if (code & EXCEPTION_FLAG) fields.byte('exception code', exceptionCode);
  else {
    const names = (about.isResponse ? RESPONSES : REQUESTS)[code];
    if (names) names(fields, about);
    else fields.bytes('data');
  }
  fields.end();
  return fields.list;
}
