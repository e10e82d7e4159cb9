/**
 * Encodes a name as one level of a topic: `/`, `+`, `#`, `%` and control characters are percent-encoded (MQTT
 * 5, 4.7.1).
 */
export function level(name: string): string {
  return name.replace(/[%/+#\p{Cc}]/gu, (character) => encodeURIComponent(character));
}

/** Decodes a level of a topic to a name; undefined if it is not the encoding of a name. */
export function nameIn(level: string): string | undefined {
  try {
    return decodeURIComponent(level);
  } catch {
    return undefined;
  }
}
