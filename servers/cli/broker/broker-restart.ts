import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { PASSWORD_HELP } from '../options/admin-password.js';
import { portOption } from '../options/option-values.js';
import { peerAddress } from '../options/peer-address.js';

const HELP = `
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
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/broker-admin.js')).restartBroker));
}
