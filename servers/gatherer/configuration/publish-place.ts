import { resolve } from 'node:path';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { isBucketUrl } from '../../../storage/blobs/place.js';

/** The place of `Publish` (G-188), with the whole path of a directory; undefined without one. */
export function publishPlaceOf({
  publish,
  topDirectory,
}: Pick<GathererConfig, 'publish' | 'topDirectory'>): string | undefined {
  return publish === undefined || isBucketUrl(publish) ? publish : resolve(topDirectory, publish);
}
