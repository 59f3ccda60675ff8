import { Command, InvalidArgumentError } from 'commander';
import { defined } from '../../../protocols/defined.js';
import type { ActionOptions } from './actions/controls.js';
import { withCrawlOptions } from './crawl-options.js';

const EXIT_HELP = `
Exit status: 0 done; 1 no crawl is running, or the console refused; 2 usage; 3 the console cannot be reached.
`;

/** Commands without parameters: name, the console's name of the action, summary, description. */
const PLAIN_ACTIONS: readonly (readonly [string, string, string, string])[] = [
  ['pause', 'pause', 'pause a crawl', 'URIs in flight are finished; no new ones are started.'],
  ['resume', 'resume', 'continue a paused crawl', ''],
  [
    'checkpoint',
    'checkpoint',
    'take a checkpoint of a running crawl',
    'Waits until the checkpoint is taken and verified, and prints its name. The crawl continues meanwhile.',
  ],
  ['stop', 'stop', 'end a crawl', 'URIs in flight are finished; the others stay queued for the next run.'],
  [
    'wake',
    'force-wake',
    'wake snoozed queues immediately',
    'Cuts short the pauses that servers requested. Use it only on your own hosts.',
  ],
  [
    'reconsider',
    'reconsider-retired',
    'reconsider retired queues',
    'Reads the budgets again; a queue over its budget retires again.',
  ],
];

/** `harvest crawl pause`, `stop`, `delete` ...: actions on a running crawl. */
export function actionCommands(): Command[] {
  const plain = PLAIN_ACTIONS.map(([name, action, summary, description]) =>
    command(name, summary, description).action(async (options: ActionOptions) => {
      await runAction(action, {}, options);
    }),
  );
  const remove = command('delete', 'delete pending URIs', 'Deletes pending URIs that match.')
    .argument('<pattern>', 'regular expression (RE2) that matches somewhere in the URI')
    .option('--queues <pattern>', 'only in queues whose name matches')
    .addHelpText(
      'after',
      `
Examples:
  harvest crawl delete '/calendar/[0-9]{4}/'
  harvest crawl delete . --queues '^trap\\.example\\.org$'    all pending URIs of one host
`,
    )
    .action(async (pattern: string, options: ActionOptions & { readonly queues?: string }) => {
      const { queues } = options;
      const fields = { pattern, ...defined({ queuePattern: queues }) };
      await runAction('delete-uris', fields, options);
    });
  const kill = command(
    'kill',
    "abort a worker's URI",
    'Aborts the URI that a worker is processing; it ends with status -7000 (killed).',
  )
    .argument('<worker>', 'number of the worker, from harvest crawl report workers', workerArgument)
    .action(async (worker: string, options: ActionOptions) => {
      await runAction('kill-worker', { worker }, options);
    });
  return [...plain, remove, kill];
}

function command(name: string, summary: string, description: string): Command {
  return withCrawlOptions(new Command(name))
    .summary(summary)
    .description(description === '' ? `${summary[0]?.toUpperCase()}${summary.slice(1)}.` : description)
    .option('--json', 'print the result as one JSON line', false)
    .addHelpText('after', EXIT_HELP);
}

function workerArgument(text: string): string {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be the number of a worker');
  return text;
}

/** @param action the console's name of it */
async function runAction(
  action: string,
  fields: Readonly<Record<string, string>>,
  options: ActionOptions,
): Promise<void> {
  const { send } = await import('./actions/controls.js');
  process.exitCode = await send(action, fields, options);
}
