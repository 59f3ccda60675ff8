import { styleText } from 'node:util';
import {
  BrokerClient,
  DEFAULT_BROKER_PORT,
  type OpaqueMode,
  type QueryRequest,
} from '../../../../clients/broker/index.js';
import {
  type BrokerHit,
  locateQueryFault,
  parseMatchedLine,
  parseQuery,
} from '../../../../protocols/broker/index.js';
import { ProtocolError, UsageError } from '../../../../protocols/errors.js';
import { decodeText, textOfUrl, urlFields } from '../../../../protocols/soif/index.js';
import type { PeerAddress } from '../../options/option-values.js';
import { complain, EXIT, untilTimeout } from '../../output/exit.js';
import { printable, printableUrl, TerminalText } from '../../output/printable.js';
import { StandardOutput } from '../../output/standard-output.js';

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

/** How the parts of a match look on a terminal. */
export interface TextStyle {
  readonly title: (text: string) => string;
  readonly url: (bytes: Uint8Array) => string | Uint8Array;
}

/**
 * Colors for a terminal that has them and whose user has not switched them off (NO_COLOR); exact bytes for a
 * pipe or a file.
 */
export function textStyle(stream: NodeJS.WriteStream = process.stdout): TextStyle {
  if (!stream.isTTY) return { title: (text) => text, url: (bytes) => bytes };
  const colored = stream.hasColors();
  return {
    title: (text) => (colored ? styleText('bold', text) : text),
    url: (bytes) => {
      const text = new TerminalText().push(bytes);
      return colored ? styleText('green', text) : text;
    },
  };
}

/**
 * Formats a match of a query as text: number, title, URL in its own bytes (BRK-1.10), description, attributes,
 * matched lines. Without a title the URL stands in its place.
 */
export function hitAsText(hit: BrokerHit, number: number, style: TextStyle): Uint8Array {
  const title = titleOf(hit);
  const url = Buffer.from(style.url(printableUrl(hit.url)));
  const head =
    title === ''
      ? [Buffer.from(`${number}. `), url, Buffer.from('\n')]
      : [Buffer.from(`${number}. ${style.title(title)}\n   `), url, Buffer.from('\n')];
  const lines: string[] = [];
  const description = printable(hit.description ?? '').trim();
  if (description !== '' && description !== title) lines.push(`   ${description}`);
  for (const [name, value] of hit.attributes) {
    if (isTitle(name)) continue;
    lines.push(`   ${printable(name)}: ${printable(decodeText(value)).trim()}`);
  }
  for (const opaque of hit.matchedLines) {
    const line = parseMatchedLine(opaque);
    const text = line === undefined ? opaque : `${line.attribute}: ${line.text}`;
    lines.push(`     ${printable(text).trimEnd()}`);
  }
  return Buffer.concat([...head, Buffer.from(lines.map((line) => `${line}\n`).join(''))]);
}

function titleOf({ attributes }: BrokerHit): string {
  for (const [name, value] of attributes) if (isTitle(name)) return printable(decodeText(value)).trim();
  return '';
}

function isTitle(name: string): boolean {
  return name.toLowerCase() === 'title';
}

/**
 * Formats a match as one line of JSON. Values of attributes are text; a URL that is not UTF-8 is in `urlBase64`
 * too.
 */
export function hitAsJson(hit: BrokerHit): string {
  const attributes = Object.fromEntries(
    Array.from(hit.attributes, ([name, value]) => [name, decodeText(value)] as const),
  );
  const { objectUrl, homePage } = hit;
  const pages = {
    objectUrl: objectUrl === undefined ? undefined : textOfUrl(objectUrl),
    homePage: homePage === undefined ? undefined : textOfUrl(homePage),
  };
  return `${JSON.stringify({ ...hit, ...urlFields(hit.url), ...pages, attributes })}\n`;
}
