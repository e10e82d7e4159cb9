/** Hooks of Node's loader of modules that run the program's sources: a file in src is compiled where it has no `.js`. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const { parentURL } = context;
  const isFile = /^(?:\.{0,2}\/|file:).*\.js$/.test(specifier);
  const url = isFile ? new URL(specifier, parentURL ?? 'file:///').href : '';
  const source = url.replace(/\.js$/, '.ts');
  const isSource =
    url.includes('/src/') && !existsSync(fileURLToPath(url)) && existsSync(fileURLToPath(source));
  return isSource ? { url: source, format: 'module', shortCircuit: true } : next(specifier, context);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), {
    loader: 'ts',
    target: 'node20',
  });
  return { format: 'module', source: code, shortCircuit: true };
}
