// What 19 clients do beside a cheap query in the benchmark `fairness`: expensive queries, refusals, short connections, pages.
import { wordOf } from '../attacks/broker-process.js';

/** What each client does again and again. `@` stands for a number that ascends, so that no answer is known already. */
export type FairnessKind =
  /**
   * Connects to the Broker's port and sends a text. It stays until the server closes, unless `leave` is set: `connected`
   * and `greeted` drop the connection then, `reset` resets it when it is greeted, `sent` ends its direction after the text.
   */
  | { readonly text: string; readonly leave?: 'connected' | 'greeted' | 'reset' | 'sent' }
  /** Requests a page over a connection of its own; with `leave` so many times, and drops the connection then. */
  | { readonly path: string; readonly leave?: number };

const many = (count: number, part: (i: number) => string, separator: string) =>
  Array.from({ length: count }, (_, i) => part(i)).join(separator);
const user = (query: string, flags = '#opaque ') => ({ text: `#USER ${flags}#END ${query}\n` });
const page = (query: string, more = '') => ({
  path: `/Harvest/cgi-bin/BrokerQuery.pl.cgi?query=${encodeURIComponent(query).replaceAll('%40', '@')}${more}`,
});
const nested = (count: number) =>
  Array.from({ length: count }).reduce<string>((inner) => `(not ${inner})`, wordOf(3));

const NEGATIONS = (count: number) => many(count, (n) => `(not ${wordOf(n)})`, ' or ');
const SLOW_EXPRESSION = 'body regexp "([a-z]+ )*([aeiou]*[xq]+[^ ]*)+@#"';
const RARE_AND_FREQUENT = [2999, 2998, 0, 1].map(wordOf).join(' ');

/** By name. */
export const FAIRNESS_KINDS: Readonly<Record<string, FairnessKind>> = {
  'query: descriptions and all lines': user('not zzz@x', '#desc '),
  'query: lines of frequent words': user(`${wordOf(1)} or ${wordOf(2)}`, '#desc '),
  'query: expressions': user(SLOW_EXPRESSION),
  'query: 60 nested negations': user(nested(60)),
  'query: 120 negations': user(NEGATIONS(120)),
  'query: 200 negations of attributes': user(many(200, (n) => `(not body : ${wordOf(n)})`, ' or ')),
  'query: conjunction of 250': user(many(250, (n) => wordOf((3 + n) % 400), ' and ')),
  'query: everything with attributes': user('#allb', '#desc #attribute body #attribute title '),
  'query: wildcards': user(many(50, (n) => `"#${wordOf(n).slice(1)}#@"`, ' or ')),
  'query: spelling errors': user(
    many(40, (n) => wordOf(3000 + n) + wordOf(n), ' and '),
    '#opaque #index error 8 ',
  ),
  'query: phrases': user(`"${wordOf(1)} ${wordOf(2)}"`, ''),
  'query: comparisons': user('update-time greater-than @ and title less-than zzz'),
  'query: whole values': user('not title exact "x@"'),
  'query: most of the words': user(
    many(12, (n) => wordOf(n), ' and '),
    '#opaque #index words most #index score on ',
  ),
  'query: most of the words, rare ones first': user(
    [2999, 2998, 0].map(wordOf).join(' and '),
    '#opaque #index words most ',
  ),
  'query: of a long message': user(many(500, () => 'a', ' or ')),
  'transfer: everything': { text: '#BULK #since 0 #END #allb\n' },
  'transfer: compressed': { text: '#BULK #interface 2 #compress #since 0 #END #allb\n' },
  'transfer: of a query': { text: `#BULK #since 0 #END ${wordOf(1)}\n` },
  'transfer: digest of everything': { text: '#BULK #interface 2 #digest - #END #allb\n' },
  'transfer: digest of a bucket': { text: '#BULK #interface 2 #digest a #END #allb\n' },
  'transfer: digest of a leaf': { text: '#BULK #interface 2 #digest a0 #END #allb\n' },

  'refused: 600 terms': user(many(600, wordOf, ' or ')),
  'refused: 200 negations': user(NEGATIONS(200)),
  'refused: syntax': user('('),
  'refused: empty query': user(''),
  'refused: empty string': user('""'),
  'refused: long word': user('a'.repeat(300)),
  'refused: long message': user(`${'a '.repeat(20_000)}(`),
  'refused: longer than any message': user('a'.repeat(200_000)),
  'refused: malformed expression': user('body regexp "("'),
  'refused: large expression': user('body regexp "([a-z]{30}){40}"'),
  'refused: nine spelling errors': user(wordOf(1), '#index error 9 '),
  'refused: flag without value': user('x', '#index maxfiles '),
  'refused: unknown command': { text: '#ADMIN #password x #frobnicate\n' },
  'refused: wrong password': { text: '#ADMIN #password x@ #statistics\n' },
  'refused: no message': { text: 'hello\n' },
  'refused: HTTP': { text: 'GET / HTTP/1.1\n' },
  'refused: transfer': { text: '#BULK #since yesterday #END #allb\n' },
  'refused: flags of a transfer': { text: '#BULK #compress #END #allb\n' },

  'short: the cheap query': user(wordOf(2500), '#opaque #index maxfiles 10 '),
  'short: nothing found': user('zzyzx@'),
  'short: unknown attribute': user('zzyzx : x@'),
  'short: unknown flag': user('zzyzx@', '#index colour red '),
  'short: connect and close': { text: '', leave: 'connected' },
  'short: greeting and close': { text: '', leave: 'greeted' },
  'short: end at once': { text: '', leave: 'sent' },
  'short: half a message': { text: '#USER', leave: 'sent' },
  'short: blank lines': { text: '\n\n\n\n', leave: 'sent' },
  'short: asked and gone': { text: `#USER #END ${wordOf(1)}\n`, leave: 'greeted' },
  'short: asked and gone before the greeting': { text: `#USER #END ${wordOf(1)}\n`, leave: 'connected' },
  'short: asked and reset': { text: `#USER #END ${wordOf(1)}\n`, leave: 'reset' },
  'short: asked more and gone': {
    text: `#USER #END ${wordOf(1)}\n${'more\n'.repeat(2000)}`,
    leave: 'greeted',
  },
  'short: asked for an expression and gone': { ...user(SLOW_EXPRESSION), leave: 'greeted' },
  'short: transfer and gone': { text: `#BULK #since 0 #END ${wordOf(1)}\n`, leave: 'greeted' },
  'short: refused and gone': { text: '#USER #END (\n', leave: 'greeted' },

  'page: the form': { path: '/' },
  'page: a frequent word': page(wordOf(1)),
  'page: a rare word': page(wordOf(2500)),
  'page: 12 words': page(many(12, wordOf, ' ')),
  'page: rare and frequent words': page(RARE_AND_FREQUENT),
  'page: misspelled words': page(many(6, (n) => `${wordOf(2000 + n)}x@`, ' ')),
  'page: 30 words': page(many(30, (n) => wordOf(n * 7), ' ')),
  'page: a late page': page(wordOf(1), '&page=20'),
  'page: everything': page('not zzz@x'),
  'page: refused': page('('),
  'page: negations': page(NEGATIONS(120)),
  'page: expressions': page(SLOW_EXPRESSION),
  'page: narrowed': page(wordOf(1), '&narrow=type%3AText'),
  'page: spelling errors': page(`${wordOf(2000)}xx ${wordOf(1)}`, '&errorflag=3&opaqueflag=on&descflag=on'),
  'page: newest first': page(wordOf(1), '&sort=by-date'),
  'page: not found': { path: '/nothing@' },
  'page: asked and gone': { ...page(wordOf(1)), leave: 1 },
  'page: everything 20 times and gone': { ...page('not zzz@x'), leave: 20 },
  'JSON: everything and gone': { ...page('not zzz@x', '&format=json'), leave: 1 },
  'page: suggestions': { path: `/Harvest/suggestions?query=${wordOf(1).slice(0, 2)}@` },
  'JSON: a frequent word': page(wordOf(1), '&format=json'),
  'JSON: rare and frequent words': page(RARE_AND_FREQUENT, '&format=json'),
  'JSON: 12 words': page(many(12, wordOf, ' '), '&format=json'),
  'JSON: misspelled words': page(
    many(6, (n) => `${wordOf(2000 + n)}x@`, ' '),
    '&format=json',
  ),
  'JSON: everything': page('not zzz@x', '&format=json'),
  'JSON: refused': page('(', '&format=json'),
  'feed: a frequent word': page(wordOf(1), '&format=rss'),
};
