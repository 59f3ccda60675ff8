import { isDiskFull, messageOf } from '../../protocols/errors.js';
import { type CrawlUri, FETCH_STATUS } from './crawl-uri.js';

/**
 * The result of a processor (CRAWL-11.1): continue with the next one, leave this chain (`finish`), or skip to
 * the post-process chain (`post`), so that nothing is extracted or written (CRAWL-11.5).
 */
export type ProcessResult = 'proceed' | 'finish' | 'post';

/** One step of the processing of a URI (CRAWL-1.4). It may be called for several URIs concurrently. */
export interface Processor {
  readonly name: string;
  /**
   * Whether it stores the document, as all of the write chain do: a full disk then ends the crawl instead of
   * failing the URI.
   */
  readonly stores?: boolean;
  process(uri: CrawlUri): Promise<ProcessResult> | ProcessResult;
}

/** The five chains in their order (CRAWL-1.4). */
export const CHAIN_NAMES = ['pre-fetch', 'fetch', 'extract', 'write', 'post-process'] as const;
export type ChainName = (typeof CHAIN_NAMES)[number];

/** The processors of a crawl by chain. */
export type ProcessorChains = Readonly<Record<ChainName, readonly Processor[]>>;

/**
 * Runs the chains on a URI (CRAWL-11.5). If a processor throws, the URI fails with status -5 (CRAWL-11.6). The
 * post-process chain always runs, so that every URI is counted.
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
      // The caller returns the URI of an aborted worker to its queue.
      if (uri.signal.aborted) throw error;
      // A document that cannot be stored has not failed: the crawl ends, and the next run fetches it.
      if ((chain === 'write' || processor.stores === true) && isDiskFull(error)) throw error;
      uri.status = FETCH_STATUS.runtimeError;
      uri.disposition = 'failed';
      uri.reason = `${processor.name}: ${messageOf(error)}`;
      return 'post';
    }
    if (result !== 'proceed') return result;
  }
  return 'proceed';
}
