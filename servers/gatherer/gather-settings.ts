import type { RootNode } from '../../protocols/config/index.js';
import type { DecideSubject } from '../crawler/decide/index.js';
import { type CrawlOrderConfig, crawlOrderSchema } from '../crawler/order/order.js';
import type { CrawlSettings } from '../crawler/order/settings.js';
import { SheetOverlays } from '../crawler/order/sheets.js';
import { searchSettings } from './enumerate/index.js';

/** What of a run's options has a say in the settings when there is no order. */
export interface PlainSettings {
  /** Seconds between contacts (G-38). */
  readonly accessDelay: number;
  readonly queuesPerHost: number;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  readonly workers: number;
}

/**
 * The order of a Gatherer whose configuration names none: it waits as its RootNodes say and nothing else (G-38), and gives up sooner
 * than a crawl of weeks would. No logs beside its own.
 */
export function plainOrder(plain: PlainSettings): CrawlOrderConfig {
  return crawlOrderSchema.parse({
    workers: plain.workers,
    logs: false,
    settings: {
      delayFactor: 0,
      minDelayMs: Math.round(plain.accessDelay * 1000),
      maxDelayMs: Math.round(plain.accessDelay * 1000),
      maxRetries: plain.maxRetries,
      retryDelaySeconds: plain.retryDelayMs / 1000,
      parallelQueues: plain.queuesPerHost,
    },
  });
}

/** Of what settings are asked for. */
export interface SettingsSubject {
  readonly url: string;
  readonly via: string;
  readonly pathFromSeed: string;
  readonly sourceTag?: string;
  /** Index of its RootNode; absent: it is not asked for how its queue waits. */
  readonly root?: number;
}

/** The settings of each URI: the order's, its sheets', and what the URI's RootNode says (G-30, G-38). */
export class GatherSettings {
  readonly #sheets: SheetOverlays;
  /** By what the sheets say, by RootNode. */
  readonly #ofRoots = new WeakMap<CrawlSettings, Map<number, CrawlSettings>>();

  constructor(
    readonly order: CrawlOrderConfig,
    /** True when the configuration names the order: then a RootNode's Delay can only make its pauses longer. */
    readonly ordered: boolean,
    readonly roots: readonly RootNode[],
  ) {
    this.#sheets = SheetOverlays.of(order);
  }

  of({ url, via, pathFromSeed, sourceTag = '', root }: SettingsSubject): CrawlSettings {
    const subject: DecideSubject = {
      uri: url,
      hops: pathFromSeed,
      seed: pathFromSeed === '',
      ...(via === '' ? {} : { via }),
      ...(sourceTag === '' ? {} : { sourceTag }),
    };
    const settings = this.#sheets.settingsFor(subject);
    return root === undefined ? settings : this.#ofRoot(settings, root);
  }

  /** Where only the URL is known: of a server. */
  ofUrl(url: string): CrawlSettings {
    return this.of({ url, via: '', pathFromSeed: '' });
  }

  #ofRoot(settings: CrawlSettings, index: number): CrawlSettings {
    const root = this.roots[index];
    if (root === undefined) return settings; // a LeafNode
    let ofRoots = this.#ofRoots.get(settings);
    if (ofRoots === undefined) {
      ofRoots = new Map();
      this.#ofRoots.set(settings, ofRoots);
    }
    const known = ofRoots.get(index);
    if (known !== undefined) return known;
    const delayMs = Math.round(root.delay * 1000);
    const minDelayMs = this.ordered ? Math.max(settings.minDelayMs, delayMs) : delayMs;
    const made = {
      ...settings,
      ...searchSettings(root),
      minDelayMs,
      maxDelayMs: this.ordered ? Math.max(settings.maxDelayMs, minDelayMs) : delayMs,
    };
    ofRoots.set(index, made);
    return made;
  }
}
