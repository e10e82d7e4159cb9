const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes text for XML and HTML, between tags and in attributes. Characters that XML 1.0 (2.2) forbids become
 * readable text such as `\x1b`: control characters, halves of surrogate pairs, and two code points.
 */
export function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\P{Cc}]|\p{Cs}|[\ufffe\uffff]/gu, (character) => {
      const code = character.charCodeAt(0).toString(16);
      return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code}`;
    })
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
