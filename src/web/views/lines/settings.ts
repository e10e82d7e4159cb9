/** Settings of a line as paths and texts: `serial.baudRate` and `9600`. Units are written apart. */
export type SettingTexts = Readonly<Record<string, string>>;

type Tree = { [key: string]: unknown };

/** The settings of a line, each as text. */
export function textsOf(settings: Readonly<Record<string, unknown>>, prefix = ''): SettingTexts {
  const texts = Object.entries(settings).map(([key, value]): SettingTexts => {
    if (prefix === '' && key === 'units') return {};
    if (typeof value === 'object' && value !== null) return textsOf(value as Tree, `${prefix}${key}.`);
    return { [`${prefix}${key}`]: String(value) };
  });
  return Object.assign({}, ...texts);
}

/** What to send for the texts that differ. An empty text asks for the default. */
export function changeOf(before: SettingTexts, after: SettingTexts): Tree {
  const change: Tree = {};
  for (const [path, text] of Object.entries(after)) {
    if (text !== before[path] && path.trim() !== '')
      put(change, path.trim().split('.'), readValue(text.trim()));
  }
  return change;
}

function put(tree: Tree, [key = '', ...rest]: readonly string[], value: unknown): void {
  // A key such as __proto__ is the server's to refuse, and must not act here.
  const own = Object.hasOwn(tree, key) ? tree[key] : undefined;
  const child = typeof own === 'object' && own !== null ? (own as Tree) : {};
  if (rest.length > 0) put(child, rest, value);
  Object.defineProperty(tree, key, {
    value: rest.length > 0 ? child : value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function readValue(text: string): unknown {
  if (text === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Units as text, one a line: `1: meter`. */
export function unitsText(units: Readonly<Record<string, string>>): string {
  return Object.entries(units)
    .map(([unit, device]) => `${unit}: ${device}`)
    .join('\n');
}

/** The units of such a text. Ranges such as `20-29: meter` are for the server to read. */
export function unitsOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split(/[\n,]/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
