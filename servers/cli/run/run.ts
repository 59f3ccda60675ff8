import { Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_DELAY } from '../../../protocols/config/root-node-defaults.js';
import type { CommandEntry } from '../command-entry.js';
import { lazyAction } from '../lazy-action.js';
import { addConfigOption } from '../options/config-option.js';
import {
  addConnectionOptions,
  addPeerOptions,
  addPublicOptions,
  addTlsOptions,
  monitorOption,
} from '../options/connection-options.js';
import {
  countOption,
  integerOption,
  LOOPBACK,
  periodOption,
  portOption,
  secondsOption,
} from '../options/option-values.js';
import { publishOption, storeOption } from '../options/store-option.js';
import type { RunOptions } from './actions/run.js';

/** The commands of this file by name. */
export const DEFINITIONS = { run };

const HELP = `
ROOT is a URL, a directory, or an original Gatherer configuration file; several may be given.
Without one, run serves the documents of the kit over HTTP and gathers them from there, so that a
first look needs no network.

A URL with a login (http://user:password@host/) belongs in a configuration file: other users can see
the command line.

With --every, documents are due again after each period: their Refresh-Rate is the period, unless a
configuration file sets it. A round that fails does not end the servers.

The search page is open while documents are gathered, and finds those that are gathered.

The files of a directory are served on this machine, so that results open in a browser. Hidden files
and directories (.git, .env), and copies that editors make (name~), are neither gathered nor served
without --hidden. A hidden directory that is itself a ROOT is gathered.

All data is stored below --data. A second run on the same directory continues: it finishes an
interrupted run, skips documents that are not yet due (Refresh-Rate), and requests the others
conditionally.

The links of http, https, ftp and gopher documents are published in gatherer/ below --data, for the
references server; result pages show the number of links to each document. harvest pagerank --data
DIR/gatherer ranks them.

Examples:
  harvest run                                      try it with the kit's own documents
  harvest run http://www.example.org/              at most 250 pages of one host, one per second
  harvest run http://localhost:8000/               a site on this machine, without a delay
  harvest run http://www.example.org/ --urls 2000 --delay 2 --depth 5
  harvest run /usr/share/doc                       a directory
  harvest run sample.cf                            an original configuration file
  harvest run --config run.json                    {"arguments": ["sample.cf"], "web-port": 9080}
  harvest run --once ROOT                          gather, publish, collect, print the counts, exit
  harvest run --every 1d http://www.example.org/   every day; unchanged pages are not sent again

Exit status: 0 done, or stopped when everything was ready; 1 failure, also if a ROOT gave nothing and
there is nothing to search, with --once always if a ROOT gave nothing; 2 usage or configuration;
130 stopped while gathering.
`;

/**
 * `harvest run [ROOT...]`: the whole chain in one process.
 *
 * @param commands all commands, whose help is among the documents of a run without a ROOT
 */
function run(commands: readonly CommandEntry[]): Command {
  const command = new Command('run')
    .description(
      'Gather documents, export their summaries by gatherd, collect them in a broker, serve a search page and the link graph.',
    )
    .argument('[root...]', 'URL, directory or Gatherer configuration file')
    .option('--data <dir>', 'directory for all data', './data')
    .addOption(storeOption('keep the stores of gatherer and broker in a database, not below --data'))
    .addOption(publishOption())
    .option('--host <address>', 'address to listen on', LOOPBACK)
    .addOption(
      new Option('--gatherd-port <port>', 'gatherd (default: 8500, or Gatherer-Port)').argParser(portOption),
    )
    .option('--broker-port <port>', 'broker; for every port 0 = any free port', portOption, 8501)
    .option('--web-port <port>', 'search page', portOption, 8080)
    .option('--references-port <port>', 'references server', portOption, 3324)
    .option(
      '--documents-port <port>',
      "the kit's own documents, or the files of a directory",
      portOption,
      8079,
    )
    .option('--once', 'gather, publish, collect, print the counts as one JSON line, exit', false)
    .addOption(
      new Option('--every <period>', 'gather and collect again after each period: 90s, 30m, 12h, 1d, 2w')
        .argParser(periodOption)
        .conflicts('once'),
    )
    .option(
      '--delay <seconds>',
      `time between requests to a server (default: ${DEFAULT_DELAY}; this machine and local files 0)`,
      secondsOption,
    )
    .option(
      '--depth <steps>',
      'maximum number of steps from each ROOT; 0 = no limit (default: 0)',
      integerOption,
    )
    .option(
      '--urls <number>',
      'maximum number of URLs of each ROOT (default: 250; this machine 10000; directories 100000)',
      countOption,
    )
    .option('--hidden', 'also gather hidden files of a directory and copies of editors', false)
    .option('--hosts <number>', 'maximum number of hosts of each ROOT (default: 1)', countOption)
    .option(
      '--connections <number>',
      'connections per host; more than 1 only for your own hosts',
      connectionsOption,
      1,
    )
    .option('--force', 'also gather documents that are not yet due (Refresh-Rate)', false)
    .option(
      '--low-disk <MiB>',
      'pause gathering (with --once: end it) while less space is free; 0 = never (default: 512)',
      integerOption,
    )
    .option('--json-log', 'log as JSON lines on standard error', false);
  addConfigOption(command);
  command.addOption(monitorOption());
  addTlsOptions(command, 'all ports');
  addPublicOptions(command);
  addConnectionOptions(command, 'gatherd 2048, broker 256, search page 256, references server 8192');
  return addPeerOptions(command, '120; search page and references server 60')
    .addHelpText('after', HELP)
    .action(
      lazyAction(async () => {
        const { run } = await import('./actions/run.js');
        return (roots: string[], options: RunOptions) => run(roots, options, commands);
      }),
    );
}

function connectionsOption(value: string): number {
  const number = integerOption(value);
  if (number < 1 || number > 64) throw new InvalidArgumentError('must be between 1 and 64');
  return number;
}
