// Decodes the Content-Encoding of a body within limits.
import type { Transform } from 'node:stream';
import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';
import { ConnectionError, errorCode } from '../../protocols/errors.js';
import { joinBytes } from './join-bytes.js';
import { type BodyBytes, beginningOf, isStored } from './stored-body.js';
import { transformed } from './transformed.js';

export interface DecodeLimits {
  /** Bytes of decoded output. */
  readonly maxBytes: number;
  /** Decoded bytes per encoded byte, once the output passes {@link RATIO_FREE_BYTES}. */
  readonly maxRatio: number;
}

/** The ratio that HTML made of blanks can reach (G-174); deflate's limit is 1032. */
export const DEFAULT_MAX_RATIO = 200;
/** Small outputs may have any ratio. */
const RATIO_FREE_BYTES = 1024 * 1024;
/** Maximum number of codings in one Content-Encoding. */
const MAX_CODINGS = 3;
/**
 * Outputs up to this size are decoded in one call on the event loop (a few milliseconds); larger ones piece by
 * piece.
 */
const DIRECT_BYTES = 1024 * 1024;

export interface DecodedBody {
  /** The encoded body itself if it has no coding. */
  readonly body: Uint8Array;
  /** The output was cut at a limit. */
  readonly truncated: boolean;
}

/**
 * Decodes a Content-Encoding. A body whose end is missing is decoded as far as possible.
 * @throws ConnectionError for an unknown coding or damaged data
 */
export async function decodeBody(
  body: BodyBytes,
  encoding: string | undefined,
  limits: DecodeLimits,
): Promise<DecodedBody> {
  const codings = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_CODINGS) throw new ConnectionError('the answer has too many content codings');
  let decoded: BodyBytes = body;
  let truncated = false;
  for (const coding of codings.reverse()) {
    if (decoded.length === 0) break;
    const next: DecodedBody = await decodeOne(decoded, coding, limits);
    decoded = next.body;
    truncated ||= next.truncated;
  }
  if (!isStored(decoded) && decoded.length <= limits.maxBytes) return { body: decoded, truncated };
  return { body: await beginningOf(decoded, limits.maxBytes), truncated: decoded.length > limits.maxBytes };
}

interface Coding {
  readonly direct: (body: Uint8Array, maxOutputLength: number) => Buffer;
  readonly stream: () => Transform;
}

const ZLIB_OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI_OPTIONS = { finishFlush: constants.BROTLI_OPERATION_FLUSH };

const GZIP: Coding = {
  direct: (body, maxOutputLength) => gunzipSync(body, { ...ZLIB_OPTIONS, maxOutputLength }),
  stream: () => createGunzip(ZLIB_OPTIONS),
};
const ZLIB: Coding = {
  direct: (body, maxOutputLength) => inflateSync(body, { ...ZLIB_OPTIONS, maxOutputLength }),
  stream: () => createInflate(ZLIB_OPTIONS),
};
const RAW_DEFLATE: Coding = {
  direct: (body, maxOutputLength) => inflateRawSync(body, { ...ZLIB_OPTIONS, maxOutputLength }),
  stream: () => createInflateRaw(ZLIB_OPTIONS),
};
const BROTLI: Coding = {
  direct: (body, maxOutputLength) => brotliDecompressSync(body, { ...BROTLI_OPTIONS, maxOutputLength }),
  stream: () => createBrotliDecompress(BROTLI_OPTIONS),
};

function codingOf(name: string, body: Uint8Array): Coding {
  if (name === 'gzip' || name === 'x-gzip') return GZIP;
  if (name === 'br') return BROTLI;
  // Servers disagree on what `deflate` is; the zlib header decides.
  if (name === 'deflate') return (body[0]! & 0x0f) === 8 ? ZLIB : RAW_DEFLATE;
  throw new ConnectionError(`the answer has the unknown content coding ${JSON.stringify(name)}`);
}

async function decodeOne(body: BodyBytes, name: string, limits: DecodeLimits): Promise<DecodedBody> {
  const coding = codingOf(name, isStored(body) ? await beginningOf(body, 1) : body);
  const limit = Math.min(limits.maxBytes, Math.max(RATIO_FREE_BYTES, body.length * limits.maxRatio));
  if (!isStored(body) && body.length <= DIRECT_BYTES / 4) {
    try {
      return { body: new Uint8Array(coding.direct(body, Math.min(limit, DIRECT_BYTES))), truncated: false };
    } catch (error) {
      if (errorCode(error) !== 'ERR_BUFFER_TOO_LARGE') throw decodeError(name, error);
    }
  }
  try {
    return await decodeUpTo(coding.stream(), isStored(body) ? body.pieces() : [body], limit);
  } catch (error) {
    throw decodeError(name, error);
  }
}

async function decodeUpTo(
  stream: Transform,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limit: number,
): Promise<DecodedBody> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of transformed(pieces, stream)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) break;
  }
  return { body: joinBytes(chunks, Math.min(length, limit)), truncated: length > limit };
}

function decodeError(coding: string, cause: unknown): ConnectionError {
  return new ConnectionError(`the body cannot be decoded as ${coding}`, { cause });
}
