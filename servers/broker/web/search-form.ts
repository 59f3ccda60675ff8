// Renders the search form (BRK-9.1).
import { type Html, html } from '../../web/html.js';
import type { QueryForm } from './form.js';
import { writeNarrowing } from './narrow.js';

/** The choices for "Objects at most". */
const MAX_OBJECTS = [20, 50, 100, 200, 500, 1000];

/** Facts about the page of a form. */
export interface SearchFormOptions {
  /** Path that the form is sent to. */
  readonly action: string;
  /** Gives the query field the focus: on the search page, not above results. */
  readonly autofocus: boolean;
  /** Identifier of the element that describes the error in the query. */
  readonly errorId?: string;
  /** Path of the completions of a text. */
  readonly suggestions: string;
  /** Path of the help page and of the search page. */
  readonly help: string;
  readonly home: string;
}

/**
 * Renders the query form (BRK-9.1), filled in with `form`. It is one line. The settings, which most users leave
 * unchanged, unfold below it; their fields have the names that old query URLs use.
 */
export function renderSearchForm(form: QueryForm, options: SearchFormOptions): Html {
  const invalid = options.errorId;
  return html`<form class="search" role="search" method="get" action="${options.action}">
<div class="line">
<label for="query">Search for</label>
<input type="search" id="query" name="query" value="${form.query}" autocomplete="off" autocapitalize="none" spellcheck="false" enterkeyhint="search" list="completions" maxlength="8192"${
    options.autofocus ? html` autofocus` : ''
  }${invalid === undefined ? '' : html` aria-invalid="true" aria-describedby="${invalid}"`}>
<datalist id="completions" data-source="${options.suggestions}"></datalist>
<button type="submit">Search</button>
</div>
<details${hasUnusualSettings(form) ? html` open` : ''}>
<summary>Settings</summary>
${renderSettings(form)}
</details>
<p class="hint"><code>and</code> <code>or</code> <code>not</code> <code>( )</code> combine, <code>"quotes"</code> make a phrase, <code>title : word</code> searches one attribute. <a href="${options.help}">How to search</a></p>
</form>`;
}

/** Renders the settings of a query, and its hidden fields. */
export function renderSettings(form: QueryForm): Html {
  return html`<div class="settings">
<fieldset>
<legend>Matching</legend>
${renderHidden('caseflag', 'off')}
${renderCheckbox('caseflag', 'Ignore upper and lower case', form.ignoreCase)}
${renderCheckbox('wordflag', 'Match whole words only', form.matchWord)}
${renderCheckbox('forms', 'Find other forms of the words too', form.forms)}
<p><label for="errorflag">Spelling errors allowed</label>
<select id="errorflag" name="errorflag">${[0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => renderOption(n, form.errors))}</select></p>
</fieldset>
<fieldset>
<legend>Display</legend>
${renderCheckbox('opaqueflag', 'Show matched lines', form.matchedLines)}
${renderCheckbox('descflag', 'Show descriptions', form.descriptions)}
${renderCheckbox('verbose', 'Show type, size and dates', form.verbose)}
${renderCheckbox('fold', 'List two objects of each host', form.fold)}
<p><label for="maxobjflag">Objects at most</label>
<select id="maxobjflag" name="maxobjflag">${objectChoices(form).map((n) => renderOption(n, form.maxObjects))}<option value="0"${selectedAttribute(form.maxObjects === undefined)}>no limit</option></select></p>
<p><label for="sort">Order</label>
<select id="sort" name="sort">
<option value="by-rank"${selectedAttribute(form.sort === 'by-rank')}>best first</option>
<option value="by-NML"${selectedAttribute(form.sort === 'by-NML')}>most matched lines first</option>
<option value="by-date"${selectedAttribute(form.sort === 'by-date')}>newest first</option>
</select></p>
</fieldset>
${renderHidden('maxlineflag', String(form.maxLines ?? 0))}
${form.maxResults === undefined ? '' : renderHidden('maxresultflag', String(form.maxResults))}
${form.lifetime === undefined ? '' : renderHidden('lifetime', String(form.lifetime))}
${form.config === '' ? '' : renderHidden('brokerqueryconfig', form.config)}
${form.broker === '' ? '' : renderHidden('broker', form.broker)}
${form.narrow.map((narrowing) => renderHidden('narrow', writeNarrowing(narrowing)))}
</div>`;
}

/** Whether settings that affect the result differ from the default, so that the settings are shown unfolded. */
function hasUnusualSettings(form: QueryForm): boolean {
  return !form.ignoreCase || !form.matchWord || !form.forms || form.errors > 0;
}

function renderHidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

function objectChoices(form: QueryForm): number[] {
  const choices = new Set(form.maxObjects === undefined ? MAX_OBJECTS : [...MAX_OBJECTS, form.maxObjects]);
  return [...choices].sort((a, b) => a - b);
}

function renderCheckbox(name: string, text: string, checked: boolean): Html {
  return html`<p><input type="checkbox" id="${name}" name="${name}" value="on"${checked ? html` checked` : ''}> <label for="${name}">${text}</label></p>`;
}

function renderOption(value: number, current: number | undefined): Html {
  return html`<option value="${value}"${selectedAttribute(value === current)}>${value}</option>`;
}

function selectedAttribute(yes: boolean): Html | '' {
  return yes ? html` selected` : '';
}
