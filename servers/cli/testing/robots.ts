import { Command, Option } from 'commander';
import { ROBOTS_POLICIES } from '../../../protocols/robots/robots-policy.js';
import { lazyAction } from '../lazy-action.js';

const HELP = `
Reports for each URL whether the robots.txt in FILE allows the agent to fetch it. Output is allow or disallow, the URL, the number
of the deciding line and the line, separated by tabs; - if no line applies. A URL may be a path. If - is the only URL, URLs
are lines of standard input.

Policies:
  rfc9309           all groups for the agent's product together, else those for *; the default
  classic           the first group in the file whose name is part of the agent's text, else that of *
  ignore            everything is allowed
  custom            as classic, with --custom-file instead of FILE
  most-favored      allowed if any agent named in the file may fetch it
  most-favored-set  allowed if any agent of --set may; --masquerade also prints the agent to fetch as
  robots-txt-only   as classic; in a crawl, META elements of pages have no effect
  first-named       the first of the agent and those of --set that the file names, else *

Examples:
  harvest robots check --file robots.txt --agent harvest http://www.example.org/private/
  harvest robots check --file robots.txt --agent 'Harvest/1.9 harvest-kit' --policy classic --json - < urls
  harvest robots check --file robots.txt --agent harvest --policy most-favored-set --set a,b --masquerade /x

Exit status: 0 done, whatever the answers; 1 a file or URL could not be read; 2 usage.
`;

/** `harvest robots check` (CRAWL-13, RFC 9309). */
export function robotsCommand(): Command {
  return new Command('robots').description('Evaluates robots.txt files.').addCommand(checkCommand());
}

function checkCommand(): Command {
  return new Command('check')
    .summary('tell whether an agent may fetch URLs, and by which line')
    .description('Reports for each URL whether a robots.txt allows it, and by which line.')
    .argument('<url...>', 'URLs or paths, or - for lines of standard input')
    .requiredOption('--file <file>', 'the robots.txt')
    .requiredOption('--agent <name>', "the agent's name or its User-Agent text")
    .addOption(
      new Option('--policy <name>', 'how the file is interpreted')
        .choices(ROBOTS_POLICIES)
        .default('rfc9309'),
    )
    .option('--custom-file <file>', 'robots.txt that --policy custom uses instead of FILE')
    .option('--set <agents>', 'the agents of --policy most-favored-set, separated by commas')
    .option('--masquerade', 'with the most-favored policies: also print the agent to fetch as', false)
    .option('--json', 'print a JSON object for each URL', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/robots.js')).check));
}
