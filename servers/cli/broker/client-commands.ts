import { Command, Option } from 'commander';
import { BROKER_FLAGS, REQUEST_FLAGS } from '../../../protocols/broker/flags.js';
import { lazyAction } from '../lazy-action.js';
import {
  countOption,
  integerOption,
  longFlag,
  peerAddress,
  portOption,
  repeatedOption,
  secondsOption,
  timeoutOption,
} from '../options/option-values.js';
import { timestampOption } from '../options/timestamp-option.js';
import { rawOption } from '../output/standard-output.js';

/** The commands of this file by name. */
export const DEFINITIONS = { query, bulk, compare, brkclient };

const QUERY_HELP = `
The query language (put the whole query into single quotes to protect it from the shell):
  linux                          a word; it also matches inside longer words unless --words is given
  '"digital library"'            words in double quotes are a phrase
  'linux and kernel'             and, or, except, not; adjacent words mean and
  '(cats or dogs) and not mice'  operators have no precedence and group to the right:
                                 a and b or c is a and (b or c)
  'title : harvest'              only in that attribute; blanks around the colon are optional
  'url : "http://a.test/x"'      a value with a colon or blanks needs double quotes
  'type exact HTML'              the whole value; likewise: size less-than 1000,
                                 size greater-than 1000, title regexp "^Harvest"
  '"and"'                        an operator in double quotes is an ordinary word
  '#allb'                        every object
A text that is no query of this language, because an operator lacks a word or a quote is open, searches
its words, and a sentence says so. Matches with most of the words are in one order with those that have
all, and "without" names the words that they lack; a word in double quotes is required. With --exact the query is sent as it is, and an error in it is an error.

Examples:
  harvest query localhost 'linux and kernel'
  harvest query localhost:8501 --max 5 --page 2 '"digital library" not title : draft'
  harvest query localhost --json --attribute size --attribute md5 '#allb' | jq .url
  harvest query localhost --max-lines 5 --lines-page 2 linux
                                 the 6th to the 10th matched line of each match
  harvest query localhost --since 1735689600 '#allb'
                                 objects changed since the beginning of 2025

Each match is printed with its number, title, URL and passage, the part of its text that has most
words of the query, or else its description; with --lines also its matched lines. With --json it is one
line with url, passage, objectUrl, homePage, description, attributes and, with --lines, matchedLines,
and urlBase64 if the URL is not UTF-8. Messages of the broker go to standard error. A broker that does not support
maxfiles, maxlines or lifetime reports that and ignores them; this command counts matches and lines
itself, so it never prints more than requested.

Exit status: 0 something matched; 1 nothing matched; 2 usage or syntax error in the query; 3 the
broker cannot be reached or failed.
`;

/** Adds an option for each flag that is a number and has none: `--max-results <number>`. */
function addNumberOptions(command: Command): Command {
  for (const name of REQUEST_FLAGS) {
    const { argument, text, max, initial } = BROKER_FLAGS[name];
    if (max === undefined || name === 'maxFiles' || name === 'maxLines') continue;
    const flags = `${longFlag(name)} <${argument}>`;
    command.addOption(new Option(flags, text).argParser(integerOption).default(initial()));
  }
  return command;
}

/** `harvest query HOST[:PORT] QUERY`: searches a Broker. */
function query(): Command {
  const command = new Command('query')
    .argument('<broker>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .argument('<query...>', 'the query; several arguments are joined by blanks')
    .option('--json', 'print each match as one JSON line', false)
    .addOption(new Option('--ignore-case', 'ignore the case of letters (default)').conflicts('caseSensitive'))
    .addOption(new Option('--case-sensitive', 'distinguish upper and lower case'))
    .option('--words', BROKER_FLAGS.matchWord.text, false)
    .option(
      '--exact',
      'send the query as typed: its accents count, words search the whole object, and an error in it is an error',
      false,
    )
    .option('--max <number>', BROKER_FLAGS.maxFiles.text, integerOption, 50)
    .option('--page <number>', 'print this page of --max matches', countOption, 1);
  return addNumberOptions(command)
    .option('--desc', 'show descriptions (default)', true)
    .option('--no-desc', 'do not show descriptions')
    .option('--lines', 'also show the matched lines')
    .option('--no-lines', 'request no matched lines: descriptions instead of passages')
    .option('--attribute <name>', 'also show this attribute; may be repeated', repeatedOption, [])
    .option('--max-lines <number>', BROKER_FLAGS.maxLines.text, countOption)
    .option('--lines-page <number>', 'show this page of --max-lines matched lines', countOption, 1)
    .option(
      '--index <flag>',
      "another #index flag, NAME or 'NAME VALUE'; may be repeated",
      repeatedOption,
      [],
    )
    .option('--timeout <seconds>', 'give up if the answer is not complete by then', secondsOption)
    .addOption(
      new Option('--opaque-mode <mode>', 'meaning of #opaque to this broker: suppress or show matched lines')
        .choices(['suppress', 'show'])
        .default('suppress'),
    )
    .addHelpText('after', QUERY_HELP)
    .action(lazyAction(async () => (await import('./actions/query.js')).query));
}

const BULK_HELP = `
Fetches the objects of a broker, as brokers do from each other, and writes them as SOIF in three
groups: @DELETE (deleted objects: their identity), @REFRESH (unchanged objects with newer times),
@UPDATE (new and changed objects in full). Standard error then shows how many objects were received,
and the value of --since that fetches only later changes.

Examples:
  harvest bulk localhost:8501                     everything
  harvest bulk localhost --since 1735689600       the changes since the beginning of 2025
  harvest bulk localhost --query 'type : HTML'    only objects that match; see "harvest query"
  harvest bulk localhost --json | jq -r .url      JSON lines, as "harvest soif convert" writes them
  harvest bulk localhost --count                  only the counts, as one JSON line
  harvest bulk localhost --interface 2 --compress --output all.soif
                                                  over the interface proposed in 1995, compressed

Exit status: 0 complete; 1 the broker refused, or an object was left out because SOIF cannot hold
its URL; 2 usage; 3 the broker cannot be reached or the transfer is not complete (the objects
received so far are written).
`;

/** `harvest bulk HOST[:PORT]` (BT-1 to BT-6, BP-29). */
function bulk(): Command {
  return new Command('bulk')
    .argument('<broker>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .option(
      '--since <timestamp>',
      'only changes after this time, seconds since 1970-01-01 UTC',
      timestampOption,
      0,
    )
    .option('--query <query>', 'only objects that match (default: #ALLB, every object)')
    .option('--flags <flags>', "more flags of the message, e.g. '#index case insensitive'")
    .addOption(
      new Option('--interface <number>', 'result interface: 1 as shipped, 2 as proposed in 1995')
        .choices(['1', '2'])
        .default('1'),
    )
    .option('--compress', 'let the broker compress; needs --interface 2', false)
    .addOption(new Option('--json', 'one JSON object a line').default(false).conflicts('count'))
    .option('--count', 'print only the counts, as one JSON line', false)
    .option('--output <file>', 'write to this file instead of standard output')
    .option('--timeout <seconds>', 'give up if the transfer is not complete by then', timeoutOption)
    .addOption(rawOption())
    .addHelpText('after', BULK_HELP)
    .action(lazyAction(async () => (await import('./actions/bulk.js')).bulk));
}

const COMPARE_HELP = `
Checks whether two brokers have the same objects. Brokers of this kit send digests, so that only
differing ranges are transferred; otherwise both brokers are read completely. Two objects are the
same if URL, Gatherer, Update-Time and MD5 agree, so an object that is newer on one side is listed
twice.

Each difference is one line: "<" (only the first broker has it) or ">" (only the second), the
Update-Time, the URL.

Examples:
  harvest compare localhost:8501 mirror.example.org:8501
  harvest compare --json localhost:8501 localhost:8502 | jq .onlyA[].url

Exit status: 0 the same; 1 different; 2 usage; 3 a broker cannot be reached or failed.
`;

/** `harvest compare BROKER BROKER` */
function compare(): Command {
  return new Command('compare')
    .argument('<first>', 'HOST or HOST:PORT (default port 8501)', peerAddress)
    .argument('<second>', 'HOST or HOST:PORT (default port 8501)', peerAddress)
    .option('--json', 'one JSON line: equal, onlyA, onlyB, truncated, objects, bytes, method', false)
    .option('--max <number>', 'maximum number of differences to list', countOption, 1000)
    .option('--timeout <seconds>', 'give up after this time', timeoutOption)
    .addHelpText('after', COMPARE_HELP)
    .action(lazyAction(async () => (await import('./actions/compare.js')).compare));
}

const BRKCLIENT_HELP = `
Sends one message to a broker and writes the reply to standard output, byte for byte as it arrives.
The message is one argument, so put it into single quotes. It is sent unchecked.

Examples:
  brkclient localhost 8501 '#USER #desc #index case insensitive #END linux and kernel'
  brkclient localhost 8501 '#USER #END #allb' | grep -a -c '^120'
  brkclient localhost 8501 - < FILE                a message with a password

Other users can see the command line. harvest broker admin reads the password from a file, too.

Exit status: 0 the broker answered; 1 the answer is an error that ends the results (111); 2 usage; 3
no complete answer.
`;

/** `brkclient hostname port command-string` (BRK-6.7). */
function brkclient(): Command {
  return new Command('brkclient')
    .argument('<hostname>', 'host of the broker')
    .argument('<port>', 'its TCP port', portOption)
    .argument('<command-string>', 'the message; - is the first line of standard input')
    .option('--timeout <seconds>', 'give up if the answer is not complete by then', secondsOption)
    .addOption(rawOption())
    .addHelpText('after', BRKCLIENT_HELP)
    .action(lazyAction(async () => (await import('./actions/brkclient.js')).send));
}
