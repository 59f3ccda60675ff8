import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { AdminGuard } from '../../web/admin-guard.js';

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
  /** When it was used last, milliseconds since 1970. */
  used: number;
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
  readonly #key = randomBytes(32);
  readonly #guard: AdminGuard;
  readonly #sessions = new Map<string, Session>();

  constructor(
    /** Empty: nobody gets in by a password. */
    readonly password: string,
    readonly now: () => number = Date.now,
  ) {
    this.#guard = new AdminGuard(now);
  }

  /** Tells who asks, by `Authorization` or the cookie. */
  identify(headers: IncomingHttpHeaders, address: string, cookieName: string): Caller | Refusal {
    const { authorization } = headers;
    if (authorization === undefined) {
      const session = this.session(cookieOf(headers, cookieName));
      return session === undefined ? { by: 'nobody', seconds: 0 } : { by: 'session', session };
    }
    const bearer = /^Bearer +([\w-]+) *$/i.exec(authorization)?.[1];
    if (bearer !== undefined) {
      // Nobody guesses 256 bits; a command with the token of the last start must not lock its user out.
      return this.#same(bearer, this.token) ? { by: 'token' } : { by: 'nobody', seconds: 0 };
    }
    const basic = /^Basic +([\w+/=-]+) *$/i.exec(authorization)?.[1];
    if (basic === undefined) return { by: 'nobody', seconds: 0 };
    const words = Buffer.from(basic, 'base64').toString('utf8');
    const seconds = this.tryPassword(address, words.slice(words.indexOf(':') + 1));
    return seconds === 0 ? { by: 'password' } : { by: 'nobody', seconds: Math.max(0, seconds) };
  }

  /** 0: the password is right; -1: it is wrong; else seconds that the address has to wait before any is looked at. */
  tryPassword(address: string, given: string): number {
    const wait = this.#guard.waitFor(address);
    if (wait > 0) return wait;
    const right = this.#same(given, this.password);
    if (right && this.password !== '') return 0;
    this.#guard.failed(address);
    return -1;
  }

  /** Begins a session, after the password was right. */
  begin(): Session {
    const session: Session = {
      id: randomBytes(24).toString('base64url'),
      formToken: randomBytes(24).toString('base64url'),
      used: this.now(),
    };
    this.#sessions.set(session.id, session);
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= MAX_SESSIONS) break;
      this.#sessions.delete(oldest);
    }
    return session;
  }

  /** The session that goes on, if there is one of that id; it counts as used now. */
  session(id: string | undefined): Session | undefined {
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (session === undefined) return undefined;
    this.#sessions.delete(session.id);
    if (session.used + IDLE_MS < this.now()) return undefined;
    session.used = this.now();
    this.#sessions.set(session.id, session);
    return session;
  }

  end(session: Session): void {
    this.#sessions.delete(session.id);
  }

  /** Whether a form that a session sent is one of ours. */
  isOwnForm(session: Session, formToken: string): boolean {
    return this.#same(formToken, session.formToken);
  }

  /** HMACs have one length, so the comparison tells nothing about the texts. */
  #same(given: string, expected: string): boolean {
    const digest = (text: string) => createHmac('sha256', this.#key).update(text).digest();
    return timingSafeEqual(digest(given), digest(expected));
  }
}

function cookieOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of headers.cookie?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value !== undefined) return value;
  }
  return undefined;
}

/** Whether a browser says that a page of another site made the request; programs say nothing of the kind. */
export function isFromElsewhere(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
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
