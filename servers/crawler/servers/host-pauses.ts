// The pauses that the http and the https queue of one host owe each other (CRAWL-7, G-38).
import type { LRUCache } from 'lru-cache';
import { steadyTime } from '../../../clients/connection/monotonic-clock.js';
import { hostOf } from '../../../protocols/urls/index.js';
import { lruCache } from '../lru.js';

/** The contacts with one host by one scheme. */
interface SchemeContacts {
  inFlight: number;
  /** End of the pause after the last contact, milliseconds since 1970. */
  until: number;
}

type HostContacts = Record<'http' | 'https', SchemeContacts>;

/**
 * CRAWL-9.2 gives http and https of a host two queues, and a queue knows only its own pauses. The host is one
 * server for its operator (G-38), so a URI of one queue also waits for the contacts of the other. Servers on
 * other ports of the same scheme are servers of their own.
 */
export class HostPauses {
  readonly #hosts: LRUCache<string, HostContacts>;

  constructor(maxHosts = 100_000) {
    this.#hosts = lruCache(maxHosts);
  }

  /**
   * Returns the milliseconds for which a URI must wait for the other scheme of its host; 0 if it may be
   * fetched.
   * @param busyMs the wait while a request of the other scheme is in flight
   */
  wait(url: string, busyMs: number): number {
    const scheme = schemeOf(url);
    if (scheme === undefined) return 0;
    const other = this.#hosts.peek(hostOf(url))?.[scheme === 'http' ? 'https' : 'http'];
    if (other === undefined) return 0;
    const pause = other.until - steadyTime();
    return other.inFlight > 0 ? Math.max(busyMs, pause) : Math.max(0, pause);
  }

  /** A worker begins with a URI. The caller calls the returned function when it has finished it. */
  begin(url: string): () => void {
    const contacts = this.#contacts(url);
    if (contacts === undefined) return () => undefined;
    contacts.inFlight++;
    return () => {
      contacts.inFlight--;
    };
  }

  /** A contact ended; the host is left alone for `delayMs`. */
  pause(url: string, delayMs: number): void {
    const contacts = this.#contacts(url);
    if (contacts !== undefined) contacts.until = Math.max(contacts.until, steadyTime() + delayMs);
  }

  #contacts(url: string): SchemeContacts | undefined {
    const scheme = schemeOf(url);
    if (scheme === undefined) return undefined;
    const host = hostOf(url);
    let contacts = this.#hosts.get(host);
    if (contacts === undefined) {
      contacts = { http: { inFlight: 0, until: 0 }, https: { inFlight: 0, until: 0 } };
      this.#hosts.set(host, contacts);
    }
    return contacts[scheme];
  }
}

function schemeOf(url: string): 'http' | 'https' | undefined {
  if (url.startsWith('http:')) return 'http';
  return url.startsWith('https:') ? 'https' : undefined;
}
