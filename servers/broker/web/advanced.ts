// Renders the advanced search form.
import { type Html, html } from '../../web/html.js';
import { ATTRIBUTE_ROWS, SELECT_OPERATORS } from './compose-query.js';
import type { QueryForm } from './form.js';
import { renderSettings, type SearchFormOptions } from './search-form.js';

/** Attributes that the form suggests; the user may type any other (SOIF-6). */
const ATTRIBUTES = ['title', 'author', 'keywords', 'description', 'abstract', 'full-text', 'type', 'url'];

/**
 * Renders the advanced form: fields instead of operators. The query program composes the query from them and
 * shows it.
 */
export function renderAdvancedForm(form: QueryForm, options: SearchFormOptions): Html {
  return html`<h1>Advanced search</h1>
<p>Fill in any of the fields; the results page shows the resulting query, ready to be edited.</p>
<form class="search advanced" role="search" method="get" action="${options.action}">
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
<p class="actions"><button type="submit">Search</button> <a href="${options.home}">Simple search</a></p>
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
