import { messageOf } from '../../protocols/errors.js';
import { type CrawlUri, FETCH_STATUS } from './crawl-uri.js';

/**
 * What a processor says after it has seen a URI (CRAWL-11.1): go on, or leave this chain. `post` jumps to the
 * post-process chain, so that nothing is extracted or written (CRAWL-11.5).
 */
export type ProcessResult = 'proceed' | 'finish' | 'post';

/** One step of the work on a URI (CRAWL-1.4). It may be called for many URIs at once and keeps no state of one. */
export interface Processor {
  readonly name: string;
  process(uri: CrawlUri): Promise<ProcessResult> | ProcessResult;
}

/** The five chains in their order (CRAWL-1.4). */
export const CHAIN_NAMES = ['pre-fetch', 'fetch', 'extract', 'write', 'post-process'] as const;
export type ChainName = (typeof CHAIN_NAMES)[number];

/** All chains of a crawl; any chain may hold any number of processors, set by whoever assembles the crawl. */
export type ProcessorChains = Readonly<Record<ChainName, readonly Processor[]>>;

/**
 * Leads a URI through the chains (CRAWL-11.5). A processor that throws ends the URI as failed with status -5
 * (CRAWL-11.6); the post-process chain runs in any case, so that every URI is accounted for.
 */
export async function runChains(
  chains: ProcessorChains,
  uri: CrawlUri,
  onStep: (chain: ChainName, processor: string) => void = () => undefined,
): Promise<void> {
  for (const name of CHAIN_NAMES) {
    if (name === 'post-process') break;
    const result = await runChain(name, chains, uri, onStep);
    if (result === 'post') break;
  }
  await runChain('post-process', chains, uri, onStep);
}

async function runChain(
  chain: ChainName,
  chains: ProcessorChains,
  uri: CrawlUri,
  onStep: (chain: ChainName, processor: string) => void,
): Promise<ProcessResult> {
  for (const processor of chains[chain]) {
    let result: ProcessResult;
    uri.step = processor.name;
    onStep(chain, processor.name);
    try {
      result = await processor.process(uri);
    } catch (error) {
      // An abort is no fault of the URI: it stays queued, and the worker sees the signal too.
      if (uri.signal.aborted) throw error;
      uri.status = FETCH_STATUS.runtimeError;
      uri.disposition = 'failed';
      uri.reason = `${processor.name}: ${messageOf(error)}`;
      return 'post';
    }
    if (result !== 'proceed') return result;
  }
  return 'proceed';
}
