// Tests the text of queries: tokens and ranges, faults, and the query builder of clients/broker.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import {
  type AttributeCondition,
  BrokerClient,
  type EveryObject,
  type QueryExpression,
  q,
  queryMessage,
} from '../../../clients/broker/index.js';
import {
  type BrokerMessage,
  DEFAULT_FLAGS,
  type Expression,
  formatMessage,
  locateQueryFault,
  parseMessage,
  parseQuery,
  parseQuerySource,
  type Query,
  scanQuery,
} from '../../../protocols/broker/index.js';
import { parseBrokerConf } from '../../../protocols/config/index.js';
import { ProtocolError, UsageError } from '../../../protocols/errors.js';
import { assertProperty } from '../../helpers/property.js';
import { byTier } from '../../helpers/seed.js';

const bytes = (text: string) => new TextEncoder().encode(text);

/** The tree without positions. */
function withoutPositions(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, member) => (key === 'offset' ? undefined : member)));
}

const sameTree = (a: unknown, b: unknown) => isDeepStrictEqual(withoutPositions(a), withoutPositions(b));

/** Every node of a tree. */
function nodes(query: Query): Expression[] {
  const found: Expression[] = [];
  const open: Query[] = [query];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === 'all') continue;
    found.push(node);
    if (node.kind === 'not') open.push(node.operand);
    else if (node.kind !== 'term' && node.kind !== 'select') open.push(node.left, node.right);
  }
  return found;
}

function fault(text: string) {
  try {
    parseQuery(text);
  } catch (error) {
    if (error instanceof ProtocolError) return locateQueryFault(text, error);
    throw error;
  }
  return undefined;
}

t.test('BRK-1.1: one grammar reads queries, bulk transfers and administration', async (t) => {
  const kinds = ['#USER #END x', '#BULK #END x', '#ADMIN #password p #collection'].map(
    (line) => parseMessage(bytes(line)).kind,
  );
  t.same(kinds, ['user', 'bulk', 'admin']);
});

t.test('BRK-1.2: the port is 8501, for the client and for the configuration', async (t) => {
  t.equal(new BrokerClient({ host: 'b.test' }).port, 8501);
  t.equal(parseBrokerConf('', '/b/admin/broker.conf').config.brokerPort, 8501);
});

t.test('BRK-2.18: URL is an attribute like any other in a query', async (t) => {
  t.match(parseQuery('url : "http://a.test/"'), {
    kind: 'select',
    attribute: 'url',
    value: 'http://a.test/',
  });
  t.match(parseQuery('"url=techreports"'), { kind: 'select', attribute: 'url', value: 'techreports' });
});

t.test('BRK-2.1 to BRK-2.8: the tokens of a query text, with their ranges', async (t) => {
  const cut = (text: string) =>
    scanQuery(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);
  t.same(cut('(é AND "x \\" y") not title:z #allb less-than 3'), [
    '( (',
    'word é',
    'operator AND',
    'string "x \\" y"',
    ') )',
    'operator not',
    'word title',
    ': :',
    'word z',
    'keyword #allb',
    'operator less-than',
    'word 3',
  ]);
  t.same(cut('a "never closed'), ['word a', 'unclosed "never closed'], 'a malformed text has tokens too');
  t.same(cut('😀 "é" 𝒳'), ['word 😀', 'string "é"', 'word 𝒳'], 'ranges count UTF-16 units, not bytes');
});

t.test('BRK-2.12: every node of a tree has a range of the text', async (t) => {
  const source = parseQuerySource('not (é and title : "x y") or ((c)) except d');
  const parts = nodes(source.query).map((node) => {
    const range = source.rangeOf(node);
    return range === undefined ? 'none' : source.text.slice(range.start, range.end);
  });
  t.same(
    new Set(parts),
    new Set([
      'not (é and title : "x y") or ((c)) except d',
      'not (é and title : "x y")',
      'é and title : "x y"',
      'é',
      'title : "x y"',
      '((c)) except d',
      'c',
      'd',
    ]),
  );
  t.equal(
    source.rangeOf({ kind: 'term', text: 'c', quoted: false, offset: 0 }),
    undefined,
    'of another tree',
  );
  t.same(parseQuerySource('#allb').query, { kind: 'all' });
});

t.test('BRK-4.18: a malformed query has a range and a message', async (t) => {
  const cases: readonly (readonly [string, string, number, number])[] = [
    ['é and', 'BRK-2.3', 5, 5],
    ['😀 or #desc x', 'BRK-2.6', 6, 11],
    ['a and except b', 'BRK-2.3', 6, 12],
    ['url:http://a.test/', 'BRK-2.8', 8, 9],
    ['é "open', 'BRK-2.5', 2, 7],
    ['(a', 'BRK-2.4', 0, 1],
    ['', 'BRK-2.9', 0, 0],
  ];
  for (const [text, rule, start, end] of cases) t.match(fault(text), { rule, start, end }, text);
  t.equal(fault('a and')?.message, 'a term expected, found the end of the message', 'no rule and no offset');
  t.equal(fault('a'), undefined);
});

t.test('BRK-1.9: a query is sent as typed, its line ends as blanks', async (t) => {
  for (const [typed, sent] of [
    [String.raw`(a "b\ c" \"d) or é`, String.raw`(a "b\ c" \"d) or é`],
    ['a\nb "c\r\nd"\n', 'a b "c d" '],
  ] as const)
    t.equal(queryMessage(typed, {}, 'suppress').split('#END ')[1], sent);
});

t.test('the query builder writes the query of its calls', async (t) => {
  const title = q.attribute('title');
  const cases: readonly (readonly [QueryExpression | EveryObject, string])[] = [
    [q.all(), '#allb'],
    [q.word('wheat').and(title.contains('rye')), 'wheat and title : rye'],
    [q.word('a').and(q.word('b')).or(q.word('c')), '(a and b) or c'],
    [q.word('a').and(q.word('b').or(q.word('c'))), 'a and b or c'],
    [q.word('a').and(q.word('b')).and(q.word('c')), 'a and b and c'],
    [q.every(q.word('a'), q.word('b').and(q.word('c')), q.word('d')), 'a and b and c and d'],
    [q.some(q.word('a'), q.not(q.word('b'))), 'a or not b'],
    [q.word('a').except(q.word('b')).except(q.word('c')), '(a except b) except c'],
    [q.word('a').and(q.word('b')).not(), 'not (a and b)'],
    [q.phrase('digital library'), '"digital library"'],
    [q.word('and'), '"and"'],
    [q.word('#END'), '\\#END'],
    [q.word('node.js'), 'node\\.js'],
    [q.word('a=b'), 'a\\=b'],
    [q.phrase('say "hi" \\'), '"say \\"hi\\" \\\\"'],
    [q.pattern('^wh[ae]t$|rye'), '^wh[ae]t$|rye'],
    [q.pattern('title=two words'), '"title\\=two words"'],
    [q.attribute('url').contains('http://a.test/'), 'url : "http://a\\.test/"'],
    [q.attribute('type').exact('HTML'), 'type exact HTML'],
    [title.regexp('^A (b|c)'), 'title regexp "^A (b|c)"'],
    [title.matches('h.rvest'), 'title : h.rvest'],
    [q.attribute('size').lessThan(1000), 'size less-than 1000'],
    [q.attribute('size').greaterThan(-1.5), 'size greater-than -1.5'],
    [q.attribute('exact').exact('and'), '"exact" exact "and"'],
    [q.parse('a b or c'), 'a and b or c'],
  ];
  for (const [built, text] of cases) {
    t.equal(String(built), text);
    t.ok(sameTree(parseQuery(text), built.query), `${text} reads back`);
  }
  t.equal(
    Buffer.from(
      q.word('a').toMessage({ maxFiles: 2, attributes: ['size'], indexFlags: ['rank "by date"'] }),
    ).toString(),
    '#USER #desc #index case insensitive #index maxfiles 2 #attribute size #index rank "by date" #END a\r\n',
  );
  t.equal(
    queryMessage(q.all(), { matchedLines: false }, 'suppress'),
    '#USER #desc #opaque #index case insensitive #END #allb',
  );
});

t.test('the query builder refuses queries that no Broker reads', async (t) => {
  const bad: readonly (() => unknown)[] = [
    () => q.phrase(' \n'),
    () => q.phrase('half \ud800'),
    () => q.pattern('a\\'),
    () => q.attribute('two words'),
    () => q.attribute(''),
    () => q.attribute('size').lessThan(1e21),
    () => q.attribute('size').lessThan(Number.NaN),
    () => q.attribute('size').exact(''),
    () => q.word('a').toMessage({ errors: 9 }),
    () => q.word('a').toMessage({ indexFlags: ['x #END y'] }),
    () => q.word('a').toMessage({ indexFlags: ['"open'] }),
  ];
  for (const make of bad) t.throws(make, UsageError, String(make));
  t.throws(() => q.parse('a and'), ProtocolError);
  const word = q.word('a');
  const many = (count: number) => q.every(word, ...Array.from({ length: count - 1 }, () => word));
  t.equal(String(many(1000)).length, 1000 + 999 * 5);
  t.throws(() => String(many(1001)), /no Broker reads this query: more than 1000 terms/);
  let deep = word;
  for (let i = 0; i < 66; i++) deep = deep.except(word);
  t.throws(() => deep.toMessage(), /more than 64 nested parentheses/);
});

/** Whether a function accepts an argument of a type; `never` is the builder's type for a wrong text. */
type Accepts<F, A> = F extends (argument: A) => unknown ? true : false;
type AndOf<T> = T extends { and: infer F } ? F : never;
type Text<T extends string> = Parameters<typeof q.word<T>>[0];

t.test('wrong combinations do not compile', async (t) => {
  type And = AndOf<QueryExpression>;
  const combinations: readonly boolean[] = [
    true satisfies Accepts<And, QueryExpression>,
    false satisfies Accepts<And, EveryObject>,
    false satisfies Accepts<And, AttributeCondition>,
    false satisfies Accepts<And, string>,
    false satisfies 'and' extends keyof EveryObject ? true : false,
    false satisfies 'and' extends keyof AttributeCondition ? true : false,
    true satisfies [Text<'two words'>] extends [never] ? true : false,
    true satisfies [Text<''>] extends [never] ? true : false,
    false satisfies [Text<'word'>] extends [never] ? true : false,
    false satisfies [Text<string>] extends [never] ? true : false,
  ];
  // The compiler has checked this; these are the same facts at run time.
  t.same(combinations, [true, false, false, false, false, false, true, true, false, false]);
  t.notOk('and' in q.all());
  t.notOk('and' in q.attribute('title'));
});

const anyText = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 10 }),
    fc.string({ minLength: 1, maxLength: 6, unit: 'binary' }),
    fc.string({
      minLength: 1,
      maxLength: 8,
      unit: fc.constantFrom('\\', '"', '=', '.', 'a', ' ', ':', '(', '#', '\n'),
    }),
    fc.constantFrom('and', 'NOT', 'less-than', '#END', 'title=x', '\ufeffx', 'é'),
  )
  .filter((text) => text.trim() !== '' && !/\p{Surrogate}/u.test(text));
const attributeName = fc.oneof(
  fc.constantFrom('title', 'URL', 'Embed<1>-Title', 'and', 'é', '#desc', 'a:b', '(x)'),
  fc.stringMatching(/^[A-Za-z][\w-]{0,8}$/),
);
const condition = fc
  .record({
    name: attributeName,
    text: anyText,
    kind: fc.constantFrom('contains', 'exact', 'matches', 'regexp', 'lessThan', 'greaterThan'),
  })
  .map(({ name, text, kind }) => {
    const attribute = q.attribute(name);
    const pattern = text.replaceAll('\\', '\\\\');
    return kind === 'matches' || kind === 'regexp' ? attribute[kind](pattern) : attribute[kind](text);
  });
const built = fc.letrec<{ node: QueryExpression }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'builder' },
    anyText.map((text) => q.phrase(text)),
    anyText.map((text) => q.word(text)),
    anyText.map((text) => q.pattern(text.replaceAll('\\', '\\\\'))),
    condition,
    tie('node').map((node) => node.not()),
    fc
      .tuple(fc.constantFrom('and' as const, 'or' as const, 'except' as const), tie('node'), tie('node'))
      .map(([operator, left, right]) => left[operator](right)),
  ),
})).node;

t.test('property: a built query parses to the same tree, as text and as a message', async () => {
  assertProperty(
    fc.property(built, (expression) => {
      const message = parseMessage(Buffer.from(expression.toMessage()).subarray(0, -2));
      return (
        sameTree(parseQuery(String(expression)), expression.query) &&
        message.kind === 'user' &&
        sameTree(message.query, expression.query)
      );
    }),
    { numRuns: 500 },
  );
});

t.test('property: the range of a node parses to that node', async () => {
  assertProperty(
    fc.property(built, (expression) => {
      const source = parseQuerySource(String(expression));
      return nodes(source.query).every((node) => {
        const range = source.rangeOf(node);
        return range !== undefined && sameTree(parseQuery(source.text.slice(range.start, range.end)), node);
      });
    }),
    { numRuns: 300 },
  );
});

const piece = fc.constantFrom(...'a|é|😀|"|\\|(|)|:| |\t|not|and|#allb|#|"x y"|='.split('|'));
const rawText = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(''));

t.test('property: only blanks are between the tokens of any text, and a fault is within it', async () => {
  assertProperty(
    fc.property(rawText, (text) => {
      let offset = 0;
      for (const token of scanQuery(text)) {
        if (token.start < offset || token.end <= token.start || /\S/.test(text.slice(offset, token.start)))
          return false;
        offset = token.end;
      }
      const found = fault(text);
      const isInside = found === undefined || (found.start <= found.end && found.end <= text.length);
      return isInside && !/\S/.test(text.slice(offset));
    }),
    { numRuns: 1000 },
  );
});

t.test('property: every message that is read is formatted so that it reads the same', async () => {
  let read = 0;
  assertProperty(
    fc.property(
      rawText,
      fc.constantFrom('#USER #END ', '#BULK #since 3 #index "a b" #END '),
      (text, head) => {
        let message: BrokerMessage;
        try {
          message = parseMessage(bytes(head + text));
        } catch {
          return true;
        }
        read++;
        return sameTree(parseMessage(bytes(formatMessage(message))), message);
      },
    ),
    { numRuns: 1500 },
  );
  t.ok(read > byTier(25, 100), `${read} of the texts were queries`);
});

t.test('BRK-3.6: attributes accumulate, up to a limit', async (t) => {
  const message = (count: number) => parseMessage(bytes(`#USER ${'#attribute a '.repeat(count)}#END x`));
  t.match(message(256), { flags: { attributes: { length: 256 } } });
  try {
    message(257);
    t.fail('257 attributes are accepted');
  } catch (error) {
    t.match(error, { rule: 'BRK-3.6', offset: 6 + 256 * 13 });
  }
});

t.test('BRK-3.6: flags may be in any order, and the last of a kind wins', async () => {
  const flags = (
    '#desc|#opaque|#index case insensitive|#index error 2|#index matchword|#index maxresult 5|' +
    '#index maxfiles 6|#index maxlines 7|#index lifetime 80|#since 9'
  ).split('|');
  const expected = {
    ...DEFAULT_FLAGS,
    desc: true,
    opaque: true,
    ignoreCase: true,
    errors: 2,
    matchWord: true,
    maxResults: 5,
    maxFiles: 6,
    maxLines: 7,
    lifetime: 80,
    since: 9,
  };
  const overridden = '#index case sensitive #index error 8 #index maxresult 1 #index maxlines 0 #since 1';
  assertProperty(
    fc.property(fc.shuffledSubarray(flags, { minLength: flags.length }), (order) => {
      const message = parseMessage(bytes(`#USER ${overridden} ${order.join(' ')} #END x`));
      return message.kind === 'user' && isDeepStrictEqual(message.flags, expected);
    }),
    { numRuns: 50 },
  );
});
