// Programs that the manual names: SGML.sum, the enumerators, the converters.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cli } from '../helpers/cli.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

t.test(
  'E-68, E-81, E-85, E-96, E-98: SGML.sum prints attributes by a table; messages if asked',
  async (t) => {
    const directory = await temporaryDirectory(t);
    const file = join(directory, 'page.html');
    await writeFile(
      file,
      '<TITLE>My Home Page</TITLE><META NAME="author" CONTENT="Joe T. Slacker"><CODE>no</CODE><A HREF="http://harvest.cs.colorado.edu/">x</A>',
    );
    const plain = await cli('sgml-sum', 'HTML', file);
    t.equal(plain.code, 0, plain.stderr);
    for (const line of [
      'title{13}:\tMy Home Page\n',
      'author{15}:\tJoe T. Slacker\n',
      'url-references{32}:\thttp://harvest.cs.colorado.edu/\n',
    ])
      t.match(plain.stdout, line);
    const table = join(directory, 'my.table');
    await writeFile(table, '<TITLE>\tname\n');
    t.equal((await cli('sgml-sum', '-t', table, 'HTML', file)).stdout, 'name{13}:\tMy Home Page\n\n');
    const foo = join(directory, 'my.foo');
    await writeFile(foo, '<foo><head>Words</head></foo>');
    await writeFile(join(directory, 'FOO.sum.tbl'), '<HEAD>\ttitle\n');
    t.equal((await cli('sgml-sum', '--libdir', directory, 'FOO', foo)).stdout, 'title{6}:\tWords\n\n');
  },
);

t.test('E-48 to E-50, G-143: lsm2soif and its relatives print objects', async (t) => {
  const directory = await temporaryDirectory(t);
  const lsm = join(directory, 'a.lsm');
  await writeFile(
    lsm,
    'Begin3\nTitle = X\nDesc = A program\nSite = h.example\nPath = /pub\nFile = a.tgz 1k\nEnd\n',
  );
  const { stdout } = await cli('lsm2soif', 'http://h.example/a.lsm', lsm);
  t.match(
    stdout,
    /^@FILE \{ ftp:\/\/h\.example\/pub\/a\.tgz\nTitle\{1\}:\tX\nDescription\{9\}:\tA program\n/,
  );
  const iafa = join(directory, 'iafa');
  await writeFile(iafa, 'Title: Y\n');
  t.match(
    (await cli('iafa2soif', 'http://h.example/y', iafa)).stdout,
    '@FILE { http://h.example/y\nTitle{1}:\tY\n',
  );
  const empty = await cli('pcindex2soif', 'http://h.example/y', iafa);
  t.equal(empty.code, 1);
  t.match(empty.stderr, 'there is no entry');
});

t.test('G-3, G-4, G-149: httpenum prints the documents of a RootNode and nothing else', async (t) => {
  await using site = await Site.start({
    '/': page('Home', ['/a', '/b']),
    '/a': page('A', ['/c']),
    '/b': page('B', ['http://other.example/']),
    '/c': page('C', []),
  });
  const urls = (...paths: string[]): string => paths.map((path) => `${site.url}${path}\n`).join('');
  const whole = await cli('enum', `${site.url}/`, 'Delay=0', 'Search=Depth');
  t.equal(whole.stdout, urls('/', '/a', '/c', '/b'));
  const shallow = await cli('enum', '-D42,1', `${site.url}/`, 'Delay=0', 'Depth=1');
  t.equal(shallow.stdout, urls('/', '/a', '/b'));
  t.match(shallow.stderr, /\[42,1\]/);
  t.equal((await cli('enum', 'nonsense')).code, 2);
});
