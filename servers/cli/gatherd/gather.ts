import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { peerAddress } from '../options/option-values.js';
import { timestampOption } from '../options/timestamp-option.js';
import { rawOption } from '../output/standard-output.js';

/** The command of this file by name. */
export const DEFINITIONS = { gather };

const HELP = `
Fetches the summaries that a Gatherer exports and writes them to standard output as one SOIF stream
with the groups @DELETE, @REFRESH and @UPDATE. Messages go to standard error. TIMESTAMP, in seconds
since 1970-01-01 UTC, selects objects changed since then (default: all objects). The original
options -info and -nocompress are accepted.

With --changes, a Gatherer that supports it also sends deleted and refreshed objects: objects
without content in the @DELETE group, objects with only their times in the @REFRESH group. Otherwise
these two groups are empty, as original readers of such a stream expect.

Examples:
  harvest gather localhost                       everything, from port 8500
  harvest gather localhost 8500 1735689600       the changes since the beginning of 2025
  harvest gather --changes localhost 8500 1735689600
                                                 the same, with deletions
  harvest gather -info localhost                 only the description of the database
  harvest gather localhost | grep -a -c '^@FILE' the number of objects

Exit status: 0 complete; 1 the Gatherer has no description; 2 usage; 3 the server cannot be reached,
refused or failed.
`;

/** `harvest gather [-info] [-nocompress] host [port] [timestamp]` (GATHERD-11.4, GATHERD-11.5). */
function gather(): Command {
  return (
    new Command('gather')
      .argument('<host>', 'host of gatherd: HOST or HOST:PORT', peerAddress)
      // After HOST:PORT the first number is the timestamp, so both are parsed alike.
      .argument('[port]', 'its TCP port (default: 8500); not after HOST:PORT', timestampOption)
      .argument('[timestamp]', 'only objects changed since this time', timestampOption)
      .option('--info', 'fetch only the short description of the database (-info)', false)
      .option('--no-compress', 'do not use compression (-nocompress)')
      .option('--changes', 'also request deleted and refreshed objects', false)
      .addOption(rawOption())
      .addHelpText('after', HELP)
      .action(lazyAction(async () => (await import('./actions/gather.js')).gather))
  );
}
