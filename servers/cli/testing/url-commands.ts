import { Command, InvalidArgumentError, Option } from 'commander';
import { ROBOTS_POLICIES } from '../../../protocols/robots/robots-policy.js';
import {
  DEFAULT_SEEN_RULES,
  type FingerprintBits,
  QUEUE_POLICIES,
  SEEN_RULES,
} from '../../../protocols/urls/index.js';
import { lazyAction } from '../lazy-action.js';

/** The commands of this file by name. */
export const DEFINITIONS = { url, robots };

const URL_HELP = `
Prints how the crawl engine handles a URI. Each command prints one line per URI; if - is the only
URI, URIs are lines of standard input. With --json each line is an object with the URI and the
result.

Examples:
  harvest url canonical 'HTTP://user@www2.Example.com/a?sid=0123456789abcdef0123456789abcdef'
                                                 the text that is compared to recognize seen URIs
  harvest url surt http://www.example.com:8080/a
  harvest url fingerprint --bits 24 http://www.example.com/
  harvest url key http://www.example.com/        the key of the seen filter: 24 bits of the server,
                                                 40 of the URI
  harvest url class --policy topmost - < uris    the queue of each URI

Exit status: 0 done; 1 a URI could not be used (its line is empty); 2 usage.
`;

/** `harvest url COMMAND URI...`: canonical strings, SURT, fingerprints, class keys (CRAWL-3, 9, 14, 15). */
function url(): Command {
  const url = new Command('url')
    .description('Print canonical strings, SURT, fingerprints, keys and queues of URIs.')
    .addHelpText('after', URL_HELP);
  for (const command of [
    canonicalCommand(),
    surtCommand(),
    fingerprintCommand(),
    keyCommand(),
    classCommand(),
  ]) {
    url.addCommand(command);
  }
  return url;
}

const RULES_HELP = `
The URI is cleaned like every discovered one (CRAWL-2.1), then these rules are applied in order:
  ${DEFAULT_SEEN_RULES.map(({ name }) => name).join(' ')}
--rules names other rules in their order, of
  ${SEEN_RULES.map(({ name }) => name)
    .join(' ')
    .replace(/(.{1,96})(?: |$)/g, '$1\n  ')
    .trimEnd()}
`;

function canonicalCommand(): Command {
  return subcommand('canonical', 'print the string that is compared to recognize seen URIs (CRAWL-14)')
    .option('--rules <names>', 'the rules, separated by commas; none only cleans the URI', namesOption)
    .option('--gatherer', "print the form of the Gatherer's summaries instead (G-57 to G-59)", false)
    .addHelpText('after', RULES_HELP)
    .action(lazyAction(async () => (await import('./actions/url.js')).printCanonical));
}

function surtCommand(): Command {
  return subcommand('surt', 'print the SURT: the labels of the host in reverse order (CRAWL-15)')
    .option('--prefix', 'print the prefix that the URI implies as a seed', false)
    .option('--preserve-case', 'keep capitals', false)
    .action(lazyAction(async () => (await import('./actions/url.js')).printSurt));
}

function fingerprintCommand(): Command {
  return subcommand('fingerprint', 'print the Rabin fingerprint of the unchanged text (CRAWL-3)')
    .option('--bits <n>', '24, 32, 40 or 64: the first bits of the printed 64-bit word', bitsOption, 64)
    .action(lazyAction(async () => (await import('./actions/url.js')).printFingerprint));
}

function keyCommand(): Command {
  return subcommand('key', 'print the key of the seen filter for the unchanged text (CRAWL-3.7)').action(
    lazyAction(async () => (await import('./actions/url.js')).printKey),
  );
}

function classCommand(): Command {
  return subcommand('class', 'print the queue of a URI (CRAWL-9)')
    .addOption(new Option('--policy <name>', 'assignment of queues').choices(QUEUE_POLICIES).default('host'))
    .option('--via <uri>', 'URI of the page with the link; it decides the queue of a dns: URI')
    .option('--public-suffixes <file>', 'the Public Suffix List, for --policy topmost')
    .option('--parallel <n>', 'number of queues per key', parallelOption, 1)
    .action(lazyAction(async () => (await import('./actions/url.js')).printClass));
}

function subcommand(name: string, summary: string): Command {
  return new Command(name)
    .summary(summary)
    .argument('<uri...>', 'URIs, or - for lines of standard input')
    .option('--json', 'print a JSON object for each URI', false);
}

function namesOption(value: string): readonly string[] {
  return value === 'none' || value === '' ? [] : value.split(',');
}

function bitsOption(value: string): FingerprintBits {
  const bits = ([24, 32, 40, 64] as const).find((known) => String(known) === value);
  if (bits === undefined) throw new InvalidArgumentError('must be 24, 32, 40 or 64');
  return bits;
}

function parallelOption(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError('must be a number from 1 to 9999');
  return Number(value);
}

const ROBOTS_HELP = `
Reports for each URL whether the robots.txt in FILE allows the agent to fetch it. Output is allow or
disallow, the URL, the number of the deciding line and the line, separated by tabs; - if no line
applies. A URL may be a path. If - is the only URL, URLs are lines of standard input.

Policies:
  rfc9309           all groups for the agent's product together, else those for *; the default
  classic           the first group whose name is part of the agent's text, else that of *
  ignore            everything is allowed
  custom            as classic, with --custom-file instead of FILE
  most-favored      allowed if any agent named in the file may fetch it
  most-favored-set  allowed if any agent of --set may; --masquerade prints that agent too
  robots-txt-only   as classic; in a crawl, META elements of pages have no effect
  first-named       the first of the agent and those of --set that the file names, else *

Examples:
  harvest robots check --file robots.txt --agent harvest http://www.example.org/private/
  harvest robots check --file robots.txt --agent 'Harvest/1.9 kit' --policy classic --json - < urls
  harvest robots check --file a.txt --agent kit --policy most-favored-set --set a,b --masquerade /x

Exit status: 0 done, whatever the answers; 1 a file or URL could not be read; 2 usage.
`;

/** `harvest robots check` (CRAWL-13, RFC 9309). */
function robots(): Command {
  return new Command('robots').addCommand(checkCommand());
}

function checkCommand(): Command {
  return new Command('check')
    .summary('report whether an agent may fetch URLs, and the deciding line')
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
    .addHelpText('after', ROBOTS_HELP)
    .action(lazyAction(async () => (await import('./actions/url.js')).check));
}
