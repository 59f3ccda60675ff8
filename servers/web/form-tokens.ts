// Protects forms against cross-site request forgery.
import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readCookie, sessionCookie } from './cookies.js';
import { isCrossOrigin } from './request-origin.js';
import { equalSecrets } from './secrets.js';

/** Name of the cookie that a form's token belongs to. */
const COOKIE = 'harvest-admin';

/** The hidden token of a form. */
export interface FormToken {
  readonly token: string;
  /** The `Set-Cookie` value for a browser that has no cookie yet. */
  readonly cookie?: string;
}

/**
 * Tokens against cross-site request forgery. A form's token belongs to a cookie that other sites cannot read
 * and that the browser does not send with their requests. So only a page of this server, in the browser that
 * loaded it, can send the form. A restart of the process invalidates all tokens.
 */
export class FormTokens {
  readonly #key = randomBytes(32);

  /** Returns the token for a form in a reply to the request with these headers. */
  issue(headers: IncomingHttpHeaders): FormToken {
    const known = cookieOf(headers);
    if (known !== undefined) return { token: this.#token(known) };
    const value = randomBytes(18).toString('base64url');
    return { token: this.#token(value), cookie: sessionCookie(COOKIE, value) };
  }

  /** Whether a form with this token was sent by a page of this server from the browser that loaded it. */
  accepts(headers: IncomingHttpHeaders, token: string): boolean {
    const cookie = cookieOf(headers);
    return cookie !== undefined && !isCrossOrigin(headers) && equalSecrets(token, this.#token(cookie));
  }

  #token(cookie: string): string {
    return createHmac('sha256', this.#key).update(cookie).digest('base64url');
  }
}

function cookieOf(headers: IncomingHttpHeaders): string | undefined {
  const value = readCookie(headers, COOKIE);
  return value !== undefined && /^[\w-]{24}$/.test(value) ? value : undefined;
}
