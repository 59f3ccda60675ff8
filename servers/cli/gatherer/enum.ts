import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { repeatedOption } from '../options/option-values.js';

const HELP = `
Expands a RootNode as the Gatherer does (limits, filters, robots.txt, pauses), and prints the URLs of the documents that it finds, in the
order in which they are visited. Nothing is summarized or kept. A modifier is one of a RootNode line: URL=, Host=, Access=, Delay=, Depth=,
Search=. URLs that fail are named on standard error.

Examples:
  httpenum http://www.example.org/ Depth=1
  httpenum -D20,1 -D21,1 -D42,1 http://www.example.org/     with debugging messages, on standard error
  httpenum-depth http://www.example.org/ URL=20
  fileenum file://localhost/usr/share/doc/ Depth=2

Exit status: 0 done; 1 no URL was found; 2 usage; 130 stopped.
`;

/** `httpenum URL` and its relatives (G-3, G-4, G-149). */
export function enumCommand(): Command {
  return new Command('enum')
    .description('Prints the URLs of the documents of a RootNode.')
    .argument('<url>', 'the RootNode')
    .argument('[modifiers...]', 'its limits, e.g. Depth=1 URL=50')
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', repeatedOption, [])
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/enum.js')).enumerate));
}
