/**
 * Control characters, and characters that have no width or turn the direction of the text: in a name from another simulator they
 * would make a terminal show something else than what is there (Unicode Technical Report 36, 2.10; UAX 9, 2).
 */
const UNPRINTABLE = /(?![\n\t])\p{Cc}|[\u200b-\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text as a terminal may show it: of several lines, and with `?` for what is not to be seen. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '?');
}

/** The same in one line: names and texts may hold what a client has sent. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, '?');
}
