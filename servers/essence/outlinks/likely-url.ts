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
