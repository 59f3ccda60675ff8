// A large blob in parts, which S3 puts together when all have arrived.
import { createHash } from 'node:crypto';
import { StorageError } from '../../../protocols/errors.js';
import type { BlobSource } from '../contract.js';
import { bytesSource } from '../sources.js';
import type { BucketClient, BucketReply } from './bucket-client.js';
import { refusalOf, s3CodeOf } from './failures.js';
import { parseReply, textIn } from './reply-xml.js';

/** The most parts of a blob. */
const MAX_PARTS = 10_000;

/**
 * Sends a blob in parts, one after another. If that fails, the parts are deleted; those of a killed process stay in the
 * bucket until its rule for incomplete uploads removes them.
 */
export async function putInParts(
  client: BucketClient,
  key: string,
  source: BlobSource,
  partBytes: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const begun = await client.send({ method: 'POST', key, query: { uploads: '' }, signal });
  const uploadId = textIn(parseReply(begun.text), 'UploadId');
  if (uploadId === undefined)
    throw new StorageError(`${client.address.endpoint} is not a server of S3: it begins no upload`);
  try {
    const tags = await sendParts(
      client,
      key,
      source,
      Math.max(partBytes, Math.ceil(source.size / MAX_PARTS)),
      {
        uploadId,
        signal,
      },
    );
    await complete(client, key, source.size, tags, { uploadId, signal });
  } catch (error) {
    // Not with the signal, which may be aborted; the error of the parts is the one to tell.
    await client.send({ method: 'DELETE', key, query: { uploadId }, accept: [404] }).catch(() => undefined);
    throw error;
  }
}

interface Upload {
  readonly uploadId: string;
  readonly signal: AbortSignal | undefined;
}

/** @returns the tags of the parts in their order */
async function sendParts(
  client: BucketClient,
  key: string,
  source: BlobSource,
  partBytes: number,
  { uploadId, signal }: Upload,
): Promise<string[]> {
  const whole = createHash('sha256');
  const tags: string[] = [];
  for (let start = 0; start < source.size; start += partBytes) {
    const size = Math.min(partBytes, source.size - start);
    const hash = createHash('sha256');
    // Read once more than it is sent, so that the store compares what it received.
    for await (const piece of source.open(start, start + size)) {
      hash.update(piece);
      whole.update(piece);
      signal?.throwIfAborted();
    }
    const part: BlobSource = {
      size,
      sha256: hash.digest('hex'),
      open: (from, to) => source.open(start + from, start + to),
    };
    const query = { partNumber: String(tags.length + 1), uploadId };
    const { headers } = await client.send({ method: 'PUT', key, query, body: part, signal });
    if (typeof headers.etag !== 'string')
      throw new StorageError(`${client.address.endpoint} is not a server of S3: a part has no ETag`);
    tags.push(headers.etag);
  }
  if (source.sha256 !== undefined && whole.digest('hex') !== source.sha256)
    throw new StorageError(`${key} changed while it was sent`);
  return tags;
}

async function complete(
  client: BucketClient,
  key: string,
  size: number,
  tags: readonly string[],
  { uploadId, signal }: Upload,
): Promise<void> {
  const parts = tags.map(
    (tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
  );
  const text = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`;
  let reply: BucketReply;
  try {
    reply = await client.send({
      method: 'POST',
      key,
      query: { uploadId },
      headers: { 'content-type': 'application/xml' },
      body: bytesSource(Buffer.from(text)),
      signal,
    });
  } catch (error) {
    // The answer to an earlier attempt was lost, and the upload is complete.
    if (s3CodeOf(error) !== 'NoSuchUpload') throw error;
    const { headers } = await client.send({ method: 'HEAD', key, signal });
    if (headers['content-length'] !== String(size)) throw error;
    return;
  }
  // S3 sends the status before it has put the parts together.
  if (parseReply(reply.text)?.name === 'Error')
    throw refusalOf({ status: 400, headers: {}, body: reply.text }, client.address, `POST ${key}`, 0);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
