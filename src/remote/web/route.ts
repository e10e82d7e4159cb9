import { computed, signal } from '@preact/signals';
import { VIEW_NAMES, type ViewName } from '../api/console/paths.js';

/** What the console shows. The address in the browser says the same, so it can be kept and sent. */
export interface ConsoleRoute {
  readonly view: ViewName;
  /** The parts of the path after the view, decoded: `['meter', 'holding']` of `/registers/meter/holding`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const address = signal(location.pathname + location.search);

export const route = computed<ConsoleRoute>(() => {
  const { pathname, searchParams } = new URL(address.value, location.origin);
  const [, first, ...parts] = pathname.split('/');
  const view = VIEW_NAMES.find((name) => name === first) ?? 'lines';
  return { view, parts: parts.filter((part) => part !== '').map(decoded), query: searchParams };
});

/** The address of a view: `hrefOf('registers', ['meter', 'holding'], { as: 'hex' })`. */
export function hrefOf(
  view: ViewName,
  parts: readonly string[] = [],
  query: URLSearchParams | Readonly<Record<string, string>> = {},
): string {
  const text = new URLSearchParams(query).toString();
  return `${[`/${view}`, ...parts.map(encodeURIComponent)].join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Shows another view or address. @param how `replace` if the back button must not lead to the old one */
export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (href === address.value) return;
  if (how === 'push') history.pushState(null, '', href);
  else history.replaceState(null, '', href);
  address.value = href;
}

/** Follows links and the back button without loading the page again. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    address.value = location.pathname + location.search;
  });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const isOurs = VIEW_NAMES.some((name) => link.pathname.split('/')[1] === name);
    if (!isOurs) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
