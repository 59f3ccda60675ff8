// Tests the messages to a Broker: parser, limits, and formatter.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import {
  type AdminCommand,
  BROKER_FLAGS,
  type BrokerMessage,
  clampLifetime,
  DEFAULT_FLAGS,
  type Expression,
  formatMessage,
  formatQuery,
  parseMessage,
  parseQuery,
  type Query,
  type QueryFlags,
} from '../../../protocols/broker/index.js';
import { ProtocolError, UsageError } from '../../../protocols/errors.js';
import { assertProperty } from '../../helpers/property.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string) => parseMessage(bytes(text));

/** Rule and offset of the ProtocolError that `action` throws. */
function protocolErrorOf(action: () => unknown): readonly [rule: string, offset: number] | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof ProtocolError && error.protocol === 'broker') return [error.rule, error.offset];
    throw error;
  }
}

/** A query as nested lists, so that expectations stay readable: `['and', 'a', ['not', 'b']]`. */
type Shape = string | readonly Shape[];
function shape(query: Query): Shape {
  switch (query.kind) {
    case 'all':
      return '#allb';
    case 'term':
      return query.text;
    case 'select':
      return [query.operator, query.attribute, query.value];
    case 'not':
      return ['not', shape(query.operand)];
    default:
      return [query.kind, shape(query.left), shape(query.right)];
  }
}

/** The tree without positions and quoting. */
function withoutPositions(query: Query): unknown {
  return JSON.parse(JSON.stringify(query, (key, value) => (key === 'offset' ? undefined : value)));
}

t.test('BRK-2.12, BRK-2.13: operators group to the right, not takes one primary', async (t) => {
  const cases: readonly (readonly [string, Shape])[] = [
    ['a and b or c', ['and', 'a', ['or', 'b', 'c']]],
    ['(a and b) or c', ['or', ['and', 'a', 'b'], 'c']],
    ['a or b and c except d', ['or', 'a', ['and', 'b', ['except', 'c', 'd']]]],
    ['a except b', ['except', 'a', 'b']],
    ['not a', ['not', 'a']],
    ['not a and b', ['and', ['not', 'a'], 'b']],
    ['not (a and b)', ['not', ['and', 'a', 'b']]],
    ['((a))', 'a'],
    ['(a)(b)', ['and', 'a', 'b']],
    ['( "neural" and ( networks or nets ) )', ['and', 'neural', ['or', 'networks', 'nets']]],
  ];
  for (const [text, expected] of cases) t.same(shape(parseQuery(text)), expected, text);
});

t.test('BRK-2.13a: adjacent terms mean and', async (t) => {
  t.same(shape(parseQuery('"neural" not "network"')), ['and', 'neural', ['not', 'network']]);
  t.same(shape(parseQuery('a b')), ['and', 'a', 'b']);
  t.same(shape(parseQuery('a b or not c d')), ['and', 'a', ['or', 'b', ['and', ['not', 'c'], 'd']]]);
});

t.test('BRK-2.3, BRK-2.6: operator words in any case; quoted ones are terms', async (t) => {
  t.same(shape(parseQuery('a AND b Or c')), ['and', 'a', ['or', 'b', 'c']]);
  t.same(shape(parseQuery('a "and" "#END" "not"')), ['and', 'a', ['and', 'and', ['and', '#END', 'not']]]);
  t.same(shape(parseQuery('size GREATER-THAN 10')), ['greater-than', 'size', '10']);
});

t.test('BRK-2.4, BRK-2.5, BRK-2.7, BRK-2.8: words and strings are terms', async (t) => {
  t.same(shape(parseQuery('(a)and(b)')), ['and', 'a', 'b'], 'parentheses need no blanks');
  t.same(shape(parseQuery('\ta\v\f b')), ['and', 'a', 'b']);
  t.same(shape(parseQuery('"two words"')), 'two words');
  t.same(shape(parseQuery(String.raw`"hello\ there"`)), String.raw`hello\ there`);
  t.same(shape(parseQuery(String.raw`"say \"hi\" \\"`)), String.raw`say "hi" \\`);
  t.same(shape(parseQuery('HCC OR "human.computer"')), ['or', 'HCC', 'human.computer']);
  t.same(shape(parseQuery('comp#tion')), 'comp#tion', 'BRK-2.22: # inside a word is part of the word');
  t.same(parseMessage(Uint8Array.from([...bytes('#USER #END caf'), 0xe9])), {
    kind: 'user',
    flags: DEFAULT_FLAGS,
    query: { kind: 'term', text: 'café', quoted: false, offset: 11 },
  });
  t.same(shape(parseQuery('café')), 'café');
});

t.test('BRK-2.14, BRK-2.15, BRK-2.17: structured terms', async (t) => {
  const cases: readonly (readonly [string, Shape])[] = [
    ['title:harvest', ['contains', 'title', 'harvest']],
    ['Harvest AND (url: "techreports")', ['and', 'Harvest', ['contains', 'url', 'techreports']]],
    ['url : "http://a.test/x"', ['contains', 'url', 'http://a.test/x']],
    ['"title=digital library"', ['contains', 'title', 'digital library']],
    ['"Embed<1>-Title=x=y"', ['contains', 'Embed<1>-Title', 'x=y']],
    ['"=x"', '=x'],
    [String.raw`"a\=b"`, String.raw`a\=b`],
    ['a=b', 'a=b'],
    ['type exact HTML', ['exact', 'type', 'HTML']],
    ['title regexp "^A.*"', ['regexp', 'title', '^A.*']],
    ['size less-than 10 and a', ['and', ['less-than', 'size', '10'], 'a']],
    ['"less-than" exact "and"', ['exact', 'less-than', 'and']],
    // The tag of a group holds for each of its terms, at any depth.
    [
      'Title: (dog AND cat) OR potatoe',
      ['or', ['and', ['contains', 'Title', 'dog'], ['contains', 'Title', 'cat']], 'potatoe'],
    ],
    ['a title : ( b )', ['and', 'a', ['contains', 'title', 'b']]],
    ['not title:(a b)', ['not', ['and', ['contains', 'title', 'a'], ['contains', 'title', 'b']]]],
    [
      '"title":(a or not ("b c" except d)) e',
      [
        'and',
        [
          'or',
          ['contains', 'title', 'a'],
          ['not', ['except', ['contains', 'title', 'b c'], ['contains', 'title', 'd']]],
        ],
        'e',
      ],
    ],
    // A term with its own tag keeps it.
    [
      'title:(a author:b "url=c" author:(d) e)',
      [
        'and',
        ['contains', 'title', 'a'],
        [
          'and',
          ['contains', 'author', 'b'],
          ['and', ['contains', 'url', 'c'], ['and', ['contains', 'author', 'd'], ['contains', 'title', 'e']]],
        ],
      ],
    ],
    ['title:(size less-than 10)', ['less-than', 'size', '10']],
  ];
  for (const [text, expected] of cases) t.same(shape(parseQuery(text)), expected, text);
});

t.test('BRK-2.9, BRK-2.10, BRK-2.11: the form of a query message', async (t) => {
  t.same(parse('#USER #END #allb'), { kind: 'user', flags: DEFAULT_FLAGS, query: { kind: 'all' } });
  t.same(parse('#user #end #ALLB').kind, 'user', 'BRK-2.2');
  t.same(parse('#BULK #SINCE 0 #END #ALLB'), {
    kind: 'bulk',
    flags: { ...DEFAULT_FLAGS, since: 0 },
    query: { kind: 'all' },
  });
});

t.test('BRK-3: the messages of deployed clients and forms are read', async (t) => {
  const flagsOf = (text: string): QueryFlags => {
    const message = parse(text);
    if (message.kind === 'admin') throw new Error('not a query');
    return message.flags;
  };
  t.same(
    flagsOf(
      '#USER #desc #index case insensitive #index error 0 #index matchword #index maxresult 50 #END linux',
    ),
    { ...DEFAULT_FLAGS, desc: true, ignoreCase: true, matchWord: true, maxResults: 50 },
  );
  t.same(
    flagsOf('#USER #opaque #index case insenstive #index maxfiles 51 #attribute title #attribute URL #END a'),
    { ...DEFAULT_FLAGS, opaque: true, ignoreCase: true, maxFiles: 51, attributes: ['title', 'URL'] },
    'BRK-3.1, BRK-3.6',
  );
  t.same(
    flagsOf(
      '#USER #INDEX CASE INSENSITIVE #index case sensitive #index maxlines 3 #index lifetime 60 #END a',
    ),
    { ...DEFAULT_FLAGS, ignoreCase: false, maxLines: 3, lifetime: 60 },
    'BRK-3.3, BRK-3.4, BRK-3.6: the later flag wins',
  );
  t.same(flagsOf('#USER #index maxresult 5 #index maxresult 0 #END a'), DEFAULT_FLAGS, 'BRK-8.11');
  t.same(
    flagsOf('#USER #index rank "by date" #index fuzzy #desc #index case funny #END a').unknown,
    ['rank "by date"', 'fuzzy', 'case funny'],
    'BRK-3.5',
  );
});

t.test('BRK-5.1, BRK-5.5: every administrative command is read', async (t) => {
  const cases: readonly (readonly [string, AdminCommand])[] = [
    ['#add-object "a.soif b.soif"', { kind: 'add-object', files: ['a.soif', 'b.soif'] }],
    ['#rem-object-oid "12 4294967295" 7', { kind: 'rem-object-oid', oids: [12, 4294967295, 7] }],
    ['#rem-object-path objects/1/OBJ1', { kind: 'rem-object-path', path: 'objects/1/OBJ1' }],
    ['#rem-object-query #allb', { kind: 'rem-object-query', query: { kind: 'all' } }],
    ['#add-log Query-Return', { kind: 'add-log', event: 'Query-Return' }],
    ['#rem-log "Update"', { kind: 'rem-log', event: 'Update' }],
    ['#open-log', { kind: 'open-log' }],
    ['#OPEN-LOG admin/LOG2', { kind: 'open-log', file: 'admin/LOG2' }],
    ['#set Max-Results "500"', { kind: 'set', name: 'Max-Results', value: '500' }],
    ['#set Opaque-Mode ""', { kind: 'set', name: 'Opaque-Mode', value: '' }],
    ['#clean-broker', { kind: 'clean-broker' }],
    ['#close-log', { kind: 'close-log' }],
    ['#collection', { kind: 'collection' }],
    ['#compress-registry', { kind: 'compress-registry' }],
    ['#do-stats', { kind: 'do-stats' }],
    ['#flush-log', { kind: 'flush-log' }],
    ['#full-index', { kind: 'full-index' }],
    ['#incremental-index', { kind: 'incremental-index' }],
    ['#rem-dups', { kind: 'rem-dups' }],
    ['#restart', { kind: 'restart' }],
    ['#rotate-log', { kind: 'rotate-log' }],
    ['#shutdown', { kind: 'shutdown' }],
  ];
  for (const [text, command] of cases) {
    t.same(parse(`#ADMIN #Password secret ${text}`), { kind: 'admin', password: 'secret', command }, text);
  }
  t.same(
    parse('#ADMIN #collection'),
    { kind: 'admin', password: '', command: { kind: 'collection' } },
    'BRK-5.2',
  );
  t.same(parse('#ADMIN #password #collection').kind, 'admin', 'BRK-5.2: without a password');
});

t.test('a malformed message is a ProtocolError with rule and byte offset', async (t) => {
  const cases: readonly (readonly [string, string, number])[] = [
    ['', 'BRK-2.1', 0],
    ['GET / HTTP/1.0', 'BRK-2.1', 0],
    ['  #FOO', 'BRK-2.1', 2],
    ['#USER linux', 'BRK-2.9', 6],
    ['#USER #desc', 'BRK-2.9', 11],
    ['#USER #desc #verbose #END a', 'BRK-3.5', 12],
    ['#USER #index #END a', 'BRK-3.5', 13],
    ['#USER #index error 9 #END a', 'BRK-2.23', 19],
    ['#USER #index maxresult many #END a', 'BRK-3.6', 23],
    ['#USER #since -1 #END a', 'BRK-3.6', 13],
    ['#USER #index lifetime 99999999999 #END a', 'BRK-3.6', 22],
    ['#USER #END', 'BRK-2.9', 10],
    ['#USER #END #allb and a', 'BRK-2.11', 17],
    ['#USER #END a and', 'BRK-2.3', 16],
    ['#USER #END not', 'BRK-2.3', 14],
    ['#USER #END a and (', 'BRK-2.4', 18],
    ['#USER #END title :', 'BRK-2.14', 18],
    ['#USER #END title exact', 'BRK-2.17', 22],
    ['#USER #END and a', 'BRK-2.3', 11],
    ['#USER #END not not a', 'BRK-2.3', 15],
    ['#USER #END (a', 'BRK-2.4', 11],
    ['#USER #END a)', 'BRK-2.4', 12],
    ['#USER #END ()', 'BRK-2.4', 12],
    ['#USER #END a #desc', 'BRK-2.6', 13],
    ['#USER #END "a', 'BRK-2.5', 11],
    ['#USER #END ""', 'BRK-2.5', 11],
    ['#USER #END url:http://a.test/', 'BRK-2.8', 19],
    ['#USER #END é é "', 'BRK-2.5', 17],
    ['#ADMIN #password x', 'BRK-5.1', 18],
    ['#ADMIN #password x #explode', 'BRK-5.1', 19],
    ['#ADMIN #password x #collection now', 'BRK-5.1', 31],
    ['#ADMIN #password x #set a', 'BRK-5.1', 25],
    ['#ADMIN #password x #rem-object-oid "1 x"', 'BRK-5.5', 35],
    ['#ADMIN #password x #rem-object-oid 0', 'BRK-5.5', 35],
    ['#ADMIN #password x #add-object " "', 'BRK-5.5', 31],
  ];
  for (const [text, rule, offset] of cases) {
    t.same(
      protocolErrorOf(() => parse(text)),
      [rule, offset],
      text,
    );
  }
});

t.test('depth and size limits hold without exhausting the stack', async (t) => {
  const deep = 65536;
  const errorOf = (text: string) => protocolErrorOf(() => parseQuery(text));
  t.same(errorOf('('.repeat(deep)), ['BRK-2.24', 64]);
  t.same(errorOf('not '.repeat(deep)), ['BRK-2.3', 4]);
  t.same(errorOf('not ('.repeat(deep)), ['BRK-2.24', 64 * 5 + 4]);
  t.same(errorOf('a '.repeat(deep)), ['BRK-2.24', 2000]);
  t.equal(formatQuery(parseQuery('a '.repeat(1000))).length, 1000 + 999 * 5);
  t.same(shape(parseQuery(`${'('.repeat(64)}a${')'.repeat(64)}`)), 'a');
  t.same(
    protocolErrorOf(() => parseQuery('((a))', { maxDepth: 1 })),
    ['BRK-2.24', 1],
  );
  let nested: Expression = { kind: 'term', text: 'a', quoted: false, offset: 0 };
  for (let i = 0; i < 100_000; i++) nested = { kind: 'not', operand: nested };
  t.throws(() => formatQuery(nested), UsageError);
});

t.test('BRK-8.14: a lifetime is always between 10 and the maximum', async (t) => {
  t.same(
    [undefined, 0, 9, 10, 60, 900, 5000].map((requested) => clampLifetime(requested, 900)),
    [900, 10, 10, 10, 60, 900, 900],
  );
});

t.test('formatMessage writes what the deployed clients write', async (t) => {
  const query: Query = parseQuery('a and (b or c) except title : "x y"');
  t.equal(formatQuery(query), 'a and (b or c) except title : "x y"');
  t.equal(
    formatMessage({ kind: 'bulk', flags: { ...DEFAULT_FLAGS, since: 0 }, query: { kind: 'all' } }),
    '#BULK #since 0 #END #allb',
  );
  t.equal(
    formatMessage({ kind: 'user', flags: { ...DEFAULT_FLAGS, desc: true, maxResults: 5 }, query }),
    '#USER #desc #index case insensitive #index maxresult 5 #END a and (b or c) except title : "x y"',
  );
  const sensitive = { ...DEFAULT_FLAGS, ignoreCase: false };
  t.equal(
    formatMessage({ kind: 'bulk', flags: sensitive, query }),
    '#BULK #index case sensitive #END a and (b or c) except title : "x y"',
    'BRK-3.7',
  );
  t.equal(
    formatMessage({ kind: 'admin', password: 'my secret', command: { kind: 'set', name: 'A', value: '' } }),
    '#ADMIN #password "my secret" #set A ""',
  );
  const injecting: BrokerMessage = {
    kind: 'user',
    flags: { ...DEFAULT_FLAGS, unknown: ['x #END y'] },
    query: { kind: 'all' },
  };
  t.throws(() => formatMessage(injecting), UsageError);
});

t.test('BRK-2.7: an ID that is compared byte by byte is written exactly, or not at all', async (t) => {
  const command = { kind: 'flush-log' } as const;
  for (const password of ['', 'a', 'a\\', 'a b', 'a"b', 'a \\b', '\\\\ "', 'é ü', 'and', '#x'])
    t.match(parseMessage(Buffer.from(formatMessage({ kind: 'admin', password, command }))), { password });
  const user = (attribute: string): BrokerMessage => ({
    kind: 'user',
    flags: { ...DEFAULT_FLAGS, attributes: [attribute] },
    query: { kind: 'all' },
  });
  for (const text of ['a b\\', 'a\\"b', '"\\', 'a(\\\\\\', '\ud800 x']) {
    t.throws(() => formatMessage({ kind: 'admin', password: text, command }), UsageError, text);
    t.throws(() => formatMessage(user(text)), UsageError, text);
  }
});

// Texts that a parser can produce: a backslash is always followed by a character.
const idText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }).map((text) => text.replaceAll('\\', '\\\\')),
  fc.string({ minLength: 1, maxLength: 6, unit: 'binary' }).map((text) => text.replaceAll('\\', '\\\\')),
  fc.constantFrom('and', 'NOT', 'less-than', '#END', 'a b', 'x:y', 'é', '\ufeffx', '(', String.raw`a\ b`),
);
const bareText = idText.filter(
  (text) =>
    /^[A-Za-z0-9=é\\][^\s()":]*$/.test(text) &&
    !/^(and|or|not|except|exact|regexp|less-than|greater-than)$/i.test(text),
);
const leaf: fc.Arbitrary<Expression> = fc.oneof(
  bareText.map((text): Expression => ({ kind: 'term', text, quoted: false, offset: 0 })),
  idText
    .filter((text) => !text.includes('='))
    .map((text): Expression => ({ kind: 'term', text, quoted: true, offset: 0 })),
  fc
    .record({
      attribute: idText,
      operator: fc.constantFrom('contains', 'exact', 'regexp', 'less-than', 'greater-than'),
      value: idText,
    })
    .map((select): Expression => ({ kind: 'select', ...select, offset: 0 })),
);
const expression = fc.letrec<{ node: Expression }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'q' },
    leaf,
    fc.record({ kind: fc.constant('not' as const), operand: tie('node') }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const, 'except' as const),
      left: tie('node'),
      right: tie('node'),
    }),
  ),
})).node;
const number = fc.nat(0xffff_ffff);
const flags: fc.Arbitrary<QueryFlags> = fc
  .record(
    {
      maxResults: number.filter((n) => n > 0),
      maxFiles: number.filter((n) => n > 0),
      maxLines: number.filter((n) => n > 0),
      lifetime: number,
      since: number,
    },
    { requiredKeys: [] },
  )
  .chain((limits) =>
    fc.record({
      ...Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, fc.constant(value)])),
      desc: fc.boolean(),
      opaque: fc.boolean(),
      ignoreCase: fc.boolean(),
      matchWord: fc.boolean(),
      errors: fc.integer({ min: 0, max: 8 }),
      attributes: fc.array(idText, { maxLength: 3 }),
      unknown: fc.array(fc.constantFrom('rank', 'rank "by date"', '"a\nb" c'), { maxLength: 2 }),
    }),
  );

t.test('property: a formatted query parses to the same tree, and formats the same again', async () => {
  assertProperty(
    fc.property(expression, (tree) => {
      const text = formatQuery(tree);
      const parsed = parseQuery(text);
      return (
        isDeepStrictEqual(withoutPositions(parsed), withoutPositions(tree)) && formatQuery(parsed) === text
      );
    }),
    { numRuns: 400 },
  );
});

t.test('property: a formatted message parses to the same message', async () => {
  assertProperty(
    fc.property(
      fc.constantFrom('user' as const, 'bulk' as const),
      flags,
      expression,
      (kind, flags, query) => {
        const message: BrokerMessage = { kind, flags, query };
        const parsed = parse(formatMessage(message));
        if (parsed.kind === 'admin') return false;
        return (
          isDeepStrictEqual(parsed.flags, { ...flags }) &&
          isDeepStrictEqual(withoutPositions(parsed.query), withoutPositions(query))
        );
      },
    ),
    { numRuns: 200 },
  );
});

t.test('the README has the table of the flags', (t) => {
  const rows = Object.values(BROKER_FLAGS).map(({ keyword, argument, text, rule }) => {
    const flag = `\`${argument === '' ? keyword : `${keyword} ${argument}`}\``;
    return `| ${[flag, text, rule].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const table = ['| flag | meaning | rule |', '| --- | --- | --- |', ...rows].join('\n');
  const readme = new URL('protocols/broker/README.md', import.meta.resolve('#package.json'));
  t.ok(readFileSync(readme, 'utf8').includes(table), table);
  t.end();
});

t.test('property: any garbage parses or throws a ProtocolError with an offset in the line', async () => {
  const pieces = '#USER #END #index #ADMIN #password #set ( ) " \\ : not and a \0 #allb exact 9'.split(' ');
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.array(fc.constantFrom(...pieces), { maxLength: 20 }).map((words) => bytes(words.join(' '))),
    fc
      .array(fc.constantFrom(...pieces), { maxLength: 20 })
      .map((words) => bytes(`#USER #END ${words.join('')}`)),
  );
  assertProperty(
    fc.property(garbage, (line) => {
      try {
        parseMessage(line);
        return true;
      } catch (error) {
        return error instanceof ProtocolError && error.offset >= 0 && error.offset <= line.length;
      }
    }),
    { numRuns: 1500 },
  );
});
