import { CHAIN_NAMES, type ChainName } from '../chains.js';
import type { RuleInput } from '../decide/rule-config.js';
import type { ProcessorDescriptor } from '../processors/parts.js';
import { PROCESSORS } from '../processors/table.js';

/** The maps of processors of a 1.x order. */
const CHAINS: ReadonlyMap<string, ChainName> = new Map([
  ['pre-fetch-processors', 'pre-fetch'],
  ['fetch-processors', 'fetch'],
  ['extract-processors', 'extract'],
  ['write-processors', 'write'],
  ['post-processors', 'post-process'],
] as const);

/** The checks before a fetch, which an operator may move. */
const CHECKS: readonly string[] = ['RuntimeLimit', 'Blocker', 'QuotaEnforcer', 'PreconditionEnforcer'];

/**
 * The chains of an order.xml: the default ones without the processors that it leaves out, with the order and
 * the rules that it gives.
 */
export class OriginalChains {
  readonly #maps = new Set<ChainName>();
  readonly #listed = new Map<string, readonly RuleInput[]>();

  /** Whether rules for this class can be converted. */
  static hasGate(className: string): boolean {
    const processor = processorOf(className);
    return processor !== undefined && processor.required !== true;
  }

  /** Adds a map of processors. */
  addMap(name: string): void {
    const chain = CHAINS.get(name);
    if (chain !== undefined) this.#maps.add(chain);
  }

  /** Adds an enabled processor. */
  add(className: string, rules: readonly RuleInput[]): void {
    const name = processorOf(className)?.name;
    if (name !== undefined && !this.#listed.has(name)) this.#listed.set(name, rules);
  }

  /** Returns the chains that differ from the default ones. */
  chains(): Partial<Record<ChainName, unknown[]>> {
    const chains: Partial<Record<ChainName, unknown[]>> = {};
    for (const chain of CHAIN_NAMES) {
      const defaults = PROCESSORS.filter(
        (processor) =>
          processor.chain === chain &&
          (processor.with === undefined ||
            (processor.with === 'warc.directory' && this.#listed.has('WarcWriter'))),
      ).map(({ name }) => name);
      const names = chain === 'pre-fetch' ? this.#sorted(defaults) : defaults;
      const kept = names.filter((name) => !this.#isLeftOut(name, chain));
      const entries = kept.map((processor) => {
        const rules = this.#listed.get(processor) ?? [];
        return rules.length === 0 ? processor : { processor, rules };
      });
      if (JSON.stringify(entries) !== JSON.stringify(defaults)) chains[chain] = entries;
    }
    return chains;
  }

  /** Returns whether the order has the chain of a processor, but not the processor. */
  #isLeftOut(name: string, chain: ChainName): boolean {
    const isOptional = name === 'LinksScoper' || (CHECKS.includes(name) && name !== 'PreconditionEnforcer');
    return isOptional && this.#maps.has(chain) && !this.#listed.has(name);
  }

  /**
   * Sorts the checks before a fetch as the order has them. If one follows robots.txt, all stand after the
   * other processors.
   */
  #sorted(defaults: readonly string[]): string[] {
    const given = [...this.#listed.keys()].filter((name) => CHECKS.includes(name));
    if (given.length === 0) return [...defaults];
    const isFirst =
      given.indexOf('PreconditionEnforcer') < given.length - 1 && given.includes('PreconditionEnforcer');
    // The original logs in within PreconditionEnforcer.
    const others = defaults.filter((name) => !CHECKS.includes(name) && name !== 'FormLogin');
    if (isFirst) return [...others, ...given, 'FormLogin'];
    const checks = given.filter((name) => name !== 'PreconditionEnforcer');
    return others.toSpliced(1, 0, ...checks).concat('PreconditionEnforcer', 'FormLogin');
  }
}

/**
 * The processor that a class of a 1.x order stands for; the other classes are parts of these (CRAWL-11.2,
 * 11.3).
 */
function processorOf(className: string): ProcessorDescriptor | undefined {
  return PROCESSORS.find(({ classes }) => classes?.includes(className));
}
