// Listings that servers and disks make hostile: endless or wrong lists of FTP and news servers, names that
// commands cannot contain, circles of links.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { parseListing } from '../../clients/fetch/ftp-listing.js';
import { basicRealm } from '../../clients/fetch/headers.js';
import { createFetcher, entryUrl, hideWords } from '../../clients/fetch/index.js';
import { requisitesOf } from '../../servers/gatherer/mirror/requisites.js';
import type { sendForever } from '../clients/fetch/scripted.js';
import { gather, unlimitedRoot, urlsOf } from '../helpers/gather-peers/gather.js';
import { ftpServer, type Send, sendWhole } from '../helpers/gather-peers/scripted-ftp.js';
import { newsServer } from '../helpers/gather-peers/scripted-news.js';
import { pluck } from '../helpers/pluck.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { usedMemory } from '../helpers/used-memory.js';

const line = (name: string) => `-rw-r--r--    1 0   0      5 Nov 06  1994 ${name}\r\n`;

t.test('an FTP listing of hundreds of thousands of lines does not hold up the event loop', async (t) => {
  const listings = {
    files: Array.from({ length: 200_000 }, (_, i) => line(`f${i}`)).join(''),
    blanks: '\n'.repeat(300_000) + line('f0'),
    unknown: 'what is this\n'.repeat(300_000) + line('f0'),
  };
  for (const [name, text] of Object.entries(listings)) {
    let turns = 0;
    let done = false;
    const counting = (async () => {
      for (; !done; turns++) await nextTurn();
    })();
    const { files, truncated } = await parseListing(text, 1_000_000, 'host');
    done = true;
    await counting;
    t.ok(turns > 15, `${name}: other tasks ran ${turns} times`);
    t.equal(truncated, false, name);
    t.equal(files.length, name === 'files' ? 200_000 : 1, name);
  }
});

t.test('an FTP listing is read up to a number of files and of lines', async (t) => {
  const many = await parseListing(Array.from({ length: 5000 }, (_, i) => line(`f${i}`)).join(''), 1000, 'h');
  t.match(many, { truncated: true, files: { length: 1000 } });
  const junk = await parseListing(`${'junk\r\n'.repeat(50_000)}${line('end')}`, 1000, 'h');
  t.match(junk, { truncated: true, files: { length: 0 } });
  const long = await parseListing(line('x'.repeat(1_000_000)) + line('y'), 1000, 'h');
  t.strictSame(pluck(long.files, 'name'), ['y'], 'a line of a megabyte is skipped');
  await t.rejects(parseListing('who knows\r\n', 10, 'h'), {
    code: 'ERR_CONNECTION',
    message: 'h: the FTP directory is listed in an unknown format',
  });
});

t.test('G-83: names of an FTP listing that no command can hold are left out, others fetched', async (t) => {
  const names = [
    'a\0b',
    'c\rd',
    '../up',
    '/abs',
    '..',
    '.',
    'caf\xe9',
    'na\xc3\xafve',
    '-rf',
    '$(x)',
    '\x1b[31m',
  ];
  const listing = Buffer.from(names.map(line).join(''), 'latin1');
  const files = new Map<string, Buffer | Send>([['-rf', Buffer.from('dash\n')]]);
  const commands: string[] = [];
  const { port } = await ftpServer(t, {
    files,
    listings: new Map([['', sendWhole(listing)]]),
    onCommand: (command) => commands.push(command),
  });
  await using fetcher = createFetcher({ userAgent: 'x' });
  const base = `ftp://127.0.0.1:${port}/`;
  const { entries = [] } = await fetcher.fetch({ url: base });
  t.strictSame(
    entries.map((entry) => entryUrl('ftp://h/', entry)),
    ['%1B%5B31m', '%24(x)', '-rf', 'caf%E9', 'na%C3%AFve'].map((name) => `ftp://h/${name}`),
  );
  t.match(await fetcher.fetch({ url: `${base}-rf` }), { status: 200 });
  await fetcher.fetch({ url: `${base}caf%E9` });
  t.ok(
    commands.some((command) => /^RETR .*caf\xe9$/.test(command)),
    'the bytes of a name come back as they were listed',
  );
});

t.test('a server that repeats a password in its reply does not bring it into errors', async (t) => {
  const { port } = await ftpServer(t, { files: new Map(), login: { user: 'joe', password: 'right' } });
  const news = await newsServer(t, {
    groups: {},
    intercept: (command, socket) => {
      if (command.startsWith('GROUP')) socket.write('480 who are you\r\n');
      else if (command.startsWith('AUTHINFO USER')) socket.write('381 more\r\n');
      else if (command.startsWith('AUTHINFO PASS')) socket.write(`502 wrong: ${command}\r\n`);
      else return false;
      return true;
    },
  });
  await using fetcher = createFetcher({
    userAgent: 'x',
    newsAuth: [{ host: '127.0.0.1', port: news.port, user: 'joe', password: 'hunter22' }],
  });
  t.match(await fetcher.fetch({ url: `ftp://joe:hunter22@127.0.0.1:${port}/x` }), { status: 401 });
  const answer = await fetcher.fetch({ url: `nntp://127.0.0.1:${news.port}/a.b` });
  t.match(answer.headers['nntp-reply'], '502 wrong: AUTHINFO PASS [hidden]');
});

/** Lines that a news server sends for ever after its status, each with another name. */
function endless(sent: { bytes: number }, status: string, lineOf: (number: number) => string) {
  return (socket: Parameters<typeof sendForever>[0]): void => {
    socket.write(`${status}\r\n`);
    let number = 0;
    const writeUntilFull = () => {
      while (!socket.destroyed) {
        const piece = Array.from({ length: 1000 }, () => lineOf(number++)).join('');
        sent.bytes += piece.length;
        if (!socket.write(piece)) {
          socket.once('drain', writeUntilFull);
          return;
        }
      }
    };
    writeUntilFull();
  };
}

t.test('G-86: lists of a news server that never end are cut at a number of links', async (t: Test) => {
  const sent = { bytes: 0 };
  const overview = endless(sent, '224 list', (i) => `${i + 1}\ts\tf\td\t<${i}@h>\t\t1\t1\r\n`);
  const groups = endless(sent, '215 list', (i) => `g${i} 1 1 y\r\n`);
  const newArticles = endless(sent, '230 list', (i) => `<${i}@h>\r\n`);
  const { port } = await newsServer(t, {
    groups: { 'a.b': ['From: a@h\r\n\r\nx\r\n'] },
    intercept: (command, socket) => {
      if (command.startsWith('NEWNEWS')) newArticles(socket);
      else if (/^X?OVER/.test(command)) overview(socket);
      else if (command.startsWith('LIST')) groups(socket);
      else return false;
      return true;
    },
  });
  await using fetcher = createFetcher({ userAgent: 'x' });
  const before = await usedMemory();
  for (const path of ['a.b', '*']) {
    const result = await fetcher.fetch({ url: `nntp://127.0.0.1:${port}/${path}` });
    t.match(result, { status: 200, truncated: true, links: { length: 100_000 } }, path);
  }
  const url = `news://127.0.0.1:${port}/a.b`;
  const conditional = await fetcher
    .fetch({ url, headers: { lastModified: 800_000_000 } })
    .catch((error) => error);
  t.ok(conditional, 'NEWNEWS ends');
  t.ok(sent.bytes < 64 << 20, `${sent.bytes} bytes were sent`);
  t.ok((await usedMemory()) - before < 100 << 20);
});

t.test('G-87: a directory whose links lead back into it is listed once; names are bytes', async (t) => {
  const top = await temporaryDirectory(t);
  await mkdir(join(top, 'a', 'deep'), { recursive: true });
  await mkdir(join(top, 'c'));
  await writeFile(join(top, 'a', 'text.txt'), 'a text\n');
  await writeFile(Buffer.from(`${top}/c/caf\xe9.txt`, 'latin1'), 'a coffee\n');
  await writeFile(join(top, 'c', '-rf.txt'), 'options\n');
  await writeFile(join(top, 'c', 'line\nend.txt'), 'a line end\n');
  await symlink('.', join(top, 'self'));
  await symlink('..', join(top, 'a', 'up'));
  await symlink('../../..', join(top, 'a', 'deep', 'outside'));
  // Two directories that lead to each other.
  await symlink('../c', join(top, 'a', 'c'));
  await symlink('../a', join(top, 'c', 'a'));
  const gathered = await gather(t.testdir(), {
    roots: [unlimitedRoot(`file://${top}/`, 'Depth=0 Access=FILE')],
  });
  t.equal(gathered.report.end, 'finished');
  const names = urlsOf(gathered).map((url) => url.slice(`file://localhost${top}/`.length));
  // Each file by each way to it that does not lead through a directory twice.
  t.strictSame(names.sort(), [
    'a/c/-rf.txt',
    'a/c/caf%E9.txt',
    'a/c/line%0Aend.txt',
    'a/text.txt',
    'c/-rf.txt',
    'c/a/text.txt',
    'c/caf%E9.txt',
    'c/line%0Aend.txt',
  ]);
});

t.test('hiding a word takes time in proportion to the text, however often it occurs', (t) => {
  const text = 'harvest@ '.repeat(200_000);
  t.equal(hideWords(text, ['harvest@']), '[hidden] '.repeat(200_000));
  t.equal(hideWords('x'.repeat(1_000_000), ['x']).length, 1_000_000, 'a letter within a word stays');
  t.equal(hideWords('a a\u{1d400} aa \u{1d400}a', ['a']), '[hidden] a\u{1d400} aa \u{1d400}a');
  t.end();
});

t.test('G-83: a link to many dots in an FTP listing, and texts that are searched for ever', async (t) => {
  // Each of these took seconds to hours.
  const dots = `lrwxrwxrwx    1 0   0      5 Nov 06  1994 up -> ${'.'.repeat(2000)}x\r\n`;
  const up = 'lrwxrwxrwx    1 0   0      5 Nov 06  1994 above -> .././/..\r\n';
  const { port } = await ftpServer(t, {
    files: new Map(),
    listings: new Map([['', sendWhole(Buffer.from(dots + up))]]),
  });
  await using fetcher = createFetcher({ userAgent: 'x' });
  const { entries } = await fetcher.fetch({ url: `ftp://127.0.0.1:${port}/` });
  t.strictSame(entries, ['up']);
  for (const blanks of ['\t'.repeat(16_000), ' ,'.repeat(8000), 'a'.repeat(16_000)]) {
    t.equal(basicRealm(`Basic ${blanks}!`), undefined);
  }
  t.equal(basicRealm('Digest realm="x", Basic  charset="UTF-8", realm="y"'), 'y');
  t.equal(basicRealm('Basic \t realm = "z"'), 'z');
  const article = `From: a@h\r\nDate: ${'('.repeat(60_000)}\r\n\r\nx\r\n`;
  const dated = 'From: a@h\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT (a zone)\r\n\r\nx\r\n';
  const news = await newsServer(t, { groups: { 'a.b': [article, dated] } });
  const urlOf = (number: number) => `nntp://127.0.0.1:${news.port}/a.b/${number}`;
  t.match(await fetcher.fetch({ url: urlOf(1) }), { status: 200, lastModified: 0 });
  t.match(await fetcher.fetch({ url: urlOf(2) }), { status: 200, lastModified: 784_111_777 });
});

t.test('G-173: a page of a mirror with a million references does not hold up the event loop', async (t) => {
  const pages = {
    many: Array.from({ length: 200_000 }, (_, i) => `<img src=${i}>`).join(''),
    wrong: Array.from({ length: 200_000 }, (_, i) => `<img src=http://[${i}>`).join(''),
    same: '<img src=a>'.repeat(200_000),
  };
  for (const [name, page] of Object.entries(pages)) {
    let turns = 0;
    let done = false;
    const counting = (async () => {
      for (; !done; turns++) await nextTurn();
    })();
    const found = await requisitesOf(Buffer.from(page), 'text/html', 'http://h.example/');
    done = true;
    await counting;
    t.equal(found.length, { many: 10_000, wrong: 0, same: 1 }[name], name);
    t.ok(turns > 2, `${name}: other tasks ran ${turns} times`);
  }
  const style = 'url(a)'.repeat(100_000);
  t.strictSame(await requisitesOf(Buffer.from(style), 'text/css', 'http://h.example/'), [
    'http://h.example/a',
  ]);
});
