import { Command, InvalidArgumentError, Option } from 'commander';
import { lazyAction } from '../lazy-action.js';

const ORDER_HELP = `
A configuration file names its order with "Crawl-Order: FILE". An order is JSON with comments, or the order.xml of Heritrix 1.x.

Examples:
  harvest crawl order --default > order.json     a file to start from
  harvest crawl order --table | less             every setting: default, unit, legal values, rule
  harvest crawl order --check order.json
  harvest crawl settings http://www.example.org/ --order order.json

Exit status: 0 done; 2 the order is wrong, or usage.
`;

/** `harvest crawl order` (CRAWL-19): the default order, the table of settings, or a check of an order. */
export function orderCommand(): Command {
  return new Command('order')
    .summary('print the default crawl order, or check one')
    .description('Prints the default crawl order with comments, or checks one.')
    .addOption(new Option('--default', 'print the default order (the default)').conflicts(['check', 'table']))
    .addOption(new Option('--table', 'print all settings as a table').conflicts('check'))
    .option(
      '--check <file>',
      'read an order, load its modules, report the first error and what has no effect',
    )
    .option('--json', 'print the table as JSON lines, or the checked order with all defaults', false)
    .addHelpText('after', ORDER_HELP)
    .action(lazyAction(async () => (await import('./actions/order.js')).printOrder));
}

const SETTINGS_HELP = `
Settings that differ from those of the order are marked with *; --all shows the others too. The last sheet listed wins.

Examples:
  harvest crawl settings http://www.example.org/a --order order.json
  harvest crawl settings http://www.example.org/a --order order.json --hops LLL --via http://www.example.org/

Exit status: 0 done; 2 the order is wrong, or usage.
`;

/** `harvest crawl settings URL` (CRAWL-19.5, 19.6): the settings of a URL, and the sheets that set them. */
export function settingsCommand(): Command {
  return new Command('settings')
    .summary('print the settings of a URL and the sheets that set them')
    .description('Prints the settings of a URL and the sheets that set them.')
    .argument('<url>', 'the URL', urlArgument)
    .requiredOption('--order <file>', 'the crawl order')
    .option('--via <url>', 'the URL of the page with the link', urlArgument)
    .option('--hops <letters>', 'the path from the seed, e.g. LLE; empty: a seed', '')
    .option('--all', 'also show settings that no sheet changes', false)
    .option('--json', 'one JSON line', false)
    .addHelpText('after', SETTINGS_HELP)
    .action(lazyAction(async () => (await import('./actions/order.js')).printSettings));
}

function urlArgument(text: string): string {
  if (!URL.canParse(text)) throw new InvalidArgumentError('must be a URL');
  return text;
}
