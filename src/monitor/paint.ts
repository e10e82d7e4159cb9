const CODES = { red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36, dim: 2 } as const;

export type Style = keyof typeof CODES;

/** Gives a text a style, or leaves it as it is. */
export type Paint = (style: Style | undefined, text: string) => string;

export const plain: Paint = (_, text) => text;

/** For terminals (ECMA-48, 8.3.117). */
export const coloured: Paint = (style, text) =>
  style === undefined || text === '' ? text : `\x1b[${CODES[style]}m${text}\x1b[0m`;
