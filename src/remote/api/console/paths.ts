/**
 * The views of the console, in the order of its navigation. Each has a path, such as `/lines`, and all paths
 * below it.
 */
export const VIEW_NAMES = [
  'lines',
  'conversations',
  'registers',
  'panel',
  'traffic',
  'faults',
  'catalogue',
  'tests',
  'fleet',
  'import',
] as const;

export type ViewName = (typeof VIEW_NAMES)[number];

/** The path below which the console's scripts and styles are. */
export const ASSETS = '/assets/';

/** Whether a path belongs to the console. Its pages contain no secrets: they get their data from the API. */
export function isConsolePath(path: string): boolean {
  const [, first = ''] = path.split('/');
  return path === '/' || path.startsWith(ASSETS) || VIEW_NAMES.some((name) => name === first);
}

/** The page for a path that belongs neither to the console nor to an interface. */
export const NO_PAGE =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>modbus-sim: no such page</title>' +
  '<p>There is no such page. <a href="/">Go to the console</a></p>';
