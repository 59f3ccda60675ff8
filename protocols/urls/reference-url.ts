import { ProtocolError } from '../errors.js';
import { canonicalDocumentUrl } from './server-name.js';

/** Access methods whose documents have a server. A file of this machine has none. */
const SCHEMES = /^(?:https?|ftp|gopher|file):\/\/(?!\/)/;

/**
 * The URL under which the link databases know what a Gatherer calls `url`: the one place where the Gatherer's canonical form
 * (G-57) becomes that of R-41. They differ in the tilde, which the Gatherer writes `%7e` (G-58) and R-41 leaves as people type
 * it. The function is idempotent.
 *
 * @param url in the Gatherer's canonical form
 * @returns `undefined` when the link databases have no name for it: another access method, no host, user information
 */
export function referenceUrl(url: string): string | undefined {
  if (!SCHEMES.test(url)) return undefined;
  try {
    return canonicalDocumentUrl(url.includes('%7') ? url.replaceAll(/%7e/gi, '~') : url);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}
