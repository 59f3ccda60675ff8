// Tests the rules of gatherd.md for servers that no other test covers, over the wire, with bytes written by
// hand.
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { CliProcess } from '../../helpers/cli.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import {
  Database,
  exchange,
  latin1,
  RawClient,
  startGatherd,
  updateStream,
} from '../../servers/gatherd/helpers.js';
import { A, ALL, B, collect, connect, GREETING } from './example.js';

t.test('GATHERD-1.1: the server sends first; each connection is a session of its own', async (t) => {
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

t.test('GATHERD-1.3: object data passes unchanged, with any bytes', async (t) => {
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

t.test('GATHERD-1.5: the server ends its lines with LF, whatever the client sends', async (t) => {
  const { port } = await startGatherd(t, [A]);
  const lines = 'HELLO me|HELP|INFO|SET compression|SET x|SEND-OBJECT x|SEND-UPDATE x|x|QUIT'.split('|');
  const received = await exchange(t, port, `${lines.join('\r\n')}\r\n`);
  t.notMatch(received, /\r/);
  t.match(received, /999 - Bye\n$/);
});

t.test('GATHERD-2.1, 2.2, 3.1, 3.2, 3.4: every command has its codes and its text', async (t) => {
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

t.test('GATHERD-2.6: the argument of HELLO is only logged', async (t) => {
  const { port, log } = await startGatherd(t, [A]);
  t.equal(
    await exchange(t, port, 'HELLO\nHELLO a b\nHELLO other.example.com\nQUIT\n'),
    `${GREETING}100 - HELLO \n100 - HELLO a b\n100 - HELLO other.example.com\n999 - Bye\n`,
  );
  t.match(log.join(''), /127\.0\.0\.1: HELLO other\.example\.com/);
});

t.test('GATHERD-3.5: the greeting has two words: version and full host name', async (t) => {
  const { port } = await startGatherd(t, [], { hostname: hostname(), version: '1.4.pl2' });
  t.equal(await exchange(t, port, 'QUIT\n'), `000 - HELLO 1.4.pl2 ${hostname()}\n999 - Bye\n`);
});

t.test('GATHERD-3.9: an unknown command gets 900 and the session continues', async (t) => {
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

t.test('GATHERD-4.1, 4.2: time stamps are in seconds and compared with Update-Time', async (t) => {
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

t.test('GATHERD-4.3: an object without a readable Update-Time is always sent', async (t) => {
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

t.test('GATHERD-4.7: an expired object is still sent', async (t) => {
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
});

t.test('GATHERD-5.1, 5.2: an identifier is the exact URL; no wrappers are sent', async (t) => {
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
});

t.test('GATHERD-6.1, 6.4, 6.8: later updates are compressed, but nothing else', async (t) => {
  const { port } = await startGatherd(t, [A, B]);
  const received = await exchange(
    t,
    port,
    'SET compression\nSEND-UPDATE 0\nSEND-OBJECT http://a.example/\nSEND-UPDATE 150\nINFO\nSET compression\nQUIT\n',
  );
  const shape =
    /^000 - [^\n]+\n500 - Compression enabled\n400 - Sending all objects since 0\n(\x1f\x8b\x08[\s\S]+?)499 - Sent 2 objects\n300 - [^\n]+\n([\s\S]+?)399 - Sent object\n400 - Sending all objects since 150\n(\x1f\x8b\x08[\s\S]+?)499 - Sent 1 objects\n(@GATHERER[\s\S]+?\n\}\n)600 - End of INFO\n500 - Compression enabled\n999 - Bye\n$/;
  const [, first = '', object, second = '', description = ''] = shape.exec(received) ?? [];
  t.equal(latin1(gunzipSync(Buffer.from(first, 'latin1'))), ALL);
  t.equal(object, A.soif);
  t.equal(latin1(gunzipSync(Buffer.from(second, 'latin1'))), updateStream(B.soif));
  t.equal(decodeSoif(Buffer.from(description, 'latin1')).type, 'GATHERER');
});

t.test('GATHERD-6.9, 6.10: an unavailable setting is refused, and the data stays uncompressed', async (t) => {
  const { port } = await startGatherd(t, [A], { compression: false });
  t.equal(
    await exchange(t, port, 'SET compression\nSET Compressions\nSET gzip\nSEND-UPDATE 0\nQUIT\n'),
    `${GREETING}900 - Compression not available\n900 - Bad argument: Compressions\n900 - Bad argument: gzip\n` +
      `400 - Sending all objects since 0\n${updateStream(A.soif)}499 - Sent 1 objects\n999 - Bye\n`,
  );
});

t.test('GATHERD-8.1, 8.2, 8.3: INFO is one object of type GATHERER, in the layout of SOIF-2.2', async (t) => {
  const url = 'http://gatherer.example.org/about';
  const identity = { name: 'Ants', host: 'ants.example.org', port: 9111, version: '1.0', url };
  const { port } = await startGatherd(t, [A, B], { identity });
  const received = await exchange(t, port, 'HELLO c\nINFO\nQUIT\n');
  const text = received.slice(GREETING.length + '100 - HELLO c\n'.length, received.indexOf('600 - '));
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

t.test('GATHERD-9.1, 9.2, 11.1: gatherd.cf in the data directory is read for each connection', async (t) => {
  const directory = await temporaryDirectory(t);
  await new Database(directory).publish([A]);
  const daemon = new CliProcess(['gatherd', '-dir', directory, '0']);
  t.teardown(() => daemon.kill('SIGKILL'));
  const port = Number((await daemon.output(/^ready gatherd=\S*:(\d+)$/m))[1]);
  t.match(
    await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'),
    /499 - Sent 1 objects\n999 - Bye\n$/,
    'without the file every peer is served',
  );
  await writeFile(join(directory, 'gatherd.cf'), 'Deny all\n');
  t.equal(await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'), '999 - Access denied\n');
  await writeFile(
    join(directory, 'gatherd.cf'),
    'Allow\t127.0.0.1 x.example\nDeny all\nGzip /usr/bin/gzip\n',
  );
  t.match(await exchange(t, port, 'QUIT\n'), /^000 - HELLO /);
});
