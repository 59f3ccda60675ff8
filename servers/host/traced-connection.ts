import type { HostConnection } from './connection.js';

/** Bytes of each piece that a trace shows. */
const SHOWN_BYTES = 96;

/**
 * The same connection, and each piece that goes over it is told to `trace`: its direction, its size, and the beginning
 * of it in printable form. Not for protocols whose messages hold secrets.
 */
export function traceConnection(
  connection: HostConnection,
  trace: (text: () => string) => void,
): HostConnection {
  const { peer } = connection;
  const tell = (direction: string, bytes: Uint8Array): void => {
    trace(() => `${peer.address}: ${direction} ${bytes.length} bytes: ${beginning(bytes)}`);
  };
  return {
    peer,
    signal: connection.signal,
    async *chunks() {
      for await (const chunk of connection.chunks()) {
        tell('received', chunk);
        yield chunk;
      }
    },
    write(bytes) {
      tell('sends', bytes);
      return connection.write(bytes);
    },
    deliver(bytes) {
      tell('sends', bytes);
      return connection.deliver(bytes);
    },
    end: () => connection.end(),
    destroy: () => connection.destroy(),
  };
}

function beginning(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SHOWN_BYTES)).toString(
    'latin1',
  );
  return `${JSON.stringify(text)}${bytes.length > SHOWN_BYTES ? '...' : ''}`;
}
