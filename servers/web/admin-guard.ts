import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Name of the cookie that a form's token belongs to. */
const COOKIE = 'harvest-admin';

/** Wrong passwords of one address within {@link WINDOW_MS} before it has to wait. */
const MAX_FAILURES = 10;
const WINDOW_MS = 5 * 60_000;

/** Addresses remembered. */
const MAX_ADDRESSES = 10_000;

/** A form that may be sent back: its hidden token, and the cookie to set if the browser has none. */
export interface Ticket {
  readonly token: string;
  readonly cookie?: string;
}

/**
 * Lets a command through only from a form of ours that this browser was given: a token tied to a cookie that other sites
 * can neither read nor send, and headers that say where a request comes from. Slows down who guesses passwords.
 */
export class AdminGuard {
  readonly #secret = randomBytes(32);
  readonly #failures = new Map<string, { count: number; until: number }>();

  constructor(readonly now: () => number = Date.now) {}

  /** The token for a form that is about to be shown. */
  issue(headers: IncomingHttpHeaders): Ticket {
    const known = cookieOf(headers);
    if (known !== undefined) return { token: this.#token(known) };
    const fresh = randomBytes(18).toString('base64url');
    return {
      token: this.#token(fresh),
      cookie: `${COOKIE}=${fresh}; Path=/; HttpOnly; SameSite=Strict`,
    };
  }

  /** Whether a form with this token comes from a page of ours in the browser that got it. */
  accepts(headers: IncomingHttpHeaders, token: string): boolean {
    const cookie = cookieOf(headers);
    if (cookie === undefined || !isSameSite(headers)) return false;
    const expected = Buffer.from(this.#token(cookie));
    const given = Buffer.from(token);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  /** Seconds that an address has to wait before its next try; 0: it may try. */
  waitFor(address: string): number {
    const failures = this.#failures.get(address);
    if (failures === undefined || failures.count < MAX_FAILURES) return 0;
    return Math.max(0, Math.ceil((failures.until - this.now()) / 1000));
  }

  /** A wrong password from an address. */
  failed(address: string): void {
    const known = this.#failures.get(address);
    const now = this.now();
    const count = known === undefined || known.until <= now ? 1 : known.count + 1;
    this.#failures.delete(address);
    this.#failures.set(address, { count, until: now + WINDOW_MS });
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= MAX_ADDRESSES) break;
      this.#failures.delete(oldest);
    }
  }

  #token(cookie: string): string {
    return createHmac('sha256', this.#secret).update(cookie).digest('base64url');
  }
}

function cookieOf(headers: IncomingHttpHeaders): string | undefined {
  for (const pair of headers.cookie?.split(';') ?? []) {
    const value = /^\s*harvest-admin=([\w-]{24})\s*$/.exec(pair)?.[1];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** What browsers say about where a request was made; those that say nothing are judged by the token alone. */
function isSameSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
