import { effect, signal, useSignal, useSignalEffect } from '@preact/signals';
import './base.css';
import { html, render } from 'htm/preact';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { logIn, logOut, needsLogIn, ONLY_READS, onlyReads, readSession, session } from './api.js';
import { comebacks, connection, keepConnected, serverNow, summary } from './live.js';
import { followDrops } from './open-file.js';
import { past, showThen } from './past.js';
import { recorded } from './recorded.js';
import { followLinks, go, hrefOf, route, SHOWN_VIEWS, type ViewName } from './route.js';
import { TimeMachine } from './time-machine.js';
import { Button, Empty, Field, into, State, useRequest } from './ui/controls.js';
import { Dialog } from './ui/dialog.js';
import { timeOfDay } from './ui/format.js';
import { Toasts } from './ui/toast.js';
import { broker } from './views/fleet/broker.js';
import { LinesView } from './views/lines/lines.js';
import './app.css';

/** The title of a view, and the function that loads it. */
interface LoadedLate {
  readonly title: string;
  readonly load: () => Promise<ComponentType>;
}

/**
 * The views. They have no properties: `route` says what they show. The start page is loaded with the program,
 * the others when they are opened.
 */
const VIEWS: Readonly<Record<ViewName, LoadedLate>> = {
  lines: { title: 'Lines', load: async () => LinesView },
  conversations: {
    title: 'Conversations',
    load: async () => (await import('./views/conversations/conversations.js')).ConversationsView,
  },
  registers: {
    title: 'Registers',
    load: async () => (await import('./views/registers/registers.js')).RegistersView,
  },
  panel: { title: 'Panel', load: async () => (await import('./views/panel/panel.js')).PanelView },
  traffic: { title: 'Traffic', load: async () => (await import('./views/traffic/traffic.js')).TrafficView },
  faults: { title: 'Faults', load: async () => (await import('./views/faults/faults.js')).FaultsView },
  catalogue: {
    title: 'Catalogue',
    load: async () => (await import('./views/catalogue/catalogue.js')).CatalogueView,
  },
  tests: { title: 'Tests', load: async () => (await import('./views/tests/tests.js')).TestsView },
  import: { title: 'Import', load: async () => (await import('./views/import/import.js')).ImportView },
  fleet: { title: 'Fleet', load: async () => (await import('./views/fleet/fleet.js')).FleetView },
  report: { title: 'Report', load: async () => (await import('./views/report/report.js')).ReportView },
};

/** The loaded views. False: the simulator did not send it. */
const loaded = signal<Partial<Record<ViewName, ComponentType | false>>>({});

// What the network failed to load is requested again when the simulator is back.
effect(() => {
  const [{ view }] = [route.value, comebacks.value];
  if (loaded.peek()[view]) return;
  const keep = (View?: ComponentType | false) => {
    loaded.value = { ...loaded.peek(), [view]: View };
  };
  keep();
  VIEWS[view].load().then(keep, () => keep(false));
});

/** The view for the address, or what is shown until it has loaded. */
function LoadedView() {
  const { view } = route.value;
  const View = loaded.value[view];
  const { title } = VIEWS[view];
  if (View) return html`<${View} key=${view} />`;
  if (View === undefined) return html`<${Empty} title=${title}>Loading.<//>`;
  if (connection.value.state !== 'open')
    return html`<${Empty} title=${title}>The simulator could not be reached.<//>`;
  return html`<${Empty} title=${title}>This view could not be loaded: the simulator may have been updated.
    <${Button} onClick=${() => location.reload()}>Reload the page<//><//>`;
}

/** The whole page: header, view, messages, and the log-in on top. */
function App() {
  const { view } = route.value;
  const { title } = VIEWS[view];
  useSignalEffect(() => {
    const host = recorded?.title ?? summary.value?.program.host;
    const { title } = VIEWS[route.value.view];
    document.title = host === undefined ? `${title} - modbus-sim` : `${title} - ${host} - modbus-sim`;
  });
  return html`<a class="skip" href="#view">Skip to the view</a>
    <${Header} />
    ${past.value === undefined ? null : html`<${TimeMachine} />`}
    <main id="view" class=${`view-${view}`} tabindex="-1">
      <h1 class="unseen">${title}</h1>
      <${LoadedView} />
    </main>
    <${Toasts} />
    ${needsLogIn.value ? html`<${LogIn} />` : null}`;
}

function Header() {
  const { program } = summary.value ?? {};
  const { view } = route.value;
  useEffect(recorded ? () => {} : broker.follow, []);
  // Without a broker there is no fleet to show, and an import starts on Lines.
  const shown = SHOWN_VIEWS.filter(
    (name) => (name !== 'fleet' || broker.current.value) && (name !== 'import' || name === view),
  );
  const links = shown.map(
    (name) => html`<li><a class="tab" href=${hrefOf(name)} aria-current=${name === view ? 'page' : undefined}>
      ${VIEWS[name].title}</a></li>`,
  );
  return html`<header class="header flow">
    <div class="program flow">
      <strong>modbus-sim</strong>
      <span class="mono dim">${program?.version ?? ''}</span>
      <span class="host cut dim">${recorded?.title ?? program?.host ?? ''}</span>
    </div>
    <nav aria-label="Views"><ul>${links}${recorded ? null : html`<li><a class="tab" href="/api/v1/docs" target="_blank">API</a></li>`}</ul></nav>
    <div class="flow">
      ${
        recorded
          ? html`<${State} tone="off">a file<//>`
          : html`<time class="clock mono dim" title="The clock of the simulator's machine">${program ? timeOfDay(serverNow()) : ''}</time>
      <${ConnectionState} />`
      }
      ${onlyReads() ? html`<span title=${ONLY_READS}><${State} tone="off">read only<//></span>` : null}
      ${
        past.value !== undefined || (recorded && view === 'report')
          ? null
          : html`<${Button} label="Past: look at an earlier moment" onClick=${() => showThen(new Date(serverNow()).toISOString())}>Past<//>`
      }
      <${Button} onClick=${nextTheme}>Theme: ${theme.value}<//>
      ${session.value?.secondsLeft == null ? null : html`<${Button} onClick=${() => void logOut()}>Log out<//>`}
    </div>
  </header>`;
}

/** Shows the state of the connection, and a banner over the page while there is none. */
function ConnectionState() {
  const now = connection.value;
  if (now.state === 'open') return html`<${State} tone="good">live<//>`;
  if (needsLogIn.value) return html`<${State} tone="warn">waiting for a token<//>`;
  if (now.state === 'connecting') return html`<${State} tone="warn">connecting<//>`;
  if (now.state === 'restarting')
    return html`<${State} tone="warn">REST restarting<//>
      <p class="banner warn long" role="status">REST is restarting. The lines continue to run.</p>`;
  const text =
    now.state === 'lost' ? 'Connection lost, trying again' : `No live values, trying again: ${now.reason}`;
  return html`<${State} tone="bad">lost<//><p class="banner refused long" role="alert">${text}</p>`;
}

/** Asks for the token. The view behind it is not changed, so that no work is lost. */
function LogIn() {
  const token = useSignal('');
  const { isBusy, refusal, send } = useRequest();
  return html`<${Dialog} title="Log in" onSubmit=${() => void send(logIn(token.value))}
    buttons=${html`<${Button} type="submit" kind="main" disabled=${isBusy.value}>Log in<//>`}>
    <p>Enter <span class="mono">api.token</span> of the configuration, or one of <span class="mono">api.readTokens</span>${' '}
    to look without changing anything.</p>
    <${Field} label="Token" type="password" mono value=${token.value} problem=${refusal.value?.detail}
      onInput=${into(token)} />
  <//>`;
}

const THEME_KEY = 'modbus-sim-theme';
const THEMES = ['auto', 'light', 'dark'] as const;

/** The theme of the page. `auto` follows the setting of the operating system. */
const theme = signal<(typeof THEMES)[number]>(keptTheme());

function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto';
}

/** The theme of the last visit, if the browser has stored it. */
function keptTheme(): (typeof THEMES)[number] {
  try {
    const kept = localStorage.getItem(THEME_KEY);
    return THEMES.find((each) => each === kept) ?? 'auto';
  } catch {
    return 'auto';
  }
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  try {
    localStorage.setItem(THEME_KEY, theme.value);
  } catch {
    // The browser can't store it, so the next visit starts with `auto`.
  }
});
followLinks();
// The first view has one address, not two.
if (!recorded && location.pathname === '/') go(hrefOf('lines'), 'replace');
// The plain text in a file is for readers without JavaScript.
if (recorded) document.body.replaceChildren();
else {
  followDrops();
  void readSession();
  void keepConnected();
}
render(html`<${App} />`, document.body);
