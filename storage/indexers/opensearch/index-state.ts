// The indexes of one Broker: `NAME-1`, `NAME-2`, of which the alias `NAME` is the one in use.
import { z } from 'zod';
import { StorageError } from '../../../protocols/errors.js';
import { UNICODE_VERSION } from '../query/words.js';
import type { ClusterClient } from './client.js';
import { INDEX_DEFINITION, INDEX_RULES } from './documents.js';

const metaSchema = z.object({
  /** The rules of its documents. */
  rules: z.number().int().positive(),
  /** The Unicode version by which words were separated. */
  unicode: z.string(),
  /** The Broker, or the store of the Brokers, that it belongs to: a random name. */
  owner: z.string(),
  /** The last change of the Broker's store that is in the index. */
  watermark: z.number().int().nonnegative(),
  /** The number of the last process that began to write; of two, the later one wins. */
  epoch: z.number().int().nonnegative(),
});

/** What an index says of itself, in `_meta` of its mapping. */
export type IndexMeta = z.output<typeof metaSchema>;

/** An index of OpenSearch. */
export interface FoundIndex {
  readonly name: string;
  /** Undefined if it is not an index of this kit. */
  readonly meta: IndexMeta | undefined;
}

const mappingsSchema = z.record(
  z.string(),
  z.object({ mappings: z.object({ _meta: z.object({ harvest: z.unknown() }).optional() }).default({}) }),
);
const countSchema = z.object({ count: z.number().int().nonnegative() });

/** The indexes behind an alias. */
export class IndexSet {
  /** @param alias a name of OpenSearch */
  constructor(
    readonly client: ClusterClient,
    readonly alias: string,
    /** The name of this Broker, or of the store whose Brokers share the index. */
    readonly owner: string,
  ) {}

  /**
   * The index in use; undefined before the first one.
   *
   * @throws StorageError if the alias is an index, or of several indexes, or of another Broker or a newer version
   */
  async current(): Promise<FoundIndex | undefined> {
    const found = await this.#read(this.alias);
    const [index, other] = found;
    if (index === undefined) return undefined;
    if (index.name === this.alias)
      throw new StorageError(
        `OpenSearch has an index ${this.alias}, where the Broker needs an alias: delete it, or set OpenSearch-Index to another name`,
      );
    if (other !== undefined)
      throw new StorageError(
        `the alias ${this.alias} of OpenSearch names several indexes: ${index.name}, ${other.name}`,
      );
    const { name, meta } = index;
    if (meta !== undefined && meta.rules > INDEX_RULES)
      throw new StorageError(`the index ${name} of OpenSearch was made by a newer version of this kit`);
    if (meta?.owner !== this.owner)
      throw new StorageError(
        `the index ${this.alias} of OpenSearch belongs to another Broker: set OpenSearch-Index to a name of its own, or delete the index`,
      );
    return index;
  }

  /** What an index says of itself; undefined if it is gone. */
  async meta(name: string): Promise<IndexMeta | undefined> {
    return (await this.#read(name))[0]?.meta;
  }

  /** Removes what earlier unfinished runs of this Broker left, and returns the largest number of an index. */
  async removeUnfinished(): Promise<number> {
    const inUse = (await this.#read(this.alias))[0]?.name;
    let latest = 0;
    for (const { name, meta } of await this.#read(`${this.alias}-*`)) {
      const number = this.#numberOf(name);
      if (number === undefined) continue;
      latest = Math.max(latest, number);
      if (name !== inUse && meta?.owner === this.owner) await this.remove(name);
    }
    return latest;
  }

  /** Creates the next index, which is not in use yet, and removes what earlier unfinished runs of this Broker left. */
  async createNext(epoch: number): Promise<string> {
    const latest = await this.removeUnfinished();
    const name = `${this.alias}-${latest + 1}`;
    const meta = this.#metaOf(0, epoch);
    const { mappings } = INDEX_DEFINITION;
    const body = { ...INDEX_DEFINITION, mappings: { ...mappings, _meta: { harvest: meta } } };
    try {
      await this.client.require({ method: 'PUT', path: `/${name}`, body });
    } catch (error) {
      // The answer to an earlier attempt may be lost.
      const made = await this.meta(name).catch(() => undefined);
      if (made?.owner !== this.owner || made.epoch !== epoch) throw error;
    }
    return name;
  }

  /** Writes what an index says of itself. Resolves when a majority of the managers has it on the disk. */
  async write(name: string, watermark: number, epoch: number): Promise<void> {
    const body = { _meta: { harvest: this.#metaOf(watermark, epoch) } };
    await this.client.require({ method: 'PUT', path: `/${name}/_mapping`, body });
  }

  /** Puts an index into use, in place of the former one, in one step. */
  async publish(name: string, former: string | undefined): Promise<void> {
    const { alias } = this;
    const remove = former === undefined ? [] : [{ remove: { index: former, alias } }];
    const body = { actions: [...remove, { add: { index: name, alias } }] };
    try {
      await this.client.require({ method: 'POST', path: '/_aliases', body });
    } catch (error) {
      const now = await this.#read(alias).catch(() => []);
      if (now.length !== 1 || now[0]?.name !== name) throw error;
    }
    if (former !== undefined) await this.remove(former).catch(() => undefined);
  }

  /** Removes an index; ignores one that is gone. */
  async remove(name: string): Promise<void> {
    await this.client.send({ method: 'DELETE', path: `/${name}` });
  }

  /** Makes the changes of an index visible. */
  async refresh(name: string): Promise<void> {
    await this.client.require({ method: 'POST', path: `/${name}/_refresh` });
  }

  /** The number of objects in an index. */
  async count(name: string): Promise<number> {
    const body = await this.client.require({ method: 'GET', path: `/${name}/_count` });
    return this.client.read(countSchema, body).count;
  }

  #metaOf(watermark: number, epoch: number): IndexMeta {
    return { rules: INDEX_RULES, unicode: UNICODE_VERSION, owner: this.owner, watermark, epoch };
  }

  /** The indexes of a name, an alias or a pattern. */
  async #read(names: string): Promise<FoundIndex[]> {
    const { status, body } = await this.client.send({ method: 'GET', path: `/${names}/_mapping` });
    if (status === 404) return [];
    const found = this.client.read(mappingsSchema, body);
    return Object.entries(found).map(([name, { mappings }]) => ({
      name,
      meta: metaSchema.safeParse(mappings._meta?.harvest).data,
    }));
  }

  #numberOf(name: string): number | undefined {
    const digits = name.slice(this.alias.length + 1);
    return name.startsWith(`${this.alias}-`) && /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
  }
}
