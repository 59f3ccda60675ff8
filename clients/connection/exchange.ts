import { Connection, type ConnectionOptions } from './connection.js';
import { asError } from './network-errors.js';

/**
 * Sends `request` over a new connection and yields the reply until the peer closes. An abort, and leaving the
 * loop, destroys the connection.
 * @throws ConnectionError if the peer cannot be reached, breaks the connection or is silent for too long; the
 *   signal's reason
 */
export async function* exchange(request: Uint8Array, options: ConnectionOptions): AsyncGenerator<Uint8Array> {
  const { signal } = options;
  await using connection = await Connection.open(options);
  const onAbort = () => connection.destroy(asError(signal?.reason));
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    // A failed write fails the read too, which comes after the part of the reply that did arrive.
    connection.write(request).catch(() => {});
    yield* connection;
    signal?.throwIfAborted();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
