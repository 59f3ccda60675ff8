// Collects the facts that a gatherd reports by INFO while an export is written.
import { identityOf, type SoifIdentity, type SoifObject } from '../../../protocols/soif/index.js';

export type GathererNames = Pick<SoifIdentity, 'gathererName' | 'gathererHost' | 'gathererVersion'>;

/** Maximum number of attribute names that are counted, because documents can define names (E-105). */
const MAX_NAMES = 10_000;

interface Usage {
  readonly name: string;
  uses: number;
}

/** Collects the answers of INFO from all objects of a database (GATHERD-8.1, 8.4). */
export class Survey {
  /** By the name in lower case (SOIF-2.11). */
  readonly #names = new Map<string, Usage>();
  /** By each spelling, which saves most conversions to lower case. */
  readonly #spellings = new Map<string, Usage>();
  #last: SoifObject | undefined;

  add(object: SoifObject): void {
    for (let i = 0; i < object.size; i++) {
      const name = object.nameAt(i);
      const usage = this.#spellings.get(name) ?? this.#fold(name);
      if (usage !== undefined) usage.uses++;
    }
    this.#last = object;
  }

  /**
   * Attribute names, the most frequent first, equally frequent ones by name; spelled as in their first
   * occurrence.
   */
  attributes(): string[] {
    return [...this.#names.values()]
      .sort((a, b) => b.uses - a.uses || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name);
  }

  /** The Gatherer of the newest object, if the object names it completely (SOIF-6.5). */
  gatherer(): GathererNames | undefined {
    const identity = this.#last === undefined ? undefined : identityOf(this.#last);
    if (identity === undefined) return undefined;
    const { gathererName, gathererHost, gathererVersion } = identity;
    return { gathererName, gathererHost, gathererVersion };
  }

  #fold(name: string): Usage | undefined {
    const folded = name.toLowerCase();
    let usage = this.#names.get(folded);
    if (usage === undefined) {
      if (this.#names.size >= MAX_NAMES) return undefined;
      usage = { name, uses: 0 };
      this.#names.set(folded, usage);
    }
    if (this.#spellings.size < MAX_NAMES) this.#spellings.set(name, usage);
    return usage;
  }
}
