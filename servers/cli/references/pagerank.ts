import { Command, InvalidArgumentError } from 'commander';
import { EXIT_HELP } from '../db/exit-help.js';
import { lazyAction } from '../lazy-action.js';
import { countOption, integerOption } from '../options/option-values.js';

const HELP = `
Computes the PageRank of every document in the published link graph of the data directory DATA, and of every ID that only
appears in a link. A document passes its rank in equal shares to the documents it links to; one without links passes it to
all. The ranks sum to 1. They are published with the graph as a new generation; the next links load publishes one without
ranks.

The command prints the highest ranks: rank, ID and URL, separated by tabs; with --json one object, with the list in "top".

Examples:
  harvest pagerank --data DATA
  harvest pagerank --data DATA --top 100 --json
  harvest pagerank --data DATA --damping 0.5 --tolerance 1e-12 --top 0
${EXIT_HELP.replace('the database', 'what was published')}`;

const DEFAULT_TOP = 10;

/** `harvest pagerank`. */
export function pagerankCommand(): Command {
  return new Command('pagerank')
    .description('Computes and publishes the PageRank of the documents in a link graph.')
    .requiredOption('--data <dir>', 'the data directory')
    .option('--top <n>', 'number of documents to print', integerOption, DEFAULT_TOP)
    .option('--damping <d>', 'probability of following a link, 0 to below 1', dampingOption, 0.85)
    .option('--tolerance <t>', 'stop when a round changes less than this', toleranceOption, 1e-8)
    .option('--max-rounds <n>', 'maximum number of rounds', countOption, 200)
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/pagerank.js')).pagerank));
}

function dampingOption(value: string): number {
  if (!/^0(\.\d+)?$/.test(value)) throw new InvalidArgumentError('must be a number from 0 to below 1');
  return Number(value);
}

function toleranceOption(value: string): number {
  const tolerance = /^\d+(\.\d+)?(e-?\d+)?$/i.test(value) ? Number(value) : 0;
  if (tolerance <= 0) throw new InvalidArgumentError('must be a number above 0, e.g. 1e-9');
  return tolerance;
}
