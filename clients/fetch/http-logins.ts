// Which server, and which directory of it, gets an HTTP login (G-82).
import { LRUCache } from 'lru-cache';
import { basicCredentials } from './headers.js';

/** A login for a realm, for the documents below some URLs only. */
export interface HttpLogin {
  /**
   * Canonical URLs without logins: scheme, host and port must be those of the document, and its path must be
   * below theirs. A URL `http://host/` without a port includes `https://host/`. Without any, the login is never
   * sent.
   */
  readonly urls: readonly string[];
  readonly realm: string;
  readonly user: string;
  readonly password: string;
}

/**
 * Why a challenge is not answered: no login has its realm, or its logins are for other servers or directories.
 */
export type NoLogin = 'unknown' | 'elsewhere';

/** The largest number of origins with accepted logins, and of directories of one origin. */
const MAX_ORIGINS = 10_000;
const MAX_DIRECTORIES = 64;

interface Accepted {
  /** The path up to its last slash. */
  readonly directory: string;
  readonly login: HttpLogin;
}

/**
 * The logins of a fetcher. Any server can name any realm, so the realm selects a login and the URL decides
 * whether it is sent. A login that was accepted is sent without a challenge to documents of the same directory
 * and below it (RFC 7617 2.2), within the login's own URLs.
 */
export class HttpLogins {
  readonly #logins: readonly HttpLogin[];
  readonly #accepted = new LRUCache<string, readonly Accepted[]>({ max: MAX_ORIGINS });

  constructor(logins: readonly HttpLogin[]) {
    this.#logins = logins;
  }

  /** The login that was accepted for the directory of this URL. */
  known(url: string): HttpLogin | undefined {
    if (this.#accepted.size === 0) return undefined;
    const { origin, pathname } = new URL(url);
    return this.#accepted
      .get(origin)
      ?.find(({ directory, login }) => pathname.startsWith(directory) && isFor(login, url))?.login;
  }

  /** The first login for a document whose server names this realm. */
  forRealm(url: string, realm: string | undefined): HttpLogin | NoLogin {
    const named = this.#logins.filter((login) => login.realm === realm);
    return named.find((login) => isFor(login, url)) ?? (named.length === 0 ? 'unknown' : 'elsewhere');
  }

  /** Notes that the server accepted the login for this document. */
  accept(url: string, login: HttpLogin): void {
    const { origin, pathname } = new URL(url);
    const directory = pathname.slice(0, pathname.lastIndexOf('/') + 1);
    const others = (this.#accepted.get(origin) ?? []).filter(
      (entry) => !entry.directory.startsWith(directory),
    );
    this.#accepted.set(origin, [{ directory, login }, ...others].slice(0, MAX_DIRECTORIES));
  }
}

/** The value of `Authorization` for a login. */
export function credentialsOf({ user, password }: HttpLogin): string {
  return basicCredentials(user, password);
}

function isFor({ urls }: HttpLogin, url: string): boolean {
  const document = new URL(url);
  return urls.some((prefix) => URL.canParse(prefix) && isWithin(new URL(prefix), document));
}

function isWithin(scope: URL, document: URL): boolean {
  if (scope.origin !== document.origin && !isUpgrade(scope, document)) return false;
  const directory = scope.pathname.endsWith('/') ? scope.pathname : `${scope.pathname}/`;
  if (document.pathname !== scope.pathname && !document.pathname.startsWith(directory)) return false;
  // Some servers decode the path before they resolve its dot segments.
  return scope.pathname === '/' || !hasHiddenDots(document.pathname);
}

/** Sites move from http to https. The default ports belong to the same owner, other ports need not. */
function isUpgrade(scope: URL, document: URL): boolean {
  const isDefault = scope.port === '' && document.port === '';
  return (
    isDefault &&
    scope.protocol === 'http:' &&
    document.protocol === 'https:' &&
    scope.hostname === document.hostname
  );
}

/** Whether a path has a dot segment once its escapes are decoded, several times if they are nested. */
function hasHiddenDots(path: string): boolean {
  const plain = path.replace(/%(?:25)*2e/gi, '.').replace(/%(?:25)*(?:2f|5c)|\\/gi, '/');
  return /(?:^|\/)\.\.?(?:\/|;|$)/.test(plain);
}
