// Renders the search page.
import { type Html, html } from '../../web/html.js';
import { plural } from '../../web/values.js';
import type { BrokerStatistics } from '../admin/statistics.js';
import { browseUrl } from './facet-list.js';
import type { QueryForm } from './form.js';
import { type Gathering, renderGathering } from './gathering.js';
import type { SiteLinks } from './layout.js';
import type { Narrowing } from './narrow.js';
import { renderSearchForm } from './search-form.js';

/** Links for each property. */
const MAX_LINKS = 8;

/** Content of the search page. */
export interface HomeSource {
  readonly form: QueryForm;
  readonly statistics: BrokerStatistics;
  /** Number of stored objects. */
  readonly objects: number;
  readonly gathering: Gathering | undefined;
}

/** Renders the search page: the form, and links to the objects by type and host. */
export function renderHome(site: SiteLinks, { form, statistics, objects, gathering }: HomeSource): Html {
  const group = (
    title: string,
    kind: Narrowing['kind'],
    unnamed: string,
    names: BrokerStatistics['types'],
  ) => {
    const known = names.filter(({ name }) => name !== unnamed).slice(0, MAX_LINKS);
    if (known.length === 0) return '';
    return html`<h2 id="browse-${kind}">${title}</h2>
<ul class="chips" aria-labelledby="browse-${kind}">
${known.map(({ name, objects }) => html`<li><a href="${browseUrl(site.action, { kind, value: name })}">${name} <span class="number">${objects.toLocaleString('en')}</span></a></li>\n`)}</ul>
`;
  };
  return html`<div class="home">
<h1>Search ${site.brokerName}</h1>
${renderSearchForm(form, site, { autofocus: true })}
${renderGathering(gathering, site.health)}<p class="count">${plural(objects, 'object')} in this broker.</p>
${group('By type', 'type', 'unknown', statistics.types)}${group('By host', 'host', 'unknown:', statistics.hosts)}</div>`;
}
