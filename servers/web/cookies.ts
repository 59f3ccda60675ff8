// Reads and writes session cookies.
import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

/** The value of a cookie that the request carries; undefined if it carries none of this name. */
export function readCookie({ cookie }: IncomingHttpHeaders, name: string): string | undefined {
  return cookie === undefined ? undefined : parseCookie(cookie)[name];
}

/**
 * A `Set-Cookie` value that lasts until the browser closes. Scripts cannot read the cookie, and browsers do not
 * send it with requests from other sites.
 *
 * @param options.secure browsers send it with TLS only
 */
export function sessionCookie(
  name: string,
  value: string,
  options: { readonly secure?: boolean } = {},
): string {
  const { secure = false } = options;
  return stringifySetCookie({ name, value, path: '/', httpOnly: true, sameSite: 'strict', secure });
}

/** A `Set-Cookie` value that removes the cookie. */
export function removedCookie(name: string): string {
  return stringifySetCookie({ name, value: '', path: '/', httpOnly: true, sameSite: 'strict', maxAge: 0 });
}
