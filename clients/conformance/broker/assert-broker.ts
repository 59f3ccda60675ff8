import { ConnectionError } from '../../../protocols/errors.js';
import { printable } from '../printable.js';
import type { ServerContext, ServerFacts } from '../server-context.js';

/**
 * Rejects with ConnectionError when no server listens, or when the server is a Gatherer (BRK-1.4). Accepts a server that sends nothing
 * or breaks the connection: the cases show what is wrong with it.
 */
export async function assertBroker(context: ServerContext<ServerFacts>): Promise<void> {
  const wire = await context.connect();
  const first = await wire.line().catch((error: unknown) => {
    if (error instanceof ConnectionError) return '';
    throw error;
  });
  if (/^000 - HELLO/.test(first)) {
    throw new ConnectionError(`${context.target} is a gatherd, not a Broker: ${printable(first)}`);
  }
}
