// The built-in Exploders (E-46): documents that are lists of ready objects.

/** An object from a converter or an Exploder (E-46). */
export interface FoundObject {
  readonly url: string;
  /** Template type. Default `FILE`. */
  readonly template?: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

/** Attributes in the order of their first line; repeated names add lines (E-48, E-49). */
class Fields {
  readonly #values = new Map<string, { readonly name: string; value: string }>();

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, { name, value });
    else known.value += `\n${value}`;
  }

  /** Returns the lines of an attribute. */
  get(name: string): string | undefined {
    return this.#values.get(name.toLowerCase())?.value;
  }

  get pairs(): (readonly [name: string, value: string])[] {
    return Array.from(this.#values.values(), ({ name, value }) => [name, value] as const);
  }
}

/** Splits a text at LF, CRLF and CR. */
function linesOf(text: string): string[] {
  return text.split(/\r\n?|\n/);
}

/** Attributes that form the URL: only their first word is used. */
const LOCATION = new Set(['site', 'path', 'file']);

/**
 * E-48: a Linux Software Map entry with lines `Name = value`; the name ends at white space and loses one final
 * digit. With Site, Path and File the object is the file that it describes, else the entry itself.
 */
function convertLsm(text: string, url: string): FoundObject[] {
  const found = new Fields();
  for (const line of linesOf(text)) {
    const equals = line.indexOf('=');
    if (equals < 0) continue;
    const written = /^\s*(\S+)/.exec(line.slice(0, equals))?.[1]?.replace(/\d$/, '') ?? '';
    const name = written.toLowerCase() === 'desc' ? 'Description' : written;
    const value = line.slice(equals + 1).trim();
    if (name !== '')
      found.add(name, LOCATION.has(name.toLowerCase()) ? (value.split(/\s/, 1)[0] ?? '') : value);
  }
  if (found.pairs.length === 0) return [];
  const [site, path, file] = ['Site', 'Path', 'File'].map((name) => found.get(name)?.split('\n', 1)[0] ?? '');
  const complete = [site, path, file].every((part) => part !== '');
  const joined = `${site}/${path}/${file}`.replace(/\/{2,}/g, '/');
  return [{ url: complete ? `ftp://${joined}` : url, attributes: found.pairs }];
}

/** E-49: an IAFA template with lines `Name: value`; a line without a colon continues the previous one. */
function convertIafa(text: string, url: string): FoundObject[] {
  const found = new Fields();
  let last: string | undefined;
  for (const line of linesOf(text)) {
    const [, name, value = ''] = /^([A-Za-z0-9#-]+):[ \t]*(.*)$/s.exec(line) ?? [];
    if (name !== undefined) {
      found.add(name, value.trim());
      last = name;
    } else if (last !== undefined && !line.includes(':') && line.trim() !== '') {
      found.add(last, line.trim());
    }
  }
  return found.pairs.length === 0 ? [] : [{ url, attributes: found.pairs }];
}

/** E-50: names of archives by a substring of their root URL. */
const SITES: readonly (readonly [word: string, site: string])[] = [
  ['cica', 'CICA DOS'],
  ['garbo', 'Garbo DOS (Finland)'],
  ['hobbes', 'Hobbes OS/2'],
  ['ulowell', 'U. Lowell DOS Games'],
  ['oakland', 'Oakland U. DOS'],
  ['umich', 'U. Michigan DOS'],
];

/**
 * E-50: an index of a PC software archive. The first line lists root URLs, of which the first is used; every
 * other line is `(("." "p1" ... "name") "date" size "desc")`.
 */
export function* convertPcIndex(text: string): Generator<FoundObject> {
  const [first = '', ...lines] = linesOf(text);
  // The look-behind keeps the search linear in a long word without `://`.
  const root = /(?<![a-z])[a-z]+:\/\/[^\s"()]+/i.exec(first)?.[0];
  if (root === undefined) return;
  const site = SITES.find(([word]) => root.toLowerCase().includes(word))?.[1] ?? 'Unknown';
  for (const line of lines) {
    const found = /^\s*\(\(((?:\s*"(?:[^"\\]|\\.)*")+)\s*\)\s*"([^"]*)"\s+(\d+)\s*"((?:[^"\\]|\\.)*)"/.exec(
      line,
    );
    if (found === null) continue;
    const [, path = '', date = '', size = '0', description = ''] = found;
    const parts = Array.from(path.matchAll(/"((?:[^"\\]|\\.)*)"/g), (part) => removeEscapes(part[1] ?? ''));
    const attributes: [string, string][] = [['Archive-Site', site]];
    if (date.length >= 6) attributes.push(['ASCII-Date', date]);
    if (Number(size) !== 0) attributes.push(['File-Size', size]);
    if (description !== '') attributes.push(['Description', removeEscapes(description)]);
    const names = parts.filter((part) => part !== '.' && part !== '');
    yield { url: [root.replace(/\/+$/, ''), ...names].join('/'), attributes };
  }
}

function removeEscapes(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

interface Organization {
  readonly domain: string;
  organization: string;
  hosts: string;
}

/**
 * E-51: converts records of Netfind's seed data, `%D` domain, `%O` organization, `%H` hosts, to one `@DOMAIN`
 * object for each second-level domain; several records of a domain become `Embed<n>-` attributes.
 */
function convertNetfind(text: string): FoundObject[] {
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

/**
 * The domain of the second level, or the network of a subnet's number, whose larger part is the first;
 * undefined if it has no second level.
 */
function secondLevelOf(domain: string): string | undefined {
  const network = /^(\d+\.\d+)\.\d+$/.exec(domain)?.[1];
  return network ?? /(?:^|\.)([+\w-]+\.[+\w-]+)$/.exec(domain)?.[1];
}

function appendLine(before: string, more: string): string {
  return before === '' ? more : `${before}\n${more}`;
}

/** Converts a document's text to objects; `url` is that of the document. */
type Converter = (text: string, url: string) => Iterable<FoundObject>;

/** E-46, E-48 to E-51: the built-in Exploders by type. */
export const CONVERTERS: ReadonlyMap<string, Converter> = new Map<string, Converter>([
  ['LSM', convertLsm],
  ['IAFA', convertIafa],
  ['PCIndex', convertPcIndex],
  ['Netfind', convertNetfind],
]);
