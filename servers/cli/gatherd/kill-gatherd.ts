import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { secondsOption } from '../options/option-values.js';

const HELP = `
Reads DIR/gatherd.pid, sends SIGTERM to that gatherd and waits until it ends. If another process now has that id, no signal is sent.

Example:
  harvest kill-gatherd -d ./data/gatherer

Exit status: 0 stopped; 1 gatherd is not running, or did not stop in time; 2 usage.
`;

/** `kill-gatherd [-d DIR]` (GATHERD-11.3). */
export function killGatherdCommand(): Command {
  return new Command('kill-gatherd')
    .description('Stops the gatherd that serves a directory.')
    .option('-d, --dir <directory>', "the Gatherer's data directory (-dir)", '.')
    .option('--pid-file <file>', 'file with the process id (default: gatherd.pid)')
    .option('--timeout <seconds>', 'maximum time to wait until it ends', secondsOption, 30)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/kill-gatherd.js')).killGatherd));
}
