// A processor of the crawl engine: counts documents and bytes by media type, and writes the table when the crawl ends.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * @param {{ name: string, chain: string, settings: { file?: string }, directory: string }} options
 *   `settings` are those of the entry in order.json, `directory` is that of the crawl's files
 */
export function createProcessor({ settings, directory }) {
  const file = join(directory, settings.file ?? 'media-types.tsv');
  const counts = new Map();
  return {
    // May be called for several URIs at the same time. `signal` is aborted when timeoutSeconds have passed.
    async process(uri, signal) {
      signal.throwIfAborted();
      const type = uri.fetched?.contentType ?? 'unknown';
      const { documents, bytes } = counts.get(type) ?? { documents: 0, bytes: 0 };
      counts.set(type, { documents: documents + 1, bytes: bytes + uri.size });
      uri.annotations.push(`type:${type}`); // in the last field of crawl.log
      return 'proceed';
    },

    // Called when the crawl ends.
    async close() {
      const lines = [...counts].map(([type, { documents, bytes }]) => `${type}\t${documents}\t${bytes}\n`);
      await mkdir(directory, { recursive: true });
      await writeFile(file, lines.sort().join(''));
    },
  };
}
