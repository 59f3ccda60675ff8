import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether the headers of a browser show that a page of another origin made the request. Programs send none of these
 * headers.
 */
export function isCrossOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}
