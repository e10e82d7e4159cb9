import { printableLine } from '../../common/rest-client/printable.js';

const CODES = { red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36, dim: 2 } as const;

export type Style = keyof typeof CODES;

/** Makes text from any source safe for a terminal, and gives it a style if there is one. */
export type Paint = (style: Style | undefined, text: string) => string;

export const plain: Paint = (_, text) => printableLine(text);

/** Paints text in the colours of a terminal (ECMA-48, 8.3.117). */
export const coloured: Paint = (style, text) => {
  const shown = plain(style, text);
  return style === undefined || shown === '' ? shown : `\x1b[${CODES[style]}m${shown}\x1b[0m`;
};
