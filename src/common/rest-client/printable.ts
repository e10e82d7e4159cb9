/**
 * Control characters, and characters that have no width or change the text direction. In a name from another
 * simulator they would make a terminal show something other than the name (Unicode Technical Report 36, 2.10;
 * UAX 9, 2).
 */
const UNPRINTABLE = /(?![\n\t])\p{Cc}|[\u200b-\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Makes text safe for a terminal: invisible characters become `?`. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '?');
}

/**
 * Makes text safe for one line of a terminal, without line breaks and tabs. Names and texts may contain what
 * a client has sent.
 */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, '?');
}
