import { computed, signal } from '@preact/signals';
import { type ViewName as ServedView, VIEW_NAMES } from '../api/console/paths.js';
import { recorded, recordedDevices, recordedEvents } from './recorded.js';

/** The views of this page, in the order of its navigation. A file has only the views that it contains data for. */
export const SHOWN_VIEWS: readonly ViewName[] = recorded ? recordedViews() : VIEW_NAMES;

export type ViewName = ServedView | 'report';

function recordedViews(): ViewName[] {
  const isReport = recorded?.benches !== undefined || recorded?.reports.length !== 0;
  if (recordedEvents.length === 0) return ['report'];
  if (!isReport) return ['traffic', 'lines', 'conversations'];
  const registers = recordedDevices.length > 0 ? (['registers'] as const) : [];
  return ['report', 'lines', 'conversations', ...registers, 'traffic'];
}

/** What the console shows. The address in the browser says the same, so it can be saved and sent. */
export interface ConsoleRoute {
  readonly view: ViewName;
  /** The parts of the path after the view, decoded: `['meter', 'holding']` of `/registers/meter/holding`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const address = signal(addressNow());

export const route = computed<ConsoleRoute>(() => {
  const { pathname, searchParams } = new URL(address.value, 'http://page');
  const [, first, ...parts] = pathname.split('/');
  const view = SHOWN_VIEWS.find((name) => name === first) ?? SHOWN_VIEWS[0] ?? 'lines';
  return { view, parts: parts.filter((part) => part !== '').map(decoded), query: searchParams };
});

/** The address of a view: `hrefOf('registers', ['meter', 'holding'], { as: 'hex' })`. */
export function hrefOf(
  view: ViewName,
  parts: readonly string[] = [],
  query: URLSearchParams | Readonly<Record<string, string>> = {},
): string {
  const all = new URLSearchParams(query);
  // A page that shows the past continues to do so.
  const then = route.peek().query.get('then');
  if (then !== null && !all.has('then')) all.set('then', then);
  const text = all.toString();
  return `${[`${recorded ? '#' : ''}/${view}`, ...parts.map(encodeURIComponent)].join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Shows another view or address. @param how `replace` if the back button must not return to the old one */
export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (href === (recorded ? location.hash : address.value)) return;
  if (how === 'push') history.pushState(null, '', href);
  else history.replaceState(null, '', href);
  address.value = addressNow();
}

/** Handles links and the back button without reloading the page. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    // The link that skips the header does not change the view.
    if (!recorded || location.hash !== '#view') address.value = addressNow();
  });
  if (recorded) return;
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const isOurs = SHOWN_VIEWS.some((name) => link.pathname.split('/')[1] === name);
    if (!isOurs) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}

/** The address shown. A file has one path, so its views are in the fragment. */
export function addressNow(): string {
  if (!recorded) return location.pathname + location.search;
  return location.hash.startsWith('#/') ? location.hash.slice(1) : '/';
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
