import type { CloseStack } from '../../protocols/close-stack.js';
import { messageOf } from '../../protocols/errors.js';
import { CHAIN_NAMES, type ChainName, type Processor } from '../crawler/chains.js';
import { crawlChannel } from '../crawler/events.js';
import type { ChainStep } from '../crawler/order/chain-config.js';
import { loadProcessor } from '../crawler/processors/user-processor.js';

/**
 * Loads the operator's processors of an order; they are closed with the resources.
 * @throws ConfigError as {@link loadProcessor}
 */
export async function loadProcessors(
  steps: Readonly<Record<ChainName, readonly ChainStep[]>>,
  directory: string,
  resources: CloseStack,
): Promise<ReadonlyMap<ChainStep, Processor>> {
  const loaded = new Map<ChainStep, Processor>();
  for (const chain of CHAIN_NAMES)
    for (const step of steps[chain]) {
      if (step.entry.module === undefined) continue;
      const processor = await loadProcessor(step, chain, directory);
      resources.defer(() =>
        processor.close().catch((error: unknown) => {
          // The documents are stored; the crawl ends as usual.
          const text = `the processor ${processor.name} cannot be closed: ${messageOf(error)}`;
          crawlChannel.publish({ text, alert: true });
        }),
      );
      loaded.set(step, processor);
    }
  return loaded;
}
