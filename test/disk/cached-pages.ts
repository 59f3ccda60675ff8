// The retrievals that a recorded cache keeps; their content tells number and version.
import type { FetchResult } from '../../clients/fetch/index.js';

export const CACHED_PAGES = 8;
const BODY_BYTES = 9000;

/** @param version 1 or 2, which replaces 1 */
export function cachedPage(k: number, version: number): FetchResult {
  const now = Date.now();
  return {
    url: `http://site.test/${k}`,
    status: 200,
    headers: {},
    contentType: 'text/plain',
    lastModified: version,
    etag: '',
    body: Buffer.from(`page ${k}, version ${version}. `.repeat(1000).slice(0, BODY_BYTES)),
    truncated: false,
    local: false,
    beginTime: now,
    endTime: now,
  };
}
