// The rules of gatherd.md that no other test names, over the wire, with bytes written by hand.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { GatherdClient, type GatherdClientConnectOptions } from '../../../clients/gatherd/index.js';
import { GATHERD_PORT } from '../../../protocols/gatherd/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { CliProcess } from '../../helpers/cli.js';
import {
  Database,
  entry,
  exchange,
  fakeServer,
  latin1,
  RawClient,
  soif,
  startGatherd,
  updateStream,
} from '../../servers/gatherd/helpers.js';

const A = entry('http://a.example/', 100, 'first');
const B = entry('http://b.example/B%7e', 200, 'second');
const ALL = updateStream(A.soif + B.soif);
const GREETING = '000 - HELLO 1.8 gatherer.example.org\n';

const connect = (port: number, options: Partial<GatherdClientConnectOptions> = {}) =>
  GatherdClient.connect({ host: '127.0.0.1', port, clientName: 'client.example.org', ...options });

async function collect(client: GatherdClient, compression = false): Promise<string[]> {
  const found: string[] = [];
  for await (const { kind, bytes } of client.changes({ since: 0, compression })) {
    found.push(`${kind} ${latin1(bytes)}`);
  }
  return found;
}
const BOTH = [`update ${A.soif}`, `update ${B.soif}`];

// ---------------------------------------------------------------- the daemon

t.test('GATHERD-1.1 the server sends first; each connection is a session of its own', async (t) => {
  const { port } = await startGatherd(t, [A, B]);
  const silent = new RawClient(t, port);
  t.equal(await silent.until(/\n/), GREETING);
  const compressed = new RawClient(t, port);
  compressed.send('SET compression\n');
  await compressed.until(/^500/m);
  t.match(
    await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'),
    `400 - Sending all objects since 0\n${ALL}499 - `,
  );
  compressed.send('SEND-UPDATE 0\nQUIT\n');
  await compressed.closed;
  t.match(compressed.received, '\n400 - Sending all objects since 0\n\x1f\x8b');
});

t.test('GATHERD-1.3 object data passes unchanged, with any bytes', async (t) => {
  const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('latin1');
  const object = `@FILE { http://bytes.example/\nUpdate-Time{1}:\t5\nBody{${256 * 2 + 12}}:\t${every}\r\n499 - x\r\n}\n${every.slice(1)}x\n}\n`;
  const { port } = await startGatherd(t, [{ url: 'http://bytes.example/', updateTime: 5, soif: object }]);
  t.match(
    await exchange(t, port, 'SEND-UPDATE 0\nSEND-OBJECT http://bytes.example/\nQUIT\n'),
    `400 - Sending all objects since 0\n${updateStream(object)}499 - Sent 1 objects\n300 - Sending object http://bytes.example/\n${object}399 - Sent object\n999 - Bye\n`,
  );
  await using client = await connect(port);
  for (const compression of [false, true]) t.same(await collect(client, compression), [`update ${object}`]);
});

t.test('GATHERD-1.5 the server ends its lines with LF only, whatever the client uses', async (t) => {
  const { port } = await startGatherd(t, [A]);
  const lines = [
    'HELLO me',
    'HELP',
    'INFO',
    'SET compression',
    'SET x',
    'SEND-OBJECT x',
    'SEND-UPDATE x',
    'x',
    'QUIT',
  ];
  const heard = await exchange(t, port, `${lines.join('\r\n')}\r\n`);
  t.notMatch(heard, /\r/);
  t.match(heard, /999 - Bye\n$/);
});

t.test('GATHERD-2.1, 2.2, 3.1, 3.2, 3.4 every command has its range of codes and its text', async (t) => {
  const { port } = await startGatherd(t, [A, B]);
  const answers: readonly (readonly [command: string, answer: string])[] = [
    ['HELLO me.example.org', '100 - HELLO me.example.org\n'],
    ['SEND-OBJECT http://a.example/', `300 - Sending object http://a.example/\n${A.soif}399 - Sent object\n`],
    ['SEND-UPDATE 150', `400 - Sending all objects since 150\n${updateStream(B.soif)}499 - Sent 1 objects\n`],
    ['SET compression', '500 - Compression enabled\n'],
    ['QUIT', '999 - Bye\n'],
  ];
  for (const [command, answer] of answers) {
    const quit = command === 'QUIT' ? '' : '999 - Bye\n';
    t.equal(await exchange(t, port, `${command}\nQUIT\n`), `${GREETING}${answer}${quit}`, command);
  }
  const help = (await exchange(t, port, 'help\nQUIT\n')).slice(GREETING.length, -'999 - Bye\n'.length);
  t.match(help, /^(?:200 - [^\n]+\n)+$/);
  for (const verb of ['HELLO', 'HELP', 'INFO', 'SEND-OBJECT', 'SEND-UPDATE', 'SET compression', 'QUIT']) {
    t.match(help, new RegExp(`^200 - ${verb}\\b`, 'm'));
  }
  t.match(
    await exchange(t, port, 'INFO\nQUIT\n'),
    /^000 - [^\n]+\n@GATHERER \{ [\s\S]*\n\}\n600 - End of INFO\n999 - Bye\n$/,
  );
});

t.test("GATHERD-2.6 HELLO's argument is only for the log", async (t) => {
  const { port, log } = await startGatherd(t, [A]);
  t.equal(
    await exchange(t, port, 'HELLO\nHELLO a b\nHELLO other.example.com\nQUIT\n'),
    `${GREETING}100 - HELLO \n100 - HELLO a b\n100 - HELLO other.example.com\n999 - Bye\n`,
  );
  t.match(log.join(''), /127\.0\.0\.1: HELLO other\.example\.com/);
});

t.test('GATHERD-3.5 the greeting has two words: version and full host name', async (t) => {
  const { port } = await startGatherd(t, [], { hostname: hostname(), version: '1.4.pl2' });
  t.equal(await exchange(t, port, 'QUIT\n'), `000 - HELLO 1.4.pl2 ${hostname()}\n999 - Bye\n`);
});

t.test('GATHERD-3.9 an unknown command gets 900 and the session continues', async (t) => {
  const { port } = await startGatherd(t, [A]);
  t.equal(
    await exchange(
      t,
      port,
      'SEND\nSEND-UPDATES 0\nSET\nSET compression on\nSEND-OBJECT\nSEND-UPDATE zero\nSEND-UPDATE 0x10\nHELLO me\nQUIT\n',
    ),
    `${GREETING}900 - Unknown command: SEND\n900 - Unknown command: SEND-UPDATES\n900 - Bad argument: SET\n` +
      '900 - Bad argument: compression on\n900 - Bad argument: SEND-OBJECT\n499 - Bad timestamp\n499 - Bad timestamp\n' +
      '100 - HELLO me\n999 - Bye\n',
  );
});

t.test('GATHERD-4.1, 4.2 seconds since 1970, compared with Update-Time only', async (t) => {
  const object = (
    url: string,
    update: number,
    modified: number,
  ): { url: string; updateTime: number; soif: string } => ({
    url,
    updateTime: update,
    soif: `@FILE { ${url}\nLast-Modification-Time{${String(modified).length}}:\t${modified}\nUpdate-Time{${String(update).length}}:\t${update}\n}\n`,
  });
  const old = object('http://old.example/', 1_000_000_000, 1_700_000_000);
  const recent = object('http://recent.example/', 1_600_000_000, 5);
  const { port } = await startGatherd(t, [old, recent]);
  const since = async (argument: string) =>
    /objects since \d+\n([\s\S]*)499 - Sent/.exec(
      await exchange(t, port, `SEND-UPDATE ${argument}\nQUIT\n`),
    )?.[1];
  t.equal(await since('0'), updateStream(old.soif + recent.soif), 'everything');
  t.equal(await since('1500000000'), updateStream(recent.soif));
  t.equal(await since('0001500000000'), updateStream(recent.soif), 'leading zeros are decimal digits too');
  t.equal(await since('1600000001'), updateStream(''));
});

t.test('GATHERD-4.3 an object without a readable Update-Time is always sent', async (t) => {
  const without = {
    url: 'http://w.example/',
    updateTime: 0,
    soif: '@FILE { http://w.example/\nBody{1}:\tx\n}\n',
  };
  const { port } = await startGatherd(t, [A, without, B]);
  const answer = await exchange(t, port, 'SEND-UPDATE 150\nQUIT\n');
  t.match(answer, without.soif);
  t.match(answer, B.soif);
  t.notMatch(answer, A.soif);
  t.match(answer, '499 - Sent 2 objects\n');
});

t.test(
  'GATHERD-4.7 an expired object is still sent: expiry belongs to the database maintenance',
  async (t) => {
    const expired = {
      url: 'http://e.example/',
      updateTime: 100,
      soif: '@FILE { http://e.example/\nTime-to-Live{1}:\t1\nUpdate-Time{3}:\t100\n}\n',
    };
    const { port } = await startGatherd(t, [expired]);
    t.match(
      await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'),
      `${updateStream(expired.soif)}499 - Sent 1 objects\n`,
    );
  },
);

t.test(
  'GATHERD-5.1, 5.2 an object identifier is the URL, exact bytes; the object is sent bare',
  async (t) => {
    const { port } = await startGatherd(t, [A, B]);
    const found = `300 - Sending object http://b.example/B%7e\n${B.soif}399 - Sent object\n`;
    t.equal(
      await exchange(t, port, 'SEND-OBJECT http://b.example/B%7e\nQUIT\n'),
      `${GREETING}${found}999 - Bye\n`,
    );
    for (const other of [
      'http://b.example/B%7E',
      'http://b.example/b%7e',
      'http://b.example/B~',
      'http://b.example/B%7',
    ]) {
      t.equal(
        await exchange(t, port, `SEND-OBJECT ${other}\nQUIT\n`),
        `${GREETING}399 - No such object ${other}\n999 - Bye\n`,
        other,
      );
    }
  },
);

t.test(
  'GATHERD-6.1, 6.4, 6.8 compression: every update from then on, no line, no object, no INFO',
  async (t) => {
    const { port } = await startGatherd(t, [A, B]);
    const heard = await exchange(
      t,
      port,
      'SET compression\nSEND-UPDATE 0\nSEND-OBJECT http://a.example/\nSEND-UPDATE 150\nINFO\nSET compression\nQUIT\n',
    );
    const shape =
      /^000 - [^\n]+\n500 - Compression enabled\n400 - Sending all objects since 0\n(\x1f\x8b\x08[\s\S]+?)499 - Sent 2 objects\n300 - [^\n]+\n([\s\S]+?)399 - Sent object\n400 - Sending all objects since 150\n(\x1f\x8b\x08[\s\S]+?)499 - Sent 1 objects\n(@GATHERER[\s\S]+?\n\}\n)600 - End of INFO\n500 - Compression enabled\n999 - Bye\n$/;
    const [, first = '', object, second = '', description = ''] = shape.exec(heard) ?? [];
    t.equal(latin1(gunzipSync(Buffer.from(first, 'latin1'))), ALL);
    t.equal(object, A.soif);
    t.equal(latin1(gunzipSync(Buffer.from(second, 'latin1'))), updateStream(B.soif));
    t.equal(decodeSoif(Buffer.from(description, 'latin1')).type, 'GATHERER');
  },
);

t.test('GATHERD-6.9, 6.10 an unavailable setting is refused, and the data stays uncompressed', async (t) => {
  const { port } = await startGatherd(t, [A], { compression: false });
  t.equal(
    await exchange(t, port, 'SET compression\nSET Compressions\nSET gzip\nSEND-UPDATE 0\nQUIT\n'),
    `${GREETING}900 - Compression not available\n900 - Bad argument: Compressions\n900 - Bad argument: gzip\n` +
      `400 - Sending all objects since 0\n${updateStream(A.soif)}499 - Sent 1 objects\n999 - Bye\n`,
  );
});

t.test('GATHERD-8.1, 8.2, 8.3 INFO is one object of type GATHERER, in the layout of SOIF-2.2', async (t) => {
  const url = 'http://gatherer.example.org/about';
  const identity = { name: 'Ants', host: 'ants.example.org', port: 9111, version: '1.0', url };
  const { port } = await startGatherd(t, [A, B], { identity });
  const heard = await exchange(t, port, 'HELLO c\nINFO\nQUIT\n');
  const text = heard.slice(GREETING.length + '100 - HELLO c\n'.length, heard.indexOf('600 - '));
  const object = decodeSoif(Buffer.from(text, 'latin1'), { mode: 'strict' });
  t.equal(object.type, 'GATHERER');
  t.equal(object.url, url);
  const expected: Readonly<Record<string, string>> = {
    'Gatherer-Host': 'ants.example.org',
    'Gatherer-Name': 'Ants',
    'Gatherer-Port': '9111',
    'Gatherer-Version': '1.0',
    'Last-Modification-Time': '200',
    'Number-Of-Objects': '2',
    'Oldest-Update-Time': '100',
    'Newest-Update-Time': '200',
    Attributes: 'Body\nUpdate-Time',
  };
  for (const [name, value] of Object.entries(expected)) t.equal(object.text(name)?.trimEnd(), value, name);
  for (const name of ['Refresh-Rate', 'Time-to-Live', 'Update-Time']) t.ok(object.number(name), name);
});

t.test('GATHERD-9.1, 9.2, 11.1 gatherd.cf is in the data directory', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatherd-rules-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  await new Database(directory).publish([A]);
  const daemon = new CliProcess(['gatherd', '-dir', directory, '0']);
  t.teardown(() => daemon.kill('SIGKILL'));
  const port = Number((await daemon.output(/^ready gatherd=\S*:(\d+)$/m))[1]);
  t.match(
    await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'),
    /499 - Sent 1 objects\n999 - Bye\n$/,
    'without the file every peer',
  );
  await writeFile(join(directory, 'gatherd.cf'), 'Deny all\n');
  t.equal(await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'), '999 - Access denied\n');
  await writeFile(
    join(directory, 'gatherd.cf'),
    'Allow\t127.0.0.1 x.example\nDeny all\nGzip /usr/bin/gzip\n',
  );
  t.match(await exchange(t, port, 'QUIT\n'), /^000 - HELLO /);
});

// ---------------------------------------------------------------- the client

type Answers = Readonly<Record<string, string | Uint8Array>>;

/** A server that answers by a table and records the bytes it receives. */
async function scripted(t: Test, answers: Answers, greeting = GREETING) {
  const heard: Buffer[] = [];
  const port = await fakeServer(t, async (line, socket: Socket) => {
    socket.write(greeting);
    for (let command = await line(); command !== undefined; command = await line()) {
      heard.push(Buffer.from(`${command}\n`, 'latin1'));
      const verb = Object.keys(answers).find((key) => command?.startsWith(key));
      if (verb !== undefined) socket.write(answers[verb] ?? '', 'latin1');
      if (command === 'QUIT') return void socket.end();
    }
  });
  return { port, heard: () => Buffer.concat(heard).toString('latin1') };
}

const NORMAL: Answers = {
  HELLO: '100 - x\n',
  'SET compression': '500 - x\n',
  'SET changes': '500 - x\n',
  'SEND-UPDATE': Buffer.concat([
    Buffer.from('400 - x\n'),
    gzipSync(Buffer.from(ALL, 'latin1')),
    Buffer.from('499 - x\n'),
  ]),
  'SEND-OBJECT': `300 - x\n${A.soif}399 - x\n`,
  INFO: '@GATHERER { -\nNumber-Of-Objects{1}:\t2\n}\n600 - x\n',
  QUIT: '999 - x\n',
};
const CLEAR: Answers = {
  ...NORMAL,
  'SET compression': '900 - x\n',
  'SEND-UPDATE': `400 - x\n${ALL}499 - x\n`,
};

t.test('GATHERD-1.2 the default port of a Gatherer is 8500', async (t) => {
  t.equal(GATHERD_PORT, 8500);
  // A loopback address without a listener, so that the error names the port.
  await t.rejects(GatherdClient.connect({ host: '127.0.77.1' }), {
    code: 'ERR_CONNECTION',
    message: /127\.0\.77\.1:8500/,
  });
});

t.test(
  'GATHERD-1.4, 2.3 the client says just what the specification spells, in lines ending in LF',
  async (t) => {
    const heard: Buffer[] = [];
    const port = await fakeServer(t, async (line, socket) => {
      const write = socket.write.bind(socket);
      write(GREETING);
      for (let command = await line(); command !== undefined; command = await line()) {
        heard.push(Buffer.from(`${command}\n`));
        const key = Object.keys(NORMAL).find((verb) => command?.startsWith(verb)) ?? '';
        socket.write(NORMAL[key] ?? '');
      }
      t.equal(socket.bytesRead, Buffer.concat(heard).length, 'LF, no CR');
    });
    const client = await connect(port);
    await collect(client, true);
    await client.object('http://a.example/');
    await client.info();
    await client.quit();
    t.equal(
      Buffer.concat(heard).toString(),
      'HELLO client.example.org\nSET compression\nSET changes\nSEND-UPDATE 0\nSEND-OBJECT http://a.example/\nINFO\nQUIT\n',
    );
  },
);

t.test('GATHERD-1.5 a client accepts CR LF too', async (t) => {
  const crlf = (text: string) => text.replace(/\n$/, '\r\n');
  const { port } = await scripted(
    t,
    {
      HELLO: '100 - x\r\n',
      'SET compression': '900 - x\r\n',
      'SET changes': '500 - x\r\n',
      'SEND-UPDATE': `400 - x\r\n${ALL}499 - x\r\n`,
      'SEND-OBJECT': `300 - x\r\n${A.soif}399 - x\r\n`,
      INFO: '@GATHERER { -\nA{1}:\t2\n}\n600 - x\r\n',
      QUIT: '999 - x\r\n',
    },
    crlf(GREETING),
  );
  const client = await connect(port);
  t.same(client.greeting, { version: '1.8', hostname: 'gatherer.example.org' });
  t.same(await collect(client, true), BOTH);
  t.equal((await client.object('x'))?.url, 'http://a.example/');
  t.equal((await client.info())?.text('A'), '2');
  t.same(await collect(client, true), BOTH);
  await client.quit();
});

t.test('GATHERD-1.6 a client uses only the numbers, not the texts', async (t) => {
  const { port } = await scripted(t, {
    HELLO: '100 - Access denied\n',
    'SET compression': '500 - Compression not available, error 900\n',
    'SET changes': '900 - OK, enabled\n',
    'SEND-UPDATE': Buffer.concat([
      Buffer.from('400 - 499 - Bad timestamp\n'),
      gzipSync(Buffer.from(ALL, 'latin1')),
      Buffer.from('499 -\n'),
    ]),
    QUIT: '999 - 000 - HELLO again\n',
  });
  const client = await connect(port);
  t.same(await collect(client, true), BOTH);
  t.equal(client.changesAccepted, false);
  await client.quit();
});

t.test('GATHERD-1.7 a client ignores unknown lines', async (t) => {
  const chatter = 'Welcome\n\n123 - what?\n  400 - indented\n4000 - long\n';
  const { port } = await scripted(
    t,
    {
      HELLO: `${chatter}100 - x\n${chatter}`,
      'SET compression': `garbage\n900 - x\n${chatter.replace('123', '650')}`,
      'SET changes': '500 - x\nmore\n',
      'SEND-UPDATE': `${chatter}400 - x\n${ALL}499 - x\n${chatter}`,
      'SEND-OBJECT': `${chatter}399 - x\n`,
      QUIT: `${chatter}999 - x\n`,
    },
    `Hello\n${GREETING}motd\n`,
  );
  const client = await connect(port);
  t.same(await collect(client, true), BOTH);
  t.equal(await client.object('x'), undefined);
  await client.quit();
});

t.test('GATHERD-3.6 INFO, object first and both end lines after it, twice in a session', async (t) => {
  const object = '@GATHERER { -\nNumber-Of-Objects{1}:\t2\n}\n';
  for (const info of [`${object}600 - x\n699 - x\n`, `${object}699 - x\n`, `600 - x\n${object}699 - x\n`]) {
    const { port } = await scripted(t, { ...CLEAR, INFO: info });
    const client = await connect(port);
    t.equal((await client.info())?.number('Number-Of-Objects'), 2);
    t.equal((await client.info())?.number('Number-Of-Objects'), 2, 'late lines are not the second reply');
    t.same(await collect(client, true), BOTH);
    await client.quit();
  }
  const without = await connect((await scripted(t, { ...NORMAL, INFO: '600 - x\n699 - none\n' })).port);
  t.equal(await without.info(), undefined);
  await without.quit();
});

t.test('GATHERD-6.5 a reset after a whole member loses nothing; inside it, it does', async (t) => {
  const member = gzipSync(Buffer.from(ALL, 'latin1'));
  const resetting = (bytes: Uint8Array) =>
    fakeServer(t, async (line, socket) => {
      socket.write(GREETING);
      for (let command = await line(); command !== undefined; command = await line()) {
        if (!command.startsWith('SEND-UPDATE'))
          socket.write(command.startsWith('HELLO') ? '100 - x\n' : '500 - x\n');
        else {
          socket.write(Buffer.concat([Buffer.from('400 - x\n'), bytes]));
          // The client has confirmed the data; a reset would discard unread data.
          reset = () => void socket.resetAndDestroy();
        }
      }
    });
  let reset = () => {};
  const whole = await connect(await resetting(member));
  const found: string[] = [];
  for await (const { object } of whole.changes({ since: 0 })) {
    found.push(object.url);
    if (found.length === 2) reset();
  }
  t.same(found, [A.url, B.url]);
  await t.resolves(whole.quit(), 'the connection is closed already');

  const short = await connect(await resetting(member.subarray(0, -1)));
  const all = async () => {
    let count = 0;
    for await (const _ of short.changes({ since: 0 })) if (++count === 2) reset();
  };
  await t.rejects(all(), { code: 'ERR_CONNECTION' });
});

t.test('GATHERD-7.4 the description of a Gatherer', async (t) => {
  const { port, heard } = await scripted(t, NORMAL);
  const client = await connect(port);
  t.equal((await client.info())?.type, 'GATHERER');
  await client.quit();
  t.equal(heard(), 'HELLO client.example.org\nINFO\nQUIT\n');
});

t.test(
  'GATHERD-12.3 a client gives up after a silence, and close() ends the request in flight',
  async (t) => {
    const member = gzipSync(Buffer.from(ALL, 'latin1'));
    const { port } = await scripted(t, {
      ...NORMAL,
      'SEND-UPDATE': Buffer.concat([Buffer.from('400 - x\n'), member.subarray(0, 40)]),
    });
    const patient = await connect(port, { idleTimeoutMs: 50 });
    await t.rejects(collect(patient, true), {
      code: 'ERR_CONNECTION',
      message: /nothing received for 50 ms/,
    });
    const client = await connect(port);
    const under = collect(client, true);
    await new Promise((resolve) => setImmediate(resolve));
    await client.close();
    await t.rejects(under, { code: 'ERR_CONNECTION' });
  },
);

t.test('GATHERD-6.6 one update of a hundred members, in pieces of any size', async (t) => {
  const body = soif('http://c.example/', 300, 'third '.repeat(200));
  const stream = updateStream(A.soif + B.soif + body);
  const members = Array.from({ length: 100 }, (_, i) => {
    const from = Math.floor((i * stream.length) / 100);
    const to = Math.floor(((i + 1) * stream.length) / 100);
    return gzipSync(Buffer.from(stream.slice(from, to), 'latin1'));
  });
  const data = Buffer.concat([Buffer.from('400 - x\n'), ...members, Buffer.from('499 - x\n')]);
  for (const size of [7, 100, 1 << 20]) {
    const port = await fakeServer(t, async (line, socket) => {
      socket.setNoDelay(true);
      socket.write(GREETING);
      for (let command = await line(); command !== undefined; command = await line()) {
        if (command === 'QUIT') return void socket.end('999 - x\n');
        if (!command.startsWith('SEND-UPDATE'))
          socket.write(command.startsWith('HELLO') ? '100 - x\n' : '500 - x\n');
        else
          for (let at = 0; at < data.length; at += size) {
            if (!socket.write(data.subarray(at, at + size))) await once(socket, 'drain');
          }
      }
    });
    const client = await connect(port);
    t.same(await collect(client, true), [...BOTH, `update ${body}`], `pieces of ${size}`);
    await client.quit();
  }
});
