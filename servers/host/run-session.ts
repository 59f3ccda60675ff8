import { KitError } from '../../protocols/errors.js';
import type { HostConnection, SocketConnection } from './connection.js';
import type { Logger } from './logger.js';

/** Runs one session: closes the connection when the handler returns, drops it when the handler throws. */
export async function runSession(
  connection: SocketConnection,
  handler: (connection: HostConnection) => Promise<void>,
  log: Logger,
): Promise<void> {
  try {
    await handler(connection);
    await connection.finish();
  } catch (error) {
    // A peer that disconnects or breaks its protocol is normal; any other error is a bug of this program.
    if (error instanceof KitError) log.info(`${connection.peer.address}: ${error.message}`);
    else log.error({ err: error }, `${connection.peer.address}: session failed`);
    connection.destroy();
    await connection.closed;
  }
}
