import { Command, InvalidArgumentError } from 'commander';
import { EXIT } from '../exit.js';
import { StandardOutput } from '../standard-output.js';
import { exitStatus, runningCrawl, sayNoCrawl, type WhichCrawl, withCrawlOptions } from './find-crawl.js';

const EXIT_HELP = `
Exit status: 0 done, 1 no crawl runs or it refused, 2 usage, 3 the console cannot be reached.
`;

interface ActOptions extends WhichCrawl {
  readonly json: boolean;
}

/** Commands without parameters: name, act, what it does, more about it. */
const PLAIN: readonly (readonly [string, string, string, string])[] = [
  ['pause', 'pause', 'let a crawl pause', 'What is under way is finished; nothing new is begun.'],
  ['resume', 'resume', 'let a paused crawl go on', ''],
  [
    'checkpoint',
    'checkpoint',
    'take a checkpoint of a running crawl',
    'Waits until it is taken and verified; the crawl goes on meanwhile. Prints its name.',
  ],
  ['stop', 'stop', 'end a crawl', 'What is under way is finished, what is left stays for the next run.'],
  [
    'wake',
    'force-wake',
    'let snoozed queues go on at once',
    'Servers that asked for a pause get less of it: for hosts of your own.',
  ],
  [
    'reconsider',
    'reconsider-retired',
    'let retired queues go on',
    'Budgets are read anew; a queue that is over its budget still retires again.',
  ],
];

/** `harvest crawl pause`, `stop`, `delete` ...: what a running crawl is told. */
export function actCommands(): Command[] {
  const plain = PLAIN.map(([name, act, summary, description]) =>
    command(name, summary, description).action(async (options: ActOptions) => {
      process.exitCode = await exitStatus(() => send(act, {}, options));
    }),
  );
  const remove = command('delete', 'delete pending URIs', 'Deletes URIs that wait and match.')
    .argument('<pattern>', 'regular expression (RE2) that matches somewhere in the URI')
    .option('--queues <pattern>', 'only in queues whose name matches')
    .addHelpText(
      'after',
      `
Examples:
  harvest crawl delete '/calendar/[0-9]{4}/'
  harvest crawl delete . --queues '^trap\\.example\\.org$'    everything that waits for one host
`,
    )
    .action(async (pattern: string, options: ActOptions & { readonly queues?: string }) => {
      const { queues } = options;
      const fields = { pattern, ...(queues === undefined ? {} : { queuePattern: queues }) };
      process.exitCode = await exitStatus(() => send('delete-uris', fields, options));
    });
  const kill = command('kill', 'give up what a worker is doing', 'Its URI ends with status -7000 (killed).')
    .argument('<worker>', 'its number, from harvest crawl report workers', workerArgument)
    .action(async (worker: string, options: ActOptions) => {
      process.exitCode = await exitStatus(() => send('kill-worker', { worker }, options));
    });
  return [...plain, remove, kill];
}

function command(name: string, summary: string, description: string): Command {
  return withCrawlOptions(new Command(name))
    .summary(summary)
    .description(description === '' ? `${summary[0]?.toUpperCase()}${summary.slice(1)}.` : description)
    .option('--json', 'print what came of it as one JSON line', false)
    .addHelpText('after', EXIT_HELP);
}

function workerArgument(text: string): string {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('the number of a worker is wanted');
  return text;
}

async function send(
  act: string,
  fields: Readonly<Record<string, string>>,
  options: ActOptions,
): Promise<number> {
  const crawl = await runningCrawl(options);
  if (crawl === undefined) return sayNoCrawl(options);
  const reply = await crawl.act(act, fields);
  await new StandardOutput().write(options.json ? `${JSON.stringify(reply)}\n` : `${reply.text}\n`);
  return EXIT.ok;
}
