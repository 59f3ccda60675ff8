import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import {
  addConnectionOptions,
  addPeerOptions,
  addRotationOptions,
  addTlsOptions,
  monitorOption,
} from '../options/connection-options.js';
import { LOOPBACK, portOption, repeatedOption } from '../options/option-values.js';
import { addPublicOptions } from '../options/public-options.js';
import { brokerAdminCommand } from './broker-admin.js';

const HELP = `
FILE is a broker.conf: a variable and its value on each line. Collection.conf in the same directory lists the collection
points: host, port, type (0 to 3: a Gatherer; 4 to 7: a Broker; odd: incremental; 2 and 3: compressed; 6 and 7: by query),
and a filter, or -- for none.

Without a flag the broker collects when it starts and then once a day. The original single-dash flags work:
  harvest broker admin/broker.conf            collect now, then daily
  harvest broker admin/broker.conf -new       delete all objects, then collect
  harvest broker admin/broker.conf -nocol     do not collect at the start

Broker-Directory (default: the parent of the directory of FILE) holds
  admin/LOG          events (Log-Types); \`harvest broker admin HOST rotate-log\` renames it to LOG.YYYYMMDD
  admin/broker.pid   the process id while the broker runs
  broker.out         with --detach: all other output of the program
  RunBroker          a script that starts the broker in the background, written if it is missing
SIGTERM and SIGINT stop the broker: replies in progress get --grace seconds; after --stop-limit seconds it ends
in any case, with status 1; a second signal ends it immediately. SIGHUP
reopens the logs. \`harvest broker admin --help\` explains how to administer a running broker.

Debugging: -DSECTION,LEVEL or $HARVEST_DEBUG; -DSECTION shows all levels:
  -D70,1 Registry   -D71,1 collector   -D72,1 SOIF parser   -D74,1 each stored object   -D75,4 waiting queries
  -D76,1 events     -D77,1 main        -D78,9 connections   -D101,1 -D102,1 -D103,1 indexers (embedded, Glimpse, Swish)

Exit status: 0 stopped by a signal or #shutdown, or started by --detach; 1 failure; 2 usage or configuration.
`;

/** `harvest broker FILE [-new | -nocol]` (BRK-6.1) and `harvest broker admin`. */
export function brokerCommand(): Command {
  const command = new Command('broker')
    .summary('collect summaries and answer queries about them')
    .argument('<file>', 'broker.conf')
    .option('--new', 'begin a new collection: delete every object first (-new)', false)
    .option('--nocol', 'do not collect at the start (-nocol)', false)
    .option('--host <address>', 'address to listen on', LOOPBACK)
    .option('--web-port <port>', 'serve the search page too, on this port', portOption)
    .option('--detach', 'run in the background, output to broker.out', false)
    .option('--log <file>', 'log file (default: standard error; with --detach: broker.out)')
    .option('--json-log', 'log as JSON lines', false)
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', repeatedOption, []);
  return addTlsOptions(
    addRotationOptions(addPeerOptions(addConnectionOptions(addPublicOptions(command), 256), 120)),
    'both ports',
  )
    .addOption(monitorOption())
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/broker.js')).serveBroker))
    .addCommand(brokerAdminCommand());
}
