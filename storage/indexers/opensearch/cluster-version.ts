// Whether a cluster is one that this kit can use.
import { z } from 'zod';
import { StorageError } from '../../../protocols/errors.js';
import type { ClusterClient } from './client.js';

const rootSchema = z.object({
  version: z.object({ number: z.string(), distribution: z.string().optional() }),
});

/** The first version with states of an index that a search reads in pages. */
const MIN_VERSION = [2, 4] as const;
/** What clusters say that imitate their predecessor (`compatibility.override_main_response_version`). */
const IMITATED = '7.10.2';

/** Returns the version. @throws StorageError if no node answers, or the cluster is not OpenSearch from 2.4 */
export async function requireOpenSearch(client: ClusterClient): Promise<string> {
  const body = await client.require({ method: 'GET', path: '/', patienceMs: 0 });
  const read = rootSchema.safeParse(body);
  if (!read.success || read.data.version.distribution !== 'opensearch')
    throw new StorageError(`${client.addresses} is not OpenSearch`);
  const { number } = read.data.version;
  const [major = 0, minor = 0] = number.split('.').map(Number);
  const isOld = major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]);
  if (isOld && number !== IMITATED)
    throw new StorageError(
      `OpenSearch ${number} is too old: this kit needs ${MIN_VERSION.join('.')} or later`,
    );
  return number;
}
