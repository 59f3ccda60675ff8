import {
  CHAIN_NAMES,
  type ChainName,
  type Processor,
  type ProcessorChains,
  type ProcessResult,
} from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import { decideSequence } from '../decide/build-rules.js';
import type { DecideSequence, DecideSubject } from '../decide/decision.js';
import type { ChainStep } from '../order/chain-config.js';
import type { Assembly, ProcessorDescriptor, ProcessorParts } from './parts.js';
import { type OwnersProcessor, processorNamed } from './table.js';

export interface ChainsOptions {
  /** The processors of each chain, by the order. */
  readonly steps: Readonly<Record<ChainName, readonly ChainStep[]>>;
  /**
   * Whether the configuration names an order, so that its quotas, blocks, digests and fetch histories apply.
   */
  readonly ordered: boolean;
  /** The loaded modules among the steps. */
  readonly loaded: ReadonlyMap<ChainStep, Processor>;
  /** For the rules of processors. */
  readonly seeds: readonly string[];
  readonly parts: ProcessorParts;
  /** Make the processors that only the owner of the crawl has. */
  readonly owners: Readonly<Record<OwnersProcessor, () => Processor>>;
  /**
   * Processors of the caller. Those of `extract` run before Essence, which transfers the body to a thread,
   * those of `post-process` before LinksScoper, the others at the end of their chain.
   */
  readonly extraProcessors: Partial<Record<ChainName, readonly Processor[]>>;
}

/** The processors before which those of the caller run; in other chains they are the last. */
const BEFORE: Partial<Record<ChainName, string>> = { extract: 'Essence', 'post-process': 'LinksScoper' };

/** Returns the five chains of a run (CRAWL-11.2): those of its order, or the default ones. */
export function assembleChains(options: ChainsOptions): ProcessorChains {
  const { steps, ordered, loaded, seeds, extraProcessors } = options;
  const create = processorMaker(options, () => chains);
  const processorOf = (step: ChainStep): Processor | undefined => {
    // The order is checked: a step without a module has the name of a processor.
    const descriptor = processorNamed(step.entry.processor);
    if (descriptor?.ordered === true && !ordered) return undefined;
    const processor = loaded.get(step) ?? (descriptor && create(descriptor));
    const { rules } = step.entry;
    return processor === undefined || rules.length === 0
      ? processor
      : new GatedProcessor(processor, decideSequence(rules, { seeds }));
  };
  const chains = Object.fromEntries(
    CHAIN_NAMES.map((chain) => {
      const processors = steps[chain].flatMap((step) => processorOf(step) ?? []);
      const before = processors.findIndex(({ name }) => name === BEFORE[chain]);
      const extra = extraProcessors[chain] ?? [];
      return [chain, processors.toSpliced(before === -1 ? processors.length : before, 0, ...extra)];
    }),
  ) as Record<ChainName, Processor[]>;
  return chains;
}

/** Returns a function that makes the processor of a descriptor, one for all chains. */
function processorMaker(
  { steps, ordered, parts, owners }: ChainsOptions,
  chains: () => ProcessorChains,
): Assembly['of'] {
  const made = new Map<ProcessorDescriptor, Processor | undefined>();
  const names = new Set(CHAIN_NAMES.flatMap((chain) => steps[chain].map(({ entry }) => entry.processor)));
  const of = <P extends Processor>(descriptor: ProcessorDescriptor<P>): P | undefined => {
    if (descriptor.ordered === true && !ordered) return undefined;
    if (!made.has(descriptor)) {
      const make = descriptor.create ?? owners[descriptor.name as OwnersProcessor];
      made.set(descriptor, make({ parts, has: (name) => names.has(name), of, chains }));
    }
    return made.get(descriptor) as P | undefined;
  };
  return of;
}

/** CRAWL-11.1, 10.2.1: a processor that runs unless its decide rules reject the URI. */
class GatedProcessor implements Processor {
  readonly #processor: Processor;
  readonly #rules: DecideSequence;
  readonly name: string;
  readonly stores: boolean;

  constructor(processor: Processor, rules: DecideSequence) {
    this.#processor = processor;
    this.#rules = rules;

    this.name = processor.name;
    this.stores = processor.stores === true;
  }

  process(uri: CrawlUri): Promise<ProcessResult> | ProcessResult {
    return this.#rules.decide(subjectOf(uri)) === 'REJECT' ? 'proceed' : this.#processor.process(uri);
  }
}

/** Returns the properties of a URI in flight that the rules test. */
function subjectOf(uri: CrawlUri): DecideSubject {
  const { via, pathFromSeed } = uri.entry.uri;
  const { fetched } = uri;
  return {
    uri: uri.url,
    hops: pathFromSeed,
    seed: pathFromSeed === '',
    ...(via === '' ? {} : { via }),
    classKey: uri.entry.classKey,
    ...(uri.sourceTag === '' ? {} : { sourceTag: uri.sourceTag }),
    ...(uri.status === 0 ? {} : { status: uri.status }),
    contentType: fetched?.contentType,
    contentLength: fetched === undefined ? undefined : uri.size,
    identicalDigest: uri.annotations.includes('duplicate:digest'),
  };
}
