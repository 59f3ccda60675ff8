// Tests clients/references (a connection, the pool, the lists of a dispatcher) and `harvest references` against
// a server that runs a script.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import t from 'tap';
import {
  fetchCommonConfiguration,
  linkedUrls,
  ReferencesClient,
  ReferencesPool,
} from '../../../clients/references/index.js';
import { UsageError } from '../../../protocols/errors.js';
import { cli } from '../../helpers/cli.js';

/** A server that calls a script for each chunk that a connection receives. */
class ScriptedServer implements AsyncDisposable {
  readonly sockets: Socket[] = [];
  received = '';
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(
    onChunk: (socket: Socket, chunk: string, input: string) => void,
  ): Promise<ScriptedServer> {
    const server = createServer();
    const scripted = new ScriptedServer(server);
    server.on('connection', (socket) => {
      scripted.sockets.push(socket);
      socket.on('error', () => {});
      let input = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        input += chunk;
        scripted.received += chunk;
        onChunk(socket, chunk, input);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return scripted;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Answers each request for `HEADER_URI_ID: n` with n as the only result. */
function echo(socket: Socket, received: string): void {
  const ids = [...received.matchAll(/HEADER_URI_ID: (\d+)/g)].map(([, id]) => id);
  for (const id of ids)
    socket.write(
      `SSTP/1.0 081 X\r\nHEADER_NUMFOUND: 1\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 1\r\nHEADER_URI_ID: ${id}\r\n\r\n`,
    );
}

t.test('P-23: concurrent calls get their own answers, at most maxInFlight at a time', async (t) => {
  let mostAtOnce = 0;
  await using server = await ScriptedServer.start((socket, received) => {
    mostAtOnce = Math.max(mostAtOnce, [...received.matchAll(/HEADER_URI_ID/g)].length);
    echo(socket, received);
  });
  await using client = new ReferencesClient({
    host: '127.0.0.1',
    port: server.port,
    maxInFlight: 10,
  });
  const ids = Array.from({ length: 500 }, (_, i) => i + 1);
  const replies = await Promise.all(ids.map((id) => client.references({ id })));
  t.same(
    replies.map((reply) => reply.ids[0]),
    ids,
  );
  t.equal(client.pending, 0);
  t.ok(mostAtOnce <= 10, `${mostAtOnce} requests at a time`);
  t.equal(server.sockets.length, 1);
});

t.test('S-39: after an aborted call the others get their answers', async (t) => {
  await using server = await ScriptedServer.start((socket, _chunk, input) => {
    if ((input.match(/\r\n\r\n/g) ?? []).length === 3) echo(socket, input);
  });
  await using client = new ReferencesClient({ host: '127.0.0.1', port: server.port });
  const abort = new AbortController();
  const first = client.references({ id: 1 });
  const second = client.references({ id: 2, signal: abort.signal });
  abort.abort(new Error('enough'));
  await t.rejects(second, { message: 'enough' });
  const third = client.references({ id: 3 });
  const fourth = client.references({ id: 4 });
  t.same([(await first).ids[0], (await third).ids[0], (await fourth).ids[0]], [1, 3, 4]);
});

t.test('P-19, S-42, S-39: not found is empty, other codes are errors', async (t) => {
  const answers = ['404 X\r\nHEADER_NUMFOUND: 0', '501 X', '081 X\r\nHEADER_NUMFOUND: 0', '403 FORBIDDEN'];
  await using server = await ScriptedServer.start((socket, received) => {
    for (const _ of received.matchAll(/\r\n\r\n/g)) socket.write(`SSTP/1.0 ${answers.shift()}\r\n\r\n`);
  });
  await using client = new ReferencesClient({ host: '127.0.0.1', port: server.port });
  const calls = [1, 2, 3, 4, 5].map((id) => client.references({ id }));
  const settled = await Promise.allSettled(calls);
  t.match(settled, [
    { value: { found: 0, known: false } },
    { reason: { code: 'ERR_PEER', status: 501 } },
    { value: { found: 0, known: true } },
    { reason: { code: 'ERR_PEER', status: 403 } },
    { reason: { code: 'ERR_PEER', status: 403 } },
  ]);
  t.ok(client.closed);
  await t.rejects(client.references({ id: 1 }), { code: 'ERR_PEER' });
});

t.test('S-57, S-45: a server that is silent, disconnects early, or sends garbage is an error', async (t) => {
  const connect = (port: number, timeoutMs = 60_000) =>
    new ReferencesClient({ host: '127.0.0.1', port, timeoutMs }).connect();
  await using silent = await ScriptedServer.start(() => {});
  await using first = await connect(silent.port, 50);
  await t.rejects(first.references({ id: 1 }), {
    code: 'ERR_CONNECTION',
    message: /nothing received for 50 ms/,
  });
  await using broken = await ScriptedServer.start((socket) => socket.end('SSTP/1.0 081 X\r\nHEADER_'));
  await using second = await connect(broken.port);
  await t.rejects(second.references({ id: 1 }), { code: 'ERR_CONNECTION' });
  await using nonsense = await ScriptedServer.start((socket) => socket.write('HTTP/1.0 400 Bad\r\n\r\n'));
  await using third = await connect(nonsense.port);
  await t.rejects(third.references({ id: 1 }), { code: 'ERR_PROTOCOL' });
  const { port } = nonsense;
  await nonsense[Symbol.asyncDispose]().catch(() => {});
  await t.rejects(connect(port), { code: 'ERR_CONNECTION', message: /refused/ });
  await t.rejects(second.links('references', {}), UsageError);
});

t.test('R-31: more IDs than were requested are an error, also one where only the total was', async (t) => {
  await using server = await ScriptedServer.start((socket) => {
    socket.write('SSTP/1.0 082 X\r\nHEADER_NUMFOUND: 9\r\nHEADER_URI_ID: 4\r\nHEADER_URI_ID: 5\r\n\r\n');
  });
  await using client = new ReferencesClient({ host: '127.0.0.1', port: server.port });
  for (const count of [0, 1])
    await t.rejects(client.referers({ id: 1, count }), { code: 'ERR_PROTOCOL', rule: 'R-31' });
  for (const count of [2, 3, undefined]) t.equal((await client.referers({ id: 1, count })).ids.length, 2);
});

t.test('S-36: a URL is sent in visible ASCII', async (t) => {
  await using server = await ScriptedServer.start((socket) =>
    socket.write('SSTP/1.0 404 X\r\nHEADER_NUMFOUND: 0\r\n\r\n'),
  );
  await using client = new ReferencesClient({ host: '127.0.0.1', port: server.port });
  await client.urlByName('http://\u00e4.example/a b');
  t.match(server.received, /HEADER_URL: http:\/\/%C3%A4\.example\/a%20b\r\n/);
});

t.test('R-31: pages continue at start + returned if the server sends fewer than requested', async (t) => {
  const all = Array.from({ length: 25 }, (_, i) => 100 + i);
  await using server = await ScriptedServer.start((socket, received) => {
    const start = Number(/HEADER_START_RESULTS: (\d+)/.exec(received)?.[1]);
    const ids = all.slice(start, start + 4);
    socket.write(
      `SSTP/1.0 083 X\r\nHEADER_NUMFOUND: 25\r\nHEADER_START_RESULTS: ${start}\r\nHEADER_NUMRESULTS: ${ids.length}\r\n${ids.map((id) => `HEADER_URI_ID: ${id}\r\n`).join('')}\r\n`,
    );
  });
  await using client = new ReferencesClient({ host: '127.0.0.1', port: server.port });
  const ids: number[] = [];
  for await (const id of client.ids('site-references', { url: 'a.example', pageSize: 10 })) ids.push(id);
  t.same(ids, all);
  t.match(
    server.received,
    /^SSTP\/1\.0 083 REQ_GET_SITEREFERENCES\r\nHEADER_URL: a\.example\r\nHEADER_NUMRESULTS: 10\r\nHEADER_START_RESULTS: 0\r\n/,
  );
});

const DESCRIPTION =
  'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\nHEADER_URI_ID: 12\r\nHEADER_SERVER_ID: 2\r\nHEADER_SERVER_PROTOCOL: http\r\nHEADER_SERVER_NAME: a.example\r\nHEADER_SERVER_PORT: 81\r\nHEADER_URI: /\r\nHEADER_URI_TIME: 1000000120\r\nHEADER_URL_CHECKTIME: 1000001200\r\nHEADER_URI_LEN: 1200\r\n\r\n';

t.test('P-22: both spellings of request 008 are sent as code 008', async (t) => {
  await using server = await ScriptedServer.start((socket) => socket.write(DESCRIPTION));
  await using client = new ReferencesClient({ host: '127.0.0.1', port: server.port });
  const url = 'http://a.example:81/';
  for (const symbol of ['REQ_GET_URLBYNAME', 'REQ_GET_URL_BYNAME'])
    t.equal((await client.request(symbol, [['HEADER_URL', url]])).code, 8);
  t.match(await client.urlByName(url), { id: 12, serverId: 2, host: 'a.example', port: 81, length: 1200 });
  const wire = `SSTP/1.0 008 REQ_GET_URL_BYNAME\r\nHEADER_URL: ${url}\r\n\r\n`;
  t.equal(server.received, wire.repeat(3));
  await t.rejects(client.request('REQ_GET_NOTHING', []), { code: 'ERR_USAGE' });
});

t.test('S-39: a pool spreads calls over its connections and replaces a broken one', async (t) => {
  await using server = await ScriptedServer.start((socket, received) => {
    if (received.includes('HEADER_URI_ID: 666')) socket.destroy();
    else setImmediate(() => echo(socket, received));
  });
  await using pool = new ReferencesPool({ host: '127.0.0.1', port: server.port, connections: 3 });
  const ids = Array.from({ length: 30 }, (_, i) => i + 1);
  const replies = await Promise.all(ids.map((id) => pool.references({ id })));
  t.same(
    replies.map((reply) => reply.ids[0]),
    ids,
  );
  t.equal(server.sockets.length, 3);
  await t.rejects(pool.references({ id: 666 }), { code: 'ERR_CONNECTION' });
  t.equal((await pool.references({ id: 7 })).ids[0], 7);
  await pool.close();
  await t.rejects(pool.references({ id: 1 }), { code: 'ERR_CONNECTION' });
});

t.test('P-21, S-52, S-53, S-54: the lists of a dispatcher succeed or fail independently', async (t) => {
  const fetchFrom = (port: number) =>
    fetchCommonConfiguration({
      host: '127.0.0.1',
      port,
      user: 'namefromadmin',
      password: 'abrakadabra',
      timeoutMs: 100,
    });
  await using server = await ScriptedServer.start((socket, _chunk, input) => {
    if (!input.endsWith('\r\n\r\n')) return;
    if (input.startsWith('SSTP/1.0 017'))
      socket.write('SSTP/1.0 017 X\r\nHEADER_CONTENT_LENGTH: 24\r\n\r\n192.168.3.*\n*.turtle.ru\n');
    else socket.end('SSTP/1.0 403 FORBIDDEN\r\n\r\n');
  });
  const lists = await fetchFrom(server.port);
  t.same(lists.allow, { ok: true, text: '192.168.3.*\n*.turtle.ru\n' });
  t.match(lists.users, { ok: false, error: { code: 'ERR_PEER', status: 403 } });
  t.match(
    server.received,
    /SSTP\/1\.0 017 REQ_GET_ALLOW\r\nHEADER_AUTHORIZATION: Basic bmFtZWZyb21hZG1pbjphYnJha2FkYWJyYQ==\r\n\r\n/,
  );
  const answers: readonly [string, object][] = [
    ['SSTP/1.0 0$$ X\r\nHEADER_CONTENT_LENGTH: 0\r\n\r\n', { ok: true, text: '' }],
    ['SSTP/1.0 0$$ X\r\n\r\n', { ok: false, error: { rule: 'S-52' } }],
    ['SSTP/1.0 404 X\r\n\r\n', { ok: false, error: { status: 404 } }],
    ['nonsense\r\n', { ok: false, error: { code: 'ERR_PROTOCOL' } }],
    ['SSTP/1.0 0$$ X\r\nHEADER_CONTENT_LENGTH: 1\r\n\r\n\xff', { ok: false, error: { rule: 'S-52' } }],
    ['', { ok: false, error: { code: 'ERR_CONNECTION' } }],
    ['SSTP/1.0 0$$ X\r\nHEADER_CONTENT_LENGTH: 9999999\r\n\r\n', { ok: false, error: { rule: 'S-38' } }],
  ];
  for (const [answer, expected] of answers) {
    await using other = await ScriptedServer.start((socket, chunk) => {
      socket.write(answer.replace('$$', chunk.slice(10, 12)), 'latin1');
    });
    const received = await fetchFrom(other.port);
    t.match(received, { allow: expected, users: expected }, JSON.stringify(answer));
  }
});

t.test('S-41: `harvest references` lists links page by page and describes documents', async (t) => {
  await using server = await ScriptedServer.start((socket, received) => {
    if (received.startsWith('SSTP/1.0 008')) return socket.write(DESCRIPTION);
    const code = received.slice(9, 12);
    if (received.includes('nowhere')) return socket.write('SSTP/1.0 404 X\r\nHEADER_NUMFOUND: 0\r\n\r\n');
    return socket.write(
      `SSTP/1.0 ${code} X\r\nHEADER_NUMFOUND: 3\r\nHEADER_START_RESULTS: 1\r\nHEADER_NUMRESULTS: 2\r\nHEADER_URI_ID: 20\r\nHEADER_URI_ID: ${code}\r\n\r\n`,
    );
  });
  const address = `127.0.0.1:${server.port}`;
  t.match(await cli('references', '--ids', '--start', '1', address, '10'), {
    code: 0,
    stdout: '20\n82\n',
    stderr: 'references: 3 found, 2 shown\n',
  });
  t.match(await cli('references', '--start', '1', address, '10'), {
    code: 0,
    stdout: '20\n82\n',
    stderr: /^references: 3 found, 2 shown\nreferences: IDs, not URLs, which are read over HTTP: [^\n]+\n$/,
  });
  t.match(await cli('references', '--urls', address, '10'), { code: 3, stdout: '' }, 'URLs or nothing');
  t.match(await cli('references', '--site-from', '--json', '--count', '2', address, 'a.example'), {
    code: 0,
    stdout: '{"known":true,"found":3,"start":1,"ids":[20,83]}\n',
  });
  t.match(server.received, /082 REQ_GET_REFERERS\r\nHEADER_URI_ID: 10\r\nHEADER_START_RESULTS: 1\r\n\r\n/);
  t.match(await cli('references', address, 'http://nowhere.example/'), { code: 1, stdout: '' });
  t.match(await cli('references', '--describe', address, 'http://a.example:81/'), {
    code: 0,
    stdout: /^document: {2}12\nserver: {4}2 \(a\.example:81\)\n/,
  });
  t.match(await cli('references', '--from', '--to', address, '1'), { code: 2 });
  const { port } = server;
  await server[Symbol.asyncDispose]();
  for (const option of [[], ['--ids'], ['--urls']])
    t.match(await cli('references', ...option, `127.0.0.1:${port}`, '1'), {
      code: 3,
      stdout: '',
      stderr: /^references: [^\n]*connection refused: [^\n]*\n$/,
    });
});

/** Answers of servers that give no URLs of links at `GET /`, and what the message says of each. */
const OTHER_PAGES: readonly (readonly [answer: string, found: RegExp])[] = [
  ['404 Not Found\r\nContent-Type: text/html\r\n\r\n<h1>not here</h1>', /404 \(text\/html\), not with/],
  ['404 Not Found\r\n\r\n', /404, not with/],
  [
    '404 Not Found\r\nContent-Type: application/json\r\n\r\n{"error":"no page"}',
    /404 \(application\/json\), not with/,
  ],
  ['404 Not Found\r\nContent-Type: application/json\r\n\r\n{"found":0,"results":[]}', /404/],
  ['301 Moved\r\nLocation: /stat\r\n\r\n', /301, not with/],
  ['401 Unauthorized\r\nWWW-Authenticate: Basic\r\n\r\n', /401, not with/],
  ['405 Method Not Allowed\r\n\r\n', /405, not with/],
  ['500 Internal Server Error\r\n\r\n', /500, not with/],
  ['200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n<p>hello', /200 \(text\/html\), not with/],
  ['200 OK\r\nContent-Type: a b\r\n\r\n', /200, not with/],
  [
    '200 OK\r\nContent-Type: application/json\r\n\r\n{"found":1,"results":[1]}',
    /200 \(application\/json\), not with/,
  ],
];

t.test('R-46: a 404 of another server for `/` is no word about a document: SSTP decides', async (t) => {
  let page: string | undefined;
  await using server = await ScriptedServer.start((socket, _chunk, input) => {
    if (!input.endsWith('\r\n\r\n')) return;
    if (!input.startsWith('GET')) return echo(socket, input);
    if (page === undefined) socket.resetAndDestroy();
    else socket.end(page === '' ? '' : `HTTP/1.1 ${page}`, 'latin1');
  });
  const where = { host: '127.0.0.1', port: server.port };
  const address = `127.0.0.1:${server.port}`;
  const read = () => linkedUrls({ ...where, what: '7', list: 'from' }).next();
  for (const [answer, message] of OTHER_PAGES) {
    page = answer;
    await t.rejects(read(), { code: 'ERR_PEER', message }, answer);
  }
  for (page of ['', undefined]) await t.rejects(read(), { code: 'ERR_CONNECTION' });
  page = '404 Not Found\r\n\r\n{"query":"7","found":0,"results":[]}';
  t.match(await read(), { done: true }, "the kit's own 404: no such document");
  t.match(await cli('references', '--from', address, '7'), { code: 1, stderr: 'references: not known\n' });
  page = OTHER_PAGES[0]?.[0];
  t.match(await cli('references', '--from', address, '7'), {
    code: 0,
    stdout: '7\n',
    stderr: `references: 1 found, 1 shown\nreferences: IDs, not URLs, which are read over HTTP: ${address}: GET / is answered 404 (text/html), not with URLs of documents\n`,
  });
  t.match(await cli('references', '--from', '--urls', address, '7'), { code: 3, stdout: '' });
});
