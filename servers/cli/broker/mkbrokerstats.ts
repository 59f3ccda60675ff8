import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
Prints stats.html of the broker's web pages as one self-contained file. The broker must be stopped; a running
broker serves the page itself.

Example:
  mkbrokerstats /var/harvest/brokers/mybroker > stats.html

Exit status: 0 written; 1 there is no broker, or it is running; 2 usage or configuration.
`;

/** `mkbrokerstats broker-dir > stats.html` (BRK-6.7). */
export function mkbrokerstatsCommand(): Command {
  return new Command('mkbrokerstats')
    .description("Prints a page with a stopped broker's statistics.")
    .argument('[directory]', "the broker's directory", '.')
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/mkbrokerstats.js')).mkbrokerstats));
}
