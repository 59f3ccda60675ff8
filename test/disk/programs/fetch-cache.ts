// A disk cache whose entries are written, replaced and swept.
import { join } from 'node:path';
import { DiskCache } from '../../../clients/fetch/index.js';
import { CACHED_PAGES, cachedPage } from '../cached-pages.js';
import { programArguments } from './acknowledge.js';

const { root, control } = programArguments();
const cache = await DiskCache.open(join(root, 'cache'), { maxBytes: 2_000_000 });
for (const version of [1, 2]) {
  for (let k = 0; k < CACHED_PAGES; k++) {
    await cache.put(cachedPage(k, version));
    control.mark(`version ${(version - 1) * CACHED_PAGES + k + 1}`);
  }
}
