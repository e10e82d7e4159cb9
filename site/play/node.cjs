/*
 * Stands for the modules of Node that the pure wings import. A page has the files of the program that its build has put
 * into it (`FILES`), and no others. What is missing here is never called by what the page uses.
 */

/** Where the package seems to be; the build gives its code the same place. */
const PACKAGE = '/package/';

const pathOf = (file) => String(file instanceof URL ? file.pathname : file).replace(PACKAGE, '');

/** Equal for equal data. */
const textOf = (data) =>
  JSON.stringify(data, (_, value) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Map ? [...value] : value;
  });

module.exports = {
  // node:fs
  readFileSync(file) {
    const text = FILES[pathOf(file)];
    if (text === undefined) throw new Error(`this page has no file ${pathOf(file)}`);
    return text;
  },
  readdirSync(folder) {
    const path = pathOf(folder);
    return Object.keys(FILES).flatMap((each) => (each.startsWith(path) ? [each.slice(path.length)] : []));
  },
  // node:url and node:path
  fileURLToPath: (url) => url.pathname,
  resolve: (...parts) => new URL(parts.at(-1) ?? '', 'file:///').pathname,
  // node:util
  isDeepStrictEqual: (one, other) => textOf(one) === textOf(other),
  // node:crypto: its digests tell whether two layouts are the same, and the whole text tells it, too.
  createHash() {
    let text = '';
    const hash = {
      update(piece) {
        text += piece;
        return hash;
      },
      digest: () => text,
    };
    return hash;
  },
  // node:net and node:os
  isIPv4: (text) => /^(\d{1,3}\.){3}\d{1,3}$/.test(text),
  hostname: () => 'page',
};
