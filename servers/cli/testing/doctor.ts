import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
Looks at Node, memory, disk, ports, the limit of open files, the processes and stores of a data directory, and the optional programs.
It changes nothing and opens no store: \`harvest store check DIR\` reads every byte of one.

Each line begins with ok, note, warning or problem. A note is about something optional.

Exit status: 0 no problem; 1 at least one; 2 usage.
`;

/** `harvest doctor`: what could keep the programs from working here. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Looks for what could keep the programs from working on this machine.')
    .option('--data <dir>', 'the directory of `harvest run`, of a Gatherer or a Broker', './data')
    .option('--json', 'print one JSON object per finding', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/doctor.js')).examine));
}
