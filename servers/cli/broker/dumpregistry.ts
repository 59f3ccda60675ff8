import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
The directory (default: the current one) is that of a stopped broker: of this kit, or an original one with admin/Registry. A
Registry file can be given too. Each object is a block of lines that begins with \`OID:\` and ends with a blank line. The OIDs
are those of \`harvest broker admin HOST rem-object-oid\`.

Examples:
  dumpregistry /var/harvest/brokers/mybroker
  dumpregistry -count
  dumpregistry --json | jq -r .url

Exit status: 0 printed; 1 there is no Registry, it is in use, or it is damaged; 2 usage.
`;

/** `dumpregistry [-count] [BrokerDirectory]` (BRK-6.7, REG-32). */
export function dumpregistryCommand(): Command {
  return new Command('dumpregistry')
    .description("Prints a broker's Registry.")
    .argument('[directory]', "the broker's directory", '.')
    .option('--count', 'print only the numbers of records (-count)', false)
    .option('--json', 'print JSON lines', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/dumpregistry.js')).dump));
}
