import type { ImportedDevice } from '../import/collected.js';
import type { DeviceSurvey } from './survey.js';

/** A device that was read, and how long it took for a reply. Times are in ms. */
export interface ClonedDevice {
  readonly unit: number;
  readonly survey: DeviceSurvey;
  readonly replyTime: { readonly median: number; readonly jitter: number } | undefined;
  /** Why it was not read to its end; undefined where it was. */
  readonly unfinished: string | undefined;
  /** Names and types of its registers, where a file has them. */
  readonly map: ImportedDevice | undefined;
}
