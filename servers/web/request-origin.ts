// Distinguishes requests that a page of another site caused from the user's own.
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether the headers of a browser show that a page of another origin made the request. Programs send none of
 * these headers.
 */
export function isCrossOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin } = headers;
  return origin !== undefined && !isOrigin(origin, headers.host);
}

/**
 * Whether the headers prove that a page of this server, or the user by entering the address, made the request.
 * Browsers send Sec-Fetch-Site over https and to this machine only, and Origin not with every GET: so the
 * absence proves nothing.
 */
export function isOwnRequest(headers: IncomingHttpHeaders): boolean {
  return !isCrossOrigin(headers) && (headers['sec-fetch-site'] !== undefined || headers.origin !== undefined);
}

/**
 * Whether a browser made the request, by the name that all of them have sent since 1994. A page cannot change
 * it.
 */
export function isBrowser(headers: IncomingHttpHeaders): boolean {
  return /^(?:Mozilla|Opera)\//i.test(headers['user-agent'] ?? '');
}

function isOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: expected } = new URL(origin);
  // Without the default port of the scheme, and in lower case, as in an origin.
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === expected;
}
