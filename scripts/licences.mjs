import { readdirSync, readFileSync } from 'node:fs';

/**
 * The licences of the packages that files come from. These require that their text accompanies the code. For
 * a package without a licence file, package.json gives the licence and the author.
 * @param {readonly string[]} files as named in esbuild's inputs
 */
export function licences(files) {
  const homes = files.flatMap(
    (file) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  );
  return [...new Set(homes)]
    .sort()
    .map((home) => `==== ${home} ====\n\n${licence(home)}\n`)
    .join('\n');
}

/** @param {string} home the folder of a package */
function licence(home) {
  const texts = readdirSync(home)
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .map((name) => readFileSync(`${home}/${name}`, 'utf8'));
  if (texts.length > 0) return texts.join('\n');
  const { license, author } = JSON.parse(readFileSync(`${home}/package.json`, 'utf8'));
  if (license === undefined) throw new Error(`${home} has no licence`);
  return `${license}, ${author?.name ?? author}\n`;
}
