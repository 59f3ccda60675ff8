// Renders the definitions of BrokerQuery.cf (BRK-9.5 to 9.7).

import {
  type BrokerQueryConfig,
  type BrokerQueryTemplate,
  formatNumber,
  type TemplatePart,
} from '../../../protocols/config/broker-query-cf.js';
import { applyLineRules } from '../../../protocols/config/line-rules.js';
import { hrefOfUrl } from '../../../protocols/soif/index.js';
import { type Content, escapeHtml, Html, html, isLinkable } from '../../web/html.js';
import type { ShownHit } from './results.js';

/**
 * The variables of a definition by name, without the dollar sign. Text is escaped for its context, HTML is not.
 */
export type Variables = Readonly<Record<string, Content>>;

/** Substitutes the variables of a definition (BRK-9.5). An unknown name is left unchanged. */
export function renderTemplate(parts: readonly TemplatePart[] | undefined, variables: Variables): Html {
  let text = '';
  for (const part of parts ?? []) {
    if (part.kind === 'text') {
      text += part.text;
      continue;
    }
    const value = Object.hasOwn(variables, part.name) ? variables[part.name] : part.source;
    text += typeof value === 'string' ? escapeFor(part, value) : html`${value}`.text;
  }
  return new Html(text);
}

/** Renders a definition of a file. */
export function renderDefinition(
  config: BrokerQueryConfig,
  name: BrokerQueryTemplate,
  variables: Variables,
): Html {
  return renderTemplate(config.templates[name], variables);
}

function escapeFor(part: Extract<TemplatePart, { kind: 'variable' }>, value: string): string {
  // Text from the network must not become a `javascript:` link, in whatever attribute it is.
  const text = part.beginsValue && hasScheme(value) && !isLinkable(value) ? '#' : value;
  const escaped = escapeHtml(text);
  // Without quotes, a blank would end the value; a character reference does not.
  return part.context === 'unquoted'
    ? escaped.replace(/[\s=`]/g, (character) => `&#${character.charCodeAt(0)};`)
    : escaped;
}

/** Whether a browser may find a scheme in the value: also in `$A` alone, when a colon follows it. */
function hasScheme(value: string): boolean {
  return (
    /^[\0-\x20]*[a-z][a-z0-9+.\-\s]*(?:$|:)/i.test(value) && !/^(?:https?|ftp|gopher|news)$/i.test(value)
  );
}

/** BRK-9.7: returns the parts of a URL under the given names: access method, host with port, path, directory, file. */
function urlParts(url: string, names: readonly [string, string, string, string, string]): Variables {
  const [, method = '', host = '', path = ''] =
    /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]*))?(.*)$/is.exec(url) ?? [];
  const slash = path.lastIndexOf('/') + 1;
  const values = [method, host, path, path.slice(0, slash), path.slice(slash)];
  return Object.fromEntries(names.map((name, i) => [name, values[i]]));
}

/** BRK-9.7: returns the variables of one object. */
export function objectVariables(hit: ShownHit, number: number, config: BrokerQueryConfig): Variables {
  const url = hrefOfUrl(hit.url);
  const summary = hit.objectUrl ?? '';
  const lines = hit.lines.map(({ raw }) => applyLineRules(config.lineRules ?? [], escapeHtml(raw)));
  return {
    objectnum: formatNumber(number, config.objectNumber),
    desc: hit.description ?? '',
    opaque: new Html(lines.join('\n')),
    url,
    ...urlParts(url, ['A', 'H', 'P', 'D', 'F']),
    cs_url: summary,
    ...urlParts(summary, ['cs_a', 'cs_h', 'cs_p', 'cs_d', 'cs_f']),
  };
}
