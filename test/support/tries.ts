const ALL = process.env.MODBUS_SIM_ALL_TRIES === '1';

/**
 * How many times a property is tried: `npm run test:full` uses the given number, `npm test` a tenth of it.
 * For slow properties; vitest.config.ts names their files, so that the full tier runs them too.
 */
export function tries(full: number): number {
  return ALL ? full : Math.ceil(full / 10);
}

/** Every n-th item of a list in `npm test`, all of it in `npm run test:full`. */
export function some<T>(all: readonly T[], every: number): readonly T[] {
  return ALL ? all : all.filter((_, i) => i % every === 0);
}

/** The rows of a table of tests: all in `npm run test:full`, those named `quick` in `npm test`. */
export function rows<T>(
  all: Readonly<Record<string, T>>,
  quick: readonly string[],
): Readonly<Record<string, T>> {
  return ALL ? all : Object.fromEntries(quick.map((name) => [name, all[name] as T]));
}
