import { gzipSync } from 'node:zlib';
import { type Result, success } from '../../common/result.js';
import { recordedHtml } from '../../testing/report/html.js';
import { shownFile } from './shown-file.js';

/** Maximum size of a file, in bytes. */
export const LARGEST = 16 * 1024 * 1024;

/** The page made from a file. */
export interface PageOfFile {
  readonly html: string;
  /** The number of frames and events in it. */
  readonly count: number;
  /** The parts that it does not show, one sentence each. */
  readonly notes: readonly string[];
}

/** Makes a page from a report, a capture or recorded traffic. @returns it, or an error message */
export function pageOfFile(file: Uint8Array, title: string): Result<PageOfFile> {
  const shown = shownFile(file);
  if (!shown.ok) return shown;
  const { reports, events, notes = [] } = shown.value;
  const frames = reports.flatMap(({ findings }) => findings.flatMap((finding) => finding.frames));
  return success({
    html: recordedHtml({ title, ...shown.value }),
    count: (events ?? frames).length,
    notes,
  });
}

/** A request to `viewing`: the file to make a page from. */
export interface ToView {
  readonly file: Uint8Array;
  readonly title: string;
}

/** The page, compressed, or a message saying why there is none. */
export type Viewed = Result<{ readonly page: Uint8Array; readonly notes: readonly string[] }>;

/** Makes the page of one file. A generator ignores the argument of its first `next`, so start it with any file. */
export function* viewing(): Generator<Viewed, Viewed, ToView> {
  const { file, title } = yield success({ page: new Uint8Array(), notes: [] });
  const made = pageOfFile(file, title);
  return made.ok ? success({ page: gzipSync(made.value.html, { level: 1 }), notes: made.value.notes }) : made;
}
