import './base.css';
import { html, render } from 'htm/preact';
import { readSession } from './api.js';
import { App } from './app.js';
import { keepConnected } from './live.js';
import { followLinks, go, hrefOf } from './route.js';
import { applyTheme } from './theme.js';

applyTheme();
followLinks();
// The first view has one address, not two.
if (location.pathname === '/') go(hrefOf('lines'), 'replace');
void readSession();
void keepConnected();
render(html`<${App} />`, document.body);
