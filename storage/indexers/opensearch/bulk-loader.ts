// Sends the changes of a run in bulk requests: one is under way while the next one is filled.
import { z } from 'zod';
import { pauseFor } from '../../../protocols/clock.js';
import { StorageError } from '../../../protocols/errors.js';
import type { ClusterClient } from './client.js';
import { isPassingStatus, readRefusal, refusalError } from './failures.js';

const itemSchema = z.object({ _id: z.string(), status: z.number(), error: z.unknown().optional() });
const replySchema = z.object({
  errors: z.boolean(),
  items: z.array(z.object({ index: itemSchema.optional(), delete: itemSchema.optional() })),
});

/** One change as lines of the bulk request. */
interface Change {
  readonly id: string;
  readonly lines: string;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

/** Options of {@link BulkLoader}. */
export interface BulkOptions {
  /** The name of the index. */
  readonly index: string;
  /** Returns the version of the next change, above all before it. */
  readonly nextVersion: () => number;
  /** Bytes of one request. */
  readonly requestBytes: number;
  /** Milliseconds for which changes that OpenSearch has no room for are repeated. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/**
 * Writes documents. A change has a version above those before it, so that a request whose answer was lost can be
 * repeated, and one that arrives late changes nothing.
 */
export class BulkLoader {
  readonly #client: ClusterClient;
  readonly #options: BulkOptions;
  #changes: Change[] = [];
  #bytes = 0;
  #sending: Promise<void> | undefined;

  constructor(client: ClusterClient, options: BulkOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Resolves when there is room for the next change: at most two requests are in memory. */
  async index(oid: number, document: object): Promise<void> {
    await this.#add(oid, 'index', `${JSON.stringify(document)}\n`);
  }

  /** Removes a document; ignores one that does not exist. */
  async remove(oid: number): Promise<void> {
    await this.#add(oid, 'delete', '');
  }

  /** Resolves when all changes are on the disks of all copies. @throws StorageError if one is refused */
  async finish(): Promise<void> {
    await this.#send();
    await this.#sending;
  }

  async #add(oid: number, action: 'index' | 'delete', source: string): Promise<void> {
    const version = this.#options.nextVersion();
    const id = String(oid);
    const head = JSON.stringify({ [action]: { _id: id, version, version_type: 'external_gte' } });
    const lines = `${head}\n${source}`;
    this.#changes.push({ id, lines });
    this.#bytes += Buffer.byteLength(lines);
    if (this.#bytes >= this.#options.requestBytes) await this.#send();
  }

  async #send(): Promise<void> {
    const former = this.#sending;
    const changes = this.#changes;
    this.#changes = [];
    this.#bytes = 0;
    await former;
    if (changes.length === 0) return;
    const sending = this.#write(changes);
    // It is thrown by the next call.
    sending.catch(() => undefined);
    this.#sending = sending;
  }

  /** Writes changes; those that OpenSearch had no room for are repeated. */
  async #write(changes: readonly Change[]): Promise<void> {
    const { index, patienceMs, signal } = this.#options;
    const { clock } = this.#client;
    const until = clock.now() + patienceMs;
    let delay = FIRST_DELAY_MS;
    for (let left = changes; left.length > 0; ) {
      const body = await this.#client.require({
        method: 'POST',
        path: `/${index}/_bulk`,
        body: left.map(({ lines }) => lines).join(''),
        signal,
      });
      const read = replySchema.safeParse(body);
      if (!read.success || read.data.items.length !== left.length)
        throw new StorageError(`${this.#client.addresses} is not OpenSearch: a bulk request has no reply`);
      if (!read.data.errors) return;
      const refused: Change[] = [];
      let reason: Error | undefined;
      for (const [i, item] of read.data.items.entries()) {
        const { status = 0, error } = item.index ?? item.delete ?? {};
        const change = left[i]!;
        // A document that is to be removed may not exist.
        if (status < 300 || (status === 404 && error === undefined)) continue;
        const failure = this.#failureOf(change, status, error);
        if (!failure.isPassing) throw failure.error;
        reason = failure.error;
        refused.push(change);
      }
      if (reason !== undefined && clock.now() + delay > until) throw reason;
      if (refused.length > 0) await pauseFor(clock, delay, signal);
      delay = Math.min(2 * delay, MAX_DELAY_MS);
      left = refused;
    }
  }

  #failureOf(
    { id }: Change,
    status: number,
    error: unknown,
  ): { readonly error: StorageError; readonly isPassing: boolean } {
    const { index } = this.#options;
    if (status === 409) {
      const text = `another Broker writes the index ${index} of OpenSearch: set OpenSearch-Index to a name of its own`;
      return { error: new StorageError(text), isPassing: false };
    }
    const refusal = readRefusal(status, { error });
    const passing = refusalError(refusal, `the change of object ${id}`);
    return { error: passing, isPassing: passing.isPassing && isPassingStatus(status) };
  }
}
