import {
  BrokerClient,
  DEFAULT_BROKER_PORT,
  type OpaqueMode,
  type QueryRequest,
} from '../../../../clients/broker/index.js';
import { locateQueryFault, parseQuery } from '../../../../protocols/broker/index.js';
import { ProtocolError, UsageError } from '../../../../protocols/errors.js';
import type { PeerAddress } from '../../options/peer-address.js';
import { complain, EXIT, untilTimeout } from '../../output/exit.js';
import { printable } from '../../output/printable.js';
import { StandardOutput } from '../../output/standard-output.js';
import { hitAsJson, hitAsText, textStyle } from '../hit-text.js';

/** Flags that have an option of their own property's name, and the other options. */
type QueryOptions = Omit<QueryRequest, 'attributes' | 'matchedLines' | 'indexFlags'> & {
  readonly json: boolean;
  readonly caseSensitive?: boolean;
  readonly words: boolean;
  readonly max: number;
  readonly lines: boolean;
  readonly attribute: readonly string[];
  readonly linesPage: number;
  readonly index: readonly string[];
  readonly timeout?: number;
  readonly opaqueMode: OpaqueMode;
};

/** The printed part of the matched lines of one match, and the note below them. */
interface PageOfLines {
  readonly lines: readonly string[];
  readonly note: string;
}

/** The action of `harvest query`. */
export async function query(broker: PeerAddress, words: string[], options: QueryOptions): Promise<number> {
  if (options.linesPage > 1 && options.maxLines === undefined)
    throw new UsageError('query: --lines-page needs --max-lines, the length of a page');
  const query = words.join(' ');
  return checkQuery(query) ? await runQuery(broker, query, options) : EXIT.usage;
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
  // The text of a match is made visible before it is colored.
  const output = new StandardOutput({ raw: !options.json });
  let count = 0;
  const { timeout: seconds } = options;
  return await untilTimeout('query', { seconds, late: 'no complete answer' }, async (signal) => {
    const style = textStyle();
    const results = client.query(query, {
      ...requestOf(options),
      signal,
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
    return count > 0 ? EXIT.ok : EXIT.failure;
  });
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
    ...options,
    matchedLines: options.lines,
    ignoreCase: options.caseSensitive !== true,
    matchWord: options.words,
    // The title is part of the text of a match.
    attributes: options.json || asksForTitle(options) ? options.attribute : [TITLE, ...options.attribute],
    // BRK-4.16: one more than is printed, to detect that there are more.
    maxFiles: options.max > 0 ? options.max + 1 : undefined,
    // One line more than the last printed one, for the same reason.
    maxLines: options.maxLines && options.maxLines * options.linesPage + 1,
    indexFlags: options.index,
  };
}
