// G-108 line by line, with a controlled clock: the requests to the server, and the resulting object. Times are
// in Unix seconds.
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { Gatherer, type GatherReport } from '../../../servers/gatherer/index.js';
import { Generations } from '../../../storage/index.js';
import { cli } from '../../helpers/cli.js';
import { leafNodes, Runs, START, WEEK } from '../../helpers/gatherer-runs.js';
import { page, Site, validated } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const never = new AbortController().signal;
const MONTH = 2_419_200;

/** Returns the number of requests for a path. */
const countRequests = (site: Site, path: string): number =>
  site.paths.filter((requested) => requested === path).length;

t.test('G-108 line 1: before Update-Time + Refresh-Rate no request, except with --force', async (t) => {
  await using site = await Site.start({ '/a.html': page('First', []) });
  const url = `${site.url}/a.html`;
  const runs = new Runs(t.testdir(), leafNodes(url));
  await runs.run();
  site.pages.set('/a.html', page('Second', []));

  runs.now = START + WEEK * 0.9 - 1;
  t.equal((await runs.run()).counts.kept, 1, 'one second before it is due the object is kept');
  t.equal(countRequests(site, '/a.html'), 1);
  t.equal((await runs.object(url))?.text('Update-Time'), String(START), 'the object is unchanged');

  t.equal((await runs.run({ force: true })).counts.summarized, 1, '--force sends a request');
  t.match((await runs.object(url))?.text('title'), 'Second');

  runs.now += WEEK;
  t.equal((await runs.run()).counts.unchanged, 1, 'at the due time a request is sent');
  t.equal(countRequests(site, '/a.html'), 3);
});

t.test('G-108: a job whose period is the Refresh-Rate updates in each run', async (t) => {
  await using site = await Site.start({ '/a.html': page('First', []) });
  const runs = new Runs(t.testdir(), leafNodes(`${site.url}/a.html`), `Refresh-Rate: ${WEEK}\n`);
  // The first run meets the document after 300 seconds, the next ones sooner.
  for (const [week, seconds] of [300, 20, 0, 5].entries()) {
    runs.now = START + week * WEEK + seconds;
    t.equal((await runs.run()).counts.kept, 0, `run ${week + 1} asks the server`);
  }
  t.equal(countRequests(site, '/a.html'), 4);
});

t.test('G-108 line 2: a 304 by ETag or date keeps the summary and sets Update-Time', async (t) => {
  const date = 'Tue, 14 Nov 2023 20:00:00 GMT';
  const conditions: (string | undefined)[] = [];
  await using site = await Site.start({
    '/etag': validated(page('Tagged', []), ['etag', '"v1"'], conditions),
    '/date': validated(page('Dated', []), ['last-modified', date], conditions),
  });
  const urls = [`${site.url}/etag`, `${site.url}/date`];
  const runs = new Runs(t.testdir(), leafNodes(...urls));
  await runs.run();
  runs.now += WEEK;
  const report = await runs.run();
  t.equal(report.counts.unchanged, 2);
  t.equal(report.bytes, 0, 'G-106: no body is sent');
  t.same([...conditions].sort(), [date, '"v1"', undefined, undefined].sort());
  for (const url of urls) {
    const object = await runs.object(url);
    t.equal(object?.text('Update-Time'), String(START + WEEK));
    t.match(object?.text('title'), /Tagged|Dated/, 'the summary is kept');
  }
  t.equal(
    (await runs.object(urls[1]!))?.text('Last-Modification-Time'),
    '1699992000',
    'of the first response',
  );

  runs.variables = 'HTTP-If-Modified-Since: No\n';
  runs.now += WEEK;
  t.equal((await runs.run()).counts.unchanged, 2, 'G-106: unconditionally, digests are compared');
  t.same(conditions.slice(4), [undefined, undefined]);
});

t.test('G-108 line 2: a local file with an unchanged time is not read', async (t) => {
  const folder = t.testdir({ 'a.txt': 'First text.\n' });
  const file = join(folder, 'a.txt');
  utimesSync(file, START - 500, START - 500);
  const runs = new Runs(folder, leafNodes(`file://${file}`));
  await runs.run();
  writeFileSync(file, 'Other text.\n');
  utimesSync(file, START - 500, START - 500);
  runs.now += 10;
  const report = await runs.run();
  t.equal(report.counts.unchanged, 1);
  t.equal(report.bytes, 0);
  utimesSync(file, START + 5, START + 5);
  runs.now += 10;
  t.equal((await runs.run()).counts.summarized, 1, 'G-9: a change is seen before Refresh-Rate has passed');
  t.equal((await runs.object(`file://localhost${file}`))?.text('Last-Modification-Time'), String(START + 5));
});

t.test('G-108 lines 3 and 4: a fetched document is compared by its MD5', async (t) => {
  let modified = 'Tue, 14 Nov 2023 20:00:00 GMT';
  let body = page('First', []);
  await using site = await Site.start({
    '/': (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html', 'last-modified': modified }).end(body),
  });
  const url = `${site.url}/`;
  const runs = new Runs(t.testdir(), leafNodes(url));
  await runs.run();
  const first = await runs.object(url);

  modified = 'Wed, 15 Nov 2023 20:00:00 GMT';
  runs.now += WEEK;
  t.equal((await runs.run()).counts.unchanged, 1, 'line 3: the same bytes are unchanged');
  const second = await runs.object(url);
  t.equal(second?.text('Update-Time'), String(START + WEEK));
  t.equal(second?.text('Last-Modification-Time'), '1700078400', 'line 3: both times are set');
  t.equal(second?.text('MD5'), first?.text('MD5'));
  t.equal(second?.text('title'), first?.text('title'));

  body = page('Second', []);
  runs.now += WEEK;
  t.equal((await runs.run()).counts.summarized, 1, 'line 4: other bytes are summarized');
  const third = await runs.object(url);
  t.match(third?.text('title'), 'Second');
  t.not(third?.text('MD5'), first?.text('MD5'));
});

t.test('G-108 lines 5 and 6: what is gone or fails is kept until it expires (G-103, G-104)', async (t) => {
  let status = 200;
  await using site = await Site.start({
    '/gone': (_, response) =>
      status === 200
        ? response.writeHead(200, { 'content-type': 'text/html' }).end(page('Gone', []))
        : response.writeHead(status).end('no'),
    '/robots.txt': 'User-agent: *\nAllow: /\n',
  });
  const url = `${site.url}/gone`;
  const runs = new Runs(t.testdir(), leafNodes(url));
  await runs.run();
  for (status of [404, 410, 500]) {
    runs.now += 10;
    const report = await runs.run({ force: true });
    t.equal(report.counts.failed, 1, String(status));
    t.equal((await runs.object(url))?.text('Update-Time'), String(START), `${status}: no change`);
  }
  const exported = async (): Promise<number> => {
    let count = -1;
    await runs.run({}, async (gatherer) => {
      await gatherer.publish();
      await using snapshot = await new Generations(gatherer.generationsDirectory).open();
      count = snapshot.count;
    });
    return count;
  };
  runs.now = START + MONTH;
  t.equal(await exported(), 1, 'G-103: an object is valid to its last second');
  runs.now = START + MONTH + 1;
  t.equal(await exported(), 0, 'G-103: an expired object is not published');
  t.equal(await runs.object(url), undefined, 'expiry also removes it from the database');
});

t.test('G-110: after a change of the rules even unchanged and undue documents are summarized', async (t) => {
  await using site = await Site.start({
    '/a.txt': 'A text about harvesting.\n',
  });
  const url = `${site.url}/a.txt`;
  const directory = t.testdir({ lib: {} });
  const runs = new Runs(directory, leafNodes(url));
  await runs.run();
  t.notOk((await runs.object(url))?.get('Full-Text'));

  runs.now += 10;
  runs.variables = 'Essence-Options: --full-text\n';
  t.equal((await runs.run()).counts.summarized, 1, 'other options summarize again');
  t.match((await runs.object(url))?.text('Full-Text'), 'about harvesting');

  runs.now += 10;
  t.equal((await runs.run()).counts.kept, 1, 'with the same options the object is kept');

  runs.variables = `Lib-Directory: ${join(directory, 'lib')}\nEssence-Options: --full-text\n`;
  writeFileSync(join(directory, 'lib', 'byname.cf'), 'MyType ^.*\\.txt$\n');
  runs.now += 10;
  t.equal((await runs.run()).counts.summarized, 1, 'another type file summarizes again');
  t.equal((await runs.object(url))?.text('Type')?.trim(), 'MyType');
});

t.test('G-110: other names, rates, limits: no new summary, conditional requests, new values', async (t) => {
  const conditions: (string | undefined)[] = [];
  await using site = await Site.start({
    '/a.txt': validated('A text.\n', ['etag', '"v1"'], conditions, 'text/plain'),
  });
  const url = `${site.url}/a.txt`;
  const runs = new Runs(t.testdir(), leafNodes(url), `Refresh-Rate: ${WEEK}\n`);
  await runs.run();

  runs.variables =
    'Refresh-Rate: 1000\nTime-To-Live: 5000\nGatherer-Name: Other\nEssence-Options: --time-limit=60\n';
  runs.now += 10;
  t.equal((await runs.run()).counts.kept, 1, 'a document that is not due is kept');
  t.equal(conditions.length, 1, 'and its server is not contacted');
  const kept = await runs.object(url);
  t.equal(kept?.text('Refresh-Rate'), '1000');
  t.equal(kept?.text('Time-to-Live'), '5000');
  t.equal(kept?.text('Gatherer-Name'), 'Other');
  t.match(kept?.text('Description') ?? kept?.text('Keywords'), /text/i, 'the rest is as it was');

  runs.now = START + 1000;
  runs.variables = runs.variables.replace('Other', 'Third');
  t.equal((await runs.run()).counts.unchanged, 1, 'it is due by the new rate, and did not change');
  t.same(conditions, [undefined, '"v1"'], 'the request is conditional');
  const refreshed = await runs.object(url);
  t.equal(refreshed?.text('Gatherer-Name'), 'Third');
  t.equal(refreshed?.text('Update-Time'), String(START + 1000));
  runs.now += 500;
  t.equal((await runs.run()).counts.kept, 1);
});

t.test('G-110, E-61: another PATH alone changes no rule; another or edited program does', async (t) => {
  await using site = await Site.start({ '/a.txt': 'A text about harvesting.\n' });
  const url = `${site.url}/a.txt`;
  const directory = t.testdir({ empty: {}, bin: {} });
  const runs = new Runs(directory, leafNodes(url), `Top-Directory: ${directory}\n`);
  const path = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = path;
  });
  await runs.run();
  process.env.PATH = `${join(directory, 'empty')}:${path}`;
  runs.now += 10;
  t.equal((await runs.run()).counts.kept, 1, 'another PATH');

  const program = join(directory, 'bin', 'Text.sum');
  for (const [title, counts] of [
    ['One', { summarized: 1 }],
    ['One', { kept: 1 }],
    ['Two', { summarized: 1 }],
  ] as const) {
    writeFileSync(program, `#!/bin/sh\nprintf 'Title{3}:\\t${title}\\n'\n`, { mode: 0o755 });
    runs.now += 10;
    t.match((await runs.run()).counts, counts, `a program that prints ${title}`);
    t.match((await runs.object(url))?.text('Title'), title);
  }
});

t.test('G-110, E-135: an edited program of a post-summarizing rule makes new summaries', async (t) => {
  await using site = await Site.start({
    '/a.txt': 'A text about harvesting.\n',
    '/b.txt': 'Another text.\n',
  });
  const [url, other] = [`${site.url}/a.txt`, `${site.url}/b.txt`];
  const directory = t.testdir({
    bin: {},
    script: '',
    rules: `type == 'Text'\n\tpartial-text | fix-text.sh\n\tdescription | sed -f ${join(t.testdirName, 'script')}\n`,
  });
  const lines = `Top-Directory: ${directory}\nPost-Summarizing: ${join(directory, 'rules')}\n`;
  const runs = new Runs(directory, leafNodes(`${url}\n${other}`), lines);
  const write = (title: string, script: string): void => {
    writeFileSync(join(directory, 'bin', 'fix-text.sh'), `#!/bin/sh\necho ${title}\n`, { mode: 0o755 });
    writeFileSync(join(directory, 'script'), script);
  };
  for (const [title, script, counts] of [
    ['One', 's/text/poem/', { summarized: 2 }],
    ['One', 's/text/poem/', { kept: 2 }],
    ['Two', 's/text/poem/', { summarized: 2 }],
    ['Two', 's/text/song/', { summarized: 2 }],
  ] as const) {
    write(title, script);
    runs.now += 10;
    t.match((await runs.run()).counts, counts, `${title}, ${script}`);
    const object = await runs.object(url);
    t.match(object?.text('Partial-Text'), title);
    t.match(object?.text('Description'), script.split('/')[2]);
  }
});

t.test('G-110, E-25: after a change of the stop list the objects of its types are deleted', async (t) => {
  await using site = await Site.start({ '/a.html': page('First', []) });
  const url = `${site.url}/a.html`;
  const directory = t.testdir({ lib: {} });
  const runs = new Runs(directory, leafNodes(url), `Lib-Directory: ${join(directory, 'lib')}\n`);
  await runs.run();
  t.ok(await runs.object(url));
  writeFileSync(join(directory, 'lib', 'stoplist.cf'), 'HTML\n');
  runs.now += 10;
  t.equal((await runs.run()).counts.rejected, 1);
  t.equal(await runs.object(url), undefined);
});

t.test('E-25, E-28: a name of a type on the stop list: the object goes, without a request', async (t) => {
  await using site = await Site.start({ '/a.txt': 'First.\n', '/b.txt': 'Second.\n' });
  const urls = [`${site.url}/a.txt`, `${site.url}/b.txt`];
  const directory = t.testdir({ lib: {} });
  const runs = new Runs(directory, leafNodes(...urls), `Lib-Directory: ${join(directory, 'lib')}\n`);
  await runs.run();
  t.ok(await runs.object(urls[0]!));
  const before = site.requests.length;
  writeFileSync(join(directory, 'lib', 'stoplist.cf'), 'Text\n');
  runs.now += 10;
  let deleted = 0;
  const { counts } = await runs.run({}, async (gatherer) => {
    await gatherer.publish();
    await using snapshot = await new Generations(gatherer.generationsDirectory).open();
    t.equal(snapshot.count, 0);
    deleted = gatherer.store.tombstones.count;
    t.equal(await gatherer.store.documents.get(urls[0]!), undefined);
  });
  t.equal(counts.rejected, 2);
  t.equal(site.requests.length, before, 'documents are rejected by name without a request');
  t.equal(await runs.object(urls[0]!), undefined);
  t.equal(deleted, 2, 'GATHERD-4.9: Brokers receive the deletions');
});

t.test('G-110, G-141: a changed annotation file is merged even into objects that are not due', async (t) => {
  await using site = await Site.start({
    '/a.html': page('Automatic title', []),
    '/b.html': page('Not annotated', []),
  });
  const url = `${site.url}/a.html`;
  const directory = t.testdir();
  const file = join(directory, 'notes');
  const annotations = (value: string): void => writeFileSync(file, `@FILE { ${url}\n${value}}\n`);
  const runs = new Runs(directory, leafNodes(url, `${site.url}/b.html`), `Annotations: ${file}\n`);
  annotations('Reviewer:\tAnn\n');
  await runs.run();
  t.equal((await runs.object(url))?.text('Reviewer'), 'Ann');

  runs.now += 10;
  t.equal((await runs.run()).counts.kept, 2, 'without a change both objects are kept');

  annotations('Reviewer:\tBob\nTitle:\tMine\n');
  runs.now += 10;
  t.equal((await runs.run()).counts.kept, 2, 'changed annotations need no new summary');
  const merged = await runs.object(url);
  t.equal(merged?.text('Reviewer'), 'Bob');
  t.equal(merged?.text('Title'), 'Mine', 'G-139: the manual value wins');

  annotations('Reviewer:\tBob\n');
  runs.now += 10;
  await runs.run();
  t.match((await runs.object(url))?.text('Title'), 'Automatic title', 'the original value is restored');

  runs.variables = '';
  runs.now += 10;
  t.equal((await runs.run()).counts.kept, 2, 'without the file the annotations are removed');
  t.notOk((await runs.object(url))?.text('Reviewer'));
  t.equal(countRequests(site, '/a.html'), 1, 'no change of an annotation contacts the server');
  t.equal(countRequests(site, '/b.html'), 1);

  runs.now = START + WEEK - 1;
  annotations('Reviewer:\tEve\n');
  runs.variables = `Annotations: ${file}\n`;
  await runs.run({ force: true });
  t.equal((await runs.object(url))?.text('Reviewer'), 'Eve', 'an unchanged page is merged again, too');
  t.match((await runs.object(url))?.text('Title'), 'Automatic title');
});

t.test('G-9, G-148: --only gathers these URLs and keeps the others; --log-json writes JSON', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a', '/b']),
    '/a': page('A one', ['/new']),
    '/b': page('B one', []),
    '/new': page('New', []),
  });
  const nodes = `<RootNodes>\n${site.url}/ URL=3 Delay=0\n</RootNodes>\n`;
  const directory = t.testdir({ 'my.cf': `Gatherer-Name: Mine\nAccess-Delay: 0\n${nodes}` });
  const runs = new Runs(directory, nodes);
  runs.now = Math.floor(Date.now() / 1000) - 100;
  t.equal((await runs.run()).counts.summarized, 3);

  site.pages.set('/a', page('A two', ['/new']));
  site.pages.set('/b', page('B two', []));
  const before = site.paths.length;
  const args = ['gatherer', join(directory, 'my.cf'), '--data', join(directory, 'data'), '--no-daemon'];
  const limited = await cli(...args, '--json', '--log-json', '--only', `${site.url}/a`);
  t.equal(limited.code, 0, limited.stderr);
  t.match(JSON.parse(limited.stdout), { gathered: { counts: { summarized: 1, kept: 0 } }, objects: 3 });
  t.same(site.paths.slice(before), ['/a'], 'only the given URL, even before its Refresh-Rate');
  t.match((await runs.object(`${site.url}/a`))?.text('title'), 'A two');
  t.match((await runs.object(`${site.url}/b`))?.text('title'), 'B one');
  const log = readFileSync(join(directory, 'log.gatherer'), 'utf8').trimEnd().split('\n');
  t.match(JSON.parse(log[0]!), {
    level: 'info',
    name: 'essence',
    msg: 'begin: Mine: 0 RootNodes, 1 LeafNode',
  });

  const wrong = await cli(...args, '--only', 'mailto:joe@example.org');
  t.equal(wrong.code, 2);
  t.match(wrong.stderr, '--only');
});

t.test('G-9, G-171: --only is refused during an interrupted run, which then continues', async (t) => {
  const stop = new AbortController();
  await using site = await Site.start({
    '/': page('Start', ['/a']),
    '/a': (_, response) => {
      stop.abort(new Error('stopped by the test'));
      response.writeHead(200, { 'content-type': 'text/html' }).end(page('A', []));
    },
  });
  const text = `Gatherer-Name: Mine\nAccess-Delay: 0\n<RootNodes>\n${site.url}/ Delay=0\n</RootNodes>\n`;
  const directory = t.testdir({ 'my.cf': text });
  const data = join(directory, 'data');
  const { config } = parseGathererConf(text, 'my.cf', {});
  const run = async (signal: AbortSignal): Promise<GatherReport> => {
    await using gatherer = await Gatherer.open({ directory: data, config, essenceWorkers: 0 });
    return await gatherer.run(signal);
  };
  await t.rejects(run(stop.signal), { message: 'stopped by the test' });
  const refused = await cli('gatherer', join(directory, 'my.cf'), '--data', data, '--only', `${site.url}/`);
  t.equal(refused.code, 2);
  t.match(refused.stderr, 'interrupted run');
  const { resumed, counts } = await run(never);
  t.ok(resumed);
  t.equal(counts.summarized, 1, 'the rest of the run is gathered');
});

t.test('G-108 line 5, HTTP-Immediate-Delete: objects of gone documents are deleted at once', async (t) => {
  await using site = await Site.start({ '/': page('Home', []), '/b': page('B', []) });
  const runs = new Runs(t.testdir(), leafNodes(`${site.url}/`, `${site.url}/b`));
  await runs.run();
  site.pages.delete('/');
  await runs.run({ force: true });
  t.ok(await runs.object(`${site.url}/`), 'by default the object stays until it expires');
  site.pages.set('/b', (_, response) => response.writeHead(500).end());
  runs.variables = 'HTTP-Immediate-Delete: yes\n';
  await runs.run({ force: true }, async ({ store }) => {
    t.equal(await store.documents.get(`${site.url}/`), undefined);
  });
  t.equal(await runs.object(`${site.url}/`), undefined);
  t.ok(await runs.object(`${site.url}/b`), 'another failure deletes nothing');
});

t.test('E-116: with --type-only an object has its type and no summary; links are followed', async (t) => {
  await using site = await Site.start({ '/': page('Home', ['/a.txt']), '/a.txt': 'words\n' });
  const nodes = `<RootNodes>\n${site.url}/\n</RootNodes>\n`;
  const runs = new Runs(t.testdir(), nodes, 'Essence-Options: --type-only\n');
  t.match((await runs.run()).counts, { summarized: 2 });
  const unread = new Runs(await temporaryDirectory(t), nodes, 'Essence-Options: --no-access\n');
  t.match((await unread.run()).counts, { summarized: 2 }, 'E-118: links are followed, too');
  t.equal((await unread.object(`${site.url}/`))?.text('MD5'), undefined);
  for (const [path, type] of [
    ['/', 'HTML'],
    ['/a.txt', 'Text'],
  ]) {
    const object = await runs.object(`${site.url}${path}`);
    t.equal(object?.text('Type'), type);
    for (const name of ['Title', 'Keywords', 'Partial-Text', 'Body', 'Description', 'URL-References'])
      t.equal(object?.text(name), undefined, name);
  }
});

t.test('E-130: rules see files of this machine as file://localhost/, as the manual writes it', async (t) => {
  const directory = t.testdir({
    web: { 'a.txt': 'words\n' },
    rules: 'url ~ \'file://localhost/\'\n\ttime-to-live = "86400"\n',
  });
  const url = `file://localhost${directory}/web/a.txt`;
  const runs = new Runs(
    directory,
    leafNodes(`file://${directory}/web/a.txt`),
    `Post-Summarizing: ${directory}/rules\n`,
  );
  await runs.run();
  t.equal((await runs.object(url))?.text('Time-to-Live'), '86400');
});
