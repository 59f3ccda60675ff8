// harvest annotate: the command, the annotation file, and the form in the browser. Rules: G-137, G-141.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { AnnotationFile } from '../../../servers/gatherer/annotate/annotation-file.js';
import { FormServer } from '../../../servers/gatherer/annotate/form-server.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { CliProcess, cli } from '../../helpers/cli.js';

const PAPER = 'http://www.example.org/a.ps';
/** An annotation file with two documents. */
const TWO_ANNOTATIONS =
  '@FILE { http://www.example.org/a.ps\nTitle:\tA Paper\nAuthor:\tUnknown\n}\n@FILE { http://www.example.org/b.ps\nTitle:\tAnother\n}\n';

t.test('G-137: harvest annotate FILE URL Attribute=Value writes the exact format', async (t) => {
  const directory = t.testdir({});
  const file = join(directory, 'annotations');
  const first = await cli(
    'annotate',
    file,
    'HTTP://www.example.org:80/a.ps',
    'Title=A Paper',
    'Author=Unknown',
  );
  t.same([first.code, first.stderr], [0, '']);
  await cli('annotate', file, 'http://www.example.org/b.ps', 'Title=Another');
  t.equal(readFileSync(file, 'utf8'), TWO_ANNOTATIONS);
  const shown = await cli('annotate', file, PAPER);
  t.equal(shown.stdout, 'Title:\tA Paper\nAuthor:\tUnknown\n');
  await cli('annotate', file, PAPER, 'author=', 'title=Better=yes');
  t.equal(
    readFileSync(file, 'utf8'),
    '@FILE { http://www.example.org/a.ps\ntitle:\tBetter=yes\n}\n@FILE { http://www.example.org/b.ps\nTitle:\tAnother\n}\n',
  );
  const json = await cli('annotate', '--list', '--json', file);
  t.same(
    json.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { url: string }).url),
    [PAPER, 'http://www.example.org/b.ps'],
  );
  t.same(readdirSync(directory), ['annotations'], 'no temporary file is left');
});

t.test('G-137: values that the format cannot represent are refused, and no file is written', async (t) => {
  const directory = t.testdir({
    annotations: TWO_ANNOTATIONS,
    broken: '@FILE { http://a.example.org/\nno colon here\n}\n',
  });
  const file = join(directory, 'annotations');
  for (const args of [
    ['not a url', 'Title=x'],
    [PAPER, 'two words=x'],
    [PAPER, 'Title=one\ntwo'],
    [PAPER, '=x'],
  ]) {
    const { code, stderr } = await cli('annotate', file, ...args);
    t.equal(code, 2, args.join(' '));
    t.match(stderr, /^annotate: |^harvest: /);
  }
  t.equal(readFileSync(file, 'utf8'), TWO_ANNOTATIONS);
  const broken = await cli('annotate', join(directory, 'broken'), PAPER, 'Title=x');
  t.equal(broken.code, 2);
  t.match(broken.stderr, /broken.*line 2|broken:2/);
  t.equal(
    readFileSync(join(directory, 'broken'), 'utf8'),
    '@FILE { http://a.example.org/\nno colon here\n}\n',
  );
});

t.test('a concurrent change is not overwritten', async (t) => {
  const file = join(t.testdir({ annotations: TWO_ANNOTATIONS }), 'annotations');
  const mine = await AnnotationFile.open(file);
  mine.change(PAPER, [['Title', 'Mine']]);
  writeFileSync(file, '@FILE { http://www.example.org/c.ps\nTitle:\tTheirs\n}\n');
  await t.rejects(mine.save(), /was changed by another program/);
  t.equal(readFileSync(file, 'utf8'), '@FILE { http://www.example.org/c.ps\nTitle:\tTheirs\n}\n');
});

t.test('G-141: the form needs its token, and searches, edits and removes annotations', async (t) => {
  const file = join(t.testdir({ annotations: TWO_ANNOTATIONS }), 'annotations');
  const server = await FormServer.listen({ file, token: 'abc' });
  t.teardown(() => server.close());
  const base = `http://127.0.0.1:${server.port}`;
  const entry = await fetch(server.url, { redirect: 'manual' });
  t.equal(entry.status, 303);
  t.equal(entry.headers.get('set-cookie'), 'harvest-annotate=abc; Path=/; HttpOnly; SameSite=Strict');
  const headers = { cookie: 'harvest-annotate=abc' };
  const all = await fetch(`${base}/`, { headers });
  t.match(all.headers.get('content-security-policy'), /default-src 'none'/);
  t.match(await all.text(), /2 annotated documents/);
  const some = await (await fetch(`${base}/?q=ANOTHER`, { headers })).text();
  t.match(some, /b\.ps/);
  t.notMatch(some, /a\.ps/);
  const edit = await (await fetch(`${base}/edit?url=${encodeURIComponent(PAPER)}`, { headers })).text();
  t.match(edit, /value="A Paper"/);
  const version = /name="version" value="(\w+)"/.exec(edit)?.[1] ?? '';
  const post = (fields: readonly (readonly [string, string])[]) =>
    fetch(`${base}/edit`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...headers, origin: base },
      body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])),
    });
  const form = [
    ['version', version],
    ['url', PAPER],
    ['name', 'Title'],
    ['value', 'A <better> title'],
    ['name', 'Author'],
    ['value', ''],
  ] as const;
  t.equal((await post(form)).status, 303);
  t.match(readFileSync(file, 'utf8'), '@FILE { http://www.example.org/a.ps\nTitle:\tA <better> title\n}\n');
  t.equal((await post(form)).status, 409, 'a form that is older than the last change is refused');
  const reloaded = await (await fetch(`${base}/edit?url=${encodeURIComponent(PAPER)}`, { headers })).text();
  t.match(reloaded, 'A &lt;better&gt; title');
  const currentVersion = /name="version" value="(\w+)"/.exec(reloaded)?.[1] ?? '';
  t.equal(
    (
      await post([
        ['version', currentVersion],
        ['url', PAPER],
        ['delete', ''],
      ])
    ).status,
    303,
  );
  t.equal(readFileSync(file, 'utf8'), '@FILE { http://www.example.org/b.ps\nTitle:\tAnother\n}\n');
});

t.test('G-141: the form refuses requests without the token and from other sites', async (t) => {
  const file = join(t.testdir({ annotations: TWO_ANNOTATIONS }), 'annotations');
  const running = new CliProcess(['annotate', file]);
  const [, address = ''] = await running.output(/^ready annotate=(\S+)$/m);
  const { origin, searchParams } = new URL(address);
  const cookie = `harvest-annotate=${searchParams.get('token')}`;
  t.equal((await fetch(`${origin}/`)).status, 403);
  t.equal((await fetch(`${origin}/?token=wrong`)).status, 403);
  t.equal((await fetch(`${origin}/`, { headers: { cookie: 'harvest-annotate=wrong' } })).status, 403);
  for (let i = 1; i < 10; i++) t.equal((await fetch(`${origin}/?token=wrong`)).status, 403);
  const throttled = await fetch(`${origin}/?token=wrong`);
  t.equal(throttled.status, 429, 'after ten wrong tokens no further one is looked at');
  t.match(throttled.headers.get('retry-after'), /^\d+$/);
  const owner = await fetch(address, { redirect: 'manual' });
  t.equal(owner.status, 303, 'others at the same address do not lock out the owner');
  t.equal((await fetch(`${origin}/`, { headers: { cookie } })).status, 200, 'an open form is not locked out');
  const elsewhere = { cookie, origin: 'http://evil.example.org' };
  t.equal((await fetch(`${origin}/edit`, { method: 'POST', headers: elsewhere, body: 'url=x' })).status, 403);
  t.equal(readFileSync(file, 'utf8'), TWO_ANNOTATIONS);
  running.kill('SIGTERM');
  t.equal((await running.finished).code, 0);
});

t.test('G-141: the form lists the objects of the Gatherer that have no annotation', async (t) => {
  const top = t.testdir({
    'a.html': '<title>A garden</title>',
    'b.html': '<title>A house</title>',
    annotations: '',
  });
  const urlOf = (name: string): string => `file://localhost${top}/${name}`;
  const text = `Gatherer-Name: T\nTop-Directory: ${top}\n<LeafNodes>\n${urlOf('a.html')}\n${urlOf('b.html')}\n</LeafNodes>\n`;
  {
    await using gatherer = await Gatherer.open({
      directory: join(top, 'data'),
      config: parseGathererConf(text, 'x.cf').config,
      essenceWorkers: 0,
    });
    await gatherer.run(new AbortController().signal);
    await gatherer.publish();
  }
  const annotations = join(top, 'annotations');
  writeFileSync(annotations, `@FILE { ${urlOf('a.html')}\nAuthor:\tAnn\n}\n`);
  await using server = await FormServer.listen({
    file: annotations,
    dataDirectory: join(top, 'data'),
    token: 'abc',
  });
  const get = async (path: string): Promise<string> =>
    (
      await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { cookie: 'harvest-annotate=abc' } })
    ).text();
  const [, objects = ''] = (await get('/')).split('<h2>');
  t.match(objects, 'b.html</a>');
  t.match(objects, 'Title: A house');
  t.notMatch(objects, 'a.html', 'an annotated object is in the list of annotations');
  t.notMatch(await get('/?q=garden'), '<h2>');
  t.match(await get('/?q=HOUSE'), 'b.html</a>');
  t.notMatch(await get('/?page=2'), 'b.html');
});
