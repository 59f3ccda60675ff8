import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../../protocols/clock.js';
import { readCookie } from '../../web/cookies.js';
import { PasswordThrottle } from '../../web/password-throttle.js';
import { equalSecrets } from '../../web/secrets.js';

/** Milliseconds after its last use until a session ends. */
const IDLE_MS = 12 * 3_600_000;

/** Maximum number of sessions; a new one replaces the least recently used. */
const MAX_SESSIONS = 100;

/** A browser in which the password was entered. */
export interface Session {
  /** Value of the cookie. */
  readonly id: string;
  /** Hidden field of every form of this session; other sites cannot know it. */
  readonly formToken: string;
  /** Outcome of the last action, for the next page: without script, an action loads the page again. */
  outcome?: { readonly ok: boolean; readonly text: string } | undefined;
}

/**
 * A client with full access: by a session of the page, by the token of `console.json`, or by the password
 * itself.
 */
export type Caller =
  | { readonly by: 'session'; readonly session: Session }
  | { readonly by: 'token' | 'password' };

/** A client without access. `seconds`: how long its address must wait; 0 if it only lacks credentials. */
export interface Refusal {
  readonly by: 'unknown';
  readonly seconds: number;
}

/** Result of {@link ConsoleAccess.tryPassword}. */
export type PasswordAttempt =
  | { readonly outcome: 'right' | 'wrong' }
  | { readonly outcome: 'throttled'; readonly waitSeconds: number };

/**
 * Decides who may use the console. Secrets are compared in constant time. After ten wrong passwords, or ten wrong
 * tokens, within five minutes an address must wait, as on the Broker's administration page. The right token is
 * always accepted: 256 random bits cannot be guessed, and clients of the same address must not lock out the owner.
 */
export class ConsoleAccess {
  /** Empty: no password is accepted. */
  readonly #password: string;
  /** The credentials of local commands, random at each start. */
  readonly token = randomBytes(32).toString('base64url');
  readonly #throttle: PasswordThrottle;
  /** Its own: a command with the token of the last start must not lock out the user with the password. */
  readonly #tokenThrottle: PasswordThrottle;
  readonly #sessions: LRUCache<string, Session>;

  /** @param now milliseconds of a clock that cannot be set: sessions and waits end neither early nor late */
  constructor(password: string, now: Clock['now'] = monotonicClock.now) {
    this.#password = password;
    this.#throttle = new PasswordThrottle(now);
    this.#tokenThrottle = new PasswordThrottle(now);
    this.#sessions = new LRUCache({
      max: MAX_SESSIONS,
      ttl: IDLE_MS,
      updateAgeOnGet: true,
      ttlResolution: 0,
      perf: { now },
    });
  }

  /** Identifies the client of a request by `Authorization` or the cookie. */
  identify(headers: IncomingHttpHeaders, address: string, cookieName: string): Caller | Refusal {
    const { authorization } = headers;
    if (authorization === undefined) {
      const session = this.session(readCookie(headers, cookieName));
      return session === undefined ? { by: 'unknown', seconds: 0 } : { by: 'session', session };
    }
    const bearer = /^Bearer +([\w-]+) *$/i.exec(authorization)?.[1];
    if (bearer !== undefined) {
      if (equalSecrets(bearer, this.token)) return { by: 'token' };
      const seconds = this.#tokenThrottle.secondsToWait(address);
      if (seconds > 0) return { by: 'unknown', seconds };
      this.#tokenThrottle.recordFailure(address);
      return { by: 'unknown', seconds: 0 };
    }
    const basic = /^Basic +([\w+/=-]+) *$/i.exec(authorization)?.[1];
    if (basic === undefined) return { by: 'unknown', seconds: 0 };
    const credentials = Buffer.from(basic, 'base64').toString('utf8');
    const attempt = this.tryPassword(address, credentials.slice(credentials.indexOf(':') + 1));
    if (attempt.outcome === 'right') return { by: 'password' };
    return { by: 'unknown', seconds: attempt.outcome === 'throttled' ? attempt.waitSeconds : 0 };
  }

  /** Checks a password. After too many wrong ones the address must wait; then the password is not looked at. */
  tryPassword(address: string, given: string): PasswordAttempt {
    const waitSeconds = this.#throttle.secondsToWait(address);
    if (waitSeconds > 0) return { outcome: 'throttled', waitSeconds };
    const isRight = equalSecrets(given, this.#password);
    if (isRight && this.#password !== '') return { outcome: 'right' };
    this.#throttle.recordFailure(address);
    return { outcome: 'wrong' };
  }

  /** Begins a session. The caller has checked the password. */
  begin(): Session {
    const session: Session = {
      id: randomBytes(24).toString('base64url'),
      formToken: randomBytes(24).toString('base64url'),
    };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Returns the session of this id and restarts its time-out; undefined if it has ended. */
  session(id: string | undefined): Session | undefined {
    return id === undefined ? undefined : this.#sessions.get(id);
  }

  end(session: Session): void {
    this.#sessions.delete(session.id);
  }

  /** Whether a form of this session came from a page of the console. */
  isOwnForm(session: Session, formToken: string): boolean {
    return equalSecrets(formToken, session.formToken);
  }
}
