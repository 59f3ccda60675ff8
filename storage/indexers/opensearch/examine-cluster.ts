// What `harvest doctor` says of a cluster. It changes nothing.
import { z } from 'zod';
import { StorageError } from '../../../protocols/errors.js';
import type { EngineFinding } from '../engine.js';
import { type AccessOptions, aliasOf, knownOwner, readAccess } from './access.js';
import { ClusterClient } from './client.js';
import { requireOpenSearch } from './cluster-version.js';
import { INDEX_RULES } from './documents.js';
import { IndexSet } from './index-state.js';

const healthSchema = z.object({ status: z.string(), number_of_nodes: z.number() });
const disksSchema = z.array(
  z.object({ node: z.string(), 'disk.percent': z.string().nullish(), 'disk.avail': z.string().nullish() }),
);
const settingsSchema = z.record(
  z.string(),
  z.object({
    settings: z.object({ index: z.object({ blocks: z.record(z.string(), z.string()).optional() }) }),
  }),
);

/** Shares of a disk at which OpenSearch gives a node no more parts of indexes, and permits no changes. */
const LOW_PERCENT = 85;
const FLOOD_PERCENT = 95;

/** The index of a Broker. */
interface ExaminedIndex extends AccessOptions {
  /** Where the Broker keeps what it knows about its index. */
  readonly directory: string;
  readonly index: string;
  /** Whether several Brokers may share its store, and the index with it. */
  readonly isStoreShared?: boolean | undefined;
}

/** Examines a cluster and the index of a Broker in it. */
export async function examineCluster(options: ExaminedIndex): Promise<readonly EngineFinding[]> {
  const findings: EngineFinding[] = [];
  const add = (status: EngineFinding['status'], text: string) => findings.push({ status, text });
  let client: ClusterClient | undefined;
  try {
    client = new ClusterClient({ ...(await readAccess(options)), patienceMs: 0 });
    const version = await requireOpenSearch(client);
    add('ok', `OpenSearch ${version} answers at ${client.addresses}`);
    for (const examine of [examineHealth, examineDisks]) findings.push(...(await examine(client)));
    findings.push(...(await examineIndex(client, options)));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    add('problem', error.message);
  } finally {
    await client?.close();
  }
  return findings;
}

async function examineHealth(client: ClusterClient): Promise<EngineFinding[]> {
  const body = await client.require({ method: 'GET', path: '/_cluster/health' });
  const { status, number_of_nodes: nodes } = client.read(healthSchema, body);
  if (status === 'red')
    return [{ status: 'problem', text: 'the cluster is red: parts of its indexes are not available' }];
  if (status === 'yellow' && nodes > 1)
    return [{ status: 'warning', text: 'the cluster is yellow: not every part of an index has its copy' }];
  return [];
}

async function examineDisks(client: ClusterClient): Promise<EngineFinding[]> {
  const body = await client.require({
    method: 'GET',
    path: '/_cat/allocation?format=json&h=node,disk.percent,disk.avail',
  });
  return client
    .read(disksSchema, body)
    .flatMap(({ node, 'disk.percent': percent, 'disk.avail': free }): EngineFinding[] => {
      const used = Number(percent ?? 0);
      if (used < LOW_PERCENT) return [];
      const what = `the disk of node ${node} is ${used} % full, ${free ?? 'nothing'} is free`;
      return used < FLOOD_PERCENT
        ? [
            {
              status: 'warning',
              text: `${what}: OpenSearch gives it no more parts of indexes from ${LOW_PERCENT} % on`,
            },
          ]
        : [{ status: 'problem', text: `${what}: OpenSearch permits no changes from ${FLOOD_PERCENT} % on` }];
    });
}

async function examineIndex(
  client: ClusterClient,
  { directory, index, isStoreShared = false }: ExaminedIndex,
): Promise<EngineFinding[]> {
  const alias = aliasOf(index);
  const owner = await knownOwner(directory, isStoreShared);
  if (isStoreShared && owner === undefined)
    return [
      { status: 'ok', text: `the Broker says at its start whether the index ${alias} is that of its store` },
    ];
  const indexes = new IndexSet(client, alias, owner ?? '');
  const found = await indexes.current();
  if (found === undefined)
    return [{ status: 'ok', text: `the Broker makes the index ${alias} at its start` }];
  const findings: EngineFinding[] = [];
  const body = await client.require({ method: 'GET', path: `/${found.name}/_settings` });
  for (const { settings } of Object.values(client.read(settingsSchema, body)))
    for (const [block, value] of Object.entries(settings.index.blocks ?? {}))
      if (value === 'true')
        findings.push({
          status: 'problem',
          text: `the index ${found.name} is blocked (index.blocks.${block}): a disk was full, or a person has set it`,
        });
  const isUsable = found.meta?.rules === INDEX_RULES;
  const objects = await indexes.count(found.name);
  findings.push(
    isUsable
      ? { status: 'ok', text: `the index ${found.name} has ${objects} objects` }
      : {
          status: 'warning',
          text: `the index ${found.name} is one of an older version: the Broker makes it again at its start`,
        },
  );
  return findings;
}
