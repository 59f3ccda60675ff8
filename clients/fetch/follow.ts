// Fetches a document and follows its redirects.
import { ConnectionError, RefusedError } from '../../protocols/errors.js';
import { userInfoOf, withoutUserInfo, withUserInfo } from '../../protocols/urls/index.js';
import { publishDebug } from './debug-channel.js';
import { isPrivateAddress } from './private-addresses.js';
import type { Fetcher, FetchRequest, FetchResult } from './types.js';

/**
 * G-173: the number of redirects that are followed for a document, and for a robots.txt (RFC 9309 2.3.1.2
 * requires at least five).
 */
export const MAX_REDIRECTS = 5;

/**
 * Fetches a document and follows redirects; for tools that fetch one document. A crawl does not use it, because
 * its frontier decides about each redirect. A redirect to a file of this machine, or from a public host to a
 * private address, is refused (G-174).
 * @throws ConnectionError after too many redirects
 * @throws RefusedError when a redirect is not followed
 */
export async function fetchFollowing(
  fetcher: Fetcher,
  request: FetchRequest,
  maxRedirects = MAX_REDIRECTS,
): Promise<FetchResult> {
  let next = request;
  for (let steps = 0; ; steps++) {
    const result = await fetcher.fetch(next);
    if (result.location === undefined) return result;
    if (steps === maxRedirects) throw new ConnectionError(`more than ${maxRedirects} redirects`);
    if (!/^(?:https?|ftp|gopher):/.test(result.location)) {
      throw new RefusedError(`a redirect to ${result.location} is not followed (G-174)`);
    }
    const address = result.remoteAddress;
    const isPublic = next.publicOnly === true || address === undefined || !isPrivateAddress(address);
    publishDebug(25, 1, () => `${next.url}: redirect to ${result.location}`);
    const { headers: _, ...rest } = request;
    next = { ...rest, url: targetOf(next.url, result.location), publicOnly: isPublic };
  }
}

/**
 * G-81: the login of the URL that was requested is sent to its own server only, and one that a redirect names is
 * not sent at all.
 */
function targetOf(url: string, location: string): string {
  const target = withoutUserInfo(location);
  return new URL(url).origin === new URL(target).origin ? withUserInfo(target, userInfoOf(url)) : target;
}
