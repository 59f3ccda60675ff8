import { type Html, html } from '../../web/html.js';
import type { QueryForm } from './form.js';
import { SELECT_WORDS, type SearchFormOptions, settingsPart } from './search-form.js';

/** Rows of the advanced form that ask about one attribute. */
const ROWS = 3;

/** Attributes offered; any other can be typed (SOIF-6). */
const ATTRIBUTES = ['title', 'author', 'keywords', 'description', 'abstract', 'full-text', 'type', 'url'];

/**
 * The query that the fields of the advanced form say, in the Broker's language (BRK-2): `all`, `phrase`, `any`, `none`, and
 * `attribute1` `is1` `value1` up to 3. Everything is quoted, so that no word is taken for an operator (BRK-2.6), and
 * grouped by brackets, because operators group to the right (BRK-2.12). Empty when nothing was filled in.
 */
export function composeQuery(fields: URLSearchParams): string {
  const field = (name: string) => (fields.get(name) ?? '').replace(/\s+/g, ' ').trim();
  const words = (name: string) => wordsAndPhrases(field(name)).map(quoted);
  const any = words('any');
  const parts = [
    ...words('all'),
    ...(field('phrase') === '' ? [] : [quoted(field('phrase').replaceAll('"', ''))]),
    ...(any.length > 1 ? [`(${any.join(' or ')})`] : any),
  ];
  for (let row = 1; row <= ROWS; row++) {
    const attribute = field(`attribute${row}`);
    const value = field(`value${row}`);
    if (attribute === '' || value === '') continue;
    const operator = SELECT_WORDS.find(({ word }) => word === field(`is${row}`))?.word ?? ':';
    parts.push(`${quotedName(attribute)} ${operator} ${quoted(value)}`);
  }
  const none = words('none').map((word) => `not ${word}`);
  return [...parts, ...none].join(' and ');
}

/** Blank-separated words; what stands in quotes is one. */
function wordsAndPhrases(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"?|[^\s"]+/g)]
    .map((match) => (match[1] ?? match[0]).trim())
    .filter((word) => word !== '');
}

function quotedName(name: string): string {
  return /^[A-Za-z][\w<>-]*$/.test(name) && !/^(?:and|or|not|except)$/i.test(name) ? name : quoted(name);
}

/** BRK-2.7: backslashes reach the engine, which uses them to take the next character literally. */
function quoted(text: string): string {
  return `"${text.replace(/\\$/, '\\\\').replaceAll('"', '\\"')}"`;
}

/** The advanced form: fields instead of operators. It asks the same program, which writes the query out. */
export function advancedPart(form: QueryForm, options: SearchFormOptions): Html {
  return html`<h1>Advanced search</h1>
<p>Fill in what you know; the results show the query that your answers make, ready to be edited.</p>
<form class="search advanced" role="search" method="get" action="${options.action}">
<fieldset>
<legend>Words</legend>
${line('all', 'All of these words', html` autofocus`)}
${line('phrase', 'This exact phrase')}
${line('any', 'At least one of these words')}
${line('none', 'None of these words')}
</fieldset>
<fieldset>
<legend>Attributes</legend>
<datalist id="attributes">${ATTRIBUTES.map((name) => html`<option value="${name}">`)}</datalist>
${Array.from({ length: ROWS }, (_, i) => attributeRow(i + 1))}
</fieldset>
${settingsPart(form)}
<p class="actions"><button type="submit">Search</button> <a href="${options.home}">Simple search</a></p>
</form>`;
}

function line(name: string, label: string, more: Html | '' = ''): Html {
  return html`<p class="field"><label for="${name}">${label}</label> <input type="text" id="${name}" name="${name}" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="2000"${more}></p>\n`;
}

function attributeRow(row: number): Html {
  return html`<p class="row" role="group" aria-label="Attribute ${row}">
<input type="text" name="attribute${row}" aria-label="Attribute ${row}, name" list="attributes" placeholder="title" autocapitalize="none" spellcheck="false" maxlength="200">
<select name="is${row}" aria-label="Attribute ${row}, comparison">${SELECT_WORDS.map(({ word, text }) => html`<option value="${word}">${text}</option>`)}</select>
<input type="text" name="value${row}" aria-label="Attribute ${row}, value" autocapitalize="none" spellcheck="false" maxlength="2000">
</p>
`;
}
