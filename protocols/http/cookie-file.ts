// Netscape's cookies.txt, in which browsers, curl, wget and Heritrix exchange cookies (CRAWL-11.8): one cookie
// a line, seven fields, tabs between them. Text is Latin-1, a character for each byte.
import type { UnixSeconds } from '../time.js';

/** A cookie of the file. */
export interface FileCookie {
  /** In lower case, without a leading dot. */
  readonly domain: string;
  /** Whether it is sent to this host only, not to those below it. */
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  /** 0: a cookie of the session, without an end. */
  readonly expires: UnixSeconds;
  /** May be empty. */
  readonly name: string;
  readonly value: string;
}

/** A line that is not a cookie. */
export interface CookieFileProblem {
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

/** curl's mark of a cookie that scripts cannot read; other readers take its line for a comment. */
const HTTP_ONLY = '#HttpOnly_';

/**
 * Reads a cookie file. Comments and empty lines are skipped, wrong lines are reported, and the others are kept.
 */
export function parseCookieFile(text: string): {
  readonly cookies: FileCookie[];
  readonly problems: CookieFileProblem[];
} {
  const cookies: FileCookie[] = [];
  const problems: CookieFileProblem[] = [];
  text.split(/\r\n|\r|\n/).forEach((line, i) => {
    if (line.trim() === '' || (line.startsWith('#') && !line.startsWith(HTTP_ONLY))) return;
    const cookie = parseLine(line);
    if (typeof cookie === 'string') problems.push({ line: i + 1, problem: cookie });
    else cookies.push(cookie);
  });
  return { cookies, problems };
}

/** Returns the error if the line is not a cookie. */
function parseLine(line: string): FileCookie | string {
  const httpOnly = line.startsWith(HTTP_ONLY);
  const fields = (httpOnly ? line.slice(HTTP_ONLY.length) : line).split('\t');
  // Some writers leave out an empty value with its tab.
  if (fields.length !== 7 && fields.length !== 6) return `it has ${fields.length} fields, not 7`;
  const [host = '', subdomains = '', path = '', secure = '', expires = '', name = '', value = ''] = fields;
  const domain = host.replace(/^\./, '').toLowerCase();
  if (!/^(?!\.)[\w.:[\]-]+$/.test(domain)) return 'the first field is not a domain';
  const hostOnly = isFalse(subdomains);
  if (hostOnly === undefined) return 'the second field is neither TRUE nor FALSE';
  if (!path.startsWith('/')) return 'the path does not begin with a slash';
  const notSecure = isFalse(secure);
  if (notSecure === undefined) return 'the fourth field is neither TRUE nor FALSE';
  // Firefox and yt-dlp write fractions.
  if (!/^\d{1,15}(?:\.\d{1,9})?$/.test(expires)) return 'the time of expiry is not a number of seconds';
  return {
    domain,
    hostOnly,
    path,
    secure: !notSecure,
    httpOnly,
    expires: Math.floor(Number(expires)),
    name,
    value,
  };
}

function isFalse(field: string): boolean | undefined {
  const word = field.toUpperCase();
  if (word === 'FALSE') return true;
  return word === 'TRUE' ? false : undefined;
}

/** First line of a cookie file, by which some readers recognize it. */
export const COOKIE_FILE_HEAD = '# Netscape HTTP Cookie File\n';

/**
 * Formats a cookie as a line of a cookie file, with its line end. Undefined for a cookie that the file cannot
 * hold: one with a tab, a line end or NUL in it.
 */
export function formatCookieLine(cookie: FileCookie): string | undefined {
  const { domain, hostOnly, path, secure, httpOnly, expires, name, value } = cookie;
  const fields = [
    (httpOnly ? HTTP_ONLY : '') + (hostOnly ? '' : '.') + domain,
    hostOnly ? 'FALSE' : 'TRUE',
    path,
    secure ? 'TRUE' : 'FALSE',
    String(expires),
    name,
    value,
  ];
  if (fields.some((field) => /[\0\t\r\n]/.test(field))) return undefined;
  return `${fields.join('\t')}\n`;
}
