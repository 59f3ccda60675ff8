import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  canonicalString,
  canonicalUrl,
  cleanUri,
  DEFAULT_SEEN_RULES,
  type FingerprintBits,
  fingerprint,
  formatWord,
  impliedSurtPrefix,
  PublicSuffixes,
  QUEUE_POLICIES,
  type QueuePolicy,
  queueAssignment,
  SEEN_RULES,
  seenRules,
  surt,
  uriKeyHalves,
} from '../../protocols/urls/index.js';
import { complain, EXIT } from './exit.js';
import { StandardOutput } from './standard-output.js';

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
    .summary('print canonical form, SURT, fingerprint and queue of a URI')
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

interface OutputOptions {
  readonly json: boolean;
}

interface CanonicalCommandOptions extends OutputOptions {
  readonly rules?: readonly string[];
  readonly gatherer: boolean;
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
    .action(async (uris: string[], { rules, gatherer, json }: CanonicalCommandOptions) => {
      await printResults('canonical', uris, json, () => {
        const chosen = rules === undefined ? DEFAULT_SEEN_RULES : seenRules(rules);
        return (uri) => {
          if (gatherer) return canonicalUrl(uri);
          const clean = cleanUri(uri);
          return clean === undefined ? undefined : canonicalString(clean, chosen);
        };
      });
    });
}

interface SurtCommandOptions extends OutputOptions {
  readonly prefix: boolean;
  readonly preserveCase: boolean;
}

function surtCommand(): Command {
  return subcommand('surt', 'print the SURT: the labels of the host in reverse order (CRAWL-15)')
    .option('--prefix', 'print the prefix that the URI implies as a seed', false)
    .option('--preserve-case', 'keep capitals', false)
    .action(async (uris: string[], { prefix, preserveCase, json }: SurtCommandOptions) => {
      await printResults('surt', uris, json, () =>
        prefix ? impliedSurtPrefix : (uri) => surt(uri, { preserveCase }),
      );
    });
}

interface FingerprintCommandOptions extends OutputOptions {
  readonly bits: FingerprintBits;
}

function fingerprintCommand(): Command {
  return subcommand('fingerprint', 'print the Rabin fingerprint of the unchanged text (CRAWL-3)')
    .option('--bits <n>', '24, 32, 40 or 64: the first bits of the printed 64-bit word', bitsOption, 64)
    .action(async (uris: string[], { bits, json }: FingerprintCommandOptions) => {
      await printResults('fingerprint', uris, json, () => (uri) => formatWord(fingerprint(uri, bits)));
    });
}

function keyCommand(): Command {
  return subcommand('key', 'print the key of the seen filter for the unchanged text (CRAWL-3.7)').action(
    async (uris: string[], { json }: OutputOptions) => {
      await printResults('key', uris, json, () => (uri) => formatWord(uriKeyHalves(uri)));
    },
  );
}

interface ClassCommandOptions extends OutputOptions {
  readonly policy: QueuePolicy;
  readonly via?: string;
  readonly publicSuffixes?: string;
  readonly parallel: number;
}

function classCommand(): Command {
  return subcommand('class', 'print the queue of a URI (CRAWL-9)')
    .addOption(new Option('--policy <name>', 'assignment of queues').choices(QUEUE_POLICIES).default('host'))
    .option('--via <uri>', 'URI of the page with the link; it decides the queue of a dns: URI')
    .option('--public-suffixes <file>', 'the Public Suffix List, for --policy topmost')
    .option('--parallel <n>', 'number of queues per key', parallelOption, 1)
    .action(async (uris: string[], options: ClassCommandOptions) => {
      const { policy, via, publicSuffixes: file, parallel: parallelQueues, json } = options;
      await printResults('class', uris, json, async () => {
        const publicSuffixes =
          file === undefined ? PublicSuffixes.HEURISTIC : PublicSuffixes.parse(await readFile(file, 'utf8'));
        const assign = queueAssignment({ policy, publicSuffixes, parallelQueues });
        return (uri) => assign({ uri: cleanUri(uri) ?? uri, ...(via === undefined ? {} : { via }) });
      });
    });
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

/** Computes a property of a URI; undefined if the URI is not usable. */
type UriFunction = (uri: string) => string | undefined;

/** Prints one line per URI: the result, or an empty line and a message on standard error if the URI is not usable. */
async function printResults(
  field: string,
  uris: readonly string[],
  json: boolean,
  prepare: () => UriFunction | Promise<UriFunction>,
): Promise<void> {
  const output = new StandardOutput();
  const compute = await prepare();
  let status: number = EXIT.ok;
  for await (const uri of argumentsOrLines(uris)) {
    const found = compute(uri);
    if (found === undefined) {
      status = EXIT.failure;
      complain('url', `${JSON.stringify(uri)} is not a usable URI`);
    }
    const line = json ? JSON.stringify({ url: uri, [field]: found ?? null }) : (found ?? '');
    if (!(await output.write(`${line}\n`))) break;
  }
  process.exitCode = status;
}

/** Yields the arguments of the command line; if `-` is the only one, the lines of standard input. */
export async function* argumentsOrLines(args: readonly string[]): AsyncGenerator<string, void, undefined> {
  if (args.length === 1 && args[0] === '-') {
    yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  } else yield* args;
}
