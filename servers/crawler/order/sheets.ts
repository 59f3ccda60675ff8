import { LRUCache } from 'lru-cache';
import { impliedSurtPrefix, surtCandidate } from '../../../protocols/urls/index.js';
import { decideSequence } from '../decide/build-rules.js';
import type { DecideSequence, DecideSubject } from '../decide/decision.js';
import type { CrawlOrderConfig, SheetConfig } from './order.js';
import type { CrawlSettings, SettingsOverrides } from './settings.js';

/** One application of a sheet to a URI. */
export interface AppliedSheet {
  readonly sheet: string;
  /** Why it applies: a SURT prefix, or the rule of the sheet that accepts the URI. */
  readonly because:
    | { readonly surt: string }
    | { readonly rule: string /** From 1. */; readonly ruleNumber: number };
}

interface RuledSheet {
  readonly sheet: number;
  readonly rules: DecideSequence;
}

/** Maximum number of sets of sheets in the cache of resolved settings; an order usually has few. */
const MAX_RESOLVED = 1000;

/**
 * The settings of each URI (CRAWL-19.6): those of the order, overridden by every sheet with a SURT prefix of
 * the URI, the shortest prefix first, and then by every sheet whose rules accept it, in the order of the file.
 * The last sheet wins for each setting.
 *
 * A look-up computes one SURT and accesses a map once per distinct length of prefixes, independent of the
 * number of sheets. URIs of the same sheets share one object.
 */
export class SheetOverlays {
  readonly #base: CrawlSettings;
  readonly #sheets: readonly SheetConfig[];
  /** Sheets by their prefixes. */
  readonly #byPrefix = new Map<string, number[]>();
  /** Distinct lengths of the prefixes, ascending. */
  readonly #lengths: readonly number[];
  readonly #ruled: readonly RuledSheet[];
  readonly #resolved = new LRUCache<string, CrawlSettings>({ max: MAX_RESOLVED });

  private constructor(order: CrawlOrderConfig) {
    this.#base = order.settings;
    this.#sheets = order.sheets;
    order.sheets.forEach(({ surts }, sheet) => {
      for (const prefix of new Set(surts.flatMap(parsePrefix))) {
        const sheets = this.#byPrefix.get(prefix);
        if (sheets === undefined) this.#byPrefix.set(prefix, [sheet]);
        else sheets.push(sheet);
      }
    });
    const lengths = new Set([...this.#byPrefix.keys()].map(({ length }) => length));
    this.#lengths = [...lengths].sort((a, b) => a - b);
    this.#ruled = order.sheets.flatMap(({ rules }, sheet) =>
      rules.length === 0 ? [] : [{ sheet, rules: decideSequence(rules, { seeds: order.seeds }) }],
    );
  }

  /** @throws UsageError when a sheet's rule has a pattern that does not compile */
  static of(order: CrawlOrderConfig): SheetOverlays {
    return new SheetOverlays(order);
  }

  /** Returns the settings of a URI; without a sheet, those of the order. They must not be modified. */
  settingsFor(subject: DecideSubject): CrawlSettings {
    if (this.#lengths.length === 0 && this.#ruled.length === 0) return this.#base;
    const applied: number[] = [];
    this.#eachPrefix(subject.uri, (sheet) => applied.push(sheet));
    for (const { sheet, rules } of this.#ruled) if (rules.accepts(subject)) applied.push(sheet);
    return applied.length === 0 ? this.#base : this.#settingsOf(applied);
  }

  /** Returns the sheets that {@link settingsFor} applies, in their order; the last one wins. */
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
    for (const sheet of applied) settings = applyOverrides(settings, this.#sheets[sheet]!.settings);
    this.#resolved.set(key, settings);
    return settings;
  }

  #name(sheet: number): string {
    return this.#sheets[sheet]!.name;
  }
}

/** CRAWL-19.4: applies overrides setting by setting and quota by quota. */
export function applyOverrides(base: CrawlSettings, { quotas, ...rest }: SettingsOverrides): CrawlSettings {
  return {
    ...base,
    ...withoutUndefined(rest),
    quotas: { ...base.quotas, ...withoutUndefined(quotas ?? {}) },
  };
}

/** Removes undefined values. */
function withoutUndefined<T extends object>(overrides: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/**
 * CRAWL-15.2: returns the prefix of a line: a formal one, with `(`, or that of a URI or host; empty for a
 * comment.
 */
function parsePrefix(line: string): string[] {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return [];
  // CRAWL-15.3: https is compared as http.
  return [text.indexOf('(') > 0 ? text.toLowerCase().replace(/^https:/, 'http:') : impliedSurtPrefix(text)];
}
