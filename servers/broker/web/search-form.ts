import { type Html, html } from '../../web/html.js';
import type { QueryForm } from './form.js';
import { writeNarrowing } from './narrow.js';

/** The choices for "Objects at most". */
const MAX_OBJECTS = [20, 50, 100, 200, 500, 1000];

/** What the form needs to know about its page. */
export interface SearchFormOptions {
  /** Path that the form is sent to. */
  readonly action: string;
  /** Gives the query field the focus: on the search page, not above results. */
  readonly autofocus: boolean;
  /** Identifier of the element that describes the error in the query. */
  readonly errorId?: string;
  /** Path of the help page and of the search page. */
  readonly help: string;
  readonly home: string;
}

/**
 * The query form (BRK-9.1), filled in with `form`. It is one line; the settings, which most users leave unchanged, unfold
 * below it and keep the names that old query URLs use.
 */
export function searchForm(form: QueryForm, options: SearchFormOptions): Html {
  const invalid = options.errorId;
  return html`<form class="search" role="search" method="get" action="${options.action}">
<div class="line">
<label for="query">Search for</label>
<input type="search" id="query" name="query" value="${form.query}" autocomplete="off" autocapitalize="none" spellcheck="false" enterkeyhint="search" maxlength="8192"${
    options.autofocus ? html` autofocus` : ''
  }${invalid === undefined ? '' : html` aria-invalid="true" aria-describedby="${invalid}"`}>
<button type="submit">Search</button>
</div>
<details${isUnusual(form) ? html` open` : ''}>
<summary>Settings</summary>
${settingsPart(form)}
</details>
<p class="hint"><code>and</code> <code>or</code> <code>not</code> <code>( )</code> combine, <code>"quotes"</code> hold a phrase together, <code>title : word</code> searches one attribute. <a href="${options.help}">How to search</a></p>
</form>`;
}

/** The settings of a query, and its hidden fields. */
export function settingsPart(form: QueryForm): Html {
  return html`<div class="settings">
<fieldset>
<legend>Matching</legend>
${checkbox('caseflag', 'Ignore upper and lower case', form.ignoreCase)}
${checkbox('wordflag', 'Match whole words only', form.matchWord)}
<p><label for="errorflag">Spelling errors allowed</label>
<select id="errorflag" name="errorflag">${[0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => option(n, form.errors))}</select></p>
</fieldset>
<fieldset>
<legend>Display</legend>
${checkbox('opaqueflag', 'Show matched lines', form.matchedLines)}
${checkbox('descflag', 'Show descriptions', form.descriptions)}
${checkbox('verbose', 'Show type, size and dates', form.verbose)}
<p><label for="maxobjflag">Objects at most</label>
<select id="maxobjflag" name="maxobjflag">${objectChoices(form).map((n) => option(n, form.maxObjects))}<option value="0"${selected(form.maxObjects === undefined)}>no limit</option></select></p>
<p><label for="sort">Order</label>
<select id="sort" name="sort">
<option value="by-rank"${selected(form.sort === 'by-rank')}>best first</option>
<option value="by-NML"${selected(form.sort === 'by-NML')}>most matched lines first</option>
</select></p>
</fieldset>
${hidden('maxlineflag', String(form.maxLines ?? 0))}
${form.maxResults === undefined ? '' : hidden('maxresultflag', String(form.maxResults))}
${form.lifetime === undefined ? '' : hidden('lifetime', String(form.lifetime))}
${form.config === '' ? '' : hidden('brokerqueryconfig', form.config)}
${form.broker === '' ? '' : hidden('broker', form.broker)}
${form.narrow.map((narrowing) => hidden('narrow', writeNarrowing(narrowing)))}
</div>`;
}

/** Whether settings that change the result differ from the default; the settings are then unfolded. */
function isUnusual(form: QueryForm): boolean {
  return !form.ignoreCase || !form.matchWord || form.errors > 0;
}

function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

function objectChoices(form: QueryForm): number[] {
  const choices = new Set(form.maxObjects === undefined ? MAX_OBJECTS : [...MAX_OBJECTS, form.maxObjects]);
  return [...choices].sort((a, b) => a - b);
}

function checkbox(name: string, text: string, checked: boolean): Html {
  return html`<p><input type="checkbox" id="${name}" name="${name}" value="on"${checked ? html` checked` : ''}> <label for="${name}">${text}</label></p>`;
}

function option(value: number, current: number | undefined): Html {
  return html`<option value="${value}"${selected(value === current)}>${value}</option>`;
}

function selected(yes: boolean): Html | '' {
  return yes ? html` selected` : '';
}
