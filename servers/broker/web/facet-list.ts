import { type Content, type Html, html } from '../../web/html.js';
import type { Facet, FacetCounts } from './facets.js';
import { DEFAULT_FORM, isEmptyForm, type QueryForm, writeForm } from './form.js';
import type { Narrowing, NarrowKind } from './narrow.js';

const FACET_TITLES: Readonly<Record<NarrowKind, string>> = {
  type: 'Type',
  host: 'Host',
  gatherer: 'Gatherer',
};

/** Renders the counts next to the results, each a link that narrows the result. */
export function renderFacets(form: QueryForm, counts: FacetCounts, action: string): Html {
  const facets = counts.facets.filter(({ values }) => values.length > 0);
  if (facets.length === 0) return html``;
  return html`<aside class="facets" id="narrow" aria-label="Narrow the results">
${facets.map((facet) => renderFacet(form, facet, action))}${counts.complete ? '' : html`<p class="count">These counts are lower bounds: counting stopped at a limit.</p>\n`}</aside>`;
}

function renderFacet(form: QueryForm, { kind, values, others }: Facet, action: string): Html {
  const id = `facet-${kind}`;
  return html`<h2 id="${id}">${FACET_TITLES[kind]}</h2>
<ul aria-labelledby="${id}">
${values.map(({ value, objects }) => html`<li>${renderFacetValue(form, { kind, value }, action)} <span class="number">${objects.toLocaleString('en')}</span></li>\n`)}${others > 0 ? html`<li class="count">${others} more</li>\n` : ''}</ul>
`;
}

function renderFacetValue(form: QueryForm, narrowing: Narrowing, action: string): Content {
  const { kind, value } = narrowing;
  if (value === '') return html`<span>unknown</span>`;
  if (form.narrow.some((other) => other.kind === kind && other.value === value)) {
    return html`<strong>${value}</strong>`;
  }
  return html`<a href="${action}?${writeForm({ ...form, page: 1, narrow: [...form.narrow, narrowing] })}">${value}</a>`;
}

/**
 * Renders the restrictions of the result, each with a link that removes it.
 *
 * @param home where the last one leads if there is no query
 */
export function renderNarrowings(form: QueryForm, action: string, home: string): Content {
  if (form.narrow.length === 0) return '';
  const chips = form.narrow.map((narrowing) => {
    const rest = form.narrow.filter((other) => other !== narrowing);
    const wider = { ...form, page: 1, narrow: rest };
    const href = isEmptyForm(wider) ? home : `${action}?${writeForm(wider)}`;
    return html`<li><a href="${href}"><span>${FACET_TITLES[narrowing.kind]}: ${narrowing.value}</span> <span aria-hidden="true">×</span><span class="aside"> remove</span></a></li>\n`;
  });
  return html`<ul class="chips" aria-label="Narrowed by">\n${chips}</ul>\n`;
}

/** Returns the URL of every object with this property; its page leaves the query empty for the user. */
export function browseUrl(action: string, narrowing: Narrowing): string {
  return `${action}?${writeForm({ ...DEFAULT_FORM, narrow: [narrowing] })}`;
}
