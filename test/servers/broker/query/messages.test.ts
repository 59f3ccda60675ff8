// Queries over the wire: what each query selects, what each flag changes, every item of a reply. Rules:
// broker.md (BRK).
import { connect } from 'node:net';
import t from 'tap';
import { BrokerClient, type QueryInput, type QueryRequest, q } from '../../../../clients/broker/index.js';
import { DEFAULT_FLAGS, encodeResult } from '../../../../protocols/broker/index.js';
import { PeerError } from '../../../../protocols/errors.js';
import { lineBytes } from '../../../../servers/broker/query/line-bytes.js';
import { type SearchParts, search } from '../../../../servers/broker/query/search.js';
import type { Indexer, SearchOutcome } from '../../../../storage/indexers/index.js';
import {
  document,
  exchange,
  type GathererDocument,
  NOW,
  openBroker,
  serveBroker,
  serveCollected,
  startScripted,
  type Teardown,
} from '../helpers.js';

const VERSION = '200 - HARVEST Broker 1.0\n';

/**
 * Returns five objects, named a to e by the last letter of their URLs; each rule selects a different set of
 * them.
 */
function lettered(): GathererDocument[] {
  const objects: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['a', { Title: 'red apple', Type: 'HTML', Size: '5', Keywords: 'and' }],
    ['b', { Title: 'red brick', Type: 'Text', Size: '50', 'Full-Text': 'node.js\nred\nredder\nred\n' }],
    ['c', { Title: 'Green apple pie', Type: 'HTML', Size: '500', 'Full-Text': 'nodexjs' }],
    ['d', { Title: 'green brick', Type: 'Text', Size: 'unknown', Keywords: 'caf\u00e9' }],
    [
      'e',
      {
        Title: 'apple red',
        Type: 'HTML Fragment',
        Size: '5000',
        Description: '130 - object end\n111 - ERROR: no\n',
      },
    ],
  ];
  return objects.map(([letter, attributes], i) => {
    const updateTime = NOW - 1000 + i;
    return { updateTime, text: document(`http://lib.test/${letter}`, attributes, updateTime) };
  });
}

/** Serves a broker over these five objects. */
const serveLettered = (t: Teardown, conf = '') => serveCollected(t, lettered(), conf);

/** The broker of all tests that only query. */
const shared = serveLettered(t);

/** Returns the letters of the objects in a reply; without objects, the first line after the version line. */
function letters(reply: string): string {
  const found = Array.from(reply.matchAll(/^120 - http:\/\/lib\.test\/(\w)$/gm), (match) => match[1] ?? '');
  return found.length > 0 ? found.sort().join('') : (reply.slice(VERSION.length).split('\n')[0] ?? '');
}

const NO_MATCH = '101 - No objects matched your query.';

t.test('BRK-2: over the wire, each query selects its objects', async (t) => {
  const { port } = await shared;
  const cases: readonly (readonly [string, string, string])[] = [
    ['BRK-2.11', '#ALLB', 'abcde'],
    ['BRK-2.12 operators group to the right', 'brick and red or apple', 'b'],
    ['BRK-2.12 parentheses', '(brick and red) or apple', 'abce'],
    ['BRK-2.13 except', 'apple except red', 'c'],
    ['BRK-2.13 except binds like the others', 'apple except red and pie', 'ace'],
    ['BRK-2.13 not takes one primary', 'not red and brick', 'd'],
    ['BRK-2.13 not takes a parenthesis', 'not (red and brick)', 'acde'],
    ['BRK-2.13a a not b', 'apple not red', 'c'],
    ['BRK-2.13a side by side', 'red apple', 'ae'],
    ['BRK-2.13a blanks are optional', '"red"("apple")', 'ae'],
    ['BRK-2.3 any case', 'apple AND NOT pie', 'ae'],
    ['BRK-2.4 blanks around parentheses', '( red ) and ( brick )', 'b'],
    ['BRK-2.5 a phrase', '"red apple"', 'a'],
    ['BRK-2.6 a quoted operator is a word', 'Keywords : "and"', 'a'],
    ['BRK-2.7 a backslash reaches the engine', '"node\\.js"', 'b'],
    ['BRK-2.22 an unquoted dot is a pattern', 'node.js', 'bc'],
    ['BRK-2.8 a colon ends a word', 'Title:pie', 'c'],
    ['BRK-2.14 one attribute', 'type : Text', 'bd'],
    ['BRK-2.14 a quoted value', 'title : "green apple"', 'c'],
    ['BRK-2.14 a tag holds for every term of its group', 'title : (red and apple)', 'ae'],
    ['BRK-2.14 but not for the terms after it', 'Title: (pie AND green) OR nodexjs', 'c'],
    ['BRK-2.14 not a term outside of the attribute', 'type: (red or HTML)', 'ace'],
    ['BRK-2.15 Glimpse’s own form', '"Title=Green apple"', 'c'],
    ['BRK-2.15 only in quotes', 'Title=red', NO_MATCH],
    ['BRK-2.16 names in any case', 'TITLE : pie', 'c'],
    ['BRK-2.17 exact', 'type exact HTML', 'ac'],
    ['BRK-2.17 regexp', 'title regexp "^(red|apple) "', 'abe'],
    ['BRK-2.17 less-than, as numbers', 'size less-than 100', 'ab'],
    ['BRK-2.17 greater-than, as numbers, else as bytes', 'size greater-than 100', 'cde'],
    ['BRK-2.18 url', 'url : "lib.test/d"', 'd'],
    ['BRK-2.20 parts of words', 'redde', 'b'],
    ['BRK-2.21 the whole object, not the line', 'nodexjs and pie', 'c'],
    ['BRK-1.10 UTF-8', 'caf\u00e9', 'd'],
  ];
  for (const [rule, query, expected] of cases) {
    t.equal(letters(await exchange(port, `#USER #opaque #END ${query}\r\n`)), expected, `${rule}: ${query}`);
  }
  const latin1 = Buffer.from('#user #OPAQUE #End caf\xe9\n', 'latin1');
  t.equal(
    letters(await exchange(port, latin1)),
    'd',
    'BRK-1.10, BRK-2.2: a Latin-1 byte matches, and keywords may have any case',
  );
});

t.test('BRK-3: over the wire, each flag changes the result', async (t) => {
  const { port } = await shared;
  const cases: readonly (readonly [string, string, string])[] = [
    ['BRK-3.7 case is ignored by default', '#END green', 'cd'],
    ['BRK-3.2 sensitive', '#index case sensitive #END green', 'd'],
    ['BRK-3.1 insensitive', '#index case insensitive #END green', 'cd'],
    ['BRK-3.1 insenstive', '#INDEX Case INSENSTIVE #END green', 'cd'],
    ['BRK-3.6 the later one wins', '#index case insensitive #index case sensitive #END green', 'd'],
    ['BRK-2.20 matchword', '#index matchword #END redde', NO_MATCH],
    ['BRK-2.23 errors', '#index error 1 #END brack', 'bd'],
    ['BRK-2.23 no errors', '#END brack', NO_MATCH],
    ['since', `#since ${NOW - 998} #END #allb`, 'de'],
    ['since with words', `#since ${NOW - 998} #END apple`, 'e'],
  ];
  for (const [name, message, expected] of cases) {
    t.equal(letters(await exchange(port, `#USER #opaque ${message}\n`)), expected, `${name}: ${message}`);
  }
  const count = async (flags: string, query: string, code: string) =>
    (await exchange(port, `#USER ${flags} #END ${query}\n`))
      .split('\n')
      .filter((line) => line.startsWith(`${code} - `)).length;
  t.equal(await count('#index maxfiles 2', 'apple', '120'), 2, 'maxfiles limits the objects');
  t.equal(
    await count('#opaque #index maxresult 2', 'apple', '120'),
    2,
    'maxresult counts objects if no matched lines are requested',
  );
  t.equal(await count('', 'title : "red brick" or Full-Text : red', '122'), 4, 'all matched lines');
  t.equal(await count('#index maxlines 2', 'Full-Text : red', '122'), 2, 'BRK-3.3: maxlines limits them');
  t.equal(
    await count('#index maxlines 2 #index maxlines 0', 'Full-Text : red', '122'),
    3,
    'BRK-8.11: a later 0 removes the limit',
  );
  t.equal(await count('#index maxresult 2', 'Full-Text : red', '122'), 2, 'BRK-8.11: maxresult: lines');
  t.equal(await count('#index lifetime 1', '#allb', '120'), 5, 'BRK-3.4, BRK-8.14: it is raised to 10 s');
  t.equal(await count('#index maxfiles 2', '#allb', '101'), 0, 'BRK-4.16: a limited result has no message');
});

t.test('BRK-4.3 to BRK-4.6, BRK-4.10: all items of an object arrive in order', async (t) => {
  const { port } = await shared;
  const reply = await exchange(
    port,
    '#USER #desc #attribute type #attribute None #attribute URL #attribute TYPE #index maxlines 1 #END "apple red"\r\n',
  );
  const home = 'http://www.example.org:8080/Harvest/brokers/example/';
  t.equal(
    reply,
    `${VERSION}120 - http://lib.test/e
125 - ${home}objects/5/OBJ5
126 - ${home}
124 - 33
130 - object end
111 - ERROR: no

127 - type 13
HTML Fragment
127 - URL 17
http://lib.test/e
122 - Matched line: Title# Title{9}:	apple red
130 - object end
`,
  );
});

t.test('BRK-2.19, BRK-3.5, BRK-4.13, BRK-4.14, BRK-4.18: a refusal says ERROR and ends all', async (t) => {
  const { port } = await shared;
  const cases: readonly (readonly [string, RegExp])[] = [
    ['#USER apple', /^111 - ERROR: Malformed message: .*BRK-2\.9/],
    [
      '#USER #verbose #END apple',
      /^111 - ERROR: Malformed message: unknown flag #verbose \(BRK-3\.5, offset 6\)$/,
    ],
    ['#USER #index error 9 #END apple', /^111 - ERROR: Malformed message: .*BRK-2\.23/],
    ['#USER #END (apple', /^111 - ERROR: Malformed message: .*BRK-2\.4/],
    [`#USER #END ${'('.repeat(2000)}`, /^111 - ERROR: Malformed message: .*BRK-2\.24/],
    [`#USER #END ${'x '.repeat(2000)}`, /^111 - ERROR: Malformed message: .*BRK-2\.24/],
    [
      '#USER #END title regexp "("',
      /^111 - ERROR: embedded does not support the regular expression \(: missing closing \)$/,
    ],
    ['#USER #END title regexp "(?=a)"', /^111 - ERROR: embedded does not support (?!.*syntax)/],
    ['#USER #END title regexp "(malformed"', /^111 - ERROR: embedded does not support (?!.*malformed)/],
    ['#WHAT #END apple', /^111 - ERROR: Malformed message: .*BRK-2\.1/],
    ['SEND-UPDATE 0', /^111 - ERROR: Malformed message: .*BRK-2\.1/],
  ];
  for (const [message, expected] of cases) {
    const lines = (await exchange(port, `${message}\r\n`)).split('\n').slice(1, -1);
    t.equal(lines.length, 1, message.slice(0, 40));
    t.match(lines[0], expected);
  }
  t.match(
    await exchange(port, '#USER #opaque #index rank "by date" #index fuzzy #END pie\r\n'),
    /^200 - .*\n101 - .*rank "by date".*\n101 - .*fuzzy.*\n120 - http:\/\/lib\.test\/c\n/,
    'BRK-3.5: notices come first, results follow',
  );
  t.match(
    await exchange(port, '#USER #opaque #index error 1 #END pi.\r\n'),
    /130 - object end\n103 - ERROR: .*\n$/,
    'BRK-4.13, BRK-4.18: a warning does not end the results',
  );
});

t.test('BRK-4.19, BRK-4.15: results and warnings of an engine that is out of time are sent', async (t) => {
  const { broker } = await shared;
  const outcome: SearchOutcome = {
    complete: false,
    reason: 'lifetime',
    warnings: ['glimpse: pattern too long'],
  };
  const engine = new Proxy(broker.indexer, {
    get(target, name): unknown {
      const results = {
        outcome: Promise.resolve(outcome),
        async *[Symbol.asyncIterator]() {
          yield { oid: 3, lines: [] };
        },
      };
      return name === 'query' ? () => results : Reflect.get(target, name, target);
    },
  }) satisfies Indexer;
  const parts: SearchParts = {
    store: broker.store,
    indexer: engine,
    urls: { objectUrl: () => 'http://b.test/o', homePage: 'http://b.test/' },
    settings: { value: { maxResults: 10, glimpseMaxLife: 30, opaqueMode: 'suppress' } },
    keeper: broker.keeper,
    onFailure: (error) => t.fail(error.message),
  };
  using request = broker.queries.begin();
  const pages = search({ kind: 'term', text: 'x', quoted: false, offset: 0 }, DEFAULT_FLAGS, parts, request);
  let text = '';
  for await (const page of pages) text += page.map((item) => Buffer.from(encodeResult(item))).join('');
  t.equal(
    text,
    '120 - http://lib.test/c\n125 - http://b.test/o\n126 - http://b.test/\n130 - object end\n' +
      '103 - ERROR: glimpse: pattern too long\n101 - Query stopped after 30 seconds; results are incomplete.\n',
  );
});

t.test('BRK-3.2: one client, two servers: matched lines are sent on request', async (t) => {
  for (const mode of ['suppress', 'show'] as const) {
    const { port } = await serveLettered(t, `Opaque-Mode ${mode}\n`);
    const lines = async (request: QueryRequest) => {
      const client = new BrokerClient({ host: '127.0.0.1', port, opaqueMode: mode });
      for await (const hit of client.query('pie', request)) return hit.matchedLines.length;
      return -1;
    };
    t.equal(await lines({ matchedLines: true }), 1, `${mode}: matched lines are requested`);
    t.equal(await lines({ matchedLines: false }), 0, `${mode}: matched lines are not requested`);
  }
});

t.test('the query builder takes every character literally', async (t) => {
  const { port } = await shared;
  const client = new BrokerClient({ host: '127.0.0.1', port });
  const found = async (query: QueryInput) => {
    let urls = '';
    for await (const { url } of client.query(query)) urls += url.at(-1);
    return Array.from(urls).sort().join('');
  };
  const title = q.attribute('title');
  t.equal(await found(q.word('node.js')), 'b', 'the dot is a dot');
  t.equal(await found(q.pattern('node.js')), 'bc', 'the dot is any character');
  t.equal(
    await found(q.word('red').and(q.word('brick')).or(q.word('pie'))),
    'bc',
    'operators apply in the order of the calls',
  );
  t.equal(await found(title.contains('apple').except(title.regexp('^apple'))), 'ac');
  t.equal(await found(q.attribute('size').lessThan(100).and(q.attribute('type').exact('HTML').not())), 'b');
  t.equal(await found(q.all()), 'abcde');
  t.equal(await found(q.attribute('keywords').contains('and')), 'a');
});

t.test('BRK-1.10: a matched line has the bytes of its object', async (t) => {
  const latin1 = Buffer.from('Title{12}:\tcaf\xe9 \x80 latin\n', 'latin1');
  const utf8 = Buffer.from('Title{11}:\tcaf\u00e9 utf-8\n', 'utf8');
  t.same(lineBytes('caf\u00e9 \u20ac latin', latin1), Buffer.from('caf\xe9 \x80 latin', 'latin1'));
  t.same(lineBytes('caf\u00e9 utf-8', utf8), Buffer.from('caf\xc3\xa9 utf-8', 'latin1'));
  t.same(lineBytes('\u4e2d', latin1), Buffer.from('\u4e2d'), 'text of no object is sent as UTF-8');

  const gatherd = await startScripted(t);
  const sent = document('http://lib.test/l', { Title: 'LATIN', Type: 'UTF8' }, NOW);
  const [before = '', after = ''] = sent.split('Title{5}:\tLATIN\n');
  const [middle = '', end = ''] = after.split('Type{4}:\tUTF8\n');
  gatherd.sections = Buffer.concat([
    Buffer.from(`@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${before}Title{4}:\t`),
    Buffer.from('caf\xe9\n', 'latin1'),
    Buffer.from(`${middle}Type{5}:\tcaf\u00e9\n${end}}\n`),
  ]);
  const fixture = await openBroker(t, { points: [gatherd.point(0)] });
  await fixture.broker.collections.run();
  const { port } = (await serveBroker(t, fixture)).address;
  const pieces: Uint8Array[] = [];
  for await (const piece of new BrokerClient({ host: '127.0.0.1', port }).raw('#USER #END caf\u00e9'))
    pieces.push(piece);
  const reply = Buffer.concat(pieces).toString('latin1');
  t.match(reply, /^122 - Matched line: Title# Title\{4\}:\tcaf\xe9$/m);
  t.match(reply, /^122 - Matched line: Type# Type\{5\}:\tcaf\xc3\xa9$/m);
});

t.test('BRK-1.6 to BRK-1.8: one message per connection, however its bytes are split', async (t) => {
  const { port } = await shared;
  const message = '\r\n#USER #opaque #END "green\nbrick" or pie\r\n#USER #END #allb\r\n';
  const whole = await exchange(port, message);
  t.equal(letters(whole), 'cd', 'an LF in quotes is a blank; bytes after the message are not read');
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let reply = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    reply += text;
  });
  for (const byte of Buffer.from(message)) {
    await new Promise((resolve) => socket.write(Uint8Array.of(byte), resolve)).catch(() => undefined);
    if (socket.destroyed || reply.includes('130 - ')) break;
  }
  if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve).resume());
  t.equal(reply, whole, 'the reply to single bytes is the same');
});

t.test('BRK-4.14: the client throws a PeerError for a refusal', async (t) => {
  const { port } = await shared;
  const client = new BrokerClient({ host: '127.0.0.1', port });
  await t.rejects(async () => {
    for await (const _hit of client.query('title regexp "("')) t.fail('the query has a hit');
  }, PeerError);
});
