// The file `admin/Gatherer-Ids` of a Registry of version 2 (REG-50).
import { ProtocolError } from '../errors.js';
import { U32_MAX } from './format.js';
import { unwritable } from './record.js';

/** The identity of a Gatherer, for which version 2 of the Registry has a number (REG-50). */
export interface GathererTriple {
  readonly name: string;
  readonly host: string;
  readonly version: string;
}

/** REG-50: the separators of fields and lines, which a value must not have. */
const SEPARATORS = /[\t\r\n]/;

/** The content of `admin/Gatherer-Ids` (REG-50): id, name, host, version, separated by tabs, ids from 1. */
export class GathererIds {
  readonly #byId = new Map<number, GathererTriple>();
  readonly #ids = new Map<string, number>();
  #next = 1;

  /**
   * Parses the file. A last line without a newline is an append that was cut off; it is ignored.
   *
   * @throws ProtocolError REG-50: a malformed line, or a duplicate id
   */
  static parse(text: string): GathererIds {
    const ids = new GathererIds();
    let offset = 0;
    for (const line of text.split('\n').slice(0, -1)) {
      const [id = '', name, host, version, ...more] = line.split('\t');
      const isMalformed =
        !/^[1-9]\d{0,9}$/.test(id) ||
        Number(id) > U32_MAX ||
        version === undefined ||
        more.length > 0 ||
        line.includes('\r');
      if (isMalformed || ids.#byId.has(Number(id))) {
        const message = 'a line of Gatherer-Ids is not a unique id, name, host and version';
        throw new ProtocolError(message, { protocol: 'registry', rule: 'REG-50', offset });
      }
      ids.#set(Number(id), { name: name ?? '', host: host ?? '', version });
      offset += line.length + 1;
    }
    return ids;
  }

  get(id: number): GathererTriple | undefined {
    return this.#byId.get(id);
  }

  /**
   * The id of a Gatherer; a new Gatherer gets the next id. @throws ProtocolError for a tab or newline in a
   * value, or when all ids are used
   */
  idOf(gatherer: GathererTriple): number {
    const known = this.#ids.get(keyOf(gatherer));
    if (known !== undefined) return known;
    const forbidden = Object.values(gatherer).find((value) => SEPARATORS.test(value));
    if (forbidden !== undefined) {
      throw unwritable('REG-50', `Gatherer-Ids cannot hold ${JSON.stringify(forbidden)}: a tab or newline`);
    }
    if (this.#next > U32_MAX) throw unwritable('REG-2', 'all Gatherer ids are used up');
    const id = this.#next;
    this.#set(id, gatherer);
    return id;
  }

  /** Formats the whole file in the order in which the ids were added, so that the file only grows (REG-50). */
  format(): string {
    return [...this.#byId]
      .map(([id, { name, host, version }]) => `${id}\t${name}\t${host}\t${version}\n`)
      .join('');
  }

  get size(): number {
    return this.#byId.size;
  }

  #set(id: number, gatherer: GathererTriple): void {
    this.#byId.set(id, gatherer);
    const key = keyOf(gatherer);
    if (!this.#ids.has(key)) this.#ids.set(key, id);
    this.#next = Math.max(this.#next, id + 1);
  }
}

/** JSON, because a value passed to {@link GathererIds.idOf} may have any character. */
function keyOf({ name, host, version }: GathererTriple): string {
  return JSON.stringify([name, host, version]);
}
