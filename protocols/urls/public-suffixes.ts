// The public suffixes of host names (CRAWL-9.4).
/** Second-level labels under which countries assign names, used without a list. */
const GENERIC_LABELS = new Set(
  'ac co com edu gob go gov gv int ltd me mil ne net nom or org plc sch'.split(' '),
);

/**
 * Finds the assigned part of a host name (CRAWL-9.4): one label more than its public suffix. It uses the Public
 * Suffix List, or without it a heuristic for suffixes such as `co.uk`.
 */
export class PublicSuffixes {
  /** The heuristic: the last label, or the last two when they are a usual category below a country code. */
  static readonly HEURISTIC = new PublicSuffixes(undefined);
  readonly #rules: ReadonlySet<string> | undefined;

  private constructor(rules: ReadonlySet<string> | undefined) {
    this.#rules = rules;
  }

  /**
   * @param text the Public Suffix List: one rule on each line, `//` comments, `*.` for any label, `!` for
   *   exceptions
   */
  static parse(text: string): PublicSuffixes {
    const rules = new Set<string>();
    for (const line of text.split(/\r?\n/)) {
      const rule = line.trim().split(/\s/, 1)[0]!;
      if (rule === '' || rule.startsWith('//')) continue;
      const url = `http://${rule.replace(/^!|^\*\./, '')}/`;
      if (!URL.canParse(url)) continue;
      rules.add((/^!|^\*\./.exec(rule)?.[0] ?? '') + new URL(url).hostname);
    }
    return new PublicSuffixes(rules);
  }

  /**
   * The number of labels in the assigned part: 2 for `www.example.com`.
   * @param labels of the host, from left to right, in lower case
   */
  assignedLabels(labels: readonly string[]): number {
    return Math.min(labels.length, this.#suffixLabels(labels) + 1);
  }

  #suffixLabels(labels: readonly string[]): number {
    if (this.#rules === undefined) {
      const isCountry = labels.at(-1)?.length === 2;
      return isCountry && labels.length > 1 && GENERIC_LABELS.has(labels.at(-2)!) ? 2 : 1;
    }
    // The longest rule applies; an exception overrides a longer rule.
    for (let from = 0; from < labels.length; from++) {
      const name = labels.slice(from).join('.');
      if (this.#rules.has(`!${name}`)) return labels.length - from - 1;
      if (this.#rules.has(name)) return labels.length - from;
      const above = labels.slice(from + 1).join('.');
      if (above !== '' && this.#rules.has(`*.${above}`)) return labels.length - from;
    }
    return 1;
  }
}
