import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Shipped } from './packages.js';

/** What the program imports while it runs: parts of its own, and packages. */
const LATE_IMPORT = /\bimport\("([^"]+)"\)/g;

/**
 * What is loaded only where no build ran, which has made the schemas, and in tests of the sources, which have no thread that learns.
 * These are names that such a part exports.
 */
const FOR_SOURCES = /\bexport ?\{[^}]*\b(trafficFileSchema|scenarioSchema|learnFiles)\b/;

/** The names of what the files of a package import while they run. */
export function lazyParts({ home }: Shipped): ReadonlySet<string> {
  const dist = join(home, 'dist');
  const files = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const imports = files.flatMap((name) => [...readFileSync(join(dist, name), 'utf8').matchAll(LATE_IMPORT)]);
  return new Set(imports.map(([, name = '']) => name));
}

/**
 * Those that no program has loaded.
 * @param loaded where the programs have written which files they have loaded, each when it ended
 */
export function neverLoaded(shipped: Shipped, loaded: string): string[] {
  const urls = new Set(readdirSync(loaded).flatMap((name) => urlsOf(join(loaded, name))));
  const isLoaded = (part: string) =>
    [...urls].some((url) =>
      part.startsWith('./') ? url.endsWith(`/dist${part.slice(1)}`) : url.includes(`/node_modules/${part}/`),
    );
  const isNeeded = (part: string) =>
    !part.startsWith('./') || !FOR_SOURCES.test(readFileSync(join(shipped.home, 'dist', part), 'utf8'));
  return [...lazyParts(shipped)].filter((part) => !isLoaded(part) && isNeeded(part));
}

/** @param file the coverage of a program, as V8 writes it */
function urlsOf(file: string): string[] {
  const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(file, 'utf8'));
  return result.map(({ url }) => url);
}
