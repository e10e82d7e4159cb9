import { MARK_FILE } from './state-names.js';

/** How many consecutive starts may be killed before the state is set aside. */
const MOST_ENDED = 3;
/** Maximum length of a reason in a message, in characters. */
const MOST_REASON = 200;

/** What the mark says about earlier starts. */
export interface EarlierStarts {
  /** Number of consecutive starts that ended before the program was ready. */
  readonly ended: number;
  /** Why the program ended itself in its last start, such as lack of memory; undefined if it did not. */
  readonly reason: string | undefined;
}

/**
 * Returns a message saying why the state must not be used. A program is usually killed for reasons unrelated
 * to its state: the machine is short of memory, or a user is impatient. Three kills in a row are unlikely to
 * be chance.
 */
export function whySetAside({ ended, reason }: EarlierStarts): string | undefined {
  if (reason !== undefined) return `the program crashed when it last started with this state: ${reason}`;
  return ended >= MOST_ENDED
    ? `the program was killed during its last ${ended} starts with this state`
    : undefined;
}

/** The content of the mark. @param ended number of consecutive failed starts to report if this one ends now */
export function markText(ended: number): string {
  return `${JSON.stringify({ format: 1, ended })}\n`;
}

/**
 * Reads a mark. Node writes its report into the same file when the program ends itself (`reportEnd`).
 * @param text the content; undefined if there is none
 */
export function readMark(text: string | undefined): EarlierStarts {
  const none = { ended: 0, reason: undefined };
  if (text === undefined || text.replaceAll('\0', '') === '') return none;
  const { ended, header, javascriptStack } = parsed(text);
  if (typeof ended === 'number') return { ended, reason: undefined };
  const event = String(header?.event ?? "its report can't be read");
  const reason = event === 'Exception' ? String(javascriptStack?.message ?? event) : event;
  return { ended: 1, reason: reason.slice(0, MOST_REASON) };
}

interface MarkOrReport {
  readonly ended?: unknown;
  readonly header?: { readonly event?: unknown };
  readonly javascriptStack?: { readonly message?: unknown };
}

function parsed(text: string): MarkOrReport {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null ? content : {};
  } catch {
    return {};
  }
}

/**
 * Makes Node overwrite the mark with its report if the program ends itself, by an exception or a full heap. A
 * killed program writes no report. The report contains the environment, so only the owner may read the mark.
 * @param directory with the mark
 * @returns a function that turns this off
 */
export function reportEnd(directory: string): () => void {
  const { report } = process;
  if (!report) return () => {};
  const { directory: usual, filename, reportOnFatalError, reportOnUncaughtException, compact } = report;
  Object.assign(report, {
    ...{ directory, filename: MARK_FILE, compact: true },
    ...{ reportOnFatalError: true, reportOnUncaughtException: true },
  });
  return () =>
    void Object.assign(report, {
      ...{ directory: usual, filename, compact },
      ...{ reportOnFatalError, reportOnUncaughtException },
    });
}
