import { Command, Option } from 'commander';
import type { Engine } from '../../../storage/indexers/engine.js';
import { ENGINES } from '../../../storage/indexers/open.js';
import { lazyAction } from '../lazy-action.js';

/** The commands of this file by name. */
export const DEFINITIONS = { init };

/** The engines that are options. */
const CHOICES = Object.entries<Engine>(ENGINES).filter(([, { isChoiceOfInit }]) => isChoiceOfInit);

const HELP = `
Creates a Harvest server: a Gatherer, which summarizes documents, and a Broker, which collects the
summaries and answers queries. The command asks ten questions, each with a default in brackets;
every answer can also be given as an option. Then it writes the two directories, gathers, and starts
both (--dont-run: only writes). Existing files are not overwritten without asking; --yes keeps them,
--force replaces them.

Gatherers and Brokers are created below $HARVEST_HOME (default: ./harvest). Everything listens on
127.0.0.1 only. By default the kit's own documents are indexed, so that a first look needs no
network.

Examples:
  harvest init                                            asks, then runs
  harvest init --yes                                      asks nothing
  harvest init --novice                                   asks only what to index, and the name
  harvest init --yes --index http://www.example.org/ --name "Example pages"
  harvest init --yes --index "/usr/share/doc /srv/www" --dont-run
  harvest init --fake                                     asks, then prints the files it would write

The options of RunHarvest work with one dash: ${CHOICES.map(([type]) => `-${type} `).join('')}-novice -dumbtty -debug -dont-run
-fake -protect.

Exit status: 0 done; 1 a file could not be written or a program not started; 2 usage.
`;

/** `harvest init` and `RunHarvest` (G-158 to G-161). */
function init(): Command {
  const command = new Command('init')
    .option('-y, --yes', 'ask nothing; use the defaults of answers that are not given', false)
    .option('--www-host <name>', 'host of the search page')
    .option('--www-port <port>', 'port of the search page')
    .option('--index <roots>', 'URLs or directories to index, separated by blanks')
    .option('--name <text>', 'name of this Harvest server')
    .option('--gatherer-directory <dir>', 'directory of the Gatherer')
    .option('--gatherer-port <port>', 'port of the Gatherer')
    .option('--broker-directory <dir>', 'directory of the Broker')
    .option('--broker-port <port>', 'port of the Broker')
    .option('--password <text>', "the Broker's administrative password; visible in the list of processes")
    .option('--password-file <file>', 'file whose first line is the password; - is standard input')
    .option('--email <address>', 'e-mail address sent to the servers')
    .option('--novice', 'ask only what to index, and the name', false);
  for (const [type, { title }] of CHOICES) command.option(`--${type}`, `use ${title} as the indexer`, false);
  return (
    command
      .option('--dumbtty', 'for terminals without control: the password is shown while typed', false)
      .option('--debug', 'let the programs log debugging messages', false)
      .option('--dont-run', 'start nothing', false)
      .option('--fake', 'write nothing, print the files that would be written', false)
      // The umask never changes; the option is accepted.
      .addOption(new Option('--protect', 'keep the umask').default(false).hideHelp())
      .option('--force', 'overwrite existing files without asking', false)
      .option('--json', 'print the created files as one JSON line', false)
      .addHelpText('after', HELP)
      .action(lazyAction(async () => (await import('./actions/init.js')).init))
  );
}
