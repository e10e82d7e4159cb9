import type { TableName } from '../../device/tables.js';
import type { ImportedDevice } from '../import/collected.js';
import type { ReadRefusal } from './asker.js';
import type { DeviceSurvey } from './survey.js';
import type { Range } from './table-survey.js';

/** A device that was read, and its reply times in ms. */
export interface ClonedDevice {
  readonly unit: number;
  readonly survey: DeviceSurvey;
  readonly replyTime: { readonly median: number; readonly jitter: number } | undefined;
  /** Why the device was not read to the end; undefined when it was. */
  readonly unfinished: string | undefined;
  /** The names and types of its registers, when a file gives them. */
  readonly map: ImportedDevice | undefined;
  /** What an inspection has found out beside; absent when the device was only read. */
  readonly inspected?: InspectedWays;
}

/** How an inspected device differs from what reading it shows. */
export interface InspectedWays {
  readonly remarks: readonly string[];
  readonly manners: Readonly<Record<string, unknown>>;
  /** Fault rules; their names and the devices that they are for are made when they are written. */
  readonly faults: readonly Readonly<Record<string, unknown>>[];
  /** Addresses that take writes. */
  readonly writable: Readonly<Partial<Record<TableName, Range>>>;
  /** The functions that the device was seen to have. */
  readonly functions: ReadonlySet<number>;
  /** How it refuses a function that no device has; undefined when nobody asked. */
  readonly unknownFunction: ReadRefusal | undefined;
}
