import { type Command, InvalidArgumentError } from 'commander';

/** Environment variable with the password for the console of `--url`. */
export const PASSWORD_VARIABLE = 'HARVEST_CONSOLE_PASSWORD';

/** Options that select a crawl. */
export interface CrawlSelection {
  readonly data: string;
  readonly url?: string;
}

/** Options of an action on a running crawl. */
export interface ActionOptions extends CrawlSelection {
  readonly json: boolean;
}

/** Adds the options of {@link CrawlSelection}. */
export function withCrawlOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--url <url>', `URL of the console; the password is $${PASSWORD_VARIABLE}`, urlOption);
}

function urlOption(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('must be http://HOST:PORT/');
  const url = new URL(text);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url.href;
}

/** The reports of `harvest crawl report`, in the order of `all`. */
export const KINDS = [
  'queues',
  'retries',
  'hosts',
  'robots',
  'seen',
  'chain',
  'frontier',
  'workers',
  'errors',
] as const;

export type Kind = (typeof KINDS)[number];
