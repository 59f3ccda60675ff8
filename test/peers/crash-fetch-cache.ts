// The disk cache of retrievals after every crash: an entry is whole or absent, and the cache goes on.
import { join } from 'node:path';
import t from 'tap';
import { DiskCache } from '../../clients/fetch/index.js';
import { CACHED_PAGES, cachedPage } from '../disk/cached-pages.js';
import { examineCrashes } from '../disk/examine.js';
import { lastMark } from '../disk/marks.js';

t.test('G-91, G-94: every crash of the disk cache leaves whole entries', (t) =>
  examineCrashes(t, {
    program: 'fetch-cache',
    modes: ['kill', 'journal', 'hostile'],
    async check(directory, state) {
      const cache = await DiskCache.open(join(directory, 'cache'));
      // Entries are not flushed: a power failure may lose them, a killed process does not.
      const written = state.recipe.mode === 'kill' ? lastMark(state, 'version') : 0;
      for (let k = 0; k < CACHED_PAGES; k++) {
        const { url } = cachedPage(k, 1);
        const found = await cache.get(url);
        if (found === undefined && k < written) throw new Error(`${url} is lost`);
        if (found === undefined) continue;
        const version = found.lastModified;
        if (!Buffer.from(cachedPage(k, version).body).equals(found.body))
          throw new Error(`${url} is damaged`);
        if (version < 2 && k + CACHED_PAGES < written) throw new Error(`version 2 of ${url} is lost`);
      }
      await cache.put(cachedPage(0, 2));
      if ((await cache.get(cachedPage(0, 2).url))?.lastModified !== 2)
        throw new Error('nothing is kept any more');
      await cache.purge();
      if ((await cache.size()).entries > 0) throw new Error('the cache cannot be emptied');
    },
  }),
);
