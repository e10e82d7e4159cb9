import { printableLine } from '../../common/rest-client/printable.js';

const CODES = { red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36, dim: 2 } as const;

export type Style = keyof typeof CODES;

/** Makes a text that any program may have sent one for a terminal, with a style or without. */
export type Paint = (style: Style | undefined, text: string) => string;

export const plain: Paint = (_, text) => printableLine(text);

/** For terminals (ECMA-48, 8.3.117). */
export const coloured: Paint = (style, text) => {
  const shown = plain(style, text);
  return style === undefined || shown === '' ? shown : `\x1b[${CODES[style]}m${shown}\x1b[0m`;
};
