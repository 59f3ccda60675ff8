/**
 * What was asked for lately, bounded: two maps, of which the older one goes when the younger one is full. Getting moves a value
 * into the younger one.
 */
export class RecentMap<T> {
  readonly #half: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();
  #complete: boolean;

  /**
   * @param limit values at most
   * @param complete nothing exists yet that is not here
   */
  constructor(limit: number, complete: boolean) {
    this.#half = Math.max(1, Math.floor(limit / 2));
    this.#complete = complete;
  }

  /** Whatever exists is here: what is not found is new. */
  get complete(): boolean {
    return this.#complete;
  }

  get(key: string): T | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: T): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      if (this.#old.size > 0) this.#complete = false;
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
