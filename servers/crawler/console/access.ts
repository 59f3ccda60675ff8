import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { readCookie } from '../../web/cookies.js';
import { PasswordThrottle } from '../../web/password-throttle.js';
import { equalSecrets } from '../../web/secrets.js';

/** A session ends when nobody used it for so long. */
const IDLE_MS = 12 * 3_600_000;

/** Sessions at once; the one that was used least recently goes first. */
const MAX_SESSIONS = 100;

/** Somebody who gave the password on the page. */
export interface Session {
  /** What the cookie holds. */
  readonly id: string;
  /** What every form of this session holds: other sites cannot know it. */
  readonly formToken: string;
  /** What the last act gave, for the next page: a page without script is loaded anew after an act. */
  outcome?: { readonly ok: boolean; readonly text: string } | undefined;
}

/** Whoever may look and act: by a session of the page, by the token of `console.json`, or by the password itself. */
export type Caller =
  | { readonly by: 'session'; readonly session: Session }
  | { readonly by: 'token' | 'password' };

/** `seconds`: how long this address has to wait before it is listened to; 0: it only has to say who it is. */
export interface Refusal {
  readonly by: 'nobody';
  readonly seconds: number;
}

/**
 * Who may use the console. Comparisons take the same time whatever is given; an address that guessed wrong ten times within
 * five minutes has to wait (as on the Broker's administration page).
 */
export class ConsoleAccess {
  /** Random, made anew with every start: what the local commands show instead of the password. */
  readonly token = randomBytes(32).toString('base64url');
  readonly #throttle: PasswordThrottle;
  readonly #sessions: LRUCache<string, Session>;

  constructor(
    /** Empty: nobody gets in by a password. */
    readonly password: string,
    readonly now: () => number = Date.now,
  ) {
    this.#throttle = new PasswordThrottle(now);
    this.#sessions = new LRUCache({
      max: MAX_SESSIONS,
      ttl: IDLE_MS,
      updateAgeOnGet: true,
      ttlResolution: 0,
      perf: { now },
    });
  }

  /** Tells who asks, by `Authorization` or the cookie. */
  identify(headers: IncomingHttpHeaders, address: string, cookieName: string): Caller | Refusal {
    const { authorization } = headers;
    if (authorization === undefined) {
      const session = this.session(readCookie(headers, cookieName));
      return session === undefined ? { by: 'nobody', seconds: 0 } : { by: 'session', session };
    }
    const bearer = /^Bearer +([\w-]+) *$/i.exec(authorization)?.[1];
    if (bearer !== undefined) {
      // Nobody guesses 256 bits; a command with the token of the last start must not lock its user out.
      return equalSecrets(bearer, this.token) ? { by: 'token' } : { by: 'nobody', seconds: 0 };
    }
    const basic = /^Basic +([\w+/=-]+) *$/i.exec(authorization)?.[1];
    if (basic === undefined) return { by: 'nobody', seconds: 0 };
    const words = Buffer.from(basic, 'base64').toString('utf8');
    const seconds = this.tryPassword(address, words.slice(words.indexOf(':') + 1));
    return seconds === 0 ? { by: 'password' } : { by: 'nobody', seconds: Math.max(0, seconds) };
  }

  /** 0: the password is right; -1: it is wrong; else seconds that the address has to wait before any is looked at. */
  tryPassword(address: string, given: string): number {
    const wait = this.#throttle.waitFor(address);
    if (wait > 0) return wait;
    const right = equalSecrets(given, this.password);
    if (right && this.password !== '') return 0;
    this.#throttle.failed(address);
    return -1;
  }

  /** Begins a session, after the password was right. */
  begin(): Session {
    const session: Session = {
      id: randomBytes(24).toString('base64url'),
      formToken: randomBytes(24).toString('base64url'),
    };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session that goes on, if there is one of that id; it counts as used now. */
  session(id: string | undefined): Session | undefined {
    return id === undefined ? undefined : this.#sessions.get(id);
  }

  end(session: Session): void {
    this.#sessions.delete(session.id);
  }

  /** Whether a form that a session sent is one of ours. */
  isOwnForm(session: Session, formToken: string): boolean {
    return equalSecrets(formToken, session.formToken);
  }
}

/**
 * Whether a `Host` header names us. An address cannot be turned to another machine behind the browser's back, a name can (DNS
 * rebinding): names other than `localhost` have to be told.
 */
export function isOurHost(header: string | undefined, allowed: ReadonlySet<string>): boolean {
  if (header === undefined || !URL.canParse(`http://${header}/`)) return false;
  const { hostname } = new URL(`http://${header}/`);
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || hostname === 'localhost' || allowed.has(hostname);
}
