/** The views of the console, in the order of its navigation. Each is a path of its own, `/lines`, and all paths below. */
export const VIEW_NAMES = ['lines', 'registers', 'traffic', 'faults', 'tests', 'fleet'] as const;

export type ViewName = (typeof VIEW_NAMES)[number];

/** Where the scripts and styles of the console are. */
export const ASSETS = '/assets/';

/** Whether a path is one of the console, which holds no secret: what it shows, it asks the API for. */
export function isConsolePath(path: string): boolean {
  const [, first = ''] = path.split('/');
  return path === '/' || path.startsWith(ASSETS) || VIEW_NAMES.some((name) => name === first);
}

/** What a browser is shown at a path that is neither of the console nor of an interface. */
export const NO_PAGE =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>modbus-sim: no such page</title>' +
  '<p>There is no such page. <a href="/">Go to the console</a></p>';
