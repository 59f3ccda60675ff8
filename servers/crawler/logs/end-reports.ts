import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { makeReport, REPORT_KINDS, type ReportedCrawl, type ReportOptions } from './reports.js';
import { reportLines } from './table.js';

const MANIFEST = 'crawl-manifest.txt';

/**
 * CRAWL-16.7: writes the end reports of a crawl as `KIND-report.txt`, and `crawl-manifest.txt` with their
 * names.
 *
 * @returns the paths of the files
 * @throws StorageError, the signal's reason
 */
export async function writeEndReports(
  directory: string,
  crawl: ReportedCrawl,
  options: ReportOptions = {},
): Promise<string[]> {
  const names: string[] = [];
  try {
    await createDirectory(directory);
    for (const kind of REPORT_KINDS) {
      const report = await makeReport(kind, crawl, options);
      if (report === undefined) continue;
      const name = `${kind}-report.txt`;
      await writeLines(join(directory, name), reportLines(report), options.signal);
      names.push(name);
    }
    await writeLines(join(directory, MANIFEST), names, options.signal);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new StorageError(`${directory}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return [...names, MANIFEST].map((name) => join(directory, name));
}

async function writeLines(path: string, lines: readonly string[], signal?: AbortSignal): Promise<void> {
  const text = Readable.from(lines.map((line) => `${line}\n`));
  await pipeline(text, createWriteStream(path), { ...(signal && { signal }) });
}
