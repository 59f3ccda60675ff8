// Opens the blobs of a place: a bucket of S3, or a directory.

import type { BlobStore } from './contract.js';
import { DirectoryBlobs } from './directory-blobs.js';

/** Whether a place is a bucket, and not a directory. */
export function isBucketUrl(place: string): boolean {
  return /^s3:\/\//i.test(place);
}

/**
 * Opens a store of blobs. Nothing is asked of it yet.
 *
 * @param place `s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&style=path|host]`, or a directory
 * @throws StorageError if the URL cannot be understood, or no login is found
 */
export async function openBlobs(place: string): Promise<BlobStore> {
  if (!isBucketUrl(place)) return new DirectoryBlobs(place);
  // Only who uses it pays for the client of HTTP.
  const { openBucket } = await import('./s3/s3-blobs.js');
  return await openBucket(place);
}
