// A wrong shape from JavaScript is a UsageError with a sentence at every entry point of the clients, before
// anything is sent.
import t from 'tap';
import { BrokerClient, q, queryMessage, requestFlags } from '../../clients/broker/index.js';
import { BulkClient, compareBrokers } from '../../clients/bulk/index.js';
import { collectChanges, GatherdClient } from '../../clients/gatherd/index.js';
import {
  fetchCommonConfiguration,
  linkedUrls,
  ReferencesClient,
  ReferencesPool,
} from '../../clients/references/index.js';
import { UsageError } from '../../protocols/errors.js';
import { tcpServer } from '../helpers/tcp-server.js';

// biome-ignore lint/suspicious/noExplicitAny: callers in JavaScript pass anything
type Anything = any;
type Call = (value: Anything) => unknown;

const text = 'a text';
const bytes = new Uint8Array([1]);
const isNothing = [undefined, null];
/** Wrong values for each kind of argument. */
const WRONG = {
  text: [...isNothing, Number.NaN, 7, true, bytes, {}, [], () => {}, Symbol('s'), 7n],
  textOrBytes: [...isNothing, Number.NaN, 7, true, {}, [text], () => {}],
  options: [null, text, 7, true, [], () => {}, { unknownOption: 1 }, { sgnal: undefined }],
  number: [null, Number.NaN, -1, text, '7', true, {}, 7n],
  whole: [null, Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, '7', true],
  flag: [null, 'true', 1, 0, {}],
  callback: [null, text, 1, {}],
  signal: [null, text, {}, true, new AbortController()],
  list: [null, text, 7, {}, [undefined], [7], [null]],
  node: [...isNothing, 7, true, {}, { kind: 'odd' }, { kind: 'and' }, { kind: 'term' }, { kind: 'not' }],
} as const;

t.test('every wrong argument is a sentence, and nothing is sent', async (t) => {
  let connections = 0;
  const port = await tcpServer(t, (socket) => {
    connections++;
    socket.destroy();
  });
  const peer = { host: '127.0.0.1', port };
  const broker = new BrokerClient(peer);
  const bulk = new BulkClient(peer);
  const gatherd = new GatherdClient(peer);
  const references = new ReferencesClient(peer);
  const pool = new ReferencesPool(peer);
  t.teardown(() => Promise.all([gatherd.close(), references.close(), pool.close()]));

  const made: Record<string, (options: Anything) => unknown> = {
    BrokerClient: (options) => new BrokerClient(options),
    BulkClient: (options) => new BulkClient(options),
    GatherdClient: (options) => new GatherdClient(options),
    collectChanges,
    ReferencesClient: (options) => new ReferencesClient(options),
    ReferencesPool: (options) => new ReferencesPool(options),
    linkedUrls: (options) => linkedUrls({ what: 'http://a.test/', list: 'to', ...options }),
    fetchCommonConfiguration: (options) => fetchCommonConfiguration({ user: 'u', password: 'p', ...options }),
  };
  const calls: [string, readonly unknown[], Call][] = [];
  const option = (name: string, wrong: readonly unknown[], call: Call, key: string) =>
    calls.push([`${name} ${key}`, wrong, (value) => call({ [key]: value })]);

  for (const [name, make] of Object.entries(made)) {
    const merges = name === 'linkedUrls' || name === 'fetchCommonConfiguration';
    calls.push([name, merges ? [{ unknownOption: 1, ...peer }] : [...WRONG.options, undefined, {}], make]);
    const over: Call = (options) => make({ ...peer, ...options });
    option(name, [...WRONG.text, ''], over, 'host');
    option(name, [...WRONG.whole, 0, 65_536], over, 'port');
    option(name, WRONG.number, over, 'timeoutMs');
    option(name, [0], over, 'idleTimeoutMs');
    if (name !== 'linkedUrls') option(name, WRONG.number, over, 'connectTimeoutMs');
    if (/Gatherd|Changes|ReferencesClient|linked|fetch/.test(name))
      option(name, WRONG.signal, over, 'signal');
    if (/Bulk|Gatherd|collect/.test(name)) {
      option(name, WRONG.callback, over, 'onWarning');
      option(name, [null, text, {}, { open: text }], over, 'large');
      option(name, WRONG.number, over, 'maxInflateRatio');
    }
    if (/Broker|Bulk|ReferencesC/.test(name)) {
      option(name, [null, text, { maxLineByte: 7 }, { maxLineBytes: text }], over, 'limits');
    }
  }
  option('collectChanges', WRONG.whole, (o) => collectChanges({ ...peer, ...o }), 'since');
  option('collectChanges', WRONG.callback, (o) => collectChanges({ ...peer, ...o }), 'onRetry');
  option('GatherdClient', [null, { mode: 'odd' }], (o) => new GatherdClient({ ...peer, ...o }), 'soif');
  option('GatherdClient', WRONG.text.slice(1), (o) => new GatherdClient({ ...peer, ...o }), 'clientName');
  option('BrokerClient', [null, 'odd'], (o) => new BrokerClient({ ...peer, ...o }), 'opaqueMode');
  option('ReferencesPool', [...WRONG.whole, 0], (o) => new ReferencesPool({ ...peer, ...o }), 'connections');
  option(
    'ReferencesClient',
    [...WRONG.whole, 0],
    (o) => new ReferencesClient({ ...peer, ...o }),
    'maxInFlight',
  );

  const command = (value: Anything) => broker.admin('p', value);
  calls.push(
    ['query', [...WRONG.node, bytes], (value) => broker.query(value)],
    ['query, a built one', WRONG.node, (query) => broker.query({ query } as Anything)],
    ['query options', WRONG.options, (value) => broker.query('a', value)],
    ['queryMessage', WRONG.node, (value) => queryMessage(value, {}, 'suppress')],
    ['requestFlags', WRONG.options, (value) => requestFlags(value, 'suppress')],
    ['requestFlags mode', [...WRONG.text, text], (value) => requestFlags({}, value)],
    ['admin password', WRONG.text, (value) => broker.admin(value, { kind: 'shutdown' })],
    ['admin command', [...WRONG.text, text, { kind: 'undefined' }, { kind: 'constructor' }], command],
    ['admin options', WRONG.options, (value) => broker.admin('p', { kind: 'shutdown' }, value)],
    ['message', WRONG.textOrBytes, (value) => broker.message(value)],
    ['message options', WRONG.options, (value) => broker.message('#USER #END a', value)],
    ['raw', WRONG.textOrBytes, (value) => broker.raw(value)],
    ['raw options', WRONG.options, (value) => broker.raw('#USER #END a', value)],
    ['changes of bulk', [...WRONG.options, undefined], (value) => bulk.changes(value)],
    ['digest', [...WRONG.text, 'A', '0'.repeat(17)], (value) => bulk.digest(value)],
    ['digest options', WRONG.options, (value) => bulk.digest('', value)],
    ['compareBrokers', [...WRONG.text, text], (value) => compareBrokers(bulk, value)],
    ['compareBrokers, first', [...WRONG.text, text], (value) => compareBrokers(value, bulk)],
    ['compareBrokers options', WRONG.options, (value) => compareBrokers(bulk, bulk, value)],
    ['changes', [...WRONG.options, undefined, {}], (value) => gatherd.changes(value)],
    ['stream', [...WRONG.options, undefined, {}], (value) => gatherd.stream(value)],
    ['object', [...WRONG.text, ''], (value) => gatherd.object(value)],
    ['object options', WRONG.options, (value) => gatherd.object('u', value)],
    ['receiveObject', [...WRONG.text, ''], (value) => gatherd.receiveObject(value, async () => {})],
    ['receiveObject, receiver', [undefined, ...WRONG.callback], (value) => gatherd.receiveObject('u', value)],
    ['receiveObject options', WRONG.options, (value) => gatherd.receiveObject('u', async () => {}, value)],
    ['info', WRONG.options, (value) => gatherd.info(value)],
    ['connect', WRONG.options, (value) => gatherd.connect(value)],
    ['quit', WRONG.options, (value) => gatherd.quit(value)],
    ['connect of references', WRONG.options, (value) => references.connect(value)],
  );
  for (const [of, client] of Object.entries({ references, pool })) {
    calls.push(
      [`links of ${of}`, [...WRONG.options, undefined, {}], (value) => client.links('referers', value)],
      [`links kind of ${of}`, [...WRONG.text, text], (value) => client.links(value, { id: 1 })],
      [`referers of ${of}`, [...WRONG.options, undefined], (value) => client.referers(value)],
      [`references of ${of}`, [...WRONG.options, undefined], (value) => client.references(value)],
      [`siteReferers of ${of}`, [...WRONG.options, undefined], (value) => client.siteReferers(value)],
      [`siteReferences of ${of}`, [...WRONG.options, undefined], (value) => client.siteReferences(value)],
      [`pages of ${of}`, [...WRONG.options, undefined], (value) => client.pages('referers', value)],
      [`ids of ${of}`, [...WRONG.options, undefined], (value) => client.ids('referers', value)],
      [`allIds of ${of}`, [...WRONG.options, undefined], (value) => client.allIds('referers', value)],
      [`urlByName of ${of}`, [...WRONG.text, ''], (value) => client.urlByName(value)],
      [`urlByName options of ${of}`, WRONG.options, (value) => client.urlByName('u', value)],
      [`request of ${of}`, [...WRONG.text, ''], (value) => client.request(value, [])],
      [
        `request headers of ${of}`,
        [undefined, ...WRONG.list, [['a', 7]]],
        (value) => client.request('REQ_GET_URLBYNAME', value),
      ],
      [`request options of ${of}`, WRONG.options, (value) => client.request('REQ_GET_URLBYNAME', [], value)],
    );
    for (const key of ['id', 'start', 'count', 'generation'])
      option(`links of ${of}`, WRONG.whole, (o) => client.links('referers', { url: 'u', ...o }), key);
    option(`links of ${of}`, WRONG.text, (o) => client.links('referers', o), 'url');
    option(
      `pages of ${of}`,
      [...WRONG.whole, 0],
      (o) => client.pages('referers', { id: 1, ...o }),
      'pageSize',
    );
    option(`pages of ${of}`, WRONG.callback, (o) => client.pages('referers', { id: 1, ...o }), 'onRestart');
    option(`ids of ${of}`, WRONG.signal, (o) => client.ids('referers', { id: 1, ...o }), 'signal');
  }
  for (const key of ['desc', 'matchedLines', 'ignoreCase', 'ignoreAccents', 'contentOnly', 'matchWord'])
    option('query', WRONG.flag, (o) => broker.query('a', o), key);
  for (const key of ['errors', 'maxFiles', 'maxResults', 'maxLines', 'lifetime', 'since'])
    option('query', WRONG.whole, (o) => broker.query('a', o), key);
  for (const key of ['attributes', 'indexFlags'])
    option('query', WRONG.list, (o) => broker.query('a', o), key);
  for (const [kind, key] of Object.entries({ 'add-object': 'files', 'rem-object-oid': 'oids', set: 'value' }))
    option(`admin ${kind}`, [undefined, null, 7, [{}]], (o) => command({ kind, name: 'a', ...o }), key);
  for (const kind of ['add-log', 'rem-log', 'rem-object-path', 'rem-object-query'])
    calls.push([`admin ${kind}`, [{ kind }, { kind, event: 7, path: 7, query: 7 }], command]);
  for (const make of [(o: Anything) => bulk.changes(o), (o: Anything) => gatherd.changes({ since: 0, ...o })])
    option('changes', WRONG.whole, make, 'since');
  for (const key of ['flags', 'query'])
    option('changes of bulk', WRONG.text.slice(1), (o) => bulk.changes(o), key);
  option('changes of bulk', [null, 0, 3, '1'], (o) => bulk.changes(o), 'interface');
  option('changes of bulk', [...WRONG.flag, true], (o) => bulk.changes(o), 'compress');
  for (const key of ['compression', 'sections'])
    option('changes', WRONG.flag, (o) => gatherd.changes({ since: 0, ...o }), key);

  const word = q.word('rye');
  const title = q.attribute('title');
  const builders: Record<string, Call> = {
    word: q.word,
    phrase: q.phrase,
    pattern: q.pattern,
    attribute: q.attribute,
    parse: q.parse,
    contains: (value) => title.contains(value),
    matches: (value) => title.matches(value),
    exact: (value) => title.exact(value),
    regexp: (value) => title.regexp(value),
  };
  for (const [name, call] of Object.entries(builders)) calls.push([`q ${name}`, WRONG.text, call]);
  const expressions: Record<string, Call> = {
    and: (value) => word.and(value),
    or: (value) => word.or(value),
    except: (value) => word.except(value),
    not: q.not,
    every: (value) => q.every(word, value),
    'every, first': (value) => q.every(value),
    some: (value) => q.some(value, word),
  };
  for (const [name, call] of Object.entries(expressions))
    calls.push([`q ${name}`, [...WRONG.text, text, q.all(), title], call]);
  for (const compare of [(v: Anything) => title.lessThan(v), (v: Anything) => title.greaterThan(v)])
    calls.push([
      'q comparison',
      [...isNothing, Number.NaN, true, {}, [7], Number.POSITIVE_INFINITY],
      compare,
    ]);

  for (const [name, wrong, call] of calls) {
    for (const value of wrong) {
      const error = await Promise.resolve()
        .then(() => call(value))
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
      const what = `${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;
      const isSentence = error instanceof UsageError && /^[^\n]{10,600}$/.test(error.message);
      t.ok(isSentence, `${what} is refused`, { error });
    }
  }
  t.equal(connections, 0, 'nothing is sent');
});

t.test('the sentence names the option, what it takes, and the name that was meant', async (t) => {
  const message = (call: () => unknown): string => {
    try {
      call();
    } catch (error) {
      if (error instanceof UsageError) return error.message;
    }
    return '';
  };
  const make = (options: Anything) => new BrokerClient(options);
  t.equal(
    message(() => make(undefined)),
    'BrokerClient: the options must be an object, not undefined',
  );
  t.equal(
    message(() => make({ host: 'h', timeoutMS: 7 })),
    'BrokerClient: an option named "timeoutMS" does not exist; did you mean "timeoutMs"?',
  );
  t.equal(
    message(() => make({ host: 'h', limits: { maxLineBytes: '7' } })),
    'BrokerClient: limits.maxLineBytes must be a number from 0, not "7"',
  );
  t.equal(
    message(() => make({ host: 'h', port: Number.NaN })),
    'BrokerClient: port must be a whole number from 1 to 65535, not NaN',
  );
  const password = await make({ host: 'h' })
    .admin(12_345 as Anything, { kind: 'shutdown' })
    .then(() => '', String);
  t.notMatch(password, /12345/, 'a password is not shown');
});
