/** URLs of each of the two generations that are remembered. */
const GENERATION_URLS = 65_536;

/** URLs that were met lately, in memory of a fixed size: what is asked for again stays, what is not goes in time. */
export class RecentUrls {
  #young = new Set<string>();
  #old = new Set<string>();

  has(url: string): boolean {
    if (this.#young.has(url)) return true;
    if (!this.#old.has(url)) return false;
    this.add(url);
    return true;
  }

  add(url: string): void {
    if (this.#young.size >= GENERATION_URLS) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(url);
  }

  delete(url: string): void {
    this.#young.delete(url);
    this.#old.delete(url);
  }
}
