// The chains of an order (CRAWL-1.4, 11.1): the processors of each chain in order, this project's by name and
// the operator's by module path.
import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../chains.js';
import { sequenceConfigSchema } from '../decide/rule-config.js';
import { PROCESSORS, processorNamed } from '../processors/table.js';

/** Where an order names a processor. */
export interface ProcessorPlace {
  readonly file: string;
  /** From 1; 0 if unknown. */
  readonly line: number;
}

/** An entry of a chain. A name alone is short for `{ "processor": NAME }`. */
const processorEntrySchema = z.preprocess(
  (value) => (typeof value === 'string' ? { processor: value } : value),
  z.strictObject({
    /** Name of a processor of this project. */
    processor: z.string().min(1).optional(),
    /** Path of an operator's module, relative to the order. */
    module: z.string().min(1).optional(),
    /** Name of an operator's processor in logs and reports. Default: that of its file. */
    name: z.string().min(1).max(100).optional(),
    /** CRAWL-11.1. */
    enabled: z.boolean().default(true),
    /** Of this project's processor: settings of the order. Of an operator's: whatever it understands. */
    settings: z.record(z.string(), z.unknown()).default({}),
    /** CRAWL-11.1, 10.2.1: decide rules; the processor runs unless they REJECT. */
    rules: sequenceConfigSchema.default([]),
    /** Time after which an operator's processor has failed with a URI, seconds. */
    timeoutSeconds: z.number().gt(0).max(86_400).default(60),
  }),
);

const chainSchema = z.array(processorEntrySchema).max(100).optional();

/** An absent chain is the default one. */
export const chainsSchema = z.strictObject({
  'pre-fetch': chainSchema,
  fetch: chainSchema,
  extract: chainSchema,
  write: chainSchema,
  'post-process': chainSchema,
} satisfies Record<ChainName, unknown>);

export type ChainsConfig = z.output<typeof chainsSchema>;
export type ProcessorEntry = z.output<typeof processorEntrySchema>;

/** A processor of a chain. */
export interface ChainStep {
  readonly entry: ProcessorEntry;
  readonly place: ProcessorPlace;
  /** E.g. `chains.extract[1]`. */
  readonly path: string;
}

/** The options of an order that the default chains depend on. */
export interface ChainConditions {
  readonly chains: ChainsConfig;
  readonly warc: { readonly directory: string; readonly digestHistory: boolean };
  readonly mapper: { readonly crawlers: number };
}

/**
 * The places of the entries that were read from a file. Entries stay the same objects when the order is copied.
 */
const places = new WeakMap<ProcessorEntry, ProcessorPlace>();

/** Remembers where each entry of the chains stands. */
export function placeProcessors(
  chains: ChainsConfig,
  placeOf: (path: readonly PropertyKey[]) => ProcessorPlace,
): void {
  for (const chain of CHAIN_NAMES)
    chains[chain]?.forEach((entry, index) => {
      places.set(entry, placeOf(['chains', chain, index]));
    });
}

/**
 * Returns the enabled processors of every chain in order: as the order gives them, or the default ones
 * (CRAWL-11.2).
 */
export function chainSteps({ chains, ...conditions }: ChainConditions): Record<ChainName, ChainStep[]> {
  const steps = Object.fromEntries(
    CHAIN_NAMES.map((chain) => [chain, chains[chain] === undefined ? defaultSteps(chain, conditions) : []]),
  ) as Record<ChainName, ChainStep[]>;
  for (const chain of CHAIN_NAMES)
    chains[chain]?.forEach((entry, index) => {
      if (!entry.enabled) return;
      const place = places.get(entry) ?? { file: 'order', line: 0 };
      steps[chain].push({ entry, place, path: `chains.${chain}[${index}]` });
    });
  return withoutOrphans(steps, chains);
}

function defaultSteps(chain: ChainName, { warc, mapper }: Omit<ChainConditions, 'chains'>): ChainStep[] {
  return PROCESSORS.filter((processor) => {
    if (processor.chain !== chain) return false;
    if (processor.with === undefined) return true;
    if (processor.with === 'mapper.crawlers') return mapper.crawlers > 0;
    return warc.directory !== '' && (processor.with === 'warc.directory' || warc.digestHistory);
  }).map(({ name }) => ({
    entry: processorEntrySchema.parse(name),
    place: { file: 'order', line: 0 },
    path: `chains.${chain}`,
  }));
}

/** A default chain has no processor whose counterparts another chain leaves out. */
function withoutOrphans(
  steps: Record<ChainName, ChainStep[]>,
  chains: ChainsConfig,
): Record<ChainName, ChainStep[]> {
  const present = new Set(CHAIN_NAMES.flatMap((chain) => steps[chain].map(({ entry }) => entry.processor)));
  let dropped = 0;
  for (const chain of CHAIN_NAMES) {
    if (chains[chain] !== undefined) continue;
    const kept = steps[chain].filter(({ entry }) => {
      const { requires = [] } = processorNamed(entry.processor) ?? {};
      return requires.every((name) => present.has(name));
    });
    dropped += steps[chain].length - kept.length;
    steps[chain] = kept;
  }
  return dropped === 0 ? steps : withoutOrphans(steps, chains);
}
