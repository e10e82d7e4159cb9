import type { Order, ValueOrder, ValueType } from '../../../device/registers/cell-type.js';
import { type Value, valueOfWords } from '../../../device/registers/value.js';
import type { TableName } from '../../../device/tables.js';
import { functionOf } from '../../../modbus/protocol/function-table.js';
import { addressRanges } from '../../../modbus/protocol/pdu.js';
import { valueAtAddress } from '../../../simulator/commands/device-value.js';
import { pduOf } from '../../tested-line.js';
import type { Exchange } from '../heard/exchange.js';
import type { Check, Exam } from '../trial/exam.js';
import type { LearntText } from '../trial/values.js';
import { type Judged, sure } from '../trial/verdict.js';

/** A value of the device within the range that is read: its place, and how its words encode it. */
interface Meant {
  /** Its place in words: `holding 30`. */
  readonly text: string;
  /** The index of its first word in the range that is read. */
  readonly first: number;
  readonly cells: number;
  readonly type: ValueType;
  readonly order: ValueOrder;
}

/** A wrong way to decode the words of a value. */
interface Misreading {
  readonly says: string;
  readonly as: (meant: Meant) => Meant;
}

const flip = (order: Order): Order => (order === 'big' ? 'little' : 'big');
const words = ({ order, ...meant }: Meant): Meant => ({
  ...meant,
  order: { ...order, wordOrder: flip(order.wordOrder) },
});
const bytes = ({ order, ...meant }: Meant): Meant => ({
  ...meant,
  order: { ...order, byteOrder: flip(order.byteOrder) },
});

const OTHER_SIGN: Readonly<Partial<Record<ValueType, ValueType>>> = {
  uint16: 'int16',
  int16: 'uint16',
  uint32: 'int32',
  int32: 'uint32',
  uint64: 'int64',
  int64: 'uint64',
};

const MISREADINGS: readonly Misreading[] = [
  { says: 'its words are swapped', as: words },
  { says: 'the bytes of its words are swapped', as: bytes },
  { says: 'its words and their bytes are swapped', as: (meant) => bytes(words(meant)) },
  {
    says: 'its sign is misread',
    as: ({ type, ...meant }) => ({ ...meant, type: OTHER_SIGN[type] ?? type }),
  },
];

/** The powers of ten between the value and the unit in which a client may show it. */
const SCALES = [0, -1, 1, -2, 2, -3, 3].map((power) => 10 ** power);
/** A client may round the value that it shows: to this fraction of it, or to this absolute amount. */
const ROUNDED = 1e-4;
const ROUNDED_BY = 0.5001;

/** The values of the device that the target reads completely. */
function meantBy({ target, client }: Exam): Meant[] {
  const [range] = addressRanges(target.pdu);
  const table = functionOf(target.functionCode)?.table as TableName | undefined;
  const device = client.order.line.bus.deviceAt(target.unitId);
  if (!range || !table || !device) return [];
  const found: Meant[] = [];
  for (let address = range.address; address < range.address + range.quantity; ) {
    const value = valueAtAddress(device, table, address);
    const { cells = 1, type = 'bit' } = value?.location ?? {};
    const isWhole = value?.address === address && address + cells <= range.address + range.quantity;
    if (value && isWhole && type !== 'string' && type !== 'bit') {
      const { image, location } = value;
      const text = `${table} ${address}`;
      found.push({
        text,
        first: address - range.address,
        cells,
        type,
        order: image.orderAt(location.address),
      });
    }
    address = (value?.address ?? address) + cells;
  }
  return found;
}

function sentValue({ words }: LearntText, { first, cells, type, order }: Meant): Value {
  return valueOfWords(type, words, order, first, cells);
}

/** The polls of the target whose replies carried the words of a text. */
function sent({ log, target }: Exam, text: LearntText | undefined): Exchange[] {
  const asked = text?.words.flatMap((each) => [each >> 8, each & 0xff]).join();
  return log
    .newest()
    .filter(({ poll, reply }) => poll === target.key && reply && pduOf(reply)?.subarray(2).join() === asked);
}

/** Formats a number with at most six digits: `3.9e-40`. */
function shortText(value: Value): string {
  return String(Number(Number(value).toPrecision(6)));
}

/** The numbers in an observer's text: `[1]: 230.1` has two. */
const NUMBER = /(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?/gi;

/** Splits the observer's texts into numbers: for each position, one text per reply. */
function numbersOf(learnt: readonly LearntText[]): readonly (readonly LearntText[])[] {
  const each = learnt.map(({ shown }) => shown.match(NUMBER) ?? []);
  return (each[0] ?? []).map((_, at) =>
    learnt.map(({ words }, i) => ({ words, shown: each[i]?.[at] ?? '' })),
  );
}

/** True if every text is this value of its reply, always in the same unit. */
function isShown(learnt: readonly LearntText[], meant: Meant): boolean {
  return SCALES.some((scale) =>
    learnt.every((each) => {
      const [shown, sent] = [Number(each.shown), Number(sentValue(each, meant)) * scale];
      const decimals = /\.(\d+)$/.exec(each.shown)?.[1]?.length ?? 0;
      const isRounded = sent !== 0 && shown !== 0 && Math.abs(shown - sent) <= ROUNDED_BY * 10 ** -decimals;
      return Math.abs(shown - sent) <= ROUNDED * Math.abs(sent) || (isRounded && Math.abs(sent) >= 1);
    }),
  );
}

/** The check that the client shows the value that was sent. */
export const shownValue: Check = {
  id: 'shown-value',
  group: 'watching',
  title: 'Shows the value that was sent',
  what: 'a value that it shows',
  does: 'Sends four good values and compares what the observer shows with them, read in each word and byte order, signed and unsigned.',
  matters: 'Swapped words turn 230.1 into 3.9e-40, or into a plausible number that no other check catches.',
  fix: 'Set the word order, byte order and type given in the manual of the device.',
  expected: 'the true value, or that value times a power of ten',
  rule: 'Passes when the observer shows the true value, or that value times a power of ten; fails when it shows the value in another byte or word order, or with a wrong sign; inconclusive otherwise, and when the observer does not follow. Runs only with an observer.',
  source: 'Common practice: the specification has no values of more than 16 bits',
  needsObserver: true,
  async run(exam) {
    const { values } = exam.client;
    if (!values) return sure('unclear', 'no observer shows its values');
    const unusable = await values.ready(exam);
    return unusable === undefined ? judged(exam, values.learnt) : sure('unclear', unusable);
  },
};

function judged(exam: Exam, learnt: readonly LearntText[]): Judged {
  const [first] = learnt;
  const meant = meantBy(exam);
  const evidence = sent(exam, first).slice(-1);
  if (!first || meant.length === 0)
    return sure('unclear', 'the registers that the client reads have no type in the configuration', evidence);
  const quoted = JSON.stringify(first.shown);
  const numbers = numbersOf(learnt);
  if (numbers.length === 0)
    return sure('unclear', `the observer shows ${quoted}, which contains no number`, evidence);
  const right = meant.find((each) => numbers.some((those) => isShown(those, each)));
  if (right) return sure('right', `the observer shows ${quoted}, which is right for ${right.text}`, evidence);
  for (const { says, as } of MISREADINGS) {
    const isWrong = (each: Meant) => numbers.find((those) => isShown(those, as(each)));
    const wrong = meant.find(isWrong);
    if (!wrong) continue;
    const shown = isWrong(wrong)?.[0]?.shown ?? first.shown;
    const sent = shortText(sentValue(first, wrong));
    const text = `the observer shows ${quoted} for ${sent} of ${wrong.text}: ${says}`;
    return sure('wrong', text, evidence, `shows ${shortText(shown)} for ${sent}: ${says}`);
  }
  return sure(
    'unclear',
    `the observer shows ${quoted}, which matches no value that was sent, in any word or byte order`,
    evidence,
  );
}
