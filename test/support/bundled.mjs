import { build } from 'esbuild';

/**
 * Bundles modules of src for another process, which does not run TypeScript.
 * @param {string} source imports from `./src/…`
 * @returns {Promise<string>} one module; packages are external
 */
export async function bundled(source) {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: process.cwd() },
    bundle: true,
    write: false,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  });
  return outputFiles.map(({ text }) => text).join('');
}
