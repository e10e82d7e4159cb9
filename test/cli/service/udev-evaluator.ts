import { matchesGlob } from 'node:path';

/** A device as udev shows it to rules: `udevadm info --query=property` and `--attribute-walk`. */
export interface UdevDevice {
  readonly action: 'add' | 'remove';
  readonly kernel: string;
  readonly subsystem: string;
  readonly properties: Readonly<Record<string, string>>;
  /** The device and its parents, the device first. */
  readonly chain: readonly { readonly kernel: string; readonly subsystem: string; readonly driver: string }[];
}

export interface UdevOutcome {
  readonly properties: Readonly<Record<string, string>>;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly group: string | undefined;
  readonly mode: string | undefined;
}

interface Term {
  readonly key: string;
  readonly argument: string;
  readonly operator: string;
  readonly value: string;
}

/** Runs rules as udev(7) describes it, as far as the rules of this project use it; throws on everything else. */
export function evaluateRules(
  text: string,
  device: UdevDevice,
  exists: (path: string) => boolean,
): UdevOutcome {
  const properties = { ...device.properties };
  const attributes: Record<string, string> = {};
  const links: string[] = [];
  const tags: string[] = [];
  let group: string | undefined;
  let mode: string | undefined;
  let skipTo: string | undefined;

  for (const terms of text.split('\n').map(termsOf)) {
    if (skipTo !== undefined && !terms.some(({ key, value }) => key === 'LABEL' && value === skipTo))
      continue;
    skipTo = undefined;
    const parent = parentOf(terms, device);
    if (parent === undefined) continue;
    const filled = (value: string): string =>
      value.replace(/\$env\{(\w+)\}|%b/g, (_, name?: string) =>
        name === undefined ? parent.kernel : (properties[name] ?? ''),
      );
    const holds = ({ key, argument, operator, value }: Term): boolean => {
      const found = {
        ACTION: device.action,
        SUBSYSTEM: device.subsystem,
        KERNEL: device.kernel,
        ENV: properties[argument] ?? '',
      };
      if (key === 'TEST') return exists(filled(value)) === (operator === '==');
      if (!(key in found)) throw new Error(`${key} is not known here`);
      return matches(found[key as keyof typeof found], value) === (operator === '==');
    };
    if (!terms.filter(isOwnMatch).every(holds)) continue;
    for (const { key, argument, operator, value } of terms.filter((term) => !isMatch(term))) {
      const text = filled(value);
      if (key === 'GOTO') skipTo = text;
      else if (key === 'GROUP') group = text;
      else if (key === 'MODE') mode = text;
      else if (key === 'ATTR') attributes[argument] = text;
      else if (key === 'SYMLINK' && operator === '+=') links.push(text);
      else if (key === 'TAG' && operator === '+=') tags.push(text);
      else if (key === 'ENV' && operator === '+=')
        properties[argument] = `${properties[argument] ?? ''} ${text}`.trim();
      else if (key === 'ENV') properties[argument] = text;
      else if (key !== 'LABEL') throw new Error(`${key}${operator} is not known here`);
    }
  }
  return { properties, links, attributes, tags, group, mode };
}

function termsOf(line: string): Term[] {
  if (/^\s*(#|$)/.test(line)) return [];
  const terms = [...line.matchAll(/\s*([A-Z]+)(?:\{([^}]*)\})?(==|!=|\+=|=)"([^"]*)"\s*(?:,|$)/g)];
  if (terms.map(([text]) => text).join('') !== line) throw new Error(`not understood: ${line}`);
  return terms.map(([, key = '', argument = '', operator = '', value = '']) => ({
    key,
    argument,
    operator,
    value,
  }));
}

const PARENT_KEYS = ['SUBSYSTEMS', 'KERNELS', 'DRIVERS'];
const isMatch = ({ operator }: Term): boolean => operator === '==' || operator === '!=';
const isOwnMatch = (term: Term): boolean => isMatch(term) && !PARENT_KEYS.includes(term.key);

/** The first of the device and its parents that all of the plural keys fit; the device itself without such keys. */
function parentOf(terms: readonly Term[], device: UdevDevice): UdevDevice['chain'][number] | undefined {
  const wanted = terms.filter(({ key }) => PARENT_KEYS.includes(key));
  return device.chain.find(({ kernel, subsystem, driver }) =>
    wanted.every(({ key, value }) =>
      matches(key === 'KERNELS' ? kernel : key === 'DRIVERS' ? driver : subsystem, value),
    ),
  );
}

function matches(found: string, patterns: string): boolean {
  return patterns.split('|').some((pattern) => (found === '' ? pattern === '' : matchesGlob(found, pattern)));
}
