import { impliedSurtPrefix, surtCandidate } from '../../../protocols/urls/index.js';
import { type DecideSequence, type DecideSubject, decideSequence } from '../decide/index.js';
import type { CrawlOrderConfig, SheetConfig } from './order.js';
import type { CrawlSettings, SettingsOverrides } from './settings.js';

/** One application of a sheet to a URI. */
export interface AppliedSheet {
  readonly sheet: string;
  /** What put the URI under it: a SURT prefix, or the rule of the sheet that accepted it. */
  readonly because:
    | { readonly surt: string }
    | { readonly rule: string /** From 1. */; readonly ruleNumber: number };
}

interface RuledSheet {
  readonly sheet: number;
  readonly rules: DecideSequence;
}

/** Different sets of sheets whose settings are kept; an order seldom has more than a handful. */
const MAX_RESOLVED = 1000;

/**
 * The settings of each URI (CRAWL-19.6): the order's own, overridden by every sheet under one of whose SURT prefixes it lies, the
 * shortest prefix first, and then by every sheet whose rules accept it, in the order of the file. The sheet applied last wins,
 * for each setting by itself.
 *
 * A look-up costs one SURT and a map access for each length that prefixes have, however many sheets there are; URIs of the same
 * sheets share one object.
 */
export class SheetOverlays {
  readonly #base: CrawlSettings;
  readonly #sheets: readonly SheetConfig[];
  /** Sheets by their prefixes. */
  readonly #byPrefix = new Map<string, number[]>();
  /** Of the prefixes, each once, rising. */
  readonly #lengths: readonly number[];
  readonly #ruled: readonly RuledSheet[];
  readonly #resolved = new Map<string, CrawlSettings>();

  private constructor(order: CrawlOrderConfig) {
    this.#base = order.settings;
    this.#sheets = order.sheets;
    order.sheets.forEach(({ surts }, sheet) => {
      for (const prefix of new Set(surts.flatMap(prefixOfLine))) {
        const sharing = this.#byPrefix.get(prefix);
        if (sharing === undefined) this.#byPrefix.set(prefix, [sheet]);
        else sharing.push(sheet);
      }
    });
    const lengths = new Set([...this.#byPrefix.keys()].map(({ length }) => length));
    this.#lengths = [...lengths].sort((a, b) => a - b);
    this.#ruled = order.sheets.flatMap(({ rules }, sheet) =>
      rules.length === 0 ? [] : [{ sheet, rules: decideSequence(rules, { seeds: order.seeds }) }],
    );
  }

  /** @throws UsageError when a sheet's rule has a pattern that is none */
  static of(order: CrawlOrderConfig): SheetOverlays {
    return new SheetOverlays(order);
  }

  /** What holds for a URI. Without a sheet it is the order's own object; it is never to be changed. */
  settingsFor(subject: DecideSubject): CrawlSettings {
    if (this.#lengths.length === 0 && this.#ruled.length === 0) return this.#base;
    const applied: number[] = [];
    this.#eachPrefix(subject.uri, (sheet) => applied.push(sheet));
    for (const { sheet, rules } of this.#ruled) if (rules.accepts(subject)) applied.push(sheet);
    return applied.length === 0 ? this.#base : this.#settingsOf(applied);
  }

  /** The sheets that {@link settingsFor} applies, in their order: the last one wins. Empty: none. */
  explain(subject: DecideSubject): AppliedSheet[] {
    const applied: AppliedSheet[] = [];
    this.#eachPrefix(subject.uri, (sheet, surt) =>
      applied.push({ sheet: this.#name(sheet), because: { surt } }),
    );
    for (const { sheet, rules } of this.#ruled) {
      const { decision, rule = '', ruleNumber = 0 } = rules.explain(subject);
      if (decision === 'ACCEPT') applied.push({ sheet: this.#name(sheet), because: { rule, ruleNumber } });
    }
    return applied;
  }

  #eachPrefix(uri: string, visit: (sheet: number, prefix: string) => void): void {
    if (this.#lengths.length === 0) return;
    const candidate = surtCandidate(uri);
    for (const length of this.#lengths) {
      if (length > candidate.length) return;
      const prefix = candidate.slice(0, length);
      for (const sheet of this.#byPrefix.get(prefix) ?? []) visit(sheet, prefix);
    }
  }

  #settingsOf(applied: readonly number[]): CrawlSettings {
    const key = applied.join(' ');
    const known = this.#resolved.get(key);
    if (known !== undefined) return known;
    let settings = this.#base;
    for (const sheet of applied) settings = overridden(settings, this.#sheets[sheet]!.settings);
    // The oldest goes: what is needed again is cheaply made again.
    const [oldest] = this.#resolved.keys();
    if (this.#resolved.size >= MAX_RESOLVED && oldest !== undefined) this.#resolved.delete(oldest);
    this.#resolved.set(key, settings);
    return settings;
  }

  #name(sheet: number): string {
    return this.#sheets[sheet]!.name;
  }
}

/** CRAWL-19.4: setting by setting; of the quotas quota by quota. */
export function overridden(base: CrawlSettings, { quotas, ...rest }: SettingsOverrides): CrawlSettings {
  return { ...base, ...said(rest), quotas: { ...base.quotas, ...said(quotas ?? {}) } };
}

/** Only what has a value. */
function said<T extends object>(overrides: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** CRAWL-15.2: a formal prefix (it has a `(`), or a URI or host that implies one; nothing for a comment. */
function prefixOfLine(line: string): string[] {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return [];
  // CRAWL-15.3: what is compared has https as http.
  return [text.indexOf('(') > 0 ? text.toLowerCase().replace(/^https:/, 'http:') : impliedSurtPrefix(text)];
}
