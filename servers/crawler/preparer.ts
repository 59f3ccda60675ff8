import {
  basePrecedence,
  COST_POLICIES,
  canonicalString,
  costPrecedence,
  depthFirstPrecedence,
  hopsPrecedence,
  hostOf,
  type QueueAssignment,
  queueAssignment,
  type SchedulingDirective,
  type SeenRule,
  schedulingDirective,
  seenRules,
  type UriPrecedence,
} from '../../protocols/urls/index.js';
import { DIRECTIVE, type Prepared, type PreparedOf } from './frontier/contract.js';
import type { CrawlSettings } from './order/settings.js';

export interface PreparerOptions {
  readonly settingsFor: (uri: PreparedOf) => CrawlSettings;
  /** CRAWL-9.5, 9.6: the address of a host; undefined while it is not known. */
  readonly addressOf?: (hostname: string) => Uint8Array | undefined;
  /** CRAWL-9.9: called once, when the policy `elf` gives two hosts one queue. */
  readonly onSharedQueue?: (queue: string, hosts: readonly [string, string]) => void;
}

/** Number of queues for the files of this machine, which need no politeness. */
const FILE_QUEUES = 8;

const URI_PRECEDENCES: Readonly<Record<CrawlSettings['uriPrecedence'], UriPrecedence>> = {
  cost: costPrecedence,
  base: basePrecedence(),
  hops: hopsPrecedence(),
  'depth-first': depthFirstPrecedence,
};

/**
 * CRAWL-11.4: computes directive, canonical string, class key, cost and precedence of a URI from its settings.
 */
export class FrontierPreparer {
  readonly #options: PreparerOptions;
  /** Cache of the values that depend on the settings only; it has one entry per set of sheets. */
  readonly #cache = new WeakMap<CrawlSettings, { queueOf: QueueAssignment; rules: readonly SeenRule[] }>();
  readonly #fileQueues = queueAssignment({ parallelQueues: FILE_QUEUES, spreadWholeUri: true });

  /** CRAWL-9.9: the first host of each queue of the policy `elf`, until two share one; then undefined. */
  #elfHosts: Map<string, string> | undefined = new Map();

  constructor(options: PreparerOptions) {
    this.#options = options;
  }

  prepare(uri: PreparedOf): Prepared {
    const { url, via, pathFromSeed } = uri;
    const settings = this.#options.settingsFor(uri);
    const { queueOf, rules } = this.#policiesOf(settings);
    const cost = COST_POLICIES[settings.costPolicy](url, via);
    const subject = { uri: url, via };
    const classKey = url.startsWith('file:') ? this.#fileQueues(subject) : queueOf(subject);
    if (settings.queueAssignment === 'elf') this.#checkElf(classKey, hostOf(url));
    return {
      classKey,
      seenKey: rules.length === 0 ? url : canonicalString(url, rules),
      directive: schedulingDirective(pathFromSeed, settings, directiveOf(uri)),
      cost,
      precedence: URI_PRECEDENCES[settings.uriPrecedence]({ uri: url, hops: pathFromSeed, cost }),
      budgets: {
        replenish: settings.balanceReplenishAmount,
        totalBudget: settings.queueTotalBudget,
        precedence: settings.queuePrecedence,
      },
    };
  }

  #checkElf(queue: string, host: string): void {
    const known = this.#elfHosts?.get(queue);
    if (known === undefined) this.#elfHosts?.set(queue, host);
    else if (known !== host) {
      this.#elfHosts = undefined;
      this.#options.onSharedQueue?.(queue, [known, host]);
    }
  }

  #policiesOf(settings: CrawlSettings): { queueOf: QueueAssignment; rules: readonly SeenRule[] } {
    const known = this.#cache.get(settings);
    if (known !== undefined) return known;
    const { addressOf } = this.#options;
    const policies = {
      queueOf: queueAssignment({
        policy: settings.queueAssignment,
        parallelQueues: settings.parallelQueues,
        spreadWholeUri: settings.parallelQueuesBy === 'uri',
        labels: settings.queueLabels,
        forcedKey: () => settings.forceQueue,
        addressOf,
      }),
      rules: seenRules(settings.seenRules),
    };
    this.#cache.set(settings, policies);
    return policies;
  }
}

function directiveOf({ directive = DIRECTIVE.normal }: PreparedOf): SchedulingDirective {
  return directive === 0 || directive === 1 || directive === 2 ? directive : 3;
}
