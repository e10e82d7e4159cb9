import type { ImportedDevice } from '../import/collected.js';
import type { DeviceSurvey } from './survey.js';

/** A device that was read, and its reply times in ms. */
export interface ClonedDevice {
  readonly unit: number;
  readonly survey: DeviceSurvey;
  readonly replyTime: { readonly median: number; readonly jitter: number } | undefined;
  /** Why the device was not read to the end; undefined when it was. */
  readonly unfinished: string | undefined;
  /** The names and types of its registers, when a file gives them. */
  readonly map: ImportedDevice | undefined;
}
