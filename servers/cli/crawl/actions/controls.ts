import { EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';
import type { CrawlSelection } from '../crawl-options.js';
import { exitStatus, reportNoCrawl, runningCrawl } from '../find-crawl.js';

export interface ActionOptions extends CrawlSelection {
  readonly json: boolean;
}

/** Runs an action on a running crawl; returns the exit status. */
export function send(
  action: string,
  fields: Readonly<Record<string, string>>,
  options: ActionOptions,
): Promise<number> {
  return exitStatus(async () => {
    const crawl = await runningCrawl(options);
    if (crawl === undefined) return reportNoCrawl(options);
    const reply = await crawl.runAction(action, fields);
    await new StandardOutput().write(options.json ? `${JSON.stringify(reply)}\n` : `${reply.text}\n`);
    return EXIT.ok;
  });
}
