// What OpenSearch says when it refuses a request, as one sentence for a person.
import { z } from 'zod';
import { StorageError } from '../../../protocols/errors.js';

const reasonSchema = z.object({ type: z.string().default(''), reason: z.string().nullish() });
const errorSchema = z.union([
  z.string().transform((text) => ({ type: '', reason: text, root_cause: [], failed_shards: [] })),
  reasonSchema.extend({
    root_cause: z.array(reasonSchema).default([]),
    failed_shards: z.array(z.object({ reason: reasonSchema })).default([]),
  }),
]);
const bodySchema = z.object({ error: errorSchema });

/** Characters of a reason that are shown. */
const MAX_REASON = 300;

/** What a refusal says. */
export interface Refusal {
  readonly status: number;
  /** OpenSearch's name of the error; empty if it gives no name. */
  readonly type: string;
  readonly reason: string;
}

/** An error of OpenSearch, or no answer of it, as the user reads it. */
export interface ClusterFailure extends StorageError {
  /** Whether the same request may succeed later or at another node. */
  readonly isPassing: boolean;
}

/** Returns an error with a sentence. */
export function clusterFailure(message: string, isPassing: boolean, options?: ErrorOptions): ClusterFailure {
  return Object.assign(new StorageError(message, options), { isPassing });
}

/** Whether an error is one that may pass. */
export function isPassing(error: unknown): boolean {
  return error instanceof StorageError && Reflect.get(error, 'isPassing') === true;
}

/** Reads the body of a refusal. */
export function readRefusal(status: number, body: unknown): Refusal {
  const read = bodySchema.safeParse(body);
  if (!read.success) return { status, type: '', reason: '' };
  const { error } = read.data;
  // The cause of a search that failed is in its shards.
  const cause = error.failed_shards[0]?.reason ?? error.root_cause[0] ?? error;
  const { type, reason } = cause.type === '' ? error : cause;
  return { status, type, reason: (reason ?? '').slice(0, MAX_REASON) };
}

/** A refusal as an error with a sentence. @param what the request, such as `GET /web` */
export function refusalError(refusal: Refusal, what: string): ClusterFailure {
  const { status, type, reason } = refusal;
  if (isFullDisk(refusal)) {
    return clusterFailure(
      `the disk of OpenSearch is full: it accepts no changes until there is space again (${reason})`,
      false,
    );
  }
  if (status === 401) return clusterFailure('OpenSearch refuses the login (401)', false);
  if (status === 403)
    return clusterFailure(`OpenSearch does not permit ${what} (403): ${reason || type}`, false);
  if (/(?:master|cluster_manager)_not_discovered/.test(type))
    return clusterFailure('the cluster of OpenSearch has no manager at present', true);
  if (isPassingStatus(status)) {
    const shards = /shard/.test(type) || /shard/.test(reason);
    const why = shards
      ? 'not all shards of the index are available (the cluster is red)'
      : status === 500
        ? 'a node of OpenSearch failed'
        : 'OpenSearch is overloaded or not ready';
    return clusterFailure(`${why}: ${status} ${type} ${reason}`.trimEnd(), true);
  }
  return clusterFailure(
    `OpenSearch answers ${what} with ${status}: ${[type, reason].filter((text) => text !== '').join(': ')}`,
    false,
  );
}

/** Too many requests, and what a node answers while others are gone: 500 too, if a search needs one that is gone. */
export function isPassingStatus(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Blocks of this kind are not lifted by waiting a little, though their status says so. */
function isFullDisk({ type, reason }: Refusal): boolean {
  return type === 'cluster_block_exception' && /flood|read-only|read_only/.test(reason);
}
