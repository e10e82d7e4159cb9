import { resolve } from 'node:path';
import type { z } from 'zod';
import type { At } from '../../../common/schema/at.js';
import type { TrafficDefinition, TrafficFileDefinition } from '../configuration.js';
import { type trafficFileSchema, trafficSchema } from './schema.js';

/** Reads `traffic` of a file; undefined when the file has none, and after reporting mistakes. */
export function nativeTraffic(at: At, directory: string): TrafficDefinition | undefined {
  const read = at.value === undefined ? undefined : at.check(trafficSchema);
  if (!read) return undefined;
  const { events, bytes, file, format, rotate } = read;
  if (file !== undefined) return { events, bytes, file: trafficFile({ file, format, rotate }, directory) };
  if (at.key('format').value !== undefined) at.key('format').wrong('is for a file, which is missing');
  if (at.key('rotate').value !== undefined) at.key('rotate').wrong('is for a file, which is missing');
  return { events, bytes };
}

/** @param directory where a relative path begins */
export function trafficFile(
  { file, format, rotate }: z.output<typeof trafficFileSchema>,
  directory: string,
): TrafficFileDefinition {
  return { directory: resolve(directory, file), format, size: rotate.size, files: rotate.files };
}
