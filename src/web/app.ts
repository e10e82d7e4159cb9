import { useSignalEffect } from '@preact/signals';
import { html } from 'htm/preact';
import { VIEW_NAMES } from '../api/console/paths.js';
import { needsLogIn } from './api.js';
import { serverNow } from './clock.js';
import { connection, summary } from './live.js';
import { LogIn } from './login.js';
import { hrefOf, place } from './route.js';
import { logOut, session } from './session.js';
import { nextTheme, theme } from './theme.js';
import { Button } from './ui/button.js';
import { timeOfDay } from './ui/format.js';
import { State } from './ui/state.js';
import { Toasts } from './ui/toast.js';
import { VIEWS } from './views.js';
import './tokens.css';
import './base.css';
import './app.css';

/** The whole page: a header, the view of the place, and what stands before it. */
export function App() {
  const { view } = place.value;
  const { title, View } = VIEWS[view];
  useSignalEffect(() => {
    const host = summary.value?.program.host;
    const { title } = VIEWS[place.value.view];
    document.title = host === undefined ? `${title} - modbus-sim` : `${title} - ${host} - modbus-sim`;
  });
  return html`<a class="skip" href="#view">Skip to the view</a>
    <${Header} />
    <main id="view" class=${`view-${view}`} tabindex="-1">
      <h1 class="unseen">${title}</h1>
      <${View} key=${view} />
    </main>
    <${Toasts} />
    ${needsLogIn.value ? html`<${LogIn} />` : null}`;
}

function Header() {
  const { program } = summary.value ?? {};
  const { view } = place.value;
  const links = VIEW_NAMES.map(
    (name) => html`<li><a href=${hrefOf(name)} aria-current=${name === view ? 'page' : undefined}>
      ${VIEWS[name].title}</a></li>`,
  );
  return html`<header class="header">
    <div class="bench">
      <strong>modbus-sim</strong>
      <span class="mono dim">${program?.version ?? ''}</span>
      <span class="host">${program?.host ?? ''}</span>
    </div>
    <nav aria-label="Views"><ul>${links}<li><a href="/api/v1/docs" target="_blank">API</a></li></ul></nav>
    <div class="tools">
      <time class="clock mono" title="The clock of the simulator's machine">${program ? timeOfDay(serverNow()) : ''}</time>
      <${ConnectionState} />
      <${Button} label=${`Colours: ${THEME_SIGNS[theme.value]}`} onClick=${nextTheme}>${THEME_SIGNS[theme.value]}<//>
      ${session.value?.secondsLeft == null ? null : html`<${Button} onClick=${() => void logOut()}>Log out<//>`}
    </div>
  </header>`;
}

const THEME_SIGNS = { system: 'Auto', light: 'Light', dark: 'Dark' };

/** Says how the connection is; in a banner over the page while there is none. */
function ConnectionState() {
  const now = connection.value;
  if (now.state === 'open') return html`<${State} tone="good">live<//>`;
  if (now.state === 'connecting') return html`<${State} tone="warn">connecting<//>`;
  const text =
    now.state === 'lost' ? 'Connection lost, trying again' : `No live values, trying again: ${now.reason}`;
  return html`<${State} tone="bad">lost<//><p class="banner long" role="alert">${text}</p>`;
}
