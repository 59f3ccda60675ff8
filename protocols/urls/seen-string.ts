// The string by which a crawl recognizes a URL that it has seen (CRAWL-14.1).
import { RE2JS } from 're2js';
import { UsageError } from '../errors.js';

/** CRAWL-14.1: a rule that unifies URLs of the same page. The result is compared, never fetched. */
export interface SeenRule {
  readonly name: string;
  readonly apply: (url: string) => string;
}

/**
 * The string whose key decides whether a URL was seen before (CRAWL-14.1): applies the rules in order. Http and
 * https of a page stay two URLs.
 *
 * @param url a canonical URL
 * @param rules default {@link DEFAULT_SEEN_RULES}
 */
export function canonicalString(url: string, rules: readonly SeenRule[] = DEFAULT_SEEN_RULES): string {
  let text = url;
  for (const rule of rules) text = rule.apply(text);
  return text;
}

export const LOWERCASE: SeenRule = { name: 'Lowercase', apply: (url) => url.toLowerCase() };

export const STRIP_USERINFO: SeenRule = {
  name: 'StripUserinfo',
  apply: (url) => (url.includes('@') ? url.replace(/^((?:https?|ftps?):\/\/)[^/]*@/i, '$1') : url),
};

/** Strips `www.`, `www2.` etc., if something follows the first slash after the host. */
export const STRIP_WWW_N: SeenRule = {
  name: 'StripWWWN',
  apply: (url) => (hasWww(url) ? url.replace(/^(https?:\/\/)www\d*\.([^/]*\/.)/is, '$1$2') : url),
};

export const STRIP_SESSION_IDS: SeenRule = {
  name: 'StripSessionIDs',
  apply: (url) => {
    if (!/sid=|sessionid/i.test(url)) return url;
    let text = url;
    for (const pattern of SESSION_IDS) text = removeLast(text, pattern);
    return text;
  },
};

export const STRIP_SESSION_CFIDS: SeenRule = {
  name: 'StripSessionCFIDs',
  apply: (url) => (/cfid=/i.test(url) ? removeLast(url, CFID) : url),
};

/** Makes one repair in each call: an empty query, an empty first or last parameter. */
export const FIXUP_QUERY: SeenRule = {
  name: 'FixupQuery',
  apply: (url) => {
    const mark = url.lastIndexOf('?');
    if (mark < 0) return url;
    if (mark === url.length - 1) return url.slice(0, -1);
    if (url[mark + 1] === '&') {
      return url.length === mark + 2 ? url.slice(0, mark) : url.slice(0, mark + 1) + url.slice(mark + 2);
    }
    return url.endsWith('&') ? url.slice(0, -1) : url;
  },
};

/** Optional: like StripWWWN, but without digits. */
export const STRIP_WWW: SeenRule = {
  name: 'StripWWW',
  apply: (url) => (hasWww(url) ? url.replace(/^(https?:\/\/)www\.([^/]*\/.)/is, '$1$2') : url),
};

/** Optional: collapses runs of slashes after the scheme, also in the query. */
export const STRIP_EXTRA_SLASHES: SeenRule = {
  name: 'StripExtraSlashes',
  apply: (url) => {
    const scheme = /^https?:\/\//i.exec(url)?.[0];
    return scheme === undefined ? url : scheme + url.slice(scheme.length).replace(/\/{2,}/g, '/');
  },
};

/** CRAWL-14.1, 14.2: the six rules in their order. */
export const DEFAULT_SEEN_RULES: readonly SeenRule[] = [
  LOWERCASE,
  STRIP_USERINFO,
  STRIP_WWW_N,
  STRIP_SESSION_IDS,
  STRIP_SESSION_CFIDS,
  FIXUP_QUERY,
];

/** All named rules, the optional ones last. */
export const SEEN_RULES: readonly SeenRule[] = [...DEFAULT_SEEN_RULES, STRIP_WWW, STRIP_EXTRA_SLASHES];

/**
 * The rules of an operator's list of names, in order (CRAWL-14.1). Names are case-insensitive.
 * @throws UsageError for an unknown name
 */
export function seenRules(names: readonly string[]): SeenRule[] {
  return names.map((name) => {
    const rule = SEEN_RULES.find((known) => known.name.toLowerCase() === name.trim().toLowerCase());
    if (rule !== undefined) return rule;
    throw new UsageError(
      `${name} is not one of the rules ${SEEN_RULES.map((known) => known.name).join(', ')}`,
    );
  });
}

/**
 * CRAWL-14.1 Regex: an operator's own rule. It applies if it matches the whole string.
 * @param pattern matched in linear time
 * @param format the new string; `${1}` is the text of the first group, or ''
 * @throws UsageError when the pattern is not a regular expression
 */
export function regexRule(pattern: string, format: string): SeenRule {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    throw new UsageError(`${pattern} is not a regular expression`, { cause: error });
  }
  return {
    name: 'Regex',
    apply: (url) => {
      const matcher = compiled.matcher(url);
      if (!matcher.matches()) return url;
      return format.replace(/\$\{(\d+)\}/g, (_, digits: string) => {
        const group = Number(digits);
        return group > matcher.groupCount() ? '' : (matcher.group(group) ?? '');
      });
    },
  };
}

/** Each is applied once, in this order. `sid=` follows `phpsessid=`, which it is a suffix of. */
const SESSION_IDS: readonly RegExp[] = [
  /(?:jsessionid|phpsessid)=[0-9a-z]{32}(?:&|$)/gi,
  /sid=[0-9a-z]{32}(?:&|$)/gi,
  /aspsessionid[a-z]{8}=[a-z]{24}(?:&|$)/gi,
];
const CFID = /cfid=[^&]+&cftoken=[^&]+(?:&jsession=[^&]+)?(?:&|$)/gi;

/** Removes the last match that is not at the beginning of the text. */
function removeLast(text: string, pattern: RegExp): string {
  let last: RegExpExecArray | undefined;
  for (const match of text.matchAll(pattern)) {
    if (match.index > 0) last = match;
  }
  return last === undefined ? text : text.slice(0, last.index) + text.slice(last.index + last[0].length);
}

function hasWww(url: string): boolean {
  const host = url.indexOf('://') + 3;
  return url.startsWith('www', host) || url.startsWith('WWW', host);
}
