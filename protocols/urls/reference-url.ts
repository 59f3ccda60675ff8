// Converts URLs from the form of the Gatherer to that of the link databases.
import { ProtocolError } from '../errors.js';
import { canonicalDocumentUrl } from './server-name.js';

/**
 * The start of a URL with a scheme and a host that link databases have. A file of this machine has no
 * host.
 */
const LINKABLE_URL = /^(?!file:\/\/localhost\/)(?:https?|ftp|gopher|file):\/\/(?!\/)/;

/**
 * Converts a URL from the Gatherer's canonical form (G-57) to that of the link databases. They differ in
 * the tilde, which the Gatherer writes `%7e` (G-58) and R-41 leaves as written. The function is idempotent.
 *
 * @param url in the Gatherer's canonical form
 * @returns `undefined` for a URL that link databases do not have: another access method, no host, user
 *   information
 */
export function referenceUrl(url: string): string | undefined {
  if (!LINKABLE_URL.test(url)) return undefined;
  try {
    return canonicalDocumentUrl(url.includes('%7') ? url.replaceAll(/%7e/gi, '~') : url);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}
