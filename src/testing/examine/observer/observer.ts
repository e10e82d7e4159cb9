/** What an observer showed, or why it showed nothing, as a sentence. */
export type ObserverText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: string };

/**
 * Shows which value the client has read, because the line alone does not show what the client does with a
 * reply.
 */
export interface Observer {
  /** Names the observer, as part of a sentence: `register meter.setpoint`. */
  readonly name: string;
  /** The device whose register shows the value; undefined where no register does. */
  readonly device?: string;
  /** The time between two readings, in ms. */
  readonly paceMs: number;
  /** Resolves with what the client has read last. Never rejects, and takes at most two seconds. */
  read(): Promise<ObserverText>;
}

/** How long an observer may take to answer, in ms. */
export const READ_LIMIT_MS = 2_000;
/** The longest text that shows a value, in bytes. */
export const LONGEST_ANSWER = 256 * 1024;

/** Takes the blanks around an answer away; an empty answer shows nothing. */
export function shownText(text: string): ObserverText {
  const trimmed = text.trim();
  return trimmed === '' ? { ok: false, error: 'showed nothing' } : { ok: true, text: trimmed };
}
