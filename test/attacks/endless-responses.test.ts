// Servers whose responses never end, arrive too slowly, or cost more memory than they have bytes, by every
// access method of a Gatherer.
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createFetcher, type FetcherOptions } from '../../clients/fetch/index.js';
import { onLines, scripted, sendForever } from '../clients/fetch/scripted.js';
import { finalEventOf, gather, unlimitedRoot, urlsOf } from '../helpers/gather-peers/gather.js';
import { usedMemory } from '../helpers/used-memory.js';

type Handler = (socket: Socket) => void;

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const LETTERS = Buffer.alloc(65_536, 97);
const GOOD: Handler = (socket) => socket.end(`${OK}Content-Length: 4\r\nConnection: close\r\n\r\ngood`);

/** Responses that bring no document, or almost none, whatever is received. */
const ENDLESS: Readonly<Record<string, readonly [begin: string, rest: Uint8Array]>> = {
  'a reason phrase': ['HTTP/1.1 200 ', LETTERS],
  'a chunk extension': [`${CHUNKED}1;`, LETTERS],
  'chunks with long extensions': [CHUNKED, Buffer.from(`1;${'e'.repeat(15_000)}\r\na\r\n`.repeat(4))],
  'a quoted chunk extension': [`${CHUNKED}1;a="`, LETTERS],
  'a chunk size': [CHUNKED, Buffer.alloc(65_536, '0')],
  'informational responses': ['', Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(2000))],
  'early hints': ['', Buffer.from(`HTTP/1.1 103 Hints\r\nLink: ${'a'.repeat(8000)}\r\n\r\n`.repeat(8))],
  'empty lines': ['', Buffer.from('\r\n'.repeat(30_000))],
};

/** Starts a web server with one document, sent by `handle`. */
async function siteOf(t: Test, handle: Handler): Promise<string> {
  const { port } = await scripted(t, (socket) =>
    onLines(socket, (line) => {
      if (line === 'GET / HTTP/1.1') handle(socket);
      else if (line.startsWith('GET ')) socket.end('HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n');
    }),
  );
  return `http://127.0.0.1:${port}/`;
}

t.test('G-86: a response without a document ends, with a reason, and others are gathered', async (t) => {
  const sent = { bytes: 0 };
  const good = await siteOf(t, GOOD);
  const urls = new Map<string, string>();
  for (const [name, [begin, rest]] of Object.entries(ENDLESS)) {
    const url = await siteOf(t, (socket) => {
      socket.write(begin);
      sendForever(socket, rest, sent);
    });
    urls.set(url, name);
  }
  // The limits on time are long: only what is received can end these responses.
  const gathered = await gather(
    t.testdir(),
    { leaves: [...urls.keys(), good] },
    { maxRetries: 1, readTimeoutMs: 100_000 },
  );
  for (const [url, name] of urls) {
    const event = finalEventOf(gathered, url);
    t.equal(event?.disposition, 'failed', name);
    t.match(
      event?.reason,
      /the server sent \d+ bytes for \d+ bytes of the document|larger than 10485760 bytes|(?:header|extensions|line of a chunk) (?:is|are) longer than \d+ bytes/,
      name,
    );
  }
  t.strictSame(urlsOf(gathered), [good]);
  t.equal(gathered.report.end, 'finished');
});

t.test('G-86: a document in chunks of one byte costs memory like any other', async (t) => {
  const size = 1 << 20;
  const url = await siteOf(t, (socket) => {
    socket.write(CHUNKED);
    socket.write('1\r\na\r\n'.repeat(size));
  });
  const stop = new AbortController();
  await using fetcher = createFetcher({ userAgent: 'x' });
  const before = await usedMemory();
  let failure: unknown;
  const fetching = fetcher.fetch({ url, maxBytes: 4 * size, signal: stop.signal }).catch((error: unknown) => {
    failure = error;
  });
  // The response does not end, so what was received is in memory once the server has sent everything.
  let used = 0;
  for (let looks = 0; looks < 8; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    used = Math.max(used, (await usedMemory()) - before);
  }
  t.equal(failure, undefined, 'the limit on what comes with a document does not apply');
  stop.abort(new Error('seen enough'));
  await fetching;
  t.ok(used < 40 << 20, `a document of ${size} bytes needs ${used} bytes`);
});

t.test('a document in small chunks arrives unchanged, however it is cut', async (t) => {
  const expected = Array.from({ length: 30_000 }, (_, i) => `${i} `).join('');
  for (const length of [1, 7, 4095, 4096, 5000, 70_000]) {
    const url = await siteOf(t, (socket) => {
      socket.write(CHUNKED.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      for (let at = 0; at < expected.length; at += length) {
        const piece = expected.slice(at, at + length);
        socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      }
      socket.end('0\r\n\r\n');
    });
    await using fetcher = createFetcher({ userAgent: 'x' });
    const whole = await fetcher.fetch({ url });
    t.equal(Buffer.from(whole.body).toString(), expected, `chunks of ${length}`);
    const cut = await fetcher.fetch({ url, maxBytes: 100_001 });
    t.equal(Buffer.from(cut.body).toString(), expected.slice(0, 100_001));
    t.equal(cut.truncated, true);
  }
});

/** Sends a byte ten times per second for ever. */
function drip(socket: Socket, text = 'x'): void {
  const timer = setInterval(() => socket.write(text), 100);
  socket.on('close', () => clearInterval(timer));
}

/** An FTP server up to a command; then `handle` gets the data connection, and nothing is answered any more. */
function ftpUntil(socket: Socket, stop: string, handle: (data: Socket) => void): void {
  const data = createServer().listen(0, '127.0.0.1');
  const opened = new Promise<Socket>((resolve) => data.once('connection', resolve));
  socket.on('close', () => {
    data.close();
    void opened.then((connection) => connection.destroy());
  });
  socket.write('220 hello\r\n');
  onLines(socket, (line) => {
    const [command = ''] = line.split(' ');
    const address = data.address();
    const port = address === null || typeof address === 'string' ? 0 : address.port;
    if (command === stop || (stop === 'LIST' && command === 'MLSD')) {
      socket.write('150 coming\r\n');
      void opened.then((connection) => {
        connection.on('error', () => {});
        handle(connection);
      });
    } else if (command === 'RETR') socket.write('550 no\r\n');
    else if (command === 'EPSV') socket.write(`229 ok (|||${port}|)\r\n`);
    else if (command === 'USER') socket.write('331 password\r\n');
    else if (command === 'PASS') socket.write('230 in\r\n');
    else if (command === 'PWD') socket.write('257 "/"\r\n');
    else if (/^(?:SIZE|MDTM|FEAT)$/.test(command)) socket.write('502 no\r\n');
    else socket.write('250 ok\r\n');
  });
}

const SLOW: FetcherOptions = { userAgent: 'x', minBytesPerSecond: 10_000, minRateGraceMs: 500 };

t.test('G-85: a server that sends too little is cut by a minimum rate, by every access method', async (t) => {
  const servers: Readonly<Record<string, Handler>> = {
    'http://HOST/header': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      drip(socket);
    },
    'http://HOST/body': (socket) => {
      socket.write(`${OK}Content-Length: 1000000\r\n\r\n`);
      drip(socket);
    },
    'http://HOST/informational': (socket) => drip(socket, 'HTTP/1.1 102 P\r\n\r\n'),
    'ftp://HOST/greeting': (socket) => drip(socket, '220-\r\n'),
    'ftp://HOST/control': (socket) => ftpUntil(socket, 'RETR', () => drip(socket, '150-\r\n')),
    'ftp://HOST/data': (socket) => ftpUntil(socket, 'RETR', (data) => drip(data)),
    'ftp://HOST/listing/': (socket) => ftpUntil(socket, 'LIST', (data) => drip(data, 'a\r\n')),
    'gopher://HOST/0/text': (socket) => drip(socket),
    'gopher://HOST/1/menu': (socket) => drip(socket),
    'nntp://HOST/a.group': (socket) => {
      socket.write('200 hello\r\n');
      drip(socket);
    },
    'nntp://HOST/a.group/5': (socket) => {
      socket.write('200 hello\r\n');
      onLines(socket, (line) => {
        if (line.startsWith('GROUP')) return void socket.write('211 9 1 9 a.group\r\n');
        if (!line.startsWith('ARTICLE')) return void socket.write('200 yes\r\n');
        socket.write('220 5 <article@a.example>\r\nSubject: x\r\n\r\n');
        drip(socket, 'x\r\n');
      });
    },
  };
  await Promise.all(
    Object.entries(servers).map(async ([pattern, handle]) => {
      const { port } = await scripted(t, (socket) => {
        if (/^(?:ftp|nntp)/.test(pattern)) handle(socket);
        else socket.once('data', () => handle(socket));
        socket.resume();
      });
      await using fetcher = createFetcher(SLOW);
      const url = pattern.replace('HOST', `127.0.0.1:${port}`);
      await t.rejects(
        fetcher.fetch({ url }),
        { code: 'ERR_CONNECTION', message: /the server sent less than 10000 bytes per second/ },
        pattern,
      );
    }),
  );
});

t.test('G-85: a server that sends slowly, but enough, is read to its end', async (t) => {
  const url = await siteOf(t, (socket) => {
    socket.write(`${OK}Connection: close\r\n\r\n`);
    drip(socket, 'y'.repeat(2000));
    setTimeout(() => socket.end(), 1500);
  });
  await using fetcher = createFetcher({ userAgent: 'x', minBytesPerSecond: 100, minRateGraceMs: 500 });
  const result = await fetcher.fetch({ url });
  t.equal(result.status, 200);
  t.ok(result.body.length > 0);
});

t.test('G-85: a server that sends little more than the minimum is cut before the deadline', async (t) => {
  // A twentieth of a million bytes in twenty seconds needs 50 000 per second; 2000 per second are more than the
  // minimum.
  const limits = { userAgent: 'x', minBytesPerSecond: 100, minRateGraceMs: 1000, maxTransferMs: 20_000 };
  const url = await siteOf(t, (socket) => {
    socket.write(`${OK}Connection: close\r\n\r\n`);
    drip(socket, 'y'.repeat(200));
  });
  await using fetcher = createFetcher(limits);
  await t.rejects(fetcher.fetch({ url, maxBytes: 1_000_000 }), {
    code: 'ERR_CONNECTION',
    message: /the server sent less than \d+ bytes per second/,
  });
});

t.test('a proxy that sends too little for an ftp URL is cut', async (t) => {
  const { port } = await scripted(t, (socket) => {
    socket.once('data', () => {
      socket.write(`${OK}\r\n`);
      drip(socket);
    });
  });
  await using fetcher = createFetcher({ ...SLOW, ftpProxy: `127.0.0.1:${port}` });
  await t.rejects(fetcher.fetch({ url: 'ftp://files.example/a' }), {
    message: /less than 10000 bytes per second/,
  });
});

t.test('G-173: a chain of redirects, each to a new URL, ends; a short one finds its document', async (t) => {
  let requests = 0;
  const { port } = await scripted(t, (socket) =>
    onLines(socket, (line) => {
      const path = /^GET (\S+)/.exec(line)?.[1];
      if (path === undefined) return;
      requests += 1;
      const step = /^\/short(\d)$/.exec(path)?.[1];
      if (step === '5') GOOD(socket);
      else if (step !== undefined) redirect(socket, `/short${Number(step) + 1}`);
      else if (path.startsWith('/chain')) redirect(socket, `/chain${requests}`);
      else socket.end('HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n');
    }),
  );
  const site = `http://127.0.0.1:${port}`;
  const gathered = await gather(t.testdir(), {
    roots: [`${site}/chain`, `${site}/short0`].map((url) => unlimitedRoot(url)),
  });
  t.equal(gathered.report.end, 'finished');
  t.strictSame(urlsOf(gathered), [`${site}/short5`]);
  const failed = gathered.events.filter(({ disposition }) => disposition === 'failed');
  t.match(failed, [{ reason: 'more than 5 redirects in a row (G-173)' }]);
  t.ok(requests < 20, `${requests} requests`);
});

function redirect(socket: Socket, location: string): void {
  socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}
