// What a crawl asks for besides its documents: robots.txt and addresses (WARC 1.1, 6.3 and 6.4.4).
import type { FetchResult } from '../../../clients/fetch/index.js';
import { messageOf } from '../../../protocols/errors.js';
import { crawlChannel } from '../events.js';
import { captureRecords, dnsRecord } from './captures.js';
import type { NewWarcRecord } from './new-record.js';
import type { WarcFiles } from './warc-files.js';

/**
 * Writes records of requests that belong to no document. A failure is only reported: the disk that is full for
 * them is full for the next document too, which ends the crawl in order.
 */
export class SideCaptures {
  constructor(readonly files: Pick<WarcFiles, 'write'>) {}

  /** Writes an answer to a request for robots.txt. */
  async record(fetched: FetchResult): Promise<void> {
    if (fetched.cached !== true) await this.#write(captureRecords(fetched).records);
  }

  /** Writes the addresses of a host. */
  async recordAddresses(host: string, addresses: readonly string[]): Promise<void> {
    await this.#write([dnsRecord(host, addresses, Date.now())]);
  }

  async #write(records: readonly NewWarcRecord[]): Promise<void> {
    try {
      await this.files.write(records);
    } catch (error) {
      crawlChannel.publish({ text: messageOf(error), alert: true });
    }
  }
}
