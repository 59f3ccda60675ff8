import { EXIT } from '../../output/exit.js';
import { printResult } from '../../output/standard-output.js';
import type { ActionOptions } from '../crawl-options.js';
import { crawlAction, reportNoCrawl, runningCrawl } from '../find-crawl.js';
import { totalLines } from '../tables.js';

/** The action of `harvest crawl status`. */
export const crawlStatus = crawlAction(async (options: ActionOptions) => {
  const crawl = await runningCrawl(options);
  if (crawl === undefined) return reportNoCrawl(options);
  const snapshot = await crawl.snapshot();
  await printResult(options, snapshot, `${totalLines(snapshot).join('\n')}\n`);
  return EXIT.ok;
});
