import { Command, Option } from 'commander';
import {
  BrokerClient,
  DEFAULT_BROKER_PORT,
  type OpaqueMode,
  type QueryRequest,
} from '../../clients/broker/index.js';
import { locateQueryFault, parseQuery } from '../../protocols/broker/index.js';
import { ProtocolError, UsageError } from '../../protocols/errors.js';
import { complain, complainOrThrow, EXIT } from './exit.js';
import { hitAsJson, hitAsText, textStyle } from './hit-text.js';
import { countOption, integerOption, repeatedOption, secondsOption } from './option-values.js';
import { type PeerAddress, peerAddress } from './peer-address.js';
import { printable } from './printable.js';
import { StandardOutput } from './standard-output.js';

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

interface QueryOptions {
  readonly json: boolean;
  readonly ignoreCase?: boolean;
  readonly caseSensitive?: boolean;
  readonly words: boolean;
  readonly errors: number;
  readonly max: number;
  readonly desc: boolean;
  readonly lines: boolean;
  readonly attribute: readonly string[];
  readonly maxResults?: number;
  readonly maxLines?: number;
  readonly linesPage: number;
  readonly since?: number;
  readonly index: readonly string[];
  readonly lifetime?: number;
  readonly timeout?: number;
  readonly opaqueMode: OpaqueMode;
}

/** `harvest query HOST[:PORT] QUERY`: searches a Broker. */
export function queryCommand(): Command {
  return new Command('query')
    .summary('search a broker')
    .argument('<broker>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .argument('<query...>', 'the query; several arguments are joined by blanks')
    .option('--json', 'print each match as one JSON line', false)
    .addOption(new Option('--ignore-case', 'ignore the case of letters (default)').conflicts('caseSensitive'))
    .addOption(new Option('--case-sensitive', 'distinguish upper and lower case'))
    .option('--words', 'match whole words only', false)
    .option('--errors <number>', 'number of spelling errors to allow, up to 8', integerOption, 0)
    .option('--max <number>', 'maximum number of matches; 0 = no limit', integerOption, 50)
    .option('--desc', 'show descriptions (default)', true)
    .option('--no-desc', 'do not show descriptions')
    .option('--lines', 'show matched lines (default)', true)
    .option('--no-lines', 'do not show matched lines')
    .option('--attribute <name>', 'also show this attribute; may be repeated', repeatedOption, [])
    .option(
      '--max-results <number>',
      'maximum number of all matched lines (#index maxresult); 0 = no limit',
      integerOption,
    )
    .option('--max-lines <number>', 'maximum number of matched lines of each match', countOption)
    .option('--lines-page <number>', 'show this page of --max-lines matched lines', countOption, 1)
    .option(
      '--since <timestamp>',
      'only objects changed after this time, seconds since 1970-01-01 UTC',
      integerOption,
    )
    .option(
      '--index <flag>',
      "another #index flag, NAME or 'NAME VALUE'; may be repeated",
      repeatedOption,
      [],
    )
    .option('--lifetime <seconds>', 'maximum time of the search at the broker', integerOption)
    .option('--timeout <seconds>', 'give up if the answer is not complete by then', secondsOption)
    .addOption(
      new Option('--opaque-mode <mode>', 'meaning of #opaque to this broker: suppress or show matched lines')
        .choices(['suppress', 'show'])
        .default('suppress'),
    )
    .addHelpText('after', HELP)
    .action(async (broker: PeerAddress, words: string[], options: QueryOptions) => {
      if (options.linesPage > 1 && options.maxLines === undefined)
        throw new UsageError('query: --lines-page needs --max-lines, the length of a page');
      const query = words.join(' ');
      process.exitCode = checkQuery(query) ? await runQuery(broker, query, options) : EXIT.usage;
    });
}

/** Returns whether the syntax of the query is valid; if not, prints the error and its position. */
function checkQuery(query: string): boolean {
  try {
    parseQuery(query);
    return true;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { start, end } = locateQueryFault(query, error);
    const marks = ' '.repeat(start) + '^'.repeat(Math.max(1, end - start));
    complain('query', `${error.message}\n  ${printable(query)}\n  ${marks}`);
    return false;
  }
}

async function runQuery(broker: PeerAddress, query: string, options: QueryOptions): Promise<number> {
  const client = new BrokerClient({
    host: broker.host,
    port: broker.port ?? DEFAULT_BROKER_PORT,
    opaqueMode: options.opaqueMode,
  });
  const signal = options.timeout === undefined ? undefined : AbortSignal.timeout(options.timeout * 1000);
  // The text of a match is made visible before it is colored.
  const output = new StandardOutput({ raw: !options.json });
  let count = 0;
  try {
    const style = textStyle();
    const results = client.query(query, {
      ...requestOf(options),
      ...(signal === undefined ? {} : { signal }),
    });
    for await (const hit of results) {
      if (options.max > 0 && count === options.max) {
        complain('query', `there are more matches than ${options.max}; use --max`);
        break;
      }
      count++;
      const page = pageOfLines(hit.matchedLines, options);
      const text = options.json
        ? hitAsJson({ ...hit, matchedLines: page.lines })
        : Buffer.concat([
            hitAsText({ ...hit, matchedLines: page.lines }, count, style),
            Buffer.from(page.note),
          ]);
      if (!(await output.write(text))) return EXIT.ok;
    }
    for (const text of [...results.messages, ...results.errors]) complain('query', printable(text));
  } catch (error) {
    if (!signal?.aborted) return complainOrThrow('query', error, EXIT.connection);
    complain('query', `no complete answer within ${options.timeout} s`);
    return EXIT.connection;
  }
  return count > 0 ? EXIT.ok : EXIT.failure;
}

/** The printed part of the matched lines of one match, and the note below them. */
interface PageOfLines {
  readonly lines: readonly string[];
  readonly note: string;
}

function pageOfLines(all: readonly string[], { maxLines, linesPage }: QueryOptions): PageOfLines {
  if (maxLines === undefined) return { lines: all, note: '' };
  const end = maxLines * linesPage;
  const more = all.length > end ? `     ... more matched lines: --lines-page ${linesPage + 1}\n` : '';
  return { lines: all.slice(end - maxLines, end), note: more };
}

const TITLE = 'Title';

function asksForTitle({ attribute }: QueryOptions): boolean {
  return attribute.some((name) => name.toLowerCase() === TITLE.toLowerCase());
}

function requestOf(options: QueryOptions): QueryRequest {
  return {
    desc: options.desc,
    matchedLines: options.lines,
    ignoreCase: options.caseSensitive !== true,
    matchWord: options.words,
    errors: options.errors,
    // The title is part of the text of a match.
    attributes: options.json || asksForTitle(options) ? options.attribute : [TITLE, ...options.attribute],
    // BRK-4.16: one more than is printed, to detect that there are more.
    ...(options.max > 0 ? { maxFiles: options.max + 1 } : {}),
    ...(options.maxResults === undefined ? {} : { maxResults: options.maxResults }),
    // One line more than the last printed one, for the same reason.
    ...(options.maxLines === undefined ? {} : { maxLines: options.maxLines * options.linesPage + 1 }),
    ...(options.since === undefined ? {} : { since: options.since }),
    ...(options.lifetime === undefined ? {} : { lifetime: options.lifetime }),
    indexFlags: options.index,
  };
}
