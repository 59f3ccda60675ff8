import { DEFAULT_DELAY, type RootNode } from '../../../protocols/config/index.js';
import { hostOf } from '../../../protocols/urls/index.js';
import type { DecideSubject } from '../../crawler/decide/decision.js';
import { type CrawlOrderConfig, crawlOrderSchema } from '../../crawler/order/order.js';
import type { CrawlSettings } from '../../crawler/order/settings.js';
import { SheetOverlays } from '../../crawler/order/sheets.js';
import { searchSettings } from '../enumerate/listed.js';

/** The options of a run that determine the crawl settings if there is no order. */
export interface PlainSettings {
  /** Seconds between contacts (G-38). */
  readonly accessDelay: number;
  readonly queuesPerHost: number;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  readonly unansweredRetryDelayMs: number;
  readonly workers: number;
}

/**
 * Returns the order of a Gatherer whose configuration names no order: only the RootNodes' delays apply (G-38),
 * retries end earlier than in a long crawl, and the crawl engine writes no logs.
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
      unansweredRetryDelaySeconds: plain.unansweredRetryDelayMs / 1000,
      parallelQueues: plain.queuesPerHost,
      parallelQueuesBy: 'uri',
      // A run must not last for a day because one server asks for it.
      retireRetryAfterSecs: 300,
      // G-63.
      robotsPolicy: 'rfc9309',
      // A summary of half a document would hide that the server is wrong (G-85); an archive wants the half.
      lenientHttp: false,
    },
  });
}

/** A URI whose settings are looked up. */
export interface SettingsSubject {
  readonly url: string;
  readonly via: string;
  readonly pathFromSeed: string;
  readonly sourceTag?: string;
  /** Index of its RootNode; without it the RootNode's delay does not apply. */
  readonly root?: number;
}

/** The settings of each URI: from the order, its sheets, and the URI's RootNode (G-30, G-38). */
export class GatherSettings {
  /**
   * Whether the configuration names the order; a Delay or Access-Delay that is given can then only lengthen
   * its pauses.
   */
  readonly #ordered: boolean;
  readonly #roots: readonly RootNode[];
  readonly #isOwnMachine: (host: string) => boolean;
  readonly #sheets: SheetOverlays;
  /** Cache by settings of the sheets and index of the RootNode. */
  readonly #ofRoots = new WeakMap<CrawlSettings, Map<number, CrawlSettings>>();

  /** @param isOwnMachine whether a host is reached by the loopback interface. Default: none is */
  constructor(
    order: CrawlOrderConfig,
    ordered: boolean,
    roots: readonly RootNode[],
    isOwnMachine: (host: string) => boolean = () => false,
  ) {
    this.#ordered = ordered;
    this.#roots = roots;
    this.#isOwnMachine = isOwnMachine;
    this.#sheets = SheetOverlays.of(order);
  }

  /** Returns the settings of a URI. */
  forUri({ url, via, pathFromSeed, sourceTag = '', root }: SettingsSubject): CrawlSettings {
    const subject: DecideSubject = {
      uri: url,
      hops: pathFromSeed,
      seed: pathFromSeed === '',
      ...(via === '' ? {} : { via }),
      ...(sourceTag === '' ? {} : { sourceTag }),
    };
    const settings = this.#sheets.settingsFor(subject);
    if (root === undefined) return settings;
    const ofRoot = this.#ofRoot(settings, root);
    const isFree = !this.#ordered && this.#roots[root]?.noLoopbackDelay === true;
    return isFree && this.#isOwnMachine(hostOf(url)) ? withoutDelay(ofRoot) : ofRoot;
  }

  /** Returns the settings of a server, of which only the URL is known. */
  forUrl(url: string): CrawlSettings {
    return this.forUri({ url, via: '', pathFromSeed: '' });
  }

  #ofRoot(settings: CrawlSettings, index: number): CrawlSettings {
    const root = this.#roots[index];
    if (root === undefined) return settings; // a LeafNode
    let ofRoots = this.#ofRoots.get(settings);
    if (ofRoots === undefined) {
      ofRoots = new Map();
      this.#ofRoots.set(settings, ofRoots);
    }
    const known = ofRoots.get(index);
    if (known !== undefined) return known;
    const delayMs = Math.round(root.delay * 1000);
    // The order decides, and a Delay that the configuration gives can lengthen it; the default of G-38 is not a
    // decision.
    const isGiven = root.hasDelay === true || root.delay !== DEFAULT_DELAY;
    const ownMs = isGiven ? Math.max(settings.minDelayMs, delayMs) : settings.minDelayMs;
    const minDelayMs = this.#ordered ? ownMs : delayMs;
    const rootSettings = {
      ...settings,
      ...searchSettings(root),
      minDelayMs,
      maxDelayMs: this.#ordered ? Math.max(settings.maxDelayMs, minDelayMs) : delayMs,
    };
    ofRoots.set(index, rootSettings);
    return rootSettings;
  }
}

/** Cache of {@link withoutDelay}. */
const undelayed = new WeakMap<CrawlSettings, CrawlSettings>();

/** A Crawl-delay of robots.txt still applies (G-63). */
function withoutDelay(settings: CrawlSettings): CrawlSettings {
  const copy = undelayed.get(settings) ?? { ...settings, minDelayMs: 0, maxDelayMs: 0 };
  undelayed.set(settings, copy);
  return copy;
}
