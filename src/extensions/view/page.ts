import { gzipSync } from 'node:zlib';
import { type Result, success } from '../../common/result.js';
import { recordedHtml } from '../../testing/report/html.js';
import { shownFile } from './shown-file.js';

/** The most bytes of a file. */
export const LARGEST = 16 * 1024 * 1024;

/** The page of a file. */
export interface PageOfFile {
  readonly html: string;
  /** How many frames and events it has. */
  readonly count: number;
  /** What it does not show, a sentence each. */
  readonly notes: readonly string[];
}

/** Makes the page of a report, a capture or recorded traffic. @returns it, or what is wrong, as a sentence */
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

/** A file of which `viewing` makes a page. */
export interface ToView {
  readonly file: Uint8Array;
  readonly title: string;
}

/** The page of a file, compressed, or why there is none, as a sentence. */
export type Viewed = Result<{ readonly page: Uint8Array; readonly notes: readonly string[] }>;

/** Makes the page of one file. It is begun with any file, because a generator ignores its first argument. */
export function* viewing(): Generator<Viewed, Viewed, ToView> {
  const { file, title } = yield success({ page: new Uint8Array(), notes: [] });
  const made = pageOfFile(file, title);
  return made.ok ? success({ page: gzipSync(made.value.html, { level: 1 }), notes: made.value.notes }) : made;
}
