import { besideAtBroker } from '../../../../clients/broker/beside.js';
import {
  conjunctsOf,
  type ForgivingText,
  fewerOf,
  forgivenSentence,
  readForgiving,
  sentenceText,
} from '../../../../clients/broker/forgiving.js';
import {
  BrokerClient,
  type BrokerResults,
  DEFAULT_BROKER_PORT,
  type OpaqueMode,
  type QueryInput,
  type QueryRequest,
} from '../../../../clients/broker/index.js';
import { passageOfHit } from '../../../../clients/broker/passages.js';
import { literalTerms, TermFinder } from '../../../../clients/broker/query-terms.js';
import { RepeatedLines } from '../../../../clients/broker/repeated-lines.js';
import {
  type BrokerHit,
  type Expression,
  locateQueryFault,
  MISSING_WORDS,
  parseQuery,
  type Query,
  REQUEST_FLAGS,
} from '../../../../protocols/broker/index.js';
import { ProtocolError, UsageError } from '../../../../protocols/errors.js';
import { textOfUrl } from '../../../../protocols/soif/index.js';
import type { PeerAddress } from '../../options/option-values.js';
import { complain, EXIT, untilTimeout } from '../../output/exit.js';
import { printable } from '../../output/printable.js';
import { StandardOutput } from '../../output/standard-output.js';
import { matchAsJson, matchAsText, textStyle } from './match-output.js';

/** Flags that have an option of their own property's name, and the other options. */
type QueryOptions = Omit<QueryRequest, 'attributes' | 'matchedLines' | 'indexFlags'> & {
  readonly json: boolean;
  readonly exact: boolean;
  readonly caseSensitive?: boolean;
  readonly words: boolean;
  readonly max: number;
  readonly page: number;
  /** Absent: matched lines are requested for the passages, and not shown. */
  readonly lines?: boolean;
  readonly attribute: readonly string[];
  readonly linesPage: number;
  readonly index: readonly string[];
  readonly timeout?: number;
  readonly opaqueMode: OpaqueMode;
};

/** The printed part of the matched lines of one match, and the note below them. */
interface PageOfLines {
  readonly lines: readonly string[] | undefined;
  readonly note: string;
}

/** A query, and how it is sent. */
interface ReadQuery {
  readonly query: Query;
  /** Sent for it: as typed (BRK-2.7), or as it was read. */
  readonly text: string;
  /** Queries for fewer of the words, if nothing has all of them. */
  readonly fewer: readonly Expression[];
}

/** Matched lines of each match that are requested for its passage. */
const PASSAGE_LINES = 200;

/** The action of `harvest query`. */
export async function query(broker: PeerAddress, words: string[], options: QueryOptions): Promise<number> {
  if (options.linesPage > 1 && options.maxLines === undefined)
    throw new UsageError('query: --lines-page needs --max-lines, the length of a page');
  if (options.page > 1 && options.max === 0)
    throw new UsageError('query: --page needs --max, the length of a page');
  const typed = words.join(' ');
  const read = options.exact ? readExactly(typed) : readAsMeant(typed);
  return read === undefined ? EXIT.usage : await runQuery(broker, read, options);
}

/** Checks the syntax of a query; prints the error and its position, and returns undefined, if it is wrong. */
function readExactly(text: string): ReadQuery | undefined {
  try {
    return { query: parseQuery(text), text, fewer: [] };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { start, end } = locateQueryFault(text, error);
    const marks = ' '.repeat(start) + '^'.repeat(Math.max(1, end - start));
    complain('query', `${error.message}\n  ${printable(text)}\n  ${marks}`);
    return undefined;
  }
}

/** Reads a query as a person means it, and says what it changed. */
function readAsMeant(text: string): ReadQuery | undefined {
  let reading: ForgivingText | undefined;
  try {
    reading = readForgiving(text);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
  }
  // A blank or too large query has no other reading.
  if (reading === undefined) return readExactly(text);
  const said = forgivenSentence(reading);
  if (said.length > 0) complain('query', `${printable(sentenceText(said))} --exact takes it as it is.`);
  const fewer = fewerOf(conjunctsOf(reading.query) ?? []).map(({ query }) => query);
  return { query: reading.query, text: reading.text, fewer };
}

async function runQuery(broker: PeerAddress, read: ReadQuery, options: QueryOptions): Promise<number> {
  const { host, port = DEFAULT_BROKER_PORT } = broker;
  const client = new BrokerClient({ host, port, opaqueMode: options.opaqueMode });
  const { timeout: seconds } = options;
  return await untilTimeout('query', { seconds, late: 'no complete answer' }, async (signal) => {
    const run = new QueryRun(client, read.query, options, signal);
    run.mostWords = read.fewer.length > 0;
    if (await run.print(read.text)) return EXIT.ok;
    const { notes } = run;
    for (const fewer of options.page === 1 ? read.fewer : []) {
      const only = new QueryRun(client, read.query, options, signal);
      only.before = 'Nothing has all of the words; these have most of them.';
      if (await only.print(fewer)) return EXIT.ok;
    }
    for (const text of notes) complain('query', text);
    return EXIT.failure;
  });
}

/** Prints the matches of a page. */
class QueryRun {
  /** Whether a Broker of this kit may add matches with most of the words (BRK-2.27). */
  mostWords = false;
  /** Said before the first match. */
  before: string | undefined;
  /** Messages and errors of the Broker. */
  notes: readonly string[] = [];
  readonly #client: BrokerClient;
  readonly #options: QueryOptions;
  readonly #signal: AbortSignal | undefined;
  readonly #terms: TermFinder | undefined;
  readonly #repeated: RepeatedLines;
  readonly #replies: BrokerResults[] = [];

  constructor(client: BrokerClient, query: Query, options: QueryOptions, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#options = options;
    this.#signal = signal;
    const { caseSensitive, words } = options;
    this.#terms = TermFinder.of(literalTerms(query), {
      ignoreCase: caseSensitive !== true,
      matchWord: words,
      ...ownFlags(options),
    });
    this.#repeated = new RepeatedLines(besideAtBroker(client, signal));
  }

  /** Returns whether there was a match. Its messages are printed then; else they are in {@link notes}. */
  async print(query: QueryInput): Promise<boolean> {
    const { json, max, page } = this.#options;
    // The text of a match is made visible before it is colored.
    const output = new StandardOutput({ raw: !json });
    const skipped = (page - 1) * max;
    let count = 0;
    let lacking = 0;
    let hasMore = false;
    for await (const hit of this.#matches(query)) {
      hasMore = max > 0 && count === max;
      if (hasMore) break;
      if (count === 0 && this.before !== undefined) complain('query', this.before);
      count++;
      if (this.mostWords && hit.text(MISSING_WORDS) !== undefined) lacking++;
      if (!(await output.write(await this.#format(hit, skipped + count)))) return true;
    }
    this.notes = this.#replies
      .flatMap(({ messages, errors }) => [...messages, ...errors].map(printable))
      .filter((text) => !IGNORED_OWN_FLAG.test(text));
    if (count === 0) return false;
    for (const text of this.notes) complain('query', text);
    if (lacking > 0) complain('query', `${lacking} of these ${count} lack some of the words.`);
    const range = `${skipped + 1} to ${skipped + count} of`;
    if (hasMore)
      complain('query', `${range} more than ${skipped + max} matches; --page ${page + 1} has the next`);
    else if (!json && process.stdout.isTTY) await output.write(`${range} ${skipped + count}\n`);
    return true;
  }

  /** The matches from the first one of the page, and one more than it prints if there are more (BRK-4.16). */
  async *#matches(query: QueryInput): AsyncGenerator<BrokerHit, void> {
    const { max, page } = this.#options;
    const end = max === 0 ? undefined : page * max + 1;
    let skip = (page - 1) * max;
    for await (const hit of this.#ask(query, end)) if (skip-- <= 0) yield hit;
  }

  #ask(query: QueryInput, maxFiles: number | undefined): BrokerResults {
    const request = requestOf(this.#options);
    const results = this.#client.query(query, {
      ...request,
      ...(this.mostWords
        ? { mostWords: true, attributes: [...(request.attributes ?? []), MISSING_WORDS] }
        : {}),
      maxFiles,
      signal: this.#signal,
    });
    this.#replies.push(results);
    return results;
  }

  async #format(hit: BrokerHit, number: number): Promise<string | Uint8Array> {
    const repeated = () => this.#repeated.of(textOfUrl(hit.url));
    const passage = this.#terms && (await passageOfHit(hit, this.#terms, repeated));
    const { lines, note } = pageOfLines(hit.matchedLines, this.#options);
    const match = { hit, passage, lines };
    if (this.#options.json) return matchAsJson(match);
    return Buffer.concat([matchAsText(match, number, textStyle(), this.#terms), Buffer.from(note)]);
  }
}

function pageOfLines(all: readonly string[], { lines, maxLines, linesPage }: QueryOptions): PageOfLines {
  if (maxLines === undefined) return { lines: lines === true ? all : undefined, note: '' };
  const end = maxLines * linesPage;
  const more = all.length > end ? `     ... more matched lines: --lines-page ${linesPage + 1}\n` : '';
  return { lines: all.slice(end - maxLines, end), note: more };
}

const TITLE = 'Title';

function asksForTitle({ attribute }: QueryOptions): boolean {
  return attribute.some((name) => name.toLowerCase() === TITLE.toLowerCase());
}

/** The flags of our own (BRK-2.20): what a person means by words. Other Brokers ignore them. */
function ownFlags({ exact }: QueryOptions): Pick<QueryRequest, 'contentOnly' | 'ignoreAccents'> {
  return exact ? {} : { contentOnly: true, ignoreAccents: true };
}

/** What a Broker without these flags says about them is no news to a user who did not ask for them. */
const IGNORED_OWN_FLAG = /#index "?(?:accents"? "?insensitive|scope"? "?content|words"? "?most)/;

function requestOf(options: QueryOptions): QueryRequest {
  const known = Object.entries(options).filter(([name]) => REQUEST_FLAGS.some((flag) => flag === name));
  return {
    ...Object.fromEntries(known),
    ...ownFlags(options),
    matchedLines: options.lines !== false,
    ignoreCase: options.caseSensitive !== true,
    matchWord: options.words,
    // The title is part of the text of a match.
    attributes: options.json || asksForTitle(options) ? options.attribute : [TITLE, ...options.attribute],
    maxLines: linesToRequest(options),
    indexFlags: options.index,
  };
}

function linesToRequest({ lines, maxLines, linesPage }: QueryOptions): number | undefined {
  if (lines === false) return undefined;
  // One line more than the last printed one, to detect that there are more.
  if (maxLines !== undefined) return maxLines * linesPage + 1;
  return lines === true ? undefined : PASSAGE_LINES;
}
