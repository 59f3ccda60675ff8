// References in the header of an HTTP response (CRAWL-11.2, ExtractorHTTP).
import type { UrlForm } from '../../../protocols/urls/index.js';
import { hopOfRelation } from './attributes.js';
import { type Outlink, OutlinkCollector } from './collector.js';
import { refreshTarget } from './markup.js';

/** Members of the list of a Link field that are examined. */
const MAX_MEMBERS = 1000;

/** One member: `<target>; rel="..."; ...`, up to a comma that is not quoted. */
const MEMBER = /\s*<([^>]*)>((?:[^",]|"(?:[^"\\]|\\.)*"?)*)/gy;
const RELATION = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/**
 * Extracts the targets of the fields Link (RFC 8288), Refresh and Content-Location. A redirect's Location is
 * not among them.
 *
 * @param headers - names in lower case; several fields of one name are joined by commas
 */
export function headerOutlinks(
  headers: Readonly<Record<string, string | undefined>>,
  url: string,
  maxLinks: number,
  form: UrlForm = 'canonical',
): readonly Outlink[] {
  const collector = new OutlinkCollector(url, maxLinks, form);
  for (const [target, parameters] of members(headers.link ?? '')) {
    const relation = RELATION.exec(parameters);
    const hop = hopOfRelation(relation?.[1] ?? relation?.[2] ?? '');
    if (hop !== undefined) collector.add(target, hop);
  }
  const refresh = refreshTarget(headers.refresh ?? '');
  if (refresh !== undefined) collector.add(refresh, 'R');
  const location = headers['content-location']?.trim();
  if (location !== undefined) collector.add(location, 'R');
  return collector.links.filter((link) => link.url !== url);
}

function* members(field: string): Generator<readonly [target: string, parameters: string]> {
  MEMBER.lastIndex = 0;
  for (let count = 0; count < MAX_MEMBERS; count++) {
    const start = MEMBER.lastIndex;
    const [, target = '', parameters = ''] = MEMBER.exec(field) ?? [];
    // What is no member is skipped up to the next comma.
    const end = MEMBER.lastIndex > start ? MEMBER.lastIndex : field.indexOf(',', start);
    if (target !== '') yield [target, parameters];
    if (end < 0 || end >= field.length) return;
    MEMBER.lastIndex = field[end] === ',' ? end + 1 : end;
    if (MEMBER.lastIndex === start) return;
  }
}
