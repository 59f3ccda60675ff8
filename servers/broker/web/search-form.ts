// Renders the search form (BRK-9.1).
import { type Html, html } from '../../web/html.js';
import { ATTRIBUTE_ROWS, SELECT_OPERATORS } from './compose-query.js';
import type { QueryForm } from './form.js';
import type { SiteLinks } from './layout.js';
import { writeNarrowing } from './narrow.js';

/** The choices for "Objects at most". */
const MAX_OBJECTS = [20, 50, 100, 200, 500, 1000];

/** How the page shows the form. */
export interface SearchFormOptions {
  /** Gives the query field the focus: on the search page, not above results. */
  readonly autofocus: boolean;
  /** Identifier of the element that says why there are no results. */
  readonly errorId?: string | undefined;
  /** Whether this is an error in the query. */
  readonly isWrong?: boolean;
}

/**
 * Renders the query form (BRK-9.1), filled in with `form`. It is one line. The settings, which most users leave
 * unchanged, unfold below it; their fields have the names that old query URLs use.
 */
export function renderSearchForm(
  form: QueryForm,
  site: SiteLinks,
  { autofocus, errorId, isWrong = false }: SearchFormOptions,
): Html {
  return html`<form class="search" role="search" method="get" action="${site.action}">
<div class="line">
<label for="query">Search for</label>
<div class="completions" id="completions" data-source="${site.suggestions}">
<input type="search" id="query" name="query" value="${form.query}" autocomplete="off" autocapitalize="none" spellcheck="false" enterkeyhint="search" maxlength="8192"${
    autofocus ? html` autofocus` : ''
  }${errorId === undefined ? '' : html`${isWrong ? html` aria-invalid="true"` : ''} aria-describedby="${errorId}"`}>
</div>
<button type="submit">Search</button>
</div>
<details${hasUnusualSettings(form) ? html` open` : ''}>
<summary>Settings</summary>
${renderSettings(form)}
</details>
<p class="hint"><code>and</code> <code>or</code> <code>not</code> <code>( )</code> combine, <code>"quotes"</code> make a phrase, <code>title : word</code> searches one attribute. <a href="${site.help}">How to search</a></p>
</form>`;
}

/** Renders the settings of a query, and its hidden fields. */
function renderSettings(form: QueryForm): Html {
  return html`<div class="settings">
<fieldset>
<legend>Matching</legend>
${renderHidden('caseflag', 'off')}
${renderCheckbox('caseflag', 'Ignore upper and lower case', form.ignoreCase)}
${renderCheckbox('wordflag', 'Match whole words only', form.matchWord)}
${renderCheckbox('forms', 'Forgiving: other forms of the words, and most of them', form.forms)}
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
<select id="maxobjflag" name="maxobjflag"><option value="0"${selectedAttribute(form.maxObjects === undefined)}>no limit</option>${objectChoices(form).map((n) => renderOption(n, form.maxObjects))}</select></p>
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

/** Attributes that the form suggests; the user may type any other (SOIF-10.1). */
const ATTRIBUTES = ['title', 'author', 'keywords', 'description', 'abstract', 'full-text', 'type', 'url'];

/**
 * Renders the advanced form: fields instead of operators. The query program composes the query from them and
 * shows it.
 */
export function renderAdvancedForm(form: QueryForm, site: SiteLinks): Html {
  return html`<h1>Advanced search</h1>
<p>Fill in any of the fields; the results page shows the resulting query, ready to be edited.</p>
<form class="search advanced" role="search" method="get" action="${site.action}">
<fieldset>
<legend>Words</legend>
${renderTextField('all', 'All of these words', html` autofocus`)}
${renderTextField('phrase', 'This exact phrase')}
${renderTextField('any', 'At least one of these words')}
${renderTextField('none', 'None of these words')}
</fieldset>
<fieldset>
<legend>Attributes</legend>
<datalist id="attributes">${ATTRIBUTES.map((name) => html`<option value="${name}">`)}</datalist>
${Array.from({ length: ATTRIBUTE_ROWS }, (_, i) => renderAttributeRow(i + 1))}
</fieldset>
${renderSettings(form)}
<p class="actions"><button type="submit">Search</button> <a href="${site.home}">Simple search</a></p>
</form>`;
}

function renderTextField(name: string, label: string, more: Html | '' = ''): Html {
  return html`<p class="field"><label for="${name}">${label}</label> <input type="text" id="${name}" name="${name}" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="2000"${more}></p>\n`;
}

function renderAttributeRow(row: number): Html {
  return html`<p class="row" role="group" aria-label="Attribute ${row}">
<input type="text" name="attribute${row}" aria-label="Attribute ${row}, name" list="attributes" placeholder="title" autocapitalize="none" spellcheck="false" maxlength="200">
<select name="is${row}" aria-label="Attribute ${row}, comparison">${SELECT_OPERATORS.map(({ word, text }) => html`<option value="${word}">${text}</option>`)}</select>
<input type="text" name="value${row}" aria-label="Attribute ${row}, value" autocapitalize="none" spellcheck="false" maxlength="2000">
</p>
`;
}
