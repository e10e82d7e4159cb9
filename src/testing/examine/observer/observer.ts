/** What an observer showed, or why it showed nothing, as a sentence. */
export type ObserverText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: string };

/** Shows which value the client has read: what the client does with a reply can't be seen on the line alone. */
export interface Observer {
  /** As part of a sentence: `register meter.setpoint`. */
  readonly name: string;
  /** Between two readings, in ms. */
  readonly paceMs: number;
  /** What the client has read last. It never rejects, and takes no longer than two seconds. */
  read(): Promise<ObserverText>;
}

/** How long an observer may take to answer, in ms. */
export const READ_LIMIT_MS = 2_000;
/** Longer texts show no value, in bytes. */
export const LONGEST_ANSWER = 256 * 1024;

/** An answer as a text without blanks around it; an empty one shows nothing. */
export function shownText(text: string): ObserverText {
  const trimmed = text.trim();
  return trimmed === '' ? { ok: false, error: 'showed nothing' } : { ok: true, text: trimmed };
}
