import type { CycleReport } from '../../all-in-one/all-in-one.js';
import { elsewhereText, gatheredText } from '../gatherer/gather-progress.js';

/** Formats the result of a round for people. */
export function reportText(report: CycleReport): string {
  const { gathered, exported, generation, references, elsewhere, collected, objects } = report;
  const roots = gathered.roots
    .filter(({ refused }) => refused['url-max'] !== undefined)
    .map(({ url, urls }) => `  ${url}: stopped at ${urls} URLs; --urls raises the limit\n`);
  roots.push(...hiddenLines(gathered.roots));
  if (isUnchanged(report)) return [unchangedText(report), ...roots].join('');
  return [
    `${gatheredText(gathered)}\n`,
    ...roots,
    `Published generation ${generation}: ${exported} objects. Broker received ${collected.received}, `,
    `rejected ${collected.totals.duplicates} duplicates, has ${objects} objects.\n`,
    references === undefined
      ? ''
      : `Published ${references.links} links between ${references.documents} documents of ${references.servers} ${references.servers === 1 ? 'server' : 'servers'}.\n`,
    elsewhere === undefined ? '' : `${elsewhereText(elsewhere)}\n`,
  ].join('');
}

/** How many hidden entries of directories were left out. */
function hiddenLines(roots: CycleReport['gathered']['roots']): string[] {
  const count = roots.reduce((sum, { refused }) => sum + (refused.hidden ?? 0), 0);
  if (count === 0) return [];
  const noun = count === 1 ? 'hidden file or directory was' : 'hidden files and directories were';
  return [`  ${count} ${noun} left out; --hidden includes them\n`];
}

/** Whether a round over gathered documents found none that is new, different or gone. */
function isUnchanged({ gathered, collected, objects }: CycleReport): boolean {
  const { summarized, unchanged, kept } = gathered.counts;
  // A Broker also counts updates of objects that only have newer times.
  const { added, deleted } = collected.totals;
  return summarized + added + deleted === 0 && unchanged + kept > 0 && objects > 0 && !gathered.resumed;
}

function unchangedText({ gathered, objects }: CycleReport): string {
  const { unchanged, kept, rejected, failed } = gathered.counts;
  const found = [
    unchanged > 0 ? `${unchanged} documents are as they were` : '',
    kept > 0
      ? `${kept} ${unchanged > 0 ? 'are' : 'documents are'} not due for another visit yet (--force visits them)`
      : '',
    rejected > 0 ? `${rejected} were rejected` : '',
    failed > 0 ? `${failed} failed` : '',
  ].filter((text) => text !== '');
  return `Nothing has changed: ${found.join(', ')}; ${gathered.seconds.toFixed(1)} s. The Broker has ${objects} objects.\n`;
}
