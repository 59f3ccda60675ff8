// Reports the chunks of a connection, for debugging.
import type { HostConnection } from './connection.js';

/** Bytes of each chunk that a trace shows. */
const SHOWN_BYTES = 96;

/**
 * Wraps a connection and reports each chunk to `trace`: its direction, its size, and its beginning in printable
 * form. Not for protocols whose messages contain secrets.
 */
export function traceConnection(
  connection: HostConnection,
  trace: (text: () => string) => void,
): HostConnection {
  const { peer } = connection;
  const report = (direction: string, bytes: Uint8Array): void => {
    trace(() => `${peer.address}: ${direction} ${bytes.length} bytes: ${formatBeginning(bytes)}`);
  };
  return {
    peer,
    log: connection.log,
    signal: connection.signal,
    share: connection.share,
    async *chunks() {
      for await (const chunk of connection.chunks()) {
        report('received', chunk);
        yield chunk;
      }
    },
    write(bytes) {
      report('sends', bytes);
      return connection.write(bytes);
    },
    deliver(bytes) {
      report('sends', bytes);
      return connection.deliver(bytes);
    },
    pollEnd: () => connection.pollEnd(),
    watchEnd: (onEnd) => connection.watchEnd(onEnd),
    end: () => connection.end(),
    destroy: () => connection.destroy(),
  };
}

function formatBeginning(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SHOWN_BYTES)).toString(
    'latin1',
  );
  return `${JSON.stringify(text)}${bytes.length > SHOWN_BYTES ? '...' : ''}`;
}
