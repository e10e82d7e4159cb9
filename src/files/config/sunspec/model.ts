import { readdirSync, readFileSync } from 'node:fs';
import { packageFile } from '../../../common/package.js';
import { failure, type Result, success } from '../../../common/result.js';
import { unknownName } from '../../../common/schema/nearest.js';

/**
 * The models of SunSpec as they are published (https://github.com/sunspec/models), reduced to what serving
 * them needs.
 */

/** A value of a model. `size` is in registers. */
export interface SunspecPoint {
  readonly name: string;
  readonly type: SunspecType;
  readonly size: number;
  /** The power of ten by which the value is multiplied, or the name of the point that holds it. */
  readonly sf?: string | number;
  readonly units?: string;
  readonly label?: string;
  readonly access?: 'R' | 'RW';
  readonly value?: number;
  /** The names of the values of an enumeration, or of the bits of a bit field, by their numbers. */
  readonly symbols?: Readonly<Record<string, string>>;
}

/**
 * Points side by side. `count` is how often the group occurs, or the name of the point that says it; 0 means
 * as often as the length of the model allows.
 */
export interface SunspecGroup {
  readonly name: string;
  readonly label?: string;
  readonly count?: string | number;
  readonly points: readonly SunspecPoint[];
  readonly groups?: readonly SunspecGroup[];
}

export interface SunspecModel {
  readonly id: number;
  readonly group: SunspecGroup;
}

/** The types of points (SunSpec Device Information Model Specification V1.2, 4.4). */
export const SUNSPEC_TYPES = [
  'int16',
  'int32',
  'int64',
  'uint16',
  'uint32',
  'uint64',
  'acc16',
  'acc32',
  'acc64',
  'enum16',
  'enum32',
  'bitfield16',
  'bitfield32',
  'float32',
  'float64',
  'string',
  'sunssf',
  'count',
  'pad',
  'ipaddr',
  'ipv6addr',
  'eui48',
] as const;

export type SunspecType = (typeof SUNSPEC_TYPES)[number];

const DIRECTORY = packageFile('sunspec/');

/** Models that have been read. The files are part of the program and do not change while it runs. */
const known = new Map<number, SunspecModel>();

let knownIds: readonly number[] | undefined;

/** The numbers of all models. */
export function sunspecIds(): readonly number[] {
  knownIds ??= readdirSync(DIRECTORY)
    .flatMap((file) => /^model_(\d+)\.json$/.exec(file)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
  return knownIds;
}

/** Finds a model. @returns a sentence when there is none of this number */
export function findSunspecModel(id: number): Result<SunspecModel> {
  const before = known.get(id);
  if (before) return success(before);
  const ids = sunspecIds();
  if (!ids.includes(id)) return failure(unknownName('model of SunSpec', String(id), ids.map(String)));
  const model = JSON.parse(readFileSync(new URL(`model_${id}.json`, DIRECTORY), 'utf8')) as SunspecModel;
  known.set(id, model);
  return success(model);
}
