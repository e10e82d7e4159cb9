import { listText } from '../../../common/words.js';

/**
 * What is wrong with the bytes around a reply, or in its header, found in any exchange: as a title of a
 * finding, and as a sentence about one reply.
 */
export const ODDITIES = {
  'bytes-before': ['Sends bytes before its replies', 'bytes stand before the reply'],
  'bytes-after': ['Sends bytes behind its replies', 'bytes stand behind the reply'],
  echo: ['Sends each request back before its reply', 'the request stands before the reply'],
  'frame-before': ['Sends another frame before its replies', 'a whole frame stands before the reply'],
  'frame-behind': ['Sends another frame behind its replies', 'a second frame stands behind the reply'],
  transaction: [
    'Replies with another transaction identifier',
    'the transaction identifier is not that of the request',
  ],
  'earlier-transaction': [
    'Replies with the transaction identifier of an earlier request',
    'the transaction identifier is that of an earlier request',
  ],
  protocol: ['Replies with another protocol identifier than 0', 'the protocol identifier is not 0'],
  length: ['Replies with a wrong length in the header', 'the length in the header is not that of the frame'],
  unit: ['Replies with another unit identifier', 'the unit identifier is not that of the request'],
  'byte-count': ['Replies with a wrong byte count', 'the byte count is not the number of bytes that follow'],
  'reply-cut': ['Sends replies without all their fields', 'the reply ends before its last field'],
  'reply-long': [
    'Sends replies that go on behind their last field',
    'the reply goes on behind its last field',
  ],
  'no-values': ['Replies without values', 'the reply has no values'],
  'fewer-values': [
    'Replies with fewer values than were asked for',
    'the reply has fewer values than were asked for',
  ],
  'more-values': [
    'Replies with more values than were asked for',
    'the reply has more values than were asked for',
  ],
  crc: ['Replies with a wrong check value', 'the check value is wrong'],
  'no-exception-flag': [
    'Sends exceptions without their flag',
    'the reply is its function code and one byte more, as an exception without its flag',
  ],
  'exception-long': ['Sends bytes behind the code of an exception', 'bytes follow the code of the exception'],
  'other-function': [
    'Replies with another function code',
    'the function code of the reply is not that of the request',
  ],
  'no-exception-code': ['Sends exceptions without a code', 'the exception has no code'],
  'exception-code': [
    'Sends exceptions with a code that does not exist',
    'the exception has a code that the specification does not have',
  ],
  cut: ['Sends replies without their end', 'the reply ends before its end'],
  rubbish: ['Sends bytes that are no reply', 'bytes come that are no reply'],
} as const;

export type Oddity = keyof typeof ODDITIES;

/** How often replies were odd in one way; for a wrong length, the functions and the fields where it shows. */
export interface OddFacts {
  readonly times: number;
  readonly replies?: readonly { readonly function: number; readonly field: string }[];
}

/** What is odd about one reply, as a part of a sentence. */
export const oddityText = (oddity: Oddity): string => ODDITIES[oddity][1];

/** What the replies to one function lack, or have too much. */
const SHAPES: { readonly [code in Oddity]?: (field: string) => string } = {
  'reply-cut': (field) => `ends before its ${field}`,
  'reply-long': (field) => `goes on behind its ${field}`,
  'byte-count': () => 'has a byte count that is not the number of bytes that follow',
};
const functionsText = (codes: readonly number[]) =>
  `${codes.length === 1 ? 'function' : 'functions'} ${listText(codes.map(String))}`;

/** What is odd about replies, as a part of a sentence: `the reply to function 6 ends before its register value`. */
export function oddFactsText(oddity: Oddity, { replies = [] }: OddFacts): string {
  const shape = SHAPES[oddity];
  if (!shape || replies.length === 0) return oddityText(oddity);
  const byText = new Map<string, number[]>();
  for (const { function: code, field } of replies)
    byText.set(shape(field), [...(byText.get(shape(field)) ?? []), code]);
  return listText([...byText].map(([text, codes]) => `the reply to ${functionsText(codes)} ${text}`));
}
