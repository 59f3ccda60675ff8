import type { QueryForm } from './form.js';
import { type Html, html } from './html.js';

/** The choices of "at most ... objects". */
const MAX_OBJECTS = [20, 50, 100, 200, 500, 1000];

/** What the form needs to know about the page it stands in. */
export interface SearchFormOptions {
  /** Path of the program that answers it. */
  readonly action: string;
  /** Put the cursor into the query field: on the search page, not above results. */
  readonly autofocus: boolean;
  /** Identifier of the element that says what is wrong with the query. */
  readonly errorId?: string;
  /** Path of the help page. */
  readonly help: string;
}

/**
 * The query form (BRK-9.1), filled in with `form`. It is one line; the settings, which most people leave as they
 * are, fold out below it and keep the names that old query URLs use.
 */
export function searchForm(form: QueryForm, options: SearchFormOptions): Html {
  const invalid = options.errorId;
  return html`<form class="search" role="search" method="get" action="${options.action}">
<div class="line">
<label for="query">Search for</label>
<input type="search" id="query" name="query" value="${form.query}" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="8192"${
    options.autofocus ? html` autofocus` : ''
  }${invalid === undefined ? '' : html` aria-invalid="true" aria-describedby="${invalid}"`}>
<button type="submit">Search</button>
</div>
<details${isUnusual(form) ? html` open` : ''}>
<summary>Settings</summary>
<div class="settings">
<fieldset>
<legend>Matching</legend>
${checkbox('caseflag', 'Ignore upper and lower case', form.ignoreCase)}
${checkbox('wordflag', 'Match whole words only', form.matchWord)}
<p><label for="errorflag">Spelling errors allowed</label>
<select id="errorflag" name="errorflag">${[0, 1, 2, 3, 4].map((n) => option(n, form.errors))}</select></p>
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
<input type="hidden" name="maxlineflag" value="${form.maxLines ?? 0}">
${form.maxResults === undefined ? '' : html`<input type="hidden" name="maxresultflag" value="${form.maxResults}">`}
${form.lifetime === undefined ? '' : html`<input type="hidden" name="lifetime" value="${form.lifetime}">`}
</div>
</details>
</form>
<p class="hint">Combine words with <code>and</code>, <code>or</code>, <code>not</code>, <code>( )</code>; put a phrase in <code>"quotes"</code>; search one attribute with <code>title : word</code>. <a href="${options.help}">More about queries</a></p>`;
}

/** Whether settings differ from the usual in a way that changes what is found; then they are shown. */
function isUnusual(form: QueryForm): boolean {
  return !form.ignoreCase || !form.matchWord || form.errors > 0;
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
