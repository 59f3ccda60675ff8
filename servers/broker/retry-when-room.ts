// Does what a full disk has prevented as soon as there is space.
import type { BrokerStore } from '../../storage/index.js';

const RETRY_MS = 5000;

/**
 * Looks for space on the disk of a store every `diskRetryMs`, and then runs `work`, once. Its failures are its own to report.
 *
 * @param signal ends the waiting
 */
export function retryWhenRoom(
  store: BrokerStore,
  signal: AbortSignal,
  work: () => Promise<void>,
  { diskRetryMs = RETRY_MS }: { readonly diskRetryMs?: number } = {},
): void {
  const look = async (): Promise<void> => {
    if (signal.aborted) return;
    if (await store.hasRoom()) await work();
    else wait();
  };
  const wait = (): void => {
    setTimeout(() => void look(), diskRetryMs).unref();
  };
  wait();
}
