import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { messageOf, UsageError } from '../../../protocols/errors.js';
import {
  type AppliedSheet,
  type CrawlOrderConfig,
  type CrawlSettings,
  chainSteps,
  defaultOrderText,
  describeSettings,
  readOrderText,
  SheetOverlays,
  settingsTable,
} from '../../crawler/order/index.js';
import { importProcessor } from '../../crawler/processors/user-processor.js';
import { EXIT } from '../exit.js';
import { printable, writeMessage } from '../printable.js';
import { StandardOutput } from '../standard-output.js';

const ORDER_HELP = `
A configuration file names its order with "Crawl-Order: FILE". An order is JSON with comments, or the order.xml of Heritrix 1.x.

Examples:
  harvest crawl order --default > order.json     a file to start from
  harvest crawl order --table | less             every setting: default, unit, legal values, rule
  harvest crawl order --check order.json
  harvest crawl settings http://www.example.org/ --order order.json

Exit status: 0 done; 2 the order is wrong, or usage.
`;

interface OrderOptions {
  readonly check?: string;
  readonly table?: true;
  readonly json: boolean;
}

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
    .action(async (options: OrderOptions) => {
      process.exitCode = await printOrder(options);
    });
}

async function printOrder({ check, table, json }: OrderOptions): Promise<number> {
  const output = new StandardOutput();
  if (check !== undefined) {
    const read = await readOrderFile(check);
    for (const step of Object.values(chainSteps(read)).flat())
      if (step.entry.module !== undefined) await importProcessor(step);
    const { name, sheets, scope } = read;
    await output.write(
      json
        ? `${JSON.stringify(read)}\n`
        : `${check}: the order ${printable(name)} is valid; ${sheets.length} sheets, ${scope.length} rules of scope\n`,
    );
  } else if (table === true) {
    await output.write(
      json
        ? describeSettings()
            .map((setting) => `${JSON.stringify(setting)}\n`)
            .join('')
        : settingsTable(),
    );
  } else await output.write(defaultOrderText());
  return EXIT.ok;
}

const SETTINGS_HELP = `
Settings that differ from those of the order are marked with *; --all shows the others too. The last sheet listed wins.

Examples:
  harvest crawl settings http://www.example.org/a --order order.json
  harvest crawl settings http://www.example.org/a --order order.json --hops LLL --via http://www.example.org/

Exit status: 0 done; 2 the order is wrong, or usage.
`;

interface SettingsOptions {
  readonly order: string;
  readonly via?: string;
  readonly hops: string;
  readonly all: boolean;
  readonly json: boolean;
}

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
    .action(async (url: string, options: SettingsOptions) => {
      process.exitCode = await printSettings(url, options);
    });
}

async function printSettings(url: string, options: SettingsOptions): Promise<number> {
  const { via, hops, all, json } = options;
  const read = await readOrderFile(options.order);
  const overlays = SheetOverlays.of(read);
  const subject = { uri: url, hops, seed: hops === '', ...(via === undefined ? {} : { via }) };
  const sheets = overlays.explain(subject);
  const found = overlays.settingsFor(subject);
  const output = new StandardOutput();
  await output.write(
    json
      ? `${JSON.stringify({ url, sheets, settings: found })}\n`
      : [...sheetLines(sheets), ...settingLines(read.settings, found, all), ''].join('\n'),
  );
  return EXIT.ok;
}

function sheetLines(sheets: readonly AppliedSheet[]): string[] {
  if (sheets.length === 0) return ['No sheet applies: the settings are those of the order.'];
  return sheets.map(({ sheet, because }) =>
    printable(
      'surt' in because
        ? `sheet ${sheet}, because of the prefix ${because.surt}`
        : `sheet ${sheet}, because of its rule ${because.ruleNumber}, ${because.rule}`,
    ),
  );
}

function settingLines(base: CrawlSettings, found: CrawlSettings, all: boolean): string[] {
  const before = new Map<string, unknown>(Object.entries(base));
  return Object.entries(found).flatMap(([name, value]) => {
    const text = JSON.stringify(value);
    const changed = JSON.stringify(before.get(name)) !== text;
    return changed || all ? [printable(`${changed ? '*' : ' '} ${name}: ${text}`)] : [];
  });
}

/** Reads an order, JSON or order.xml, and prints the warnings. */
async function readOrderFile(file: string): Promise<CrawlOrderConfig> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`crawl: ${file} cannot be read: ${messageOf(cause)}`);
  });
  const { order, warnings } = await readOrderText(text, file);
  for (const { message } of warnings) writeMessage(`warning: ${message}`);
  return order;
}

function urlArgument(text: string): string {
  if (!URL.canParse(text)) throw new InvalidArgumentError('must be a URL');
  return text;
}
