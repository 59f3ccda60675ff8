// `news:` and `nntp:` URLs (RFC 5538, G-55, G-70).
import { UsageError } from '../errors.js';

/** The target of a `news:` or `nntp:` URL. */
export type NewsTarget =
  /** All groups, or those that match a pattern such as `comp.*`. */
  | { readonly kind: 'groups'; readonly pattern: string }
  | { readonly kind: 'group'; readonly group: string }
  /** By number within a group, which only one server uses. */
  | { readonly kind: 'number'; readonly group: string; readonly number: number }
  /** By message-id without its angle brackets. */
  | { readonly kind: 'message'; readonly id: string };

export interface NewsAddress {
  /** Absent: the news server of the site (G-70). */
  readonly host: string | undefined;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly target: NewsTarget;
}

export const NNTP_PORT = 119;

const AUTHORITY = /^(?:([^/?@]*)@)?(\[[^\]]*\]|[^/?:]*)(?::(\d{1,5}))?(?:\/(.*))?$/s;

/**
 * Parses a canonical `news:` or `nntp:` URL (RFC 5538, G-55, G-70): `news:GROUP`, `news:ID`, `news:*`, each
 * also with `//host[:port]/`, and `nntp://host[:port]/GROUP[/NUMBER]`.
 * @throws UsageError for any other URL, or for a name that would break a command line
 */
export function parseNewsUrl(url: string): NewsAddress {
  const match = /^(news|nntp):(\/\/)?(.*)$/s.exec(url);
  if (match === null) throw new UsageError('not a canonical news URL');
  const [, scheme, slashes, rest = ''] = match;
  if (slashes === undefined) {
    const siteServer = { host: undefined, port: NNTP_PORT, user: undefined, password: undefined };
    return { ...siteServer, target: parseTarget(rest, scheme === 'nntp') };
  }
  const parts = AUTHORITY.exec(rest);
  if (parts === null) throw new UsageError('not a canonical news URL');
  const [, userInfo, host = '', port = String(NNTP_PORT), path = ''] = parts;
  const [user, password] = (userInfo ?? '').split(/:(.*)/s);
  return {
    host: host === '' ? undefined : host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    user: userInfo === undefined ? undefined : unescapeSafe(user ?? ''),
    password: password === undefined ? undefined : unescapeSafe(password),
    target: parseTarget(path, scheme === 'nntp'),
  };
}

function parseTarget(path: string, numbers: boolean): NewsTarget {
  const name = unescapeSafe(path);
  if (name === '' || /[*?]/.test(name))
    return { kind: 'groups', pattern: name === '' ? '*' : checkName(name) };
  if (!numbers && name.includes('@')) return { kind: 'message', id: parseMessageId(name) };
  const numbered = numbers ? /^([^/]+)\/(\d{1,15})$/.exec(name) : null;
  if (numbered !== null)
    return { kind: 'number', group: checkName(numbered[1]!), number: Number(numbered[2]) };
  return { kind: 'group', group: checkName(name.replace(/\/$/, '')) };
}

function checkName(name: string): string {
  if (name === '' || /[\s/]/.test(name)) throw new UsageError('not the name of a newsgroup or article');
  return name;
}

function parseMessageId(name: string): string {
  const id = name.replace(/^<|>$/g, '');
  if (/[\s<>]/.test(id)) throw new UsageError('not a message-id');
  return id;
}

function unescapeSafe(escaped: string): string {
  let text = escaped;
  try {
    text = decodeURIComponent(escaped);
  } catch {
    // A stray percent sign is literal.
  }
  if (/[\r\n\0]/.test(text)) throw new UsageError('a news URL cannot contain line ends');
  return text;
}

/**
 * The URL of an article of a group, in the scheme of the group's URL: by number for `nntp:`, otherwise by
 * message-id.
 */
export function articleUrl(groupUrl: string, article: { number: number; messageId: string }): string {
  if (groupUrl.startsWith('nntp:')) return `${groupUrl.replace(/\/$/, '')}/${article.number}`;
  const id = escapeName(article.messageId.replace(/^<|>$/g, ''));
  return `${baseUrlOf(groupUrl)}${id}`;
}

/** The URL of a group in a list of groups. */
export function groupUrl(listUrl: string, group: string): string {
  return `${baseUrlOf(listUrl)}${escapeName(group)}`;
}

function baseUrlOf(url: string): string {
  const authority = /^(?:news|nntp):\/\/[^/]*/.exec(url)?.[0];
  return authority === undefined ? 'news:' : `${authority}/`;
}

function escapeName(name: string): string {
  return name.replace(/[^\w$@.+\-!&=:'()*,;]/gu, encodeURIComponent);
}
