// Keeps in the store which hosts asked by Retry-After to be left alone, so that no later run asks them too early.
import { z } from 'zod';
import type { CloseStack } from '../../../protocols/close-stack.js';
import { messageOf } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { GathererStore } from '../../../storage/index.js';
import { announce } from '../../crawler/events.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { HostHold } from '../../crawler/servers/host-holds.js';
import type { ServerCache } from '../../crawler/servers/server-cache.js';

const HOLDS_META = 'crawl.holds';

const rowsSchema = z.array(z.tuple([z.string(), z.number()]).rest(z.number())).readonly();

/** What {@link keepHolds} uses of a run. */
export interface KeptHolds {
  readonly store: GathererStore;
  readonly order: CrawlOrderConfig;
  readonly servers: Pick<ServerCache, 'holds'>;
  readonly now: () => UnixSeconds;
}

/**
 * Continues the waits of earlier runs, says which hosts this run leaves to a later one, and writes the waits as
 * they change.
 */
export async function keepHolds(
  { store, order, servers, now }: KeptHolds,
  resources: CloseStack,
): Promise<void> {
  const { holds } = servers;
  const { respectRetryAfterUpToSecs, retireRetryAfterSecs } = order.settings;
  const saved = await store.meta.get(HOLDS_META);
  const rows = typeof saved === 'string' ? rowsSchema.safeParse(parsed(saved)).data : undefined;
  // After the clock was set back a wait does not last longer than it would have when it was written.
  const left = (rows ?? []).map(
    ([host, until, most = Number.POSITIVE_INFINITY]): HostHold => [
      host,
      Math.min(until - now() * 1000, most),
    ],
  );
  holds.restore(left, respectRetryAfterUpToSecs * 1000);
  const said = new Set<string>();
  /** Times of the clock, which goes on between runs, and what is left. */
  const saveable = () => holds.rows().map(([host, leftMs]) => [host, now() * 1000 + leftMs, leftMs]);
  const tell = (): void => {
    for (const [host, leftMs] of holds.rows()) {
      if (retireRetryAfterSecs === 0 || leftMs <= retireRetryAfterSecs * 1000 || said.has(host)) continue;
      said.add(host);
      const until = new Date(now() * 1000 + leftMs).toISOString();
      announce(
        `${host} asks not to be asked before ${until} (Retry-After): what is left of it waits for a later run`,
      );
    }
  };
  tell();
  let written = Promise.resolve();
  holds.onChange(() => {
    tell();
    written = written
      .then(() => store.batch().putMeta(HOLDS_META, JSON.stringify(saveable())).commit())
      .then(
        () => undefined,
        (error: unknown) => announce(`the waits of hosts cannot be saved: ${messageOf(error)}`),
      );
  });
  resources.defer(() => written);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
