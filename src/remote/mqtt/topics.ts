/** A name as one level of a topic: `/`, `+`, `#`, `%` and control characters are percent-encoded (MQTT 5, 4.7.1). */
export function level(name: string): string {
  return name.replace(/[%/+#\p{Cc}]/gu, (character) => encodeURIComponent(character));
}

/** The name that a level of a topic stands for; undefined where it is none. */
export function nameIn(level: string): string | undefined {
  try {
    return decodeURIComponent(level);
  } catch {
    return undefined;
  }
}
