import { findMisbehaviour } from '../../src/document/catalogue.js';
import { catalogueIds } from '../../src/document/catalogue-files.js';
import type { Shown } from './address.js';
import { mistakesOf } from './bench.js';

/** What each kind of fault is shown with: the fault, and what it needs. */
interface Sample {
  readonly do: string;
  /** The line that the fault is for: most are shown on a serial line. */
  readonly line?: keyof typeof LINES;
  /** Which requests it acts on, where that is not each. */
  readonly when?: string;
  readonly times?: number;
}

/** A sample of each kind of fault. */
const FAULTS: Readonly<Record<string, Sample>> = {
  delay: { do: '{delay: 50ms}' },
  early: { do: '{early: true}' },
  coalesce: { do: '{coalesce: true}', line: 'lan', when: '{count: 1}', times: 2 },
  split: { do: '{split: {at: 4, gap: 20}}' },
  gap: { do: '{gap: {after: 4, characters: 10}}' },
  exception: { do: '{exception: 6}' },
  pdu: { do: '{pdu: "83 0b"}' },
  silence: { do: '{silence: true}' },
  duplicate: { do: '{duplicate: {times: 1, gap: 5}}' },
  stale: { do: '{stale: true}', when: '{after: 1}', times: 2 },
  echo: { do: '{echo: true}' },
  break: { do: '{break: 20ms}', line: 'wired' },
  close: { do: '{close: end}', line: 'lan' },
  corrupt: { do: '{corrupt: 2}' },
  crc: { do: '{crc: invert}' },
  truncate: { do: '{truncate: 5}' },
  extend: { do: '{extend: "00 00"}' },
  noise: { do: '{noise: "ff"}' },
  drop: { do: '{drop: {at: 5}}' },
  insert: { do: '{insert: {at: 5, bytes: "00"}}' },
  junk: { do: '{junk: 6}' },
  unit: { do: '{unit: 9}' },
  function: { do: '{function: 4}' },
  byteCount: { do: '{byteCount: 200}' },
  values: { do: '{values: swapped}' },
  change: { do: '{change: 25}' },
  transaction: { do: '{transaction: "+1"}', line: 'lan' },
  mbap: { do: '{mbap: {length: "+2"}}', line: 'lan' },
};

const DEVICE = `devices:
  meter:
    registers:
      holding:
        - {address: 0, value: [10, 11, 12, 13], write: true}
`;
const LINES = {
  bench: '  bench:\n    serial: {path: virtual, baudRate: 9600}\n    units: {1: meter}\n',
  wired: '  wired:\n    serial: {path: /dev/ttyUSB0, baudRate: 9600}\n    units: {1: meter}\n',
  lan: '  lan:\n    tcp: {port: 5020}\n    units: {1: meter}\n',
};
const ASKED = { unit: 1, pdu: '03 00 00 00 02', times: 1, pauseMs: 100 };

/** The kinds of faults and the entries of the catalogue that have an example. */
export const EXAMPLES = { fault: Object.keys(FAULTS), entry: catalogueIds() };

/** The example for a kind of fault or an entry of the catalogue; undefined when there is none. */
export function exampleFor(kind: keyof typeof EXAMPLES, name: string): Shown | undefined {
  if (!EXAMPLES[kind].includes(name)) return undefined;
  return kind === 'fault' ? fault(name) : entry(name);
}

function fault(kind: string): Shown {
  const { do: what, line = 'bench', when, times = 1 } = FAULTS[kind] as Sample;
  const rule = `{name: example, ${when === undefined ? '' : `when: ${when}, `}do: ${what}}`;
  return { ...ASKED, times, file: `${DEVICE}lines:\n${LINES[line]}faults:\n  - ${rule}\n` };
}

const READ_ONE = '03 00 00 00 01';
const WRITE = '06 00 00 00 63';
const HALF_A_DAY_MS = 43_200_000;

/** What is asked where the usual request does not show the mistake of an entry. */
const ASKED_FOR: Readonly<Record<string, Partial<Shown>>> = {
  'command-expires': { pdu: `${READ_ONE}\n${WRITE}\n${READ_ONE}`, times: 1 },
  'exception-without-code': { pdu: '03 00 64 00 01', times: 1 },
  'exception-zero': { times: 10 },
  'falls-back-without-traffic': { pdu: `${WRITE}\n${READ_ONE}`, times: 2, pauseMs: 16_000 },
  'few-registers': { pdu: '03 00 00 00 29', times: 1 },
  'gateway-gives-up': { times: 21 },
  'holes-all-or-nothing': { pdu: '03 00 02 00 05', times: 1 },
  'holes-shift': { pdu: '03 00 02 00 05', times: 1 },
  'holes-silent': { pdu: '03 00 02 00 05', times: 1 },
  'locks-up-after-bad-read': { pdu: `03 00 64 00 01\n${READ_ONE}`, times: 1 },
  'map-off-by-one': { pdu: '03 00 01 00 01', times: 1 },
  'needs-a-pause': { pauseMs: 10 },
  'no-modbus-at-night': { pauseMs: HALF_A_DAY_MS },
  'not-available-at-night': { pdu: READ_ONE, pauseMs: HALF_A_DAY_MS },
  'old-value-after-write': { pdu: `${WRITE}\n${READ_ONE}`, times: 1 },
  'one-bit-too-many': { pdu: '01 00 00 00 01', times: 1 },
  'only-function-16': { pdu: WRITE, times: 1 },
  'only-function-6': { pdu: '10 00 00 00 01 02 00 63', times: 1 },
  'reboots-when-polled': { pdu: '04 00 00 00 0b', times: 50 },
  'shared-memory': { pdu: '04 00 00 00 02', times: 1 },
  'short-block': { pdu: '03 00 00 00 04', times: 1 },
  sleeps: { pauseMs: 31_000 },
  'slower-than-default': { times: 10 },
  'substituted-block': { times: 40 },
  'torn-value': { times: 20 },
  'unknown-function-silent': { pdu: '2b 0e 01 00', times: 1 },
  'wide-registers': { pdu: READ_ONE, times: 1 },
  'wrong-unit': { times: 5 },
  'zero-for-a-poll': { times: 30 },
};

/** An entry is shown on a serial line if it can be there. */
function entry(id: string): Shown {
  const found = findMisbehaviour(id);
  if (!found.ok) throw new Error(found.error);
  const { line } = found.value;
  const device = line ? DEVICE : DEVICE.replace('    registers', `    like: ${id}\n    registers`);
  const files = Object.values(LINES).map((written) => {
    const whole = line ? written.replace('\n', `\n    like: ${id}\n`) : written;
    return `${device}lines:\n${whole}`;
  });
  const file = files.find((each) => mistakesOf(each).length === 0);
  if (file === undefined) throw new Error(`no line takes ${id}`);
  return { ...ASKED, times: 4, ...ASKED_FOR[id], file };
}
