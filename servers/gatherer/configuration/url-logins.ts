// The logins that the URLs of a configuration have (G-81), by the documents that they are for.
import type { GathererConfig } from '../../../protocols/config/index.js';
import { hostOf, userInfoOf, withoutUserInfo } from '../../../protocols/urls/index.js';

/** A URL of the configuration, and the login in it. */
interface Place {
  /** Up to the last slash of the path, without a login. */
  readonly directory: string;
  readonly login: string | undefined;
}

/**
 * The logins in the URLs of RootNodes, LeafNodes and added seeds. The URL of a document alone decides about its
 * login, so that it is the same for every link to the document: the login of the URL that names the document, else
 * of the longest directory that has it, else the first one of its server (scheme, host and port).
 */
export class UrlLogins {
  /** By the URL without the login. */
  readonly #documents = new Map<string, string>();
  /** By server, those of the longest directory first. */
  readonly #servers = new Map<string, Place[]>();

  /** @param urls canonical URLs of the configuration, with and without logins */
  constructor(urls: Iterable<string> = []) {
    for (const url of urls) this.add(url);
  }

  /** Adds a URL of the operator. Of two logins for one URL the first one counts. */
  add(url: string): void {
    const login = userInfoOf(url);
    const plain = withoutUserInfo(url);
    if (hostOf(plain) === '') return;
    if (login !== undefined && !this.#documents.has(plain)) this.#documents.set(plain, login);
    const places = this.#servers.get(serverOf(plain)) ?? [];
    const directory = directoryOf(plain);
    const known = places.findIndex((place) => place.directory === directory);
    if (known >= 0) {
      if (places[known]!.login === undefined && login !== undefined) places[known] = { directory, login };
    } else if (places.length < MAX_DIRECTORIES) places.push({ directory, login });
    places.sort((a, b) => b.directory.length - a.directory.length);
    this.#servers.set(serverOf(plain), places);
  }

  /**
   * Returns the login for a document, `user:password` escaped as in URLs; undefined without one.
   * @param url canonical; a login in it has no effect
   */
  of(url: string): string | undefined {
    if (this.#documents.size === 0) return undefined;
    const plain = withoutUserInfo(url);
    const login = this.#documents.get(plain);
    if (login !== undefined) return login;
    const places = this.#servers.get(serverOf(plain));
    if (places === undefined) return undefined;
    const nearest = places.find(({ directory }) => plain.startsWith(directory));
    return nearest === undefined ? places.find((place) => place.login !== undefined)?.login : nearest.login;
  }

  /** Whether a URL has a login that the configuration does not have for it. */
  isForeign(url: string): boolean {
    const login = userInfoOf(url);
    return login !== undefined && login !== this.of(url);
  }
}

/** Returns the URLs that a configuration names itself, with their logins. */
export function configuredUrls({
  rootNodes,
  leafNodes,
}: Pick<GathererConfig, 'rootNodes' | 'leafNodes'>): string[] {
  return [...rootNodes, ...leafNodes].map(({ url }) => url);
}

/** Directories of one server: a configuration with more of them names documents. */
const MAX_DIRECTORIES = 1000;

function serverOf(url: string): string {
  return /^[^:]*:\/\/[^/?#]*/.exec(url)?.[0] ?? url;
}

function directoryOf(url: string): string {
  const path = url.replace(/[?#].*$/s, '');
  const end = path.lastIndexOf('/') + 1;
  return end > serverOf(url).length ? path.slice(0, end) : `${serverOf(url)}/`;
}
