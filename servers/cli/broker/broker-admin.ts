import { Command } from 'commander';
import { ADMIN_COMMANDS } from '../../../protocols/broker/admin-commands.js';
import { lazyAction } from '../lazy-action.js';
import { PASSWORD_HELP } from '../options/admin-password.js';
import { portOption } from '../options/option-values.js';
import { peerAddress } from '../options/peer-address.js';

const COMMAND_TABLE = ADMIN_COMMANDS.map(
  ({ kind, parameter, effect }) =>
    `  ${kind.padEnd(19)}${parameter === undefined ? '' : `${parameter}: `}${effect}`,
).join('\n');

const HELP = `
COMMAND is one of these, with or without #:
${COMMAND_TABLE}

A collection, indexing and a restart are only started: the broker's log shows their outcome. A change lasts until the broker
ends; permanent changes go into broker.conf.

${PASSWORD_HELP}

Examples:
  harvest broker admin localhost collection                          port 8501
  harvest broker admin --password-file secret broker.example.org:8501 do-stats
  harvest broker admin localhost rem-object-query 'url : "http://www.example.org/"'
  harvest broker admin localhost set Max-Results 500
  harvest broker admin localhost rem-object-oid 17 18

Exit status: 0 done or started; 1 the broker refused or failed; 2 usage; 3 the broker cannot be reached.
`;

/** `harvest broker admin HOST[:PORT] COMMAND [PARAMETER...]` (BRK-5.1). */
export function brokerAdminCommand(): Command {
  return new Command('admin')
    .summary('administer a running broker')
    .description('Sends an administrative command to a broker.')
    .argument('<host>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .argument('<command>', 'the command')
    .argument('[parameter...]', 'parameters of the command')
    .option('--password-file <file>', 'file whose first line is the password; - is standard input')
    .option('--password <text>', 'the password; visible in the list of processes')
    .option('--json', 'print the outcome as one JSON line', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/broker-admin.js')).sendAdminCommand));
}

const RESTART_HELP = `
The broker reads its configuration and its Registry again and indexes everything. Its process stays the same and keeps
answering queries. \`harvest broker admin HOST restart\` does the same.

${PASSWORD_HELP}

Example:
  HARVEST_ADMIN_PASSWORD=secret BrokerRestart localhost 8501

Exit status: 0 the restart has begun; 1 the broker refused; 2 usage; 3 the broker cannot be reached.
`;

/** `BrokerRestart [-password passwd] host port` (BRK-6.7). */
export function brokerRestartCommand(): Command {
  return new Command('broker-restart')
    .description('Tells a broker to read its configuration and Registry again and to index them.')
    .argument('<host>', 'host of the broker', peerAddress)
    .argument('[port]', 'its TCP port (default: 8501)', portOption)
    .option('--password <text>', 'the password; visible in the list of processes (-password)')
    .option('--password-file <file>', 'file whose first line is the password; - is standard input')
    .addHelpText('after', RESTART_HELP)
    .action(lazyAction(async () => (await import('./actions/broker-admin.js')).restartBroker));
}
