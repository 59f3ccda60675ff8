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
import { ConnectionError, errorCode, KitError } from '../../protocols/errors.js';
import {
  type CodingForm,
  FORM_BYTES,
  isExpected,
  type NamedCoding,
  namedCodings,
  possibleForms,
} from './content-codings.js';
import { gunzipMembers } from './gunzip-members.js';
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
  /** The body does not have the coding that the header names, or bytes follow it. */
  readonly deviates: boolean;
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
  let decoded: BodyBytes = body;
  let [truncated, deviates] = [false, false];
  for (const coding of [...namedCodings(encoding ?? '')].reverse()) {
    if (decoded.length === 0) break;
    const next: DecodedForm = await decodeOne(decoded, coding, limits);
    decoded = next.body;
    truncated ||= next.truncated;
    deviates ||= next.deviates;
  }
  if (!isStored(decoded) && decoded.length <= limits.maxBytes) return { body: decoded, truncated, deviates };
  const kept = await beginningOf(decoded, limits.maxBytes);
  return { body: kept, truncated: truncated || decoded.length > kept.length, deviates };
}

interface Coding {
  readonly direct: (body: Uint8Array, maxOutputLength: number) => Buffer;
  readonly stream: () => Transform;
}

const ZLIB_OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI_OPTIONS = { finishFlush: constants.BROTLI_OPERATION_FLUSH };

const CODINGS: Readonly<Record<Exclude<CodingForm, 'plain'>, Coding>> = {
  gzip: {
    direct: (body, maxOutputLength) => gunzipSync(body, { ...ZLIB_OPTIONS, maxOutputLength }),
    stream: () => createGunzip(ZLIB_OPTIONS),
  },
  zlib: {
    direct: (body, maxOutputLength) => inflateSync(body, { ...ZLIB_OPTIONS, maxOutputLength }),
    stream: () => createInflate(ZLIB_OPTIONS),
  },
  'raw-deflate': {
    direct: (body, maxOutputLength) => inflateRawSync(body, { ...ZLIB_OPTIONS, maxOutputLength }),
    stream: () => createInflateRaw(ZLIB_OPTIONS),
  },
  br: {
    direct: (body, maxOutputLength) => brotliDecompressSync(body, { ...BROTLI_OPTIONS, maxOutputLength }),
    stream: () => createBrotliDecompress(BROTLI_OPTIONS),
  },
};

/** Bytes in one form, from those in another one. */
interface DecodedForm extends Omit<DecodedBody, 'body'> {
  readonly body: BodyBytes;
}

/**
 * Yields a whole body of an archive without its content coding, however long it is.
 * @throws ConnectionError for an unknown coding, damaged data, and more than {@link DEFAULT_MAX_RATIO} times its bytes
 */
export async function* decodedPieces(
  body: BodyBytes,
  encoding: string | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let pieces = piecesOf(body);
  let beginning = await beginningOf(body, FORM_BYTES);
  for (const coding of [...namedCodings(encoding ?? '')].reverse()) {
    const form = possibleForms(coding, beginning)[0];
    if (form === undefined || form === 'plain') continue;
    pieces = transformed(pieces, CODINGS[form].stream());
    // What is within another coding has the form that its name says.
    beginning = new Uint8Array();
  }
  let length = 0;
  try {
    for await (const piece of pieces) {
      length += piece.length;
      if (length > Math.max(RATIO_FREE_BYTES, body.length * DEFAULT_MAX_RATIO))
        throw new ConnectionError('the body has too many bytes once it is decoded');
      yield piece;
    }
  } catch (cause) {
    throw cause instanceof KitError ? cause : new ConnectionError('the body cannot be decoded', { cause });
  }
}

/** Undoes a coding; the forms that the body may have are tried. */
async function decodeOne(body: BodyBytes, coding: NamedCoding, limits: DecodeLimits): Promise<DecodedForm> {
  const limit = Math.min(limits.maxBytes, Math.max(RATIO_FREE_BYTES, body.length * limits.maxRatio));
  let cause: unknown;
  for (const form of possibleForms(coding, await beginningOf(body, FORM_BYTES))) {
    if (form === 'plain') return { body, truncated: false, deviates: true };
    try {
      return { ...(await decodeForm(body, form, limit)), deviates: !isExpected(coding, form) };
    } catch (error) {
      cause ??= error;
    }
    if (form !== 'gzip') continue;
    try {
      // Bytes may follow the last member.
      return { ...(await decodeUpTo(gunzipMembers(piecesOf(body)), limit)), deviates: true };
    } catch (error) {
      cause = error;
    }
  }
  throw new ConnectionError(`the body cannot be decoded as ${coding}`, { cause });
}

type CutBody = Pick<DecodedBody, 'body' | 'truncated'>;

async function decodeForm(body: BodyBytes, form: keyof typeof CODINGS, limit: number): Promise<CutBody> {
  const { direct, stream } = CODINGS[form];
  if (!isStored(body) && body.length <= DIRECT_BYTES / 4) {
    try {
      return { body: new Uint8Array(direct(body, Math.min(limit, DIRECT_BYTES))), truncated: false };
    } catch (error) {
      if (errorCode(error) !== 'ERR_BUFFER_TOO_LARGE') throw error;
    }
  }
  return await decodeUpTo(transformed(piecesOf(body), stream()), limit);
}

function piecesOf(body: BodyBytes): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return isStored(body) ? body.pieces() : [body];
}

async function decodeUpTo(output: AsyncIterable<Uint8Array>, limit: number): Promise<CutBody> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of output) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) break;
  }
  return { body: joinBytes(chunks, Math.min(length, limit)), truncated: length > limit };
}
