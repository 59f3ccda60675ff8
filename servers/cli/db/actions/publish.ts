import { UsageError } from '../../../../protocols/errors.js';
import {
  type PublishedDirectory,
  publishDirectory,
} from '../../../../storage/databases/publish-directory.js';
import type { GathererNames } from '../../../../storage/generations/export/survey.js';
import { encodeStatistics, openGeneration, writeStatistics, writeTemplates } from '../export-files.js';
import { type Counts, nowOf, runTool } from '../run-tool.js';

/** Names for objects without a Gatherer's name, on the command line. */
export interface GathererOptions {
  readonly gathererName?: string;
  readonly gathererHost?: string;
  readonly gathererVersion?: string;
}

interface IndexOptions extends GathererOptions {
  readonly now?: number;
  readonly json: boolean;
}

/** The action of `harvest mkindex`. */
export async function mkindex(directory: string, options: IndexOptions): Promise<number> {
  return await runTool('mkindex', options, async (tool) => {
    const published = await publishDirectory(directory, {
      ...tool,
      ...gathererOf(options),
      now: nowOf(options),
    });
    return publicationCounts(published);
  });
}

/** The action of `harvest mkcompressed`. */
export async function mkcompressed(directory: string, options: { json: boolean }): Promise<number> {
  return await runTool('mkcompressed', options, async () => {
    await using snapshot = await openGeneration(directory);
    return await writeTemplates(directory, snapshot);
  });
}

/** The action of `harvest mkgathererstats`. */
export async function mkgathererstats(
  directory: string,
  options: { write: boolean; json: boolean; now?: number },
): Promise<number> {
  if (options.json && !options.write) throw new UsageError('mkgathererstats: --json requires --write');
  return await runTool('mkgathererstats', options, async (tool) => {
    await using snapshot = await openGeneration(directory);
    const info = await encodeStatistics(snapshot, nowOf(options));
    if (!options.write) {
      await tool.output.write(info);
      return;
    }
    await writeStatistics(directory, info);
    return { objects: snapshot.count };
  });
}

/** Returns the names to add (GATHERD-13.9), if any is given. */
export function gathererOf(options: GathererOptions): { readonly gatherer?: GathererNames } {
  const { gathererName = '', gathererHost = '', gathererVersion = '' } = options;
  if (gathererName === '' && gathererHost === '' && gathererVersion === '') return {};
  return { gatherer: { gathererName, gathererHost, gathererVersion } };
}

/** Returns the counts of a publication. */
export function publicationCounts({ generation, objects, changes, source }: PublishedDirectory): Counts {
  const { added, changed, refreshed, deleted } = changes ?? {};
  const counts = { objects, added, changed, refreshed, deleted, generation, source };
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined)) as Counts;
}
