// The cookies of a crawl (RFC 6265bis), a jar for each site, kept in the working store.
import { LRUCache } from 'lru-cache';
import { Cookie, CookieJar, getPublicSuffix, MemoryCookieStore } from 'tough-cookie';
import { z } from 'zod';
import { steadyTime } from '../../../clients/connection/monotonic-clock.js';
import { messageOf } from '../../../protocols/errors.js';
import type { FileCookie } from '../../../protocols/http/index.js';
import { MAX_AHEAD } from '../../../protocols/time.js';
import { hostOf } from '../../../protocols/urls/index.js';
import type { GathererStore } from '../../../storage/index.js';

export interface CookieLimits {
  /**
   * Maximum number of cookies of a site; above it those that were not used for the longest time are dropped.
   * Default 180, as in browsers.
   */
  readonly maxCookies?: number;
  /** Maximum size of a cookie with its attributes, characters; a larger one is ignored. Default 4096. */
  readonly maxCookieLength?: number;
  /** Maximum size of a site's cookies, characters; above it as above `maxCookies`. Default 65 536. */
  readonly maxSiteLength?: number;
  /**
   * Memory for the cookies of the sites in use, characters; the others are only in the store. Default 32 Mi.
   */
  readonly maxMemory?: number;
}

interface CookieJarsOptions extends CookieLimits {
  readonly store: Pick<GathererStore, 'batch' | 'cookies'>;
  /** Called if cookies cannot be stored. They are used nevertheless, and stored with the next ones. */
  readonly onProblem: (sentence: string) => void;
  /** Milliseconds since 1970, by a clock that is not set while it runs. Default: that of the process. */
  readonly now?: () => number;
}

/** The cookies of a site, e.g. `example.org`, in memory. */
interface Jar {
  readonly site: string;
  readonly store: MemoryCookieStore;
  readonly cookies: CookieJar;
}

/** RFC 6265bis 5.5: a cookie lives for 400 days at most. */
const MAX_LIFE_MS = 400 * 86_400_000;

const storedCookies = z.array(z.record(z.string(), z.unknown()));

/**
 * The cookies of a crawl. A site, the domain below a public suffix, is a row of the store, so that memory
 * depends on the sites in use and a killed crawl keeps its sessions.
 */
export class CookieJars implements AsyncDisposable {
  readonly #options: CookieJarsOptions;
  readonly #limits: Required<CookieLimits>;
  readonly #now: () => number;
  readonly #jars: LRUCache<string, Jar>;
  readonly #loading = new Map<string, Promise<Jar>>();
  /** Sites whose cookies have changed since they were stored. */
  readonly #changed = new Map<string, Jar>();
  #writing: Promise<void> | undefined;

  constructor(options: CookieJarsOptions) {
    this.#options = options;
    this.#now = options.now ?? steadyTime;
    this.#limits = {
      maxCookies: options.maxCookies ?? 180,
      maxCookieLength: options.maxCookieLength ?? 4096,
      maxSiteLength: options.maxSiteLength ?? 65_536,
      maxMemory: options.maxMemory ?? 32 * 1024 * 1024,
    };
    this.#jars = new LRUCache({ maxSize: this.#limits.maxMemory, sizeCalculation: sizeOf });
  }

  /**
   * Returns the value of the header Cookie of a request (RFC 6265bis 5.8.3); empty if the site has none for it.
   */
  async headerFor(url: string): Promise<string> {
    const jar = await this.#jarOf(hostOf(url));
    const now = this.#now();
    const found = jar.cookies
      .getCookiesSync(url, { expire: false })
      .filter((cookie) => expiryOf(cookie) > now);
    for (const cookie of found) cookie.lastAccessed = new Date(now);
    return found.map(pairOf).filter(isSendable).join('; ');
  }

  /**
   * Keeps the cookies of a response (RFC 6265bis 5.7), as far as they are valid, and waits until they are
   * stored.
   *
   * @param date the header Date of the response: the clock by which the server has set `Expires`
   */
  async receive(url: string, setCookies: readonly string[], date = ''): Promise<void> {
    const jar = await this.#jarOf(hostOf(url));
    const now = this.#now();
    const serverTime = Date.parse(date);
    for (const header of setCookies) {
      if (header.length > this.#limits.maxCookieLength) continue;
      const cookie = Cookie.parse(header, { loose: true });
      if (cookie === undefined) continue;
      limitLife(cookie, now, Number.isNaN(serverTime) ? now : serverTime);
      jar.cookies.setCookieSync(cookie, url, { ignoreError: true, loose: true, now: new Date(now) });
    }
    await this.#keep([jar]);
  }

  /** Adds cookies of a file, and waits until they are stored. Expired ones are left out. */
  async add(cookies: readonly FileCookie[]): Promise<void> {
    const now = this.#now();
    const changed = new Set<Jar>();
    for (const cookie of cookies) {
      if (cookie.expires !== 0 && cookie.expires * 1000 <= now) continue;
      const jar = await this.#jarOf(cookie.domain);
      const found = cookieOf(cookie);
      jar.cookies.setCookieSync(found, `https://${cookie.domain}/`, {
        ignoreError: true,
        now: new Date(now),
      });
      changed.add(jar);
    }
    await this.#keep([...changed]);
  }

  /** All stored cookies that have not expired, by site. */
  async *pages(): AsyncGenerator<FileCookie[], void, undefined> {
    const now = this.#now();
    for await (const rows of this.#options.store.cookies.pages())
      yield rows.flatMap((row) =>
        cookiesOf(readRow(row, now)).flatMap((cookie) =>
          expiryOf(cookie) > now ? [fileCookieOf(cookie)] : [],
        ),
      );
  }

  /** Waits until all cookies are stored. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keep([]);
  }

  async #jarOf(host: string): Promise<Jar> {
    const site = siteOf(host);
    const known = this.#changed.get(site) ?? this.#jars.get(site);
    if (known !== undefined) return known;
    let loading = this.#loading.get(site);
    if (loading === undefined) {
      loading = this.#load(site).finally(() => this.#loading.delete(site));
      this.#loading.set(site, loading);
    }
    return loading;
  }

  async #load(site: string): Promise<Jar> {
    const row = await this.#options.store.cookies.get(site);
    const store = row === undefined ? new MemoryCookieStore() : readRow(row, this.#now());
    // Without allowSecureOnLocal a secure cookie stays on https, for this machine's addresses as for others.
    const cookies = new CookieJar(store, { looseMode: true, allowSecureOnLocal: false });
    const jar = { site, store, cookies };
    this.#jars.set(site, jar);
    return jar;
  }

  /**
   * Stores the changed sites. One write follows the other, so that the last state of a site is the one that
   * stays.
   */
  async #keep(jars: readonly Jar[]): Promise<void> {
    for (const jar of jars) {
      this.#shorten(jar);
      this.#jars.set(jar.site, jar);
      this.#changed.set(jar.site, jar);
    }
    // A write in progress may lack the last changes; the next one may have been begun by another caller.
    await this.#writing;
    if (this.#changed.size > 0)
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
    await this.#writing;
  }

  async #write(): Promise<void> {
    const batch = this.#options.store.batch();
    const written = [...this.#changed];
    for (const [site, jar] of written) batch.putCookies(site, rowOf(jar));
    this.#changed.clear();
    try {
      await batch.commit({ lazy: true });
    } catch (error) {
      for (const [site, jar] of written) this.#changed.set(site, jar);
      this.#options.onProblem(`cookies cannot be stored: ${messageOf(error)}`);
    }
  }

  /**
   * Drops expired cookies and, above the limits, those that were not used for the longest time (RFC 6265bis
   * 5.7).
   */
  #shorten({ store }: Jar): void {
    const { maxCookies, maxSiteLength } = this.#limits;
    const now = this.#now();
    const byUse = cookiesOf(store).sort((a, b) => lastUse(b) - lastUse(a));
    let count = 0;
    let length = 0;
    for (const cookie of byUse) {
      count++;
      length += pairOf(cookie).length;
      if (expiryOf(cookie) > now && count <= maxCookies && length <= maxSiteLength) continue;
      count--;
      length -= pairOf(cookie).length;
      void store.removeCookie(cookie.domain ?? '', cookie.path ?? '', cookie.key);
    }
  }
}

/**
 * Returns the domain whose subdomains can share cookies: the one below the public suffix, or the host itself.
 */
function siteOf(host: string): string {
  return getPublicSuffix(host, { allowSpecialUseDomain: true, ignoreError: true }) ?? host;
}

/** Returns all cookies of a jar in memory. */
function cookiesOf({ idx }: MemoryCookieStore): Cookie[] {
  return Object.values(idx).flatMap((paths) => Object.values(paths).flatMap((names) => Object.values(names)));
}

/**
 * Turns the lifetime of a new cookie into a time of the run's clock. `Expires` is by that of the server, which may
 * differ by years from this machine's.
 */
function limitLife(cookie: Cookie, now: number, serverTime: number): void {
  const { maxAge, expires } = cookie;
  cookie.maxAge = null;
  if (typeof maxAge === 'number') {
    cookie.expires = new Date(now + Math.min(maxAge * 1000, MAX_LIFE_MS));
  } else if (expires instanceof Date) {
    cookie.expires = new Date(now + Math.min(expires.getTime() - serverTime, MAX_LIFE_MS));
  } else if (maxAge !== null) {
    cookie.expires = maxAge === 'Infinity' ? new Date(now + MAX_LIFE_MS) : new Date(0);
  }
}

/** Milliseconds since 1970 from which a cookie is not sent; infinity for one that lasts as long as the crawl. */
function expiryOf(cookie: Cookie): number {
  return (
    cookie.expiryTime(cookie.creation instanceof Date ? cookie.creation : undefined) ??
    Number.POSITIVE_INFINITY
  );
}

/** After the clock was set back the stored times are of the future: a cookie lives as long as it would have from then. */
function moveBack(cookie: Cookie, now: number): void {
  const { creation, expires } = cookie;
  if (!(creation instanceof Date) || creation.getTime() <= now + MAX_AHEAD * 1000) return;
  const ahead = creation.getTime() - now;
  cookie.creation = new Date(now);
  cookie.lastAccessed = new Date(now);
  if (expires instanceof Date) cookie.expires = new Date(expires.getTime() - ahead);
}

function readRow(row: Uint8Array, now: number): MemoryCookieStore {
  const store = new MemoryCookieStore();
  for (const stored of storedCookies.parse(JSON.parse(Buffer.from(row).toString()))) {
    const cookie = Cookie.fromJSON(stored);
    if (cookie === undefined) continue;
    moveBack(cookie, now);
    void store.putCookie(cookie);
  }
  return store;
}

function rowOf({ store }: Jar): Uint8Array {
  return Buffer.from(JSON.stringify(cookiesOf(store)));
}

/** Characters in memory, roughly: an object of about 300 bytes has the values. */
function sizeOf({ store }: Jar): number {
  return cookiesOf(store).reduce((sum, cookie) => sum + pairOf(cookie).length + 300, 300);
}

function lastUse({ lastAccessed, creation }: Cookie): number {
  const time = lastAccessed ?? creation;
  return time instanceof Date ? time.getTime() : 0;
}

function pairOf(cookie: Cookie): string {
  return cookie.cookieString();
}

/** Whether a request may contain it: a client must not send control characters, and undici sends Latin-1. */
function isSendable(pair: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]+$/.test(pair);
}

function cookieOf({ domain, hostOnly, path, secure, httpOnly, expires, name, value }: FileCookie): Cookie {
  return new Cookie({
    key: name,
    value,
    domain: hostOnly ? null : domain,
    path,
    secure,
    httpOnly,
    expires: expires === 0 ? 'Infinity' : new Date(expires * 1000),
  });
}

function fileCookieOf(cookie: Cookie): FileCookie {
  const expiry = cookie.expiryTime();
  return {
    domain: cookie.domain ?? '',
    hostOnly: cookie.hostOnly === true,
    path: cookie.path ?? '/',
    secure: cookie.secure,
    httpOnly: cookie.httpOnly,
    expires: expiry === undefined || !Number.isFinite(expiry) ? 0 : Math.floor(expiry / 1000),
    name: cookie.key,
    value: cookie.value,
  };
}
