import { listText } from '../../../common/words.js';

/**
 * What can be wrong with the bytes around a reply, or in its header, in any exchange: as the title of a
 * finding, and as a sentence about one reply.
 */
export const ODDITIES = {
  'bytes-before': ['Sends bytes before its replies', 'there are bytes before the reply'],
  'bytes-after': ['Sends bytes after its replies', 'there are bytes after the reply'],
  echo: ['Sends each request back before its reply', 'the request comes back before the reply'],
  'frame-before': ['Sends another frame before its replies', 'there is a whole frame before the reply'],
  'frame-behind': ['Sends another frame after its replies', 'there is a second frame after the reply'],
  transaction: [
    'Replies with a wrong transaction identifier',
    'the transaction identifier does not match the request',
  ],
  'earlier-transaction': [
    'Replies with the transaction identifier of an earlier request',
    'the transaction identifier belongs to an earlier request',
  ],
  protocol: ['Replies with a protocol identifier other than 0', 'the protocol identifier is not 0'],
  length: ['Replies with a wrong length in the header', 'the length in the header does not match the frame'],
  unit: ['Replies with a wrong unit identifier', 'the unit identifier does not match the request'],
  'byte-count': ['Replies with a wrong byte count', 'the byte count does not match the bytes that follow'],
  'reply-cut': ['Sends replies with missing fields', 'the reply ends before its last field'],
  'reply-long': [
    'Sends replies with bytes after their last field',
    'the reply has bytes after its last field',
  ],
  'no-values': ['Replies without values', 'the reply has no values'],
  'fewer-values': ['Replies with fewer values than requested', 'the reply has fewer values than requested'],
  'more-values': ['Replies with more values than requested', 'the reply has more values than requested'],
  crc: ['Replies with a wrong check value', 'the check value is wrong'],
  'no-exception-flag': [
    'Sends exceptions without the exception bit',
    'the reply is a function code and one more byte, like an exception without the exception bit',
  ],
  'exception-long': ['Sends bytes after an exception code', 'bytes follow the exception code'],
  'other-function': [
    'Replies with a wrong function code',
    'the function code of the reply does not match the request',
  ],
  'no-exception-code': ['Sends exceptions without a code', 'the exception has no code'],
  'exception-code': [
    'Sends exceptions with an undefined code',
    'the specification does not define the exception code',
  ],
  cut: ['Sends truncated replies', 'the reply is truncated'],
  rubbish: ['Sends bytes that are not a reply', 'the bytes received are not a reply'],
} as const;

export type Oddity = keyof typeof ODDITIES;

/** How many replies were odd in one way; for a wrong length, also the functions and fields where it shows. */
export interface OddFacts {
  readonly times: number;
  readonly replies?: readonly { readonly function: number; readonly field: string }[];
}

/** What is odd about one reply, as part of a sentence. */
export const oddityText = (oddity: Oddity): string => ODDITIES[oddity][1];

/** What is missing or surplus in the replies to one function. */
const SHAPES: { readonly [code in Oddity]?: (field: string) => string } = {
  'reply-cut': (field) => `ends before its ${field}`,
  'reply-long': (field) => `has bytes after its ${field}`,
  'byte-count': () => 'has a byte count that does not match the bytes that follow',
};
const functionsText = (codes: readonly number[]) =>
  `${codes.length === 1 ? 'function' : 'functions'} ${listText(codes.map(String))}`;

/** What is odd about replies, as part of a sentence: `the reply to function 6 ends before its register value`. */
export function oddFactsText(oddity: Oddity, { replies = [] }: OddFacts): string {
  const shape = SHAPES[oddity];
  if (!shape || replies.length === 0) return oddityText(oddity);
  const byText = new Map<string, number[]>();
  for (const { function: code, field } of replies)
    byText.set(shape(field), [...(byText.get(shape(field)) ?? []), code]);
  return listText([...byText].map(([text, codes]) => `the reply to ${functionsText(codes)} ${text}`));
}
