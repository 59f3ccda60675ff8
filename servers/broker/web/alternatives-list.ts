// Renders what a user may try when a query found nothing or little.
import type { Query } from '../../../protocols/broker/index.js';
import { type Content, type Html, html } from '../../web/html.js';
import { plural } from '../../web/values.js';
import type { Alternative } from './alternatives.js';
import { writeForm } from './form.js';
import { describeQuery } from './query-words.js';

/** Renders how the query was understood. */
export function renderReading(query: Query): Html {
  return html`<p class="reading">Understood as: ${describeQuery(query)}.</p>\n`;
}

/** Renders the links to queries that find more. */
export function renderAlternatives(alternatives: readonly Alternative[], action: string): Content {
  if (alternatives.length === 0) return '';
  return html`<ul class="alternatives">
${alternatives.map(
  (alternative) =>
    html`<li>${sentence(alternative, (text) => html`<a href="${action}?${writeForm(alternative.form)}">${text}</a>`)} <span class="number">${count(alternative)}</span></li>\n`,
)}</ul>
`;
}

function sentence({ kind, form, word }: Alternative, link: (text: Content) => Html): Content {
  switch (kind) {
    case 'spelling':
      return html`Did you mean ${link(html`<q>${form.query}</q>`)}?`;
    case 'text':
      return html`As text, not as an attribute: ${link(form.query)}`;
    case 'words':
      return html`As words, not as an attribute: ${link(form.query)}`;
    case 'errors':
      return link('Allow one spelling error in each word');
    case 'parts':
      return link('Also find parts of words');
    case 'everywhere':
      return link('Without narrowing the result');
    case 'without':
      return link(html`Without <q>${word ?? ''}</q>`);
    case 'any':
      return link('One of the words suffices');
  }
}

function count({ objects, more }: Alternative): string {
  return `${more ? 'more than ' : ''}${plural(objects, 'object')}`;
}
