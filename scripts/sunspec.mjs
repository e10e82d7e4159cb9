import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * node scripts/sunspec.mjs DIRECTORY: makes sunspec/model_N.json from the files of
 * https://github.com/sunspec/models (json/). Descriptions, details and comments, which are not needed to
 * serve a model, are left out. sunspec/NOTICE gives the origin.
 */

const KEPT = ['name', 'type', 'size', 'sf', 'units', 'label', 'access', 'value', 'count'];

/** @param {Record<string, any>} each */
function point(each) {
  const kept = Object.fromEntries(
    KEPT.filter((key) => each[key] !== undefined).map((key) => [key, each[key]]),
  );
  if (each.symbols === undefined) return kept;
  const symbols = /** @type {{name: string, value: number}[]} */ (each.symbols);
  return { ...kept, symbols: Object.fromEntries(symbols.map(({ name, value }) => [value, name])) };
}

/**
 * @param {Record<string, any>} group
 * @returns {object}
 */
function group({ name, label, count, points = [], groups = [] }) {
  return {
    name,
    ...(label !== undefined && { label }),
    ...(count !== undefined && { count }),
    points: points.map(point),
    ...(groups.length > 0 && { groups: groups.map(group) }),
  };
}

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node scripts/sunspec.mjs DIRECTORY (with the SunSpec models)');
  process.exit(2);
}
mkdirSync('sunspec', { recursive: true });
let [models, bytes] = [0, 0];
for (const file of readdirSync(directory).filter((name) => /^model_\d+\.json$/.test(name))) {
  const { id, group: content } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
  const text = `${JSON.stringify({ id, group: group(content) })}\n`;
  writeFileSync(join('sunspec', `model_${id}.json`), text);
  models++;
  bytes += text.length;
}
console.log(`${models} models, ${bytes} bytes`);
