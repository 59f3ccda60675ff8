// The port of a Broker: replies byte for byte, clients of 1998, slow and silent clients, administration,
// limits.
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { DEFAULT_FLAGS, encodeResult, type ResultItem } from '../../../protocols/broker/index.js';
import type { SearchSummary } from '../../../servers/broker/index.js';
import { passwordMatches } from '../../../servers/broker/index.js';
import { search } from '../../../servers/broker/query/search.js';
import { gate } from '../../helpers/gate.js';
import { ManualClock, steady, timerOf } from '../../helpers/manual-clock.js';
import {
  corpus,
  document,
  exchange,
  NOW,
  openBroker,
  serveBroker,
  serveCollected,
  type Teardown,
  withQueryResults,
} from './helpers.js';

const VERSION = '200 - HARVEST Broker 1.0\n';
const HOME = 'http://www.example.org:8080/Harvest/brokers/example/';

/** Returns the lines of an object before its description and matched lines. */
function objectHead(url: string, oid: number): string {
  return `120 - ${url}\n125 - ${HOME}objects/${oid % 100}/OBJ${oid}\n126 - ${HOME}\n`;
}

const GOPHER = objectHead('http://www.example.org/gopher.html', 1);
const WAIS = objectHead('ftp://ftp.example.org/wais.txt', 2);
const MOSAIC = objectHead('http://www.example.org/mosaic.html', 3);
const END = '130 - object end\n';

/** Serves a broker over the small corpus or these documents. */
const serveCorpus = (
  t: Teardown,
  conf = '',
  options: Parameters<typeof serveBroker>[2] = {},
  documents = corpus(),
) => serveCollected(t, documents, conf, options);

t.test('BRK-4: replies, byte for byte', async (t) => {
  const { port, log } = await serveCorpus(t);
  const replies: readonly (readonly [string, string, string])[] = [
    [
      'BRK-4.3, 4.8: matched lines',
      '#USER #index case insensitive #END mosaic\r\n',
      `${MOSAIC}122 - Matched line: url# @FILE { http://www.example.org/mosaic.html\n122 - Matched line: Title# Title{6}:\tMosaic\n${END}`,
    ],
    ['BRK-3.2: #opaque suppresses matched lines', '#USER #opaque #END Mosaic\r\n', `${MOSAIC}${END}`],
    [
      'BRK-4.4, 4.5: the size of a description excludes the LF after it',
      '#USER #desc #opaque #index matchword #END menu\r\n',
      `${GOPHER}124 - 26\nAbout gopher\nand its menus\n${END}`,
    ],
    [
      'BRK-4.6: attributes in the requested order and spelling, without missing ones',
      '#USER #opaque #attribute author #attribute nothing #attribute TITLE #END menu\r\n',
      `${GOPHER}127 - author 9\nA. Writer\n127 - TITLE 15\nThe gopher menu\n${END}`,
    ],
    [
      'BRK-2.11: #ALLB in capitals, without flags',
      '#USER #END #ALLB\n',
      `${GOPHER}${END}${WAIS}${END}${MOSAIC}${END}`,
    ],
    ['#since selects newer objects', `#USER #since ${NOW - 9998} #END #allb\n`, `${MOSAIC}${END}`],
    ['#since with a query', `#USER #since ${NOW - 9999} #opaque #END gopher\n`, `${WAIS}${END}`],
    [
      '#index maxfiles limits the objects',
      '#USER #index maxfiles 2 #END #allb\n',
      `${GOPHER}${END}${WAIS}${END}`,
    ],
    [
      'BRK-8.11: an object without matched lines counts as one for maxresult',
      '#USER #index maxresult 2 #END #allb\n',
      `${GOPHER}${END}${WAIS}${END}`,
    ],
    ['BRK-2.13: except', '#USER #opaque #END gopher except WAIS\n', `${GOPHER}${END}`],
    ['BRK-4.12, 4.18: nothing matched', '#USER #END veronica\n', '101 - No objects matched your query.\n'],
    [
      'BRK-1.8: leading empty lines are skipped',
      '\r\n\n#USER #END veronica\r\n',
      '101 - No objects matched your query.\n',
    ],
    [
      'BRK-3.5: an unknown #index flag is ignored with a notice',
      '#USER #index frobnicate 3 #END veronica\n',
      '101 - Unknown flag #index frobnicate 3 ignored.\n101 - No objects matched your query.\n',
    ],
    [
      'BT-10: a bulk transfer is refused with code 400',
      '#BULK #DIGEST - #END #ALLB\r\n',
      '400 - ERROR: #digest and #compress need #interface 2\n',
    ],
  ];
  for (const [name, message, reply] of replies) t.equal(await exchange(port, message), VERSION + reply, name);

  t.match(
    await exchange(port, '#USER (gopher\n'),
    /^200 - .*\n111 - ERROR: Malformed message: .*\n$/,
    'BRK-4.18: a malformed message',
  );
  t.match(await exchange(port, 'GET / HTTP/1.0\r\n\r\n'), /^200 - .*\n111 - ERROR: Malformed message: .*\n$/);
  t.ok(log.some((line) => line.includes('Query: 127.0.0.1: #USER #opaque #END Mosaic: 1 objects, 0 lines')));
});

t.test('BRK-3.2: with Opaque-Mode show, matched lines need #opaque', async (t) => {
  const { port } = await serveCorpus(t, 'Opaque-Mode show\n');
  t.equal(await exchange(port, '#USER #END Mosaic\n'), `${VERSION}${MOSAIC}${END}`);
  t.match(
    await exchange(port, '#USER #opaque #END Mosaic\n'),
    /122 - Matched line: Title# Title\{6\}:\tMosaic\n/,
  );
});

t.test('BRK-7.3: Max-Results limits every reply', async (t) => {
  const { port } = await serveCorpus(t, 'Max-Results 2\n');
  for (const query of ['#USER #END #allb', '#USER #opaque #index case insensitive #END example']) {
    const reply = await exchange(port, `${query}\n`);
    t.equal(reply.split('\n').filter((line) => line === '130 - object end').length, 2);
  }
});

t.test('BRK-10: replies suit the parsers of two clients of 1998', async (t) => {
  const { port } = await serveCorpus(t);
  t.test('the WHOIS++ gateway sends CR LF, does not half-close, reads objects from 120 to 130', async (t) => {
    const reply = await exchange(
      port,
      '#USER #desc #index case insensitive #index maxresult 51 #END gopher and wais\r\n',
    );
    const records: Record<string, string>[] = [];
    let record: Record<string, string> | undefined;
    for (const line of reply.split('\n')) {
      if (/^(?:200|125|126|124) - /.test(line)) continue;
      if (/^(?:111|103) - /.test(line) && line.includes('ERROR')) t.fail(line);
      if (line.startsWith('120 - ')) record = { url: line.slice(6) };
      else if (line === '130 - object end') records.push(record ?? {});
    }
    t.same(records, [{ url: 'ftp://ftp.example.org/wais.txt' }]);
  });

  t.test('the centroid client awaits the version line before it sends, and reads 127 by size', async (t) => {
    const socket = connect(port, '127.0.0.1');
    let reply = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      reply += text;
    });
    await once(socket, 'data');
    t.match(reply, /^200 - .*Broker.*\n$/);
    socket.write('#USER #attribute title #attribute type #END #ALLB\r\n');
    await once(socket, 'end');
    socket.destroy();
    const values: string[] = [];
    for (let rest = reply; ; ) {
      const match = /127 - ([^\n]*) (\d+)\n/.exec(rest);
      if (match === null) break;
      const start = match.index + match[0].length;
      values.push(`${match[1]}=${rest.slice(start, start + Number(match[2]))}`);
      rest = rest.slice(start + Number(match[2]));
    }
    t.same(values, [
      'title=The gopher menu',
      'type=HTML',
      'title=WAIS and gopher',
      'type=Text',
      'title=Mosaic',
      'type=HTML',
    ]);
  });
});

t.test('BRK-1.8: messages that do not end', async (t) => {
  const { port } = await serveCorpus(t, '', { messageTimeoutMs: 150 });
  t.match(
    await exchange(port, '#USER #END never finished'),
    /^200 - .*\n111 - ERROR: .*\n$/,
    'a message without a line end is refused after the timeout',
  );
  t.match(
    await exchange(port, `#USER #END ${'x'.repeat(70_000)}`),
    /^200 - .*\n111 - ERROR: .*\n$/,
    'an endless line is refused',
  );
  const half = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  half.end('#USER #opaque #END Mosaic');
  const chunks: Buffer[] = [];
  for await (const chunk of half) chunks.push(chunk);
  t.equal(Buffer.concat(chunks).toString(), `${VERSION}${MOSAIC}${END}`, 'a half-close ends the message');
  const silent = connect(port, '127.0.0.1');
  silent.end();
  t.equal((await once(silent, 'data'))[0]?.toString(), VERSION, 'a silent client gets the version line only');
});

t.test('BRK-5: administration commands', async (t) => {
  let stopped = 0;
  const { port, log, broker } = await serveCorpus(t, '', { shutdown: () => void stopped++ });
  const admin = async (command: string, password = '"open sesame"') =>
    (await exchange(port, `#ADMIN #Password ${password} ${command}\r\n`)).slice(VERSION.length);
  t.equal(await admin('#collection', 'wrong'), '111 - ERROR: Invalid password\n', 'BRK-5.2: it is refused');
  t.equal(broker.collections.running, false);
  t.equal(await admin('#clean-broker'), '101 - Deleted 0 expired objects\n');
  t.match(await admin('#do-stats'), /^101 - Objects: 3\n(?:101 - .*\n)+$/);
  t.equal(await admin('#collection'), '101 - Collection started\n', 'BRK-5.4: a long command starts');
  t.equal(await admin('#shutdown'), '101 - Shutdown started\n');
  t.equal(stopped, 1);
  t.ok(log.some((line) => line.includes('Admin: 127.0.0.1: #collection refused')));
  t.notOk(log.join('').includes('sesame'), 'the password is not in the log');

  t.equal(passwordMatches('', ''), false, 'BRK-5.2: an empty configured password refuses every command');
  t.equal(passwordMatches('a', 'a'), true);
  t.equal(passwordMatches('a', 'ab'), false);
});

const EMPTY_SUMMARY: SearchSummary = { objects: 0, lines: 0, complete: true };

t.test('BRK-1.5: the version line is repeated while a query finds nothing', async (t) => {
  const { broker } = await openBroker(t);
  const finished = gate();
  const server = await serveBroker(
    t,
    {
      broker: withQueryResults(broker, async function* () {
        await finished.opened;
        yield [{ kind: 'message', text: 'done' }];
        return EMPTY_SUMMARY;
      }),
    },
    { repeatVersionMs: 5 },
  );
  const socket = connect(server.address.port, '127.0.0.1');
  let reply = '';
  socket.on('data', (chunk: Buffer) => {
    reply += chunk;
    if (reply.split(VERSION).length > 3) finished.open();
  });
  socket.write('#USER #END x\n');
  await once(socket, 'end');
  socket.destroy();
  t.match(reply, /^(?:200 - HARVEST Broker 1\.0\n){3,}101 - done\n$/);
});

/** Resolves when a signal is aborted. */
function over(signal: AbortSignal): Promise<unknown> {
  return signal.aborted ? Promise.resolve() : once(signal, 'abort');
}

t.test('a client that is gone ends its query soon; one that half-closed gets the reply', async (t) => {
  for (const [text, allowHalfOpen] of [
    ['#USER #END x\n', false],
    ['#USER #END x\n', true],
  ] as const) {
    const { broker } = await openBroker(t);
    const finish = new AbortController();
    const started = new AbortController();
    const aborted = new AbortController();
    const server = await serveBroker(
      t,
      {
        broker: withQueryResults(broker, async function* (signal) {
          started.abort();
          signal?.addEventListener('abort', () => aborted.abort());
          await Promise.race([over(aborted.signal), over(finish.signal)]);
          yield [{ kind: 'message', text: 'done' }];
          return EMPTY_SUMMARY;
        }),
      },
      { probeMs: 20 },
    );
    const socket = connect({ port: server.address.port, host: '127.0.0.1', allowHalfOpen });
    socket.on('error', () => undefined);
    let reply = '';
    socket.on('data', (chunk: Buffer) => {
      reply += chunk;
      if (reply.split(VERSION).length > 2) finish.abort();
    });
    // With the greeting read, closing sends FIN, not a reset.
    await once(socket, 'data');
    socket.write(text);
    await over(started.signal);
    if (allowHalfOpen) {
      socket.end();
      await once(socket, 'end');
      t.match(reply, /^(?:200 - HARVEST Broker 1\.0\n){2}101 - done\n$/, 'the version line is repeated once');
    } else {
      socket.destroy();
      await over(aborted.signal);
      t.notOk(finish.signal.aborted, text);
    }
  }
});

t.test('a client that closes the connection ends its query', async (t) => {
  const { broker } = await openBroker(t);
  const [running, aborted] = [gate(), gate()];
  const server = await serveBroker(t, {
    broker: withQueryResults(broker, async function* (signal) {
      running.open();
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
      aborted.open();
      return EMPTY_SUMMARY;
    }),
  });
  const socket = connect(server.address.port, '127.0.0.1');
  socket.write('#USER #END x\n');
  await running.opened;
  socket.resetAndDestroy();
  await t.resolves(aborted.opened, 'the search was aborted');
});

t.test('the query of a slow client pauses while the client does not read', async (t) => {
  const { broker } = await openBroker(t);
  let pages = 0;
  const page: ResultItem[] = Array.from({ length: 100 }, () => ({ kind: 'opaque', text: 'x'.repeat(2000) }));
  const clock = new ManualClock();
  const served = withQueryResults(broker, async function* () {
    for (; pages < 400; pages++) yield page;
    return EMPTY_SUMMARY;
  });
  const server = await serveBroker(t, { broker: served }, { drainTimeoutMs: 70_000, clock });
  const socket = connect(server.address.port, '127.0.0.1');
  socket.pause();
  socket.write('#USER #END x\n');
  // The search stops when the socket buffers are full.
  await timerOf(clock, 70_000);
  await steady(() => pages);
  t.ok(pages < 100, `${pages} of 400 pages were searched for a client that reads nothing`);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.resume();
  await once(socket, 'end');
  socket.destroy();
  t.equal(pages, 400);
  t.equal(bytes, VERSION.length + 400 * 100 * (2000 + '122 - \n'.length), 'no byte is lost');
});

t.test('BRK-4.18: a query beyond Max-Queries is refused', async (t) => {
  const { port, broker } = await serveCorpus(t, 'Max-Queries 2\n', { queueWaitMs: 20 });
  const slots = [
    await broker.queries.slots.acquire({ waitMs: 0 }),
    await broker.queries.slots.acquire({ waitMs: 0 }),
  ];
  t.equal(broker.queries.slots.inUse, 2);
  t.equal(
    await exchange(port, '#USER #END #allb\n'),
    `${VERSION}111 - ERROR: Broker is too busy, try again later\n`,
  );
  slots[0]?.[Symbol.dispose]();
  t.equal(broker.queries.slots.inUse, 1);
  t.equal(await exchange(port, '#USER #opaque #END Mosaic\n'), `${VERSION}${MOSAIC}${END}`);
});

t.test('100 concurrent clients all receive their replies, five queries at a time', async (t) => {
  const documents = Array.from({ length: 300 }, (_, i) => ({
    updateTime: NOW - 1000,
    text: document(`http://www.example.org/${i}`, {
      Title: `word${i % 3} common`,
      'Full-Text': 'lorem ipsum\n'.repeat(20),
    }),
  }));
  const { port } = await serveCorpus(t, 'Max-Queries 5\n', { queueWaitMs: 60_000 }, documents);
  const counts = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const reply = await exchange(port, `#USER #END word${i % 3}\r\n`);
      return reply.split('\n').filter((line) => line === '130 - object end').length;
    }),
  );
  t.same(new Set(counts), new Set([100]));
});

t.test('BRK-8.14, 4.15: a query that takes too long returns the objects found so far', async (t) => {
  const { broker } = await serveCorpus(t, 'Glimpse-MaxLife 10\n');
  const parts = {
    ...broker,
    settings: { value: { ...broker.config, glimpseMaxLife: 0 } },
    onFailure: (error: Error) => t.fail(error.message),
  };
  using request = broker.queries.begin();
  const pages = search({ kind: 'all' }, DEFAULT_FLAGS, parts, request);
  let text = '';
  let next = await pages.next();
  for (; next.done !== true; next = await pages.next())
    text += next.value.map((item) => Buffer.from(encodeResult(item))).join('');
  t.match(next.value, { complete: false, reason: 'lifetime' });
  t.match(text, /^101 - Query stopped after .* seconds; results are incomplete\.\n$/);
});
