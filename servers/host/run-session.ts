import { KitError } from '../../protocols/errors.js';
import type { HostConnection, SocketConnection } from './connection.js';
import type { Logger } from './logger.js';

/** Runs one session: when the handler returns, the connection is closed; when it throws, it is dropped. */
export async function runSession(
  connection: SocketConnection,
  handler: (connection: HostConnection) => Promise<void>,
  log: Logger,
): Promise<void> {
  try {
    await handler(connection);
    await connection.finish();
  } catch (error) {
    // A peer that goes away or breaks its protocol is daily business; anything else is our fault.
    if (error instanceof KitError) log.info(`${connection.peer.address}: ${error.message}`);
    else log.error({ err: error }, `${connection.peer.address}: session failed`);
    connection.destroy();
    await connection.closed;
  }
}
