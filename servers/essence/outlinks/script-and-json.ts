// References in scripts and JSON (CRAWL-11.2, ExtractorJS): strings that are probably URLs.
import type { ReferenceSink } from './attributes.js';

/**
 * A string between quotes, which may be escaped because the script writes another script. Quotes within it end
 * it.
 */
const STRING = /(\\{0,8}(?:["'`]|u002[27]|x2[27]))([^"'`\n\r]{2,1024}?)\1/g;

const ESCAPE = /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs;

/**
 * Calls back with each string of a script that is probably a URL, escapes resolved. Takes time in proportion to
 * the text.
 */
export function scanScript(text: string, add: (reference: string) => void): void {
  STRING.lastIndex = 0;
  for (let match = STRING.exec(text); match !== null; match = STRING.exec(text)) {
    const [, quote = '', content = ''] = match;
    // The end of one string may begin the next: scripts are not parsed.
    STRING.lastIndex = match.index + quote.length;
    if (!content.includes('/') && !content.includes('.')) continue;
    const candidate = withoutEscapes(content).replaceAll('&amp;', '&').trim();
    if (isLikelyUrl(candidate)) add(candidate);
  }
}

/** Characters that a string with its quotes can have. */
const MAX_STRING = 1100;

/** Reads a script in pieces, as {@link scanScript} does. */
export class ScriptReader {
  readonly #add: (reference: string) => void;
  /** The end of the last piece, in which a string may begin. */
  #rest = '';

  constructor(add: (reference: string) => void) {
    this.#add = add;
  }

  write(text: string): void {
    const whole = this.#rest + text;
    scanScript(whole, this.#add);
    this.#rest = whole.slice(-MAX_STRING);
  }
}

function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    ESCAPE,
    (_, braced: string | undefined, four: string | undefined, two: string | undefined, other = '') => {
      const code = braced ?? four ?? two;
      if (code === undefined) return other;
      const point = Number.parseInt(code, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : '';
    },
  );
}

// Whether a string of a script, or of an attribute of another meaning, is probably a reference (CRAWL-2.2, hop
// X).

/** An absolute URL, or one that begins with `//`, whose host has a dot. */
const ABSOLUTE = /^(?:https?:)?\/\/[^<>\s/]+\.[^<>\s/]+(?:\/[^<>\s]*)?$/i;

const PAIR = '[a-zA-Z_]+=(?:[\\w/.-]|%[0-9a-fA-F]{2})*';
/**
 * A relative path of plain characters, with an optional query of `name=value` pairs. Its groups are the file
 * name and its last extension.
 */
const RELATIVE = new RegExp(
  `^(?:\\.?/)?(?:(?:[\\w-]+|\\.\\.)/)*([\\w-]+(?:\\.[\\w-]+)?(\\.[a-zA-Z0-9]{2,5})?)?(?:\\?${PAIR}(?:&${PAIR})*)?(?:#[\\w-]+)?$`,
);

/** Extensions of file names that have two dots, as `site.min.js`. */
const DOUBLE_EXTENSION = /\.(?:jpe?g|js|css|png|gif|webp|svg|mp[34]|html?|pdf)$/i;
const MEDIA_TYPE = /^(?:application|audio|font|image|message|model|multipart|text|video)\/[^/]+$/i;
const NUMBER = /^\d+(?:[./]\d+)*$/;
/** A selector of a style sheet, as `div.menu`. */
const SELECTOR =
  /^(?:a|article|aside|b|body|button|div|em|footer|form|h[1-6]|header|i|iframe|img|input|label|li|link|main|nav|ol|option|p|pre|section|select|span|strong|svg|table|tbody|td|tfoot|th|thead|tr|ul|video)\.[^./]+$/i;

/** Longest string that is examined. A relative path costs time in proportion to its length. */
const MAX_LENGTH = 2048;

/**
 * Follows the tests of Heritrix 3: a dot or a slash; an absolute URL with a dot in its host, or a relative path
 * of plain characters; no media type, number, or selector.
 */
export function isLikelyUrl(text: string): boolean {
  if (text.length < 2 || text.length > MAX_LENGTH || !/[./]/.test(text)) return false;
  if (ABSOLUTE.test(text)) return true;
  const found = RELATIVE.exec(text);
  if (found === null) return false;
  const [, name = '', extension] = found;
  if (extension !== undefined && name.indexOf('.') !== name.lastIndexOf('.') && !DOUBLE_EXTENSION.test(name))
    return false;
  return !MEDIA_TYPE.test(text) && !NUMBER.test(text) && !SELECTOR.test(text);
}

// References in JSON: linked data (JSON-LD), manifests of applications, import maps, answers of programs.

/** Names whose strings are documents that a page shows. */
const EMBEDDED =
  /^(?:src|srcset|image|images|imageurl|logo|icon|icons|photo|poster|thumbnail|thumbnailurl|contenturl|embedurl|screenshot|screenshots|background|audio|video|imports)$/i;
/** Names whose strings are pages. */
const LINKED =
  /^(?:url|urls|href|link|links|sameas|starturl|start_url|scope|mainentityofpage|discussionurl|downloadurl|item|relatedlink|target|page|homepage)$/i;
/** Names whose strings name a vocabulary. */
const VOCABULARY = /^@(?:context|type|vocab|base)$/;

/** Values that are examined: nested more deeply than the stack of calls allows, they are no danger. */
const MAX_VALUES = 1_000_000;

/** Calls back with each reference. Text that is not JSON is read as a script. */
export function scanJson(text: string, add: ReferenceSink): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    scanScript(text, (reference) => add(reference, 'X'));
    return;
  }
  const open: { value: unknown; name: string }[] = [{ value, name: '' }];
  for (let count = 0; count < MAX_VALUES; count++) {
    const next = open.pop();
    if (next === undefined) return;
    if (typeof next.value === 'string') addString(next.value.trim(), next.name, add);
    else if (Array.isArray(next.value)) {
      for (const item of next.value.toReversed()) open.push({ value: item, name: next.name });
    } else if (typeof next.value === 'object' && next.value !== null) {
      for (const [name, item] of Object.entries(next.value).toReversed())
        open.push({ value: item, name: nameWithin(next.name, name) });
    }
  }
}

/** The values of an import map, and the URL of an image that is an object, are named by what contains them. */
function nameWithin(outer: string, name: string): string {
  return /^imports$/i.test(outer) || (EMBEDDED.test(outer) && /^(?:@id|href|url)$/i.test(name))
    ? outer
    : name;
}

function addString(text: string, name: string, add: ReferenceSink): void {
  if (VOCABULARY.test(name) || text === '') return;
  if (EMBEDDED.test(name) || LINKED.test(name)) {
    if (!/[\s<>]/.test(text) && /[./?]/.test(text)) add(text, EMBEDDED.test(name) ? 'E' : 'L');
  } else if (isLikelyUrl(text) && /^(?:https?:)?\/\//i.test(text)) add(text, 'X');
}
