// The two requests of a response that the strict parser refuses, with the pause of the host between them.
import { isRefusedMessage } from '../../../clients/connection/index.js';
import type { Fetcher, FetchRequest, FetchResult } from '../../../clients/fetch/index.js';
import { ConnectionError } from '../../../protocols/errors.js';
import type { HostLocks } from './host-locks.js';
import { type Contact, type PolitenessSettings, politenessDelay } from './politeness.js';

export interface LenientRetrieval {
  readonly host: string;
  readonly locks: HostLocks;
  readonly settings: PolitenessSettings & { readonly lenientHttp: boolean };
  readonly signal: AbortSignal;
  /** Returns what else lengthens the pause of the host. */
  readonly contact?: () => Pick<Contact, 'crawlDelay' | 'hostEmission'>;
  /** Takes the host's lock for the first request; it is released before the second one. */
  readonly lock: (first: () => Promise<FetchResult>) => Promise<FetchResult>;
}

/**
 * Fetches a document. If the strict parser refuses the message and `lenientHttp` is set, it is requested again
 * and read leniently, after the pause that follows any contact (CRAWL-7.1): no other request to the host comes
 * between, and the same pause follows.
 * @throws what the fetcher throws; the signal's reason
 */
export async function fetchLeniently(
  fetcher: Fetcher,
  request: FetchRequest,
  { host, locks, settings, signal, contact, lock }: LenientRetrieval,
): Promise<FetchResult> {
  let begin = Date.now();
  try {
    return await lock(() => {
      begin = Date.now();
      return fetcher.fetch({ ...request, httpReader: 'strict' });
    });
  } catch (error) {
    if (!settings.lenientHttp || !(error instanceof ConnectionError) || !isRefusedMessage(error)) throw error;
    const end = Date.now();
    const { delayMs } = politenessDelay(settings, { ...contact?.(), begin, end, bytes: 0, now: end });
    return await locks.exclusive(host, delayMs, signal, () =>
      fetcher.fetch({ ...request, httpReader: 'lenient' }),
    );
  }
}
