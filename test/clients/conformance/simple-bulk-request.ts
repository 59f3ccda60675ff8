// The messages of the simple Broker: reads them and compares objects with their queries.
import type { Item } from './simple-bulk.js';

/** What a query is compared with. */
export type Searches = 'texts' | 'everything' | 'nothing';

/** A parsed message. */
export interface Request {
  readonly kind: 'bulk' | 'user';
  readonly since: number;
  readonly proposed: boolean;
  readonly compress: boolean;
  readonly describes: boolean;
  readonly attributes: readonly string[];
  readonly sensitive: boolean;
  readonly wholeWords: boolean;
  readonly errors: number;
  /** 0: none. */
  readonly limit: number;
  readonly query: string;
}

const FLAG =
  /^ +#(?:(since) (\d+)|(desc|opaque|compress)|(attribute) (\S+)|interface (1|2)|index (?:(case) (\w+)|(matchword)|(error|maxresult|maxfiles) (\d+)))(?= )/i;
const LARGEST_TIME = 4_294_967_295;

/** Returns undefined for a message to refuse. */
export function parse(message: string, knowsProposed: boolean): Request | undefined {
  const [, kind = '', flags = '', query = ''] =
    /^#(bulk|user)((?: .*?)?) +#end +(\S.*)$/i.exec(message) ?? [];
  if (kind === '' || (query.match(/\(/g) ?? []).length !== (query.match(/\)/g) ?? []).length)
    return undefined;
  let rest = `${flags} `;
  const request = {
    kind: kind.toLowerCase() === 'bulk' ? ('bulk' as const) : ('user' as const),
    since: 0,
    proposed: false,
    compress: false,
    describes: false,
    attributes: [] as string[],
    sensitive: false,
    wholeWords: false,
    errors: 0,
    limit: 0,
    query,
  };
  for (let flag = FLAG.exec(rest); flag !== null; flag = FLAG.exec(rest)) {
    const [text, since, time, plain, attribute, name = '', version, isCase, letters, word, number, value] =
      flag;
    rest = rest.slice(text.length);
    if (since !== undefined) request.since = Number(time);
    if (plain?.toLowerCase() === 'desc') request.describes = true;
    if (plain?.toLowerCase() === 'compress') request.compress = true;
    if (attribute !== undefined) request.attributes.push(name);
    if (version !== undefined) request.proposed = version === '2' && knowsProposed;
    if (isCase !== undefined) request.sensitive = letters?.toLowerCase() === 'sensitive';
    if (word !== undefined) request.wholeWords = true;
    if (number?.toLowerCase() === 'error') request.errors = Number(value);
    else if (number !== undefined) request.limit = Number(value);
  }
  return rest.trim() === '' && request.since <= LARGEST_TIME ? request : undefined;
}

/** Whether an object matches the query: words, `and`, `and not`. */
export function selects(request: Request, item: Item, searches: Searches): boolean {
  if (searches === 'nothing') return true;
  if (/^#allb$/i.test(request.query)) return true;
  const isText = (name: string) =>
    searches === 'everything' || /^(?:title|description|keywords)$/i.test(name);
  const values = item.attributes.filter(([name]) => isText(name)).map(([name, value]) => `${name} ${value}`);
  const text = [...values, item.url].join('\n');
  return request.query
    .split(/ +and +/i)
    .every((part) => (/^not /i.test(part) ? !has(request, text, part.slice(4)) : has(request, text, part)));
}

function has({ sensitive, wholeWords, errors }: Request, text: string, word: string): boolean {
  const fold = (one: string) => (sensitive ? one : one.toLowerCase());
  const words = fold(text).split(/[^A-Za-z0-9]+/);
  if (errors > 0) return words.some((one) => differs(one, fold(word)) <= errors);
  return wholeWords ? words.includes(fold(word)) : fold(text).includes(fold(word));
}

/** Letters that differ between words of one length; more than any limit for others. */
function differs(a: string, b: string): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return [...a].filter((letter, at) => letter !== b[at]).length;
}
