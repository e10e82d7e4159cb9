import { findSunspecModel, type SunspecGroup } from '../../config/sunspec/model.js';
import type { Collector } from '../collected.js';
import { numberOf, type Section, sectionOf } from '../parts.js';
import { type ModelInstance, pathIn } from './instance.js';
import { END_OF_MODELS } from './text-dump.js';

/**
 * The dump of a device that pysunspec2 writes with `device.get_json()`: {"models": [{"ID": 103, "L": 50, "A":
 * 1250, "A_SF": -2, …}, …]}.
 */

/** The keys of a group besides its points and groups. */
const ABOUT = new Set(['mid', 'error', 'model_id']);

/** The known models of a dump. Unknown ones are noted. */
export function readJsonDump(models: readonly unknown[], collector: Collector): ModelInstance[] {
  return models.flatMap((item, i) => {
    const location = `models[${i}]`;
    const written = sectionOf(item);
    const id = numberOf(written?.ID ?? written?.model_id);
    if (id === END_OF_MODELS) return [];
    const found = id === undefined ? undefined : findSunspecModel(id);
    if (!found?.ok || !written) {
      collector.note(location, found && !found.ok ? found.error : 'expected a model with its ID');
      return [];
    }
    const model = found.value;
    const values = new Map<string, unknown>();
    const repeat: Record<string, number> = {};
    const take = (group: SunspecGroup, content: Section, path: string, place: string) => {
      const known = new Set(group.points.map(({ name }) => name));
      for (const point of group.points)
        if (content[point.name] !== undefined) values.set(path + point.name, content[point.name]);
      for (const inner of group.groups ?? []) {
        known.add(inner.name);
        const written = content[inner.name];
        const parts = Array.isArray(written) ? written : written === undefined ? [] : [written];
        if (inner.count !== undefined) {
          const before = repeat[inner.name] ?? parts.length;
          repeat[inner.name] = before;
          if (before !== parts.length)
            collector.note(
              place,
              `${inner.name} is there ${parts.length} times; here ${before} times, as before`,
            );
        }
        parts.forEach((part, n) => {
          take(inner, sectionOf(part) ?? {}, pathIn(path, inner, n), `${place}.${inner.name}[${n}]`);
        });
      }
      for (const key of Object.keys(content))
        if (!known.has(key) && !ABOUT.has(key))
          collector.note(place, `${key}: model ${model.id} has no such point`);
    };
    take(model.group, written, '', location);
    const length = numberOf(written.L);
    return [{ model, location, values, repeat, ...(length !== undefined && { length }) }];
  });
}
