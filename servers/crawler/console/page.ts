import { type Content, type Html, html } from '../../web/html.js';
import { renderPage } from '../../web/page-shell.js';
import { type CrawlState, QUEUE_STATES } from '../states.js';
import type { Session } from './access.js';
import { ACTIONS, type Action } from './actions.js';
import { QUEUE_STATE_LABELS } from './labels.js';
import { type Sections, type View, viewQuery } from './sections.js';

export interface PageContent {
  readonly name: string;
  readonly session: Session;
  readonly state: CrawlState;
  readonly sections: Sections;
  readonly view: View;
  /** URL of the next page of the table of queues; undefined if this is the last page. */
  readonly next: string | undefined;
}

/**
 * Renders the whole page. Sections that change are in elements with `data-part`, and contain no focusable
 * element.
 */
export function consolePage(content: PageContent): Html {
  const { name, session, sections, view } = content;
  const section = (key: string) => html`<div data-part="${key}">${sections[key]}</div>`;
  const scroll = (key: string, label: string) =>
    html`<div class="scroll" tabindex="0" role="region" aria-label="${label}" data-part="${key}">${sections[key]}</div>`;
  return document(
    `${name}: crawl`,
    html`<ul>
<li><a href="#queues">Queues</a></li>
<li><a href="#hosts">Servers</a></li>
<li><a href="#workers">Workers</a></li>
<li><a href="#errors">Errors</a></li>
<li><form method="post" action="/logout">${tokenField(session)}<button class="plain" type="submit">Log out</button></form></li>
</ul>`,
    html`<h1>${name}</h1>
<p class="now" role="status" data-part="state">${sections.state}</p>
${outcomeSection(session)}
${controls(content)}
<h2 class="aside">Totals</h2>
${section('totals')}
<section aria-labelledby="rates"><h2 id="rates">The last ten minutes</h2>
<div class="plots" data-part="plots">${sections.plots}</div></section>
<div class="pairs" data-part="states">${sections.states}</div>
<section aria-labelledby="queues"><h2 id="queues">Queues</h2>
<form class="filter" method="get" action="/#queues"><label for="state">State</label>
<select id="state" name="state"><option value="">all</option>${QUEUE_STATES.map((state) => html`<option value="${state}"${view.state === state ? html` selected` : ''}>${QUEUE_STATE_LABELS[state]}</option>`)}</select>
<input type="hidden" name="host" value="${view.host}"><button type="submit">Show</button></form>
${scroll('queues', 'Table of queues')}
<nav class="pager" aria-label="Pages of queues"><ul>
${view.after === '' ? '' : html`<li><a href="/${viewQuery({ ...view, after: '' })}#queues">First page</a></li>\n`}${content.next === undefined ? '' : html`<li><a rel="next" href="${content.next}#queues">Next page</a></li>\n`}</ul></nav></section>
<section aria-labelledby="hosts"><h2 id="hosts">Servers</h2>
<form class="filter" method="get" action="/#hosts"><label for="host">Name has</label>
<input type="search" id="host" name="host" value="${view.host}" maxlength="256" autocapitalize="none" spellcheck="false">
<input type="hidden" name="state" value="${view.state ?? ''}"><button type="submit">Show</button></form>
${scroll('hosts', 'Table of servers')}</section>
<section aria-labelledby="workers"><h2 id="workers">Workers</h2>
${scroll('workers', 'Table of workers')}</section>
<section aria-labelledby="errors"><h2 id="errors">Recent errors</h2>
${scroll('errors', 'Table of errors')}</section>
<section aria-labelledby="chains"><h2 id="chains">Processors</h2>
${scroll('chains', 'Table of processors')}</section>`,
    html`<p>Figures for programs: <a href="/api/snapshot">snapshot</a>, <a href="/metrics">metrics</a>.</p>`,
  );
}

function controls({ session, state, view }: PageContent): Html {
  const button = (name: string, { button: row }: Action) =>
    row &&
    html`<form method="post" action="/api/${name}" data-act>${tokenField(session)}<button type="submit" data-states="${row.states.join(' ')}"${row.states.includes(state) ? '' : html` disabled`}>${row.text}</button></form>\n`;
  const form = (name: string, { form: row }: Action) =>
    row &&
    html`<form method="post" action="/api/${name}" data-act class="act">${tokenField(session)}${row.fields}<button class="quiet" type="submit">${row.text}</button><p class="hint">${row.hint}</p></form>\n\n`;
  const rows = Object.entries(ACTIONS);
  return html`<div class="controls" role="group" aria-label="The crawl">
${rows.map(([name, action]) => button(name, action))}
<details class="stop"><summary>Stop …</summary><form method="post" action="/api/stop" data-act>${tokenField(session)}<p>The crawl ends; the remaining URIs stay for the next run.</p><button type="submit" data-states="preparing running empty pausing paused"${state === 'finished' || state === 'stopping' ? html` disabled` : ''}>Stop now</button></form></details>
<a class="look" href="/${viewQuery(view)}">Reload</a>
<button class="quiet" type="button" id="live" aria-pressed="true" hidden>Live</button>
</div>
<details class="more"><summary>More</summary>
${rows.map(([name, action]) => form(name, action))}</details>`;
}

function outcomeSection({ outcome }: Session): Html {
  return html`<p id="outcome" role="status"${outcome === undefined ? html` hidden` : ''} class="${outcome?.ok === false ? 'error' : 'note'}">${outcome?.text ?? ''}</p>`;
}

function tokenField({ formToken }: Session): Html {
  return html`<input type="hidden" name="token" value="${formToken}">`;
}

/** Renders the login page. */
export function loginPage(name: string, message: string): Html {
  return document(
    `${name}: log in`,
    '',
    html`<h1>${name}</h1>
${message === '' ? '' : html`<p class="error" role="alert">${message}</p>\n`}<form class="login" method="post" action="/login">
<input type="text" name="username" value="harvest crawl" autocomplete="username" readonly hidden>
<p class="field"><label for="password">Password</label>
<input type="password" id="password" name="password" autocomplete="current-password" required maxlength="1000" autofocus></p>
<p class="actions"><button type="submit">Log in</button></p>
</form>`,
    '',
  );
}

/** Renders a page with one sentence. */
export function messagePage(title: string, text: string): Html {
  return document(
    title,
    '',
    html`<h1>${title}</h1>\n<p class="note">${text}</p>\n<p><a href="/">Back to the console</a></p>`,
    '',
  );
}

function document(title: string, navigation: Content, main: Content, footer: Content): Html {
  return renderPage(
    {
      title,
      noindex: true,
      styles: ['/style.css', '/console.css'],
      icon: '/icon.svg',
      script: '/console.js',
      site: { name: 'Harvest crawl', href: '/' },
      ...(navigation === '' ? {} : { navigation: { label: 'This page', content: navigation } }),
      footer,
    },
    main,
  );
}
