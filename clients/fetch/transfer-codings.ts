// The payload of an archive has no transfer coding (WARC 1.1, 2.2).
import { ConnectionError } from '../../protocols/errors.js';
import { collect, collectorFor } from './collected-body.js';
import { decodedPieces } from './decode-body.js';
import type { RawResponse } from './exchange.js';
import { type BodyBytes, isStored } from './stored-body.js';
import type { FetchRequest } from './types.js';

/**
 * Returns the body without the codings that its transfer added besides chunks, in place of the body that arrived; one
 * whose coding cannot be undone stays as it was sent.
 * @throws the errors of the disk
 */
export async function withoutTransferCodings(
  { body, truncated, transferCodings }: RawResponse,
  request: FetchRequest,
): Promise<{ readonly body: BodyBytes; readonly truncated: boolean }> {
  if (transferCodings.length === 0 || body.length === 0) return { body, truncated };
  const copy = collectorFor(request);
  try {
    for await (const piece of decodedPieces(body, transferCodings.join(','))) {
      await collect(copy, new Uint8Array(piece));
      if (copy.truncated) break;
    }
    const payload = await copy.finish();
    if (isStored(body)) await body.close();
    return { body: payload, truncated: truncated || copy.truncated };
  } catch (error) {
    await copy.drop();
    if (!(error instanceof ConnectionError)) throw error;
    return { body, truncated };
  }
}
