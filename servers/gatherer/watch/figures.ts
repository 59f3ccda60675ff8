// The figures of a Gatherer: what metrics and health checks tell of it.
import { metricsText } from '../../crawler/console/metrics.js';
import type { CrawlControl } from '../../crawler/controller.js';
import { type Figure, gauge, type MonitoredServer } from '../../monitor/figures.js';
import type { Gatherer } from '../gatherer.js';

/**
 * Describes a Gatherer to the monitor: its objects, and the figures of the running crawl as the console shows
 * them.
 */
export class MonitoredGatherer implements MonitoredServer {
  readonly name = 'gatherer';
  readonly figures: readonly Figure[];
  #control: CrawlControl | undefined;
  #gatherer: Gatherer | undefined;

  constructor() {
    this.figures = [
      gauge(
        'gatherer_objects',
        'Objects of the Gatherer, published or not.',
        () => this.#gatherer?.store.summaries.count,
      ),
    ];
  }

  /** The Gatherer, as soon as it is open. */
  watch(gatherer: Gatherer): void {
    this.#gatherer = gatherer;
  }

  /** The crawl of the present run. */
  crawls(control: CrawlControl): void {
    this.#control = control;
  }

  readonly problems = (): readonly string[] => {
    const reason = this.#control?.snapshot().pauseReason;
    return reason === undefined ? [] : [reason];
  };

  readonly text = (): string => (this.#control === undefined ? '' : metricsText(this.#control.snapshot()));
}
