import { Command, InvalidArgumentError, Option } from 'commander';
import { ADMIN_COMMANDS } from '../../../protocols/broker/admin-commands.js';
import { ENGINES } from '../../../storage/indexers/open.js';
import { lazyAction } from '../lazy-action.js';
import {
  addConnectionOptions,
  addPeerOptions,
  addPublicOptions,
  addRotationOptions,
  addTlsOptions,
  monitorOption,
} from '../options/connection-options.js';
import { LOOPBACK, peerAddress, portOption, repeatedOption } from '../options/option-values.js';
import { PASSWORD_HELP } from '../options/passwords.js';
import { storeOption } from '../options/store-option.js';

/** The commands of this file by name. */
export const DEFINITIONS = { broker, 'broker-restart': brokerRestart, dumpregistry, mkbrokerstats, registry };

/** BRK-6.5: the debug sections of the engines. */
const INDEXERS = [
  ...Object.values(ENGINES).map(({ section }) => `-D${section},1`),
  `indexers (${Object.values(ENGINES)
    .map(({ title }) => title)
    .join(', ')})`,
].join(' ');

const BROKER_HELP = `
FILE is a broker.conf: a variable and its value on each line. Collection.conf in the same directory
lists the collection points: host, port, type (0 to 3: a Gatherer; 4 to 7: a Broker; odd:
incremental; 2 and 3: compressed; 6 and 7: by query), and a filter, or -- for none.

Without a flag the broker collects when it starts and then once a day. The original single-dash
flags work:
  harvest broker admin/broker.conf            collect now, then daily
  harvest broker admin/broker.conf -new       delete all objects, then collect
  harvest broker admin/broker.conf -nocol     do not collect at the start

Broker-Directory (default: the parent of the directory of FILE) holds
  admin/LOG          events (Log-Types); \`broker admin HOST rotate-log\` renames it to LOG.YYYYMMDD
  admin/broker.pid   the process id while the broker runs
  broker.out         with --detach: all other output of the program
  RunBroker          a script that starts the broker in the background, written if it is missing
SIGTERM and SIGINT stop the broker: replies in progress get --grace seconds; after --stop-limit
seconds it ends in any case, with status 1; a second signal ends it immediately. SIGHUP reopens the
logs. \`harvest broker admin --help\` explains how to administer a running broker.

Debugging: -DSECTION,LEVEL or $HARVEST_DEBUG; -DSECTION shows all levels:
  -D70,1 Registry   -D71,1 collector   -D72,1 SOIF parser   -D74,1 each stored object
  -D76,1 events     -D77,1 main        -D78,9 connections   -D75,4 waiting queries
  ${INDEXERS}

Exit status: 0 stopped by a signal or #shutdown, or started by --detach; 1 failure; 2 usage or
configuration.
`;

/** `harvest broker FILE [-new | -nocol]` (BRK-6.1) and `harvest broker admin`. */
function broker(): Command {
  const command = new Command('broker')
    .argument('<file>', 'broker.conf')
    .option('--new', 'begin a new collection: delete every object first (-new)', false)
    .option('--nocol', 'do not collect at the start (-nocol)', false)
    .option('--host <address>', 'address to listen on', LOOPBACK)
    .option('--web-port <port>', 'serve the search page too, on this port', portOption)
    .addOption(storeOption('keep the objects in a database, which brokers may share'))
    .option('--detach', 'run in the background, output to broker.out', false)
    .option('--log <file>', 'log file (default: standard error; with --detach: broker.out)')
    .option('--json-log', 'log as JSON lines', false)
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', repeatedOption, []);
  return addTlsOptions(
    addRotationOptions(addPeerOptions(addConnectionOptions(addPublicOptions(command), 256), 120)),
    'both ports',
  )
    .addOption(monitorOption())
    .addHelpText('after', BROKER_HELP)
    .action(lazyAction(async () => (await import('./actions/broker.js')).serveBroker))
    .addCommand(brokerAdminCommand());
}

const COMMAND_TABLE = ADMIN_COMMANDS.map(
  ({ kind, parameter, effect }) =>
    `  ${kind.padEnd(19)}${parameter === undefined ? '' : `${parameter}: `}${effect}`,
).join('\n');

const ADMIN_HELP = `
COMMAND is one of these, with or without #:
${COMMAND_TABLE}

A collection, indexing and a restart are only started: the broker's log shows their outcome. A
change lasts until the broker ends; permanent changes go into broker.conf.

${PASSWORD_HELP}

Examples:
  harvest broker admin localhost collection                          port 8501
  harvest broker admin --password-file secret broker.example.org:8501 do-stats
  harvest broker admin localhost rem-object-query 'url : "http://www.example.org/"'
  harvest broker admin localhost set Max-Results 500
  harvest broker admin localhost rem-object-oid 17 18

Exit status: 0 done or started; 1 the broker refused or failed; 2 usage; 3 the broker cannot be
reached.
`;

/** `harvest broker admin HOST[:PORT] COMMAND [PARAMETER...]` (BRK-5.1). */
function brokerAdminCommand(): Command {
  return new Command('admin')
    .summary('administer a running broker')
    .description('Send an administrative command to a broker.')
    .argument('<host>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .argument('<command>', 'the command')
    .argument('[parameter...]', 'parameters of the command')
    .option('--password-file <file>', 'file whose first line is the password; - is standard input')
    .option('--password <text>', 'the password; visible in the list of processes')
    .option('--json', 'print the outcome as one JSON line', false)
    .addHelpText('after', ADMIN_HELP)
    .action(lazyAction(async () => (await import('./actions/broker-admin.js')).sendAdminCommand));
}

const RESTART_HELP = `
The broker reads its configuration and its Registry again and indexes everything. Its process stays
the same and keeps answering queries. \`harvest broker admin HOST restart\` does the same.

${PASSWORD_HELP}

Example:
  HARVEST_ADMIN_PASSWORD=secret BrokerRestart localhost 8501

Exit status: 0 the restart has begun; 1 the broker refused; 2 usage; 3 the broker cannot be reached.
`;

/** `BrokerRestart [-password passwd] host port` (BRK-6.7). */
function brokerRestart(): Command {
  return new Command('broker-restart')
    .description('Tell a broker to read its configuration and Registry again and to index them.')
    .argument('<host>', 'host of the broker', peerAddress)
    .argument('[port]', 'its TCP port (default: 8501)', portOption)
    .option('--password <text>', 'the password; visible in the list of processes (-password)')
    .option('--password-file <file>', 'file whose first line is the password; - is standard input')
    .addHelpText('after', RESTART_HELP)
    .action(lazyAction(async () => (await import('./actions/broker-admin.js')).restartBroker));
}

const FORMAT_HELP = `
The magic numbers and flags of the original are not documented. Use --magic, --record-magic, --valid
and --deleted for a Registry with other values. What a size field counts is detected; --reading sets
it: a = the data, b = the whole record, c = the bytes after the size.`;

const DUMP_HELP = `
The directory (default: the current one) is that of a stopped broker: of this kit, or an original
one with admin/Registry. A Registry file can be given too. Each object is a block of lines that
begins with \`OID:\` and ends with a blank line. The OIDs are those of \`harvest broker admin HOST
rem-object-oid\`.
${FORMAT_HELP}

Examples:
  dumpregistry /var/harvest/brokers/mybroker
  dumpregistry -count
  dumpregistry --json | jq -r .url

Exit status: 0 printed; 1 there is no Registry, it is in use, or it is damaged; 2 usage.
`;

/** `dumpregistry [-count] [BrokerDirectory]` (BRK-6.7, REG-32). */
function dumpregistry(): Command {
  return withFormat(
    new Command('dumpregistry')
      .argument('[directory]', "the broker's directory", '.')
      .option('--count', 'print only the numbers of records (-count)', false)
      .option('--json', 'print JSON lines', false)
      .addHelpText('after', DUMP_HELP),
  ).action(lazyAction(async () => (await import('./actions/dumpregistry.js')).dump));
}

const STATISTICS_HELP = `
Prints stats.html of the broker's web pages as one self-contained file. The broker must be stopped;
a running broker serves the page itself.

Example:
  mkbrokerstats /var/harvest/brokers/mybroker > stats.html

Exit status: 0 written; 1 there is no broker, or it is running; 2 usage or configuration.
`;

/** `mkbrokerstats broker-dir > stats.html` (BRK-6.7). */
function mkbrokerstats(): Command {
  return new Command('mkbrokerstats')
    .argument('[directory]', "the broker's directory", '.')
    .addHelpText('after', STATISTICS_HELP)
    .action(lazyAction(async () => (await import('./actions/mkbrokerstats.js')).mkbrokerstats));
}

const REGISTRY_HELP = `
The directory of an original broker has admin/Registry, a file with a record for each object, and
the objects as objects/NN/OBJn; that of a broker of this kit has store/. These commands convert one
into the other; stop the broker first.

Examples:
  harvest registry import --from /usr/local/harvest/brokers/old --data ./broker
  harvest registry export --data ./broker --to ./original
  harvest registry check /usr/local/harvest/brokers/old
  dumpregistry ./original                               print its records

Exit status: 0 done; 1 failure, or problems that check finds remain; 2 usage; 130 interrupted.
`;

/** `harvest registry export|import|check|repair` (REG-1 to REG-50). */
function registry(): Command {
  return new Command('registry')
    .addHelpText('after', REGISTRY_HELP)
    .addCommand(exportCommand())
    .addCommand(importCommand())
    .addCommand(checkCommand())
    .addCommand(repairCommand());
}

const EXPORT_HELP = `
Writes all files under temporary names, then renames them: objects/NN/OBJn (NN is the number modulo
100) first, admin/Registry last. A run that fails leaves no new file. broker.conf, Collection.conf
and LAST-COLLECTION are copied if missing; check the paths in broker.conf. Each object keeps its
OID.

Examples:
  harvest registry export --data ./broker --to ./original
  harvest registry export --data ./broker --to ./original --version 2 --force
`;

function exportCommand(): Command {
  return withFormat(
    new Command('export')
      .summary("write an original broker's directory")
      .requiredOption('--data <dir>', "directory of the kit's broker")
      .requiredOption('--to <dir>', 'directory to write')
      .addOption(
        new Option('--version <n>', '1: records with names of Gatherers; 2: with ids')
          .choices(['1', '2'])
          .default('1'),
      )
      .option('--force', 'replace an existing Registry', false)
      .option('--json', 'print the counts as JSON', false)
      .addHelpText('after', EXPORT_HELP),
  ).action(lazyAction(async () => (await import('./actions/registry.js')).runExport));
}

const IMPORT_HELP = `
Stores the object of every valid record in DIR/store under its OID. Objects without Gatherer-Name,
-Host, -Version or Update-Time, records without a file and files without a record are skipped and
reported. The original directory is only read. Repeat an interrupted run. broker.conf,
Collection.conf and LAST-COLLECTION are copied if missing.
${FORMAT_HELP}

Example:
  harvest registry import --from /usr/local/harvest/brokers/old --data ./broker
`;

function importCommand(): Command {
  return withFormat(
    new Command('import')
      .summary("import an original broker's directory")
      .requiredOption('--from <dir>', 'directory of the original broker')
      .requiredOption('--data <dir>', "directory of the kit's broker; created if missing")
      .option('--json', 'print the counts as JSON', false)
      .addHelpText('after', IMPORT_HELP),
  ).action(lazyAction(async () => (await import('./actions/registry.js')).runImport));
}

const CHECK_HELP = `
Reports each defect with its byte offset and the rule it breaks. In a directory, also for its
admin/Registry, the object files are read too. --json prints a line for each problem and one for the
totals.
${FORMAT_HELP}

Examples:
  harvest registry check /usr/local/harvest/brokers/old
  harvest registry check --json admin/Registry | jq -r 'select(.rule) | .rule'
`;

function checkCommand(): Command {
  return withFormat(
    new Command('check')
      .summary('check a Registry')
      .argument('<path>', "the Registry, or an original broker's directory")
      .option('--json', 'print JSON lines', false)
      .addHelpText('after', CHECK_HELP),
  ).action(lazyAction(async () => (await import('./actions/registry.js')).runCheck));
}

const REPAIR_HELP = `
Writes every readable record into a new Registry. The old file is kept as Registry.damaged. In a
directory the files of the objects decide: records that are missing or wrong are made from them,
also all records of an empty Registry; records without a file are marked as deleted, and files that
belong to no record are moved to unreferenced/. If there is no object file at all, records stay. A
Registry without problems is not changed. Status 0 says that a check finds no problem now.
${FORMAT_HELP}

Examples:
  harvest registry repair --dry-run ./original
  harvest registry repair ./original/admin/Registry
`;

function repairCommand(): Command {
  return withFormat(
    new Command('repair')
      .summary('repair a Registry')
      .argument('<path>', "the Registry, or an original broker's directory")
      .option('--dry-run', 'report the repairs and change nothing', false)
      .option('--json', 'print JSON lines', false)
      .addHelpText('after', REPAIR_HELP),
  ).action(lazyAction(async () => (await import('./actions/registry.js')).runRepair));
}

function withFormat(command: Command): Command {
  return command
    .addOption(new Option('--reading <reading>', 'meaning of a size field').choices(['a', 'b', 'c']))
    .option('--magic <number>', 'magic number of the file (default: 0x48425247)', numberOption)
    .option('--record-magic <number>', 'magic number of a record (default: 0x48425252)', numberOption)
    .option('--valid <number>', 'flag of a valid record (default: 1)', numberOption)
    .option('--deleted <number>', 'flag of a deleted record (default: 2)', numberOption);
}

function numberOption(value: string): number {
  if (!/^(?:0x[0-9a-f]{1,8}|\d{1,10})$/i.test(value))
    throw new InvalidArgumentError('must be a number of 32 bits');
  return Number(value);
}
