/** Second labels under which countries assign names, where no list is at hand. */
const GENERIC_LABELS = new Set(
  'ac co com edu gob go gov gv int ltd me mil ne net nom or org plc sch'.split(' '),
);

/**
 * Which part of a host is assigned to somebody (CRAWL-9.4): one label more than its public suffix. By the Public Suffix
 * List's text, or without it by a rule of thumb that knows `co.uk` and its like.
 */
export class PublicSuffixes {
  /** The rule of thumb: the last label, or the last two when they are a usual category below a country code. */
  static readonly USUAL = new PublicSuffixes(undefined);

  private constructor(private readonly rules: ReadonlySet<string> | undefined) {}

  /**
   * @param text the Public Suffix List: a rule a line, `//` comments, `*.` for any label, `!` for exceptions
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
   * How many of a host's labels were assigned together: 2 of `www.example.com`.
   * @param labels of the host, from left to right, in lower case
   */
  assignedLabels(labels: readonly string[]): number {
    return Math.min(labels.length, this.#suffixLabels(labels) + 1);
  }

  #suffixLabels(labels: readonly string[]): number {
    if (this.rules === undefined) {
      const isCountry = labels.at(-1)?.length === 2;
      return isCountry && labels.length > 1 && GENERIC_LABELS.has(labels.at(-2)!) ? 2 : 1;
    }
    // The longest rule holds; an exception names what is assigned in spite of a longer rule.
    for (let from = 0; from < labels.length; from++) {
      const name = labels.slice(from).join('.');
      if (this.rules.has(`!${name}`)) return labels.length - from - 1;
      if (this.rules.has(name)) return labels.length - from;
      const above = labels.slice(from + 1).join('.');
      if (above !== '' && this.rules.has(`*.${above}`)) return labels.length - from;
    }
    return 1;
  }
}
