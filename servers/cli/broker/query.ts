import { Command, Option } from 'commander';
import { BROKER_FLAGS, REQUEST_FLAGS } from '../../../protocols/broker/flags.js';
import { lazyAction } from '../lazy-action.js';
import { countOption, integerOption, repeatedOption, secondsOption } from '../options/option-values.js';
import { peerAddress } from '../options/peer-address.js';

const HELP = `
The query language (put the whole query into single quotes to protect it from the shell):
  linux                          a word; it also matches inside longer words unless --words is given
  '"digital library"'            words in double quotes are a phrase
  'linux and kernel'             and, or, except, not; adjacent words mean and
  '(cats or dogs) and not mice'  operators have no precedence and group to the right: a and b or c is a and (b or c)
  'title : harvest'              only in that attribute; blanks around the colon are optional
  'url : "http://a.test/x"'      a value with a colon or blanks needs double quotes
  'type exact HTML'              the whole value; likewise: size less-than 1000, size greater-than 1000,
                                 title regexp "^Harvest"
  '"and"'                        an operator in double quotes is an ordinary word
  '#allb'                        every object

Examples:
  harvest query localhost 'linux and kernel'
  harvest query localhost:8501 --max 5 --no-lines '"digital library" not title : draft'
  harvest query localhost --json --attribute size --attribute md5 '#allb' | jq .url
  harvest query localhost --max-lines 5 --lines-page 2 linux
                                 the 6th to the 10th matched line of each match
  harvest query localhost --since 1735689600 '#allb'
                                 objects changed since the beginning of 2025

Each match is printed with its number, title, URL, description and matched lines; with --json as one line with url, objectUrl,
homePage, description, matchedLines and attributes, and urlBase64 if the URL is not UTF-8. Messages of the broker go to standard error. A broker that does not
support maxfiles, maxlines or lifetime reports that and ignores them; this command counts matches and lines itself, so it never
prints more than requested.

Exit status: 0 something matched; 1 nothing matched; 2 usage or syntax error in the query; 3 the broker cannot be reached
or failed.
`;

/** Adds an option for each flag that is a number and has none: `--max-results <number>`. */
function addNumberOptions(command: Command): Command {
  for (const name of REQUEST_FLAGS) {
    const { argument, text, max, initial } = BROKER_FLAGS[name];
    if (max === undefined || name === 'maxFiles' || name === 'maxLines') continue;
    const long = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    command.addOption(new Option(`${long} <${argument}>`, text).argParser(integerOption).default(initial()));
  }
  return command;
}

/** `harvest query HOST[:PORT] QUERY`: searches a Broker. */
export function queryCommand(): Command {
  const command = new Command('query')
    .summary('search a broker')
    .argument('<broker>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .argument('<query...>', 'the query; several arguments are joined by blanks')
    .option('--json', 'print each match as one JSON line', false)
    .addOption(new Option('--ignore-case', 'ignore the case of letters (default)').conflicts('caseSensitive'))
    .addOption(new Option('--case-sensitive', 'distinguish upper and lower case'))
    .option('--words', BROKER_FLAGS.matchWord.text, false)
    .option('--max <number>', BROKER_FLAGS.maxFiles.text, integerOption, 50);
  return addNumberOptions(command)
    .option('--desc', 'show descriptions (default)', true)
    .option('--no-desc', 'do not show descriptions')
    .option('--lines', 'show matched lines (default)', true)
    .option('--no-lines', 'do not show matched lines')
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
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/query.js')).query));
}
