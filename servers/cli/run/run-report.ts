// What `harvest run` says of a round.
import type { PublishedReferences } from '../../../storage/references/builder.js';
import type { CycleReport } from '../../all-in-one/all-in-one.js';
import { gatheredText } from '../gatherer/gather-progress.js';

/** Returns the counts that `--once` prints. */
export function summary({
  gathered,
  generation,
  exported,
  references,
  collected,
  objects,
}: CycleReport): Record<string, unknown> {
  const { summarized, unchanged, kept, rejected, failed, redirected } = gathered.counts;
  const { added, updated, refreshed, deleted, duplicates, rejected: refused } = collected.totals;
  return {
    gathered: {
      summarized,
      unchanged,
      kept,
      rejected,
      failed,
      redirected,
      bytes: gathered.bytes,
      seconds: gathered.seconds,
    },
    resumed: gathered.resumed,
    roots: gathered.roots,
    generation,
    exported,
    references: references === undefined ? null : referencesSummary(references),
    collected: {
      received: collected.received,
      added,
      updated,
      refreshed,
      deleted,
      duplicates,
      rejected: refused,
    },
    objects,
  };
}

/** Returns the counts of the published links. */
function referencesSummary({ generation, documents, servers, links }: PublishedReferences) {
  return { generation, documents, servers, links };
}

/** Says what a round did, for a person. */
export function reportText({
  gathered,
  exported,
  generation,
  references,
  collected,
  objects,
}: CycleReport): string {
  const roots = gathered.roots
    .filter(({ refused }) => refused['url-max'] !== undefined)
    .map(({ url, urls }) => `  ${url}: stopped at ${urls} URLs; --urls raises the limit\n`);
  return [
    `${gatheredText(gathered)}\n`,
    ...roots,
    `Published generation ${generation}: ${exported} objects. Broker received ${collected.received}, `,
    `rejected ${collected.totals.duplicates} duplicates, has ${objects} objects.\n`,
    references === undefined
      ? ''
      : `Published ${references.links} links between ${references.documents} documents of ${references.servers} ${references.servers === 1 ? 'server' : 'servers'}.\n`,
  ].join('');
}
