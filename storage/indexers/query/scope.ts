/**
 * What a word searches when a request asks for the content of objects (BRK-2.26, `#index scope content`): what a person
 * reads, and the name of the file, but not what programs keep about the object, nor the URLs that it links to.
 */

const BOOKKEEPING: ReadonlySet<string> = new Set([
  'content-type',
  'file-size',
  'language',
  'last-modification-time',
  'link-text',
  'md5',
  'refresh-rate',
  'time-to-live',
  'type',
  'update-time',
  'url',
  'url-references',
]);

/** Attributes of a Gatherer, and those of an object that contains others (`embed<1>-md5`). */
const GATHERER = /^gatherer-/;
const EMBEDDED = /^embed<\d+>-/;

/** Whether an attribute is content. @param key its name in lower case */
export function isContent(key: string): boolean {
  const name = key.startsWith('embed<') ? key.replace(EMBEDDED, '') : key;
  return !BOOKKEEPING.has(name) && !GATHERER.test(name);
}

/** Path and query of a URL. */
const PATH = /^[a-z][\w+.-]*:(?:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i;

/** What the names of most pages end with. */
const PAGE_SUFFIX = /(?<=.)\.(?:[sx]?html?|php|aspx?|jsp|cgi)$/i;

/**
 * The words of a URL that are its own: its last name, with its query. Hosts, directories and the suffixes of pages are those
 * of many.
 */
export function fileNameOf(url: string): string {
  const [, path = '', query = ''] = PATH.exec(url) ?? [];
  const name = path.split('/').findLast((segment) => segment !== '') ?? '';
  const own = name.replace(PAGE_SUFFIX, '');
  return decoded(query === '' ? own : `${own} ${query.replaceAll('+', ' ')}`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
