import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The files of the program that its pure wings read. */
function filesOf(...folders) {
  return Object.fromEntries(
    folders.flatMap((folder) =>
      readdirSync(here(`../../${folder}`)).map((name) => {
        const path = `${folder}/${name}`;
        return [path, readFileSync(here(`../../${path}`), 'utf8')];
      }),
    ),
  );
}

/** Replaces what a browser does not have. @type {import('esbuild').Plugin} */
const inBrowser = {
  name: 'in a browser',
  setup({ onResolve }) {
    onResolve({ filter: /^node:/ }, () => ({ path: here('node.cjs') }));
    onResolve({ filter: /\/read-file\.js$/ }, () => ({ path: here('read-file.ts') }));
  },
};

/** Bundles a module of this folder for browsers, with what it uses of the program. */
export function bundle(entryPoints, options) {
  return build({
    entryPoints: entryPoints.map(here),
    bundle: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    plugins: [inBrowser],
    define: {
      FILES: JSON.stringify(filesOf('catalogue', 'sunspec')),
      'import.meta.url': '"file:///package/src/common/package.ts"',
      'process.platform': '"linux"',
    },
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
}
