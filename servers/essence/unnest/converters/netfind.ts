import { type FoundObject, linesOf } from './lines.js';

interface Organization {
  readonly domain: string;
  organization: string;
  hosts: string;
}

/**
 * E-51: converts records of Netfind's seed data, `%D` domain, `%O` organization, `%H` hosts, to one `@DOMAIN` object for each
 * second-level domain; several records of a domain become `Embed<n>-` attributes.
 */
export function convertNetfind(text: string): FoundObject[] {
  const groups = new Map<string, Organization[]>();
  let current: Organization | undefined;
  for (const line of linesOf(text)) {
    const [, tag = '', raw = ''] = /^%([DOH])(.*)$/i.exec(line) ?? [];
    const letter = tag.toUpperCase();
    const value = raw.trim() === UNSPECIFIED ? '' : raw.trim();
    if (letter === 'D') {
      current = { domain: value, organization: '', hosts: '' };
      const key = secondLevelOf(value);
      if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), current]);
    } else if (current !== undefined && letter === 'O')
      current.organization = appendLine(current.organization, value);
    else if (current !== undefined && letter === 'H') current.hosts = appendLine(current.hosts, value);
  }
  return Array.from(groups, ([domain, records]) => ({
    url: `nop:${domain}`,
    template: 'DOMAIN',
    attributes: records.flatMap((record, i) => {
      const prefix = records.length === 1 ? '' : `Embed<${i + 1}>-`;
      const pairs = [
        ['Domain', record.domain],
        ['Organization', record.organization],
        ['Hosts', record.hosts],
      ] as const;
      return pairs
        .filter(([, value]) => value !== '')
        .map(([name, value]) => [`${prefix}${name}`, value] as const);
    }),
  }));
}

/** What the original writes for an empty value, and leaves out again. */
const UNSPECIFIED = 'unspecified';

/** The domain of the second level, or the network of a subnet's number, whose larger part is the first; undefined if it has no second level. */
function secondLevelOf(domain: string): string | undefined {
  const network = /^(\d+\.\d+)\.\d+$/.exec(domain)?.[1];
  return network ?? /(?:^|\.)([+\w-]+\.[+\w-]+)$/.exec(domain)?.[1];
}

function appendLine(before: string, more: string): string {
  return before === '' ? more : `${before}\n${more}`;
}
