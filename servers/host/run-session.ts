import { KitError } from '../../protocols/errors.js';
import type { HostConnection, SocketConnection } from './connection.js';

/** Runs one session: closes the connection when the handler returns, drops it when the handler throws. */
export async function runSession(
  connection: SocketConnection,
  handler: (connection: HostConnection) => Promise<void>,
): Promise<void> {
  const { log } = connection;
  try {
    await handler(connection);
    await connection.finish();
  } catch (error) {
    // A peer that disconnects or breaks its protocol is normal; any other error is a bug of this program.
    if (error instanceof KitError) log.info(error.message);
    else log.error('session failed', error);
    connection.destroy();
    await connection.closed;
  }
}
