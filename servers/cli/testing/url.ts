import { Command, InvalidArgumentError, Option } from 'commander';
import {
  DEFAULT_SEEN_RULES,
  type FingerprintBits,
  QUEUE_POLICIES,
  SEEN_RULES,
} from '../../../protocols/urls/index.js';
import { lazyAction } from '../lazy-action.js';

const HELP = `
Prints how the crawl engine handles a URI. Each command prints one line per URI; if - is the only URI, URIs are lines of standard
input. With --json each line is an object with the URI and the result.

Examples:
  harvest url canonical 'HTTP://user@www2.Example.com/a?sid=0123456789abcdef0123456789abcdef'
                                                 the text that is compared to recognize seen URIs
  harvest url surt http://www.example.com:8080/a
  harvest url fingerprint --bits 24 http://www.example.com/
  harvest url key http://www.example.com/        the key of the seen filter: 24 bits of the server, 40 of the URI
  harvest url class --policy topmost - < uris    the queue of each URI

Exit status: 0 done; 1 a URI could not be used (its line is empty); 2 usage.
`;

/** `harvest url COMMAND URI...`: canonical strings, SURT, fingerprints, class keys (CRAWL-3, 9, 14, 15). */
export function urlCommand(): Command {
  const url = new Command('url')
    .description('Prints canonical strings, SURT, fingerprints, keys and queues of URIs.')
    .addHelpText('after', HELP);
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
  ${SEEN_RULES.map(({ name }) => name).join(' ')}
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
    .description(summary)
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
