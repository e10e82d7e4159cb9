import { build } from 'esbuild';

/**
 * Modules of src for another process, which runs no TypeScript.
 * @param {string} source imports from `./src/…`
 * @returns {Promise<string>} one module, with packages outside
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
