// Passes bytes through a stream that changes them.
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { asError } from '../connection/index.js';

/**
 * Yields what a stream makes of pieces. The next piece is read when the stream has used the one before; a caller that
 * stops ends both.
 * @throws the errors of the pieces and of the stream
 */
export async function* transformed(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  stream: Duplex,
): AsyncGenerator<Uint8Array, void, undefined> {
  const write = async (): Promise<void> => {
    // A stream that fails within a piece does not call back for it.
    let release: (() => void) | undefined;
    stream.once('close', () => release?.());
    for await (const piece of pieces) {
      if (stream.destroyed) return;
      await new Promise<void>((resolve, reject) => {
        release = resolve;
        stream.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
    if (!stream.destroyed) stream.end();
  };
  // The loop throws the error.
  const written = write().catch((error: unknown) => stream.destroy(asError(error)));
  try {
    for await (const piece of stream) yield piece as Uint8Array;
  } finally {
    if (!stream.closed) {
      stream.destroy();
      await once(stream, 'close').catch(() => undefined);
    }
    await written;
  }
}
