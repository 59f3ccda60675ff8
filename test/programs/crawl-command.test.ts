// Runs `harvest gatherer` with a crawl order that enables every feature, and controls it with `harvest crawl`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import type { CrawlOrderInput } from '../../servers/crawler/order/order.js';
import { CliProcess, cli, jsonLines } from '../helpers/cli.js';
import { gate } from '../helpers/gate.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { words } from '../helpers/words.js';
import { writeGatherer } from './gathered-site.js';

// About twenty processes are started in sequence.
const PAGES = 12;

/** Waits for a file. Fails if the process ends first. */
function waitForFile(path: string, run: CliProcess): Promise<void> {
  return waitUntil(() => {
    if (run.child.exitCode !== null) throw new Error(`the process ended: ${run.stderr}`);
    return existsSync(path);
  });
}

function writeOrder(directory: string, order: CrawlOrderInput): void {
  const settings = { delayFactor: 0, minDelayMs: 1, maxDelayMs: 1 };
  writeFileSync(join(directory, 'order.json'), JSON.stringify({ ...order, settings }));
}

t.test('a crawl from the command line with every feature enabled', async (t) => {
  /** Lets the server answer /p5.html. */
  const answer = gate();
  const requested = gate();
  const chain = (i: number): string => page(`Page ${i}`, i + 1 < PAGES ? [`/p${i + 1}.html`] : []);
  await using site = await Site.start(
    Object.fromEntries(Array.from({ length: PAGES }, (_, i) => [`/p${i}.html`, chain(i)])),
  );
  site.pages.set('/p5.html', (_, response) => {
    requested.open();
    void answer.opened.then(() => response.writeHead(200, { 'content-type': 'text/html' }).end(chain(5)));
  });
  const directory = await temporaryDirectory(t);
  const everything: CrawlOrderInput = {
    name: 'everything',
    recoveryJournal: true,
    console: { port: 0 },
    warc: { directory: join(directory, 'warc') },
    checkpointMinutes: 60,
  };
  writeOrder(directory, { ...everything, pauseAtStart: true });
  const nodes = `<RootNodes>\n${site.url}/p0.html URL=500\n</RootNodes>\n`;
  const configuration = writeGatherer(directory, `Crawl-Order: order.json\nAccess-Delay: 0\n${nodes}`);
  const data = join(directory, 'data');
  const gatherArgs = (to = data) => ['gatherer', configuration, '--no-daemon', '--json', '--data', to];
  const crawl = async (...words: readonly string[]) => {
    const done = await cli('crawl', ...words, '--data', data);
    return { ...done, lines: done.stdout.startsWith('{') ? jsonLines(done.stdout) : [] };
  };

  const first = new CliProcess(gatherArgs());
  await waitForFile(join(data, 'crawl', 'console.json'), first);
  t.match((await crawl('report', 'frontier', '--json')).lines, [
    { queued: 1, inProcess: 0, queues: { ready: 1 } },
  ]);
  t.equal((await crawl('resume')).code, 0);
  await requested.opened;
  t.match((await crawl('report', 'queues', '--json')).lines, [
    { state: 'in-process', count: 1, lastPeeked: `${site.url}/p5.html` },
  ]);
  const totals = await crawl('report', 'all');
  t.match(totals.stdout, /everything: running.*5 succeeded.*fetch.*\/p5\.html/s);
  const checkpoint = await crawl('checkpoint', '--json');
  t.match(checkpoint.lines, [{ checkpoint: { queued: 1, succeeded: 5 } }]);
  t.match((await crawl('pause')).stdout, /paus/);
  answer.open();
  t.equal((await crawl('stop')).code, 0);
  const { code, stdout, stderr } = await first.finished;
  t.equal(code, 0, stderr);
  t.match(stderr, /console is http:\/\/127\.0\.0\.1:\d+\//);
  const { gathered, objects } = JSON.parse(stdout) as { gathered: { end: string }; objects: number };
  t.match({ end: gathered.end, objects }, { end: 'ended by operator', objects: 6 });
  t.notOk(existsSync(join(data, 'crawl', 'console.json')), 'the file of the console is removed');

  // The crawl is stopped: reports come from its store.
  const stopped = await crawl('report', 'all', '--json');
  t.match(stopped.lines, [
    { report: 'totals', run: 'interrupted', succeeded: 6, queued: 1, objects: 6 },
    { report: 'queues', count: 1 },
  ]);
  t.match(
    (await crawl('report', 'all')).stdout,
    /is interrupted; the next run continues it.*6 succeeded.*1 queued.*QUEUE/s,
  );
  t.match((await crawl('report', 'seen')).stdout, /^level: 7 URIs\n$/);
  t.match(await crawl('report', 'hosts'), {
    code: 1,
    stdout: '',
    stderr: /no crawl is running.*queues, retries, seen, frontier, all/,
  });

  // Restores the checkpoint and runs to the end.
  t.match((await crawl('checkpoints', '--verify', '--json')).lines, [
    { queued: 1, succeeded: 5, whole: true },
  ]);
  t.match((await crawl('checkpoints')).stdout, /^CHECKPOINT .*\ncp00001-\d{14} /);
  t.match(await crawl('recover', 'newest'), {
    code: 0,
    stdout: /5 succeeded, 1 queued.*working\.before-\d+;.*Start/s,
  });
  t.match((await crawl('report', 'frontier', '--json')).lines, [{ queued: 1, queues: { ready: 1 } }]);
  t.match(await crawl('recover', 'cp00009-20260101000000'), { code: 2, stderr: /has no checkpoint/ });
  const logs = join(data, 'crawl', 'logs');
  const journals = readdirSync(logs)
    .filter((name) => name.startsWith('recover.gz.'))
    .sort();
  const parts = [...journals, 'recover.gz'].map((name, i) => {
    const copy = join(directory, `journal-${i}`);
    writeFileSync(copy, readFileSync(join(logs, name)));
    return copy;
  });
  t.equal(parts.length, 2, 'the checkpoint has rotated the journal');

  writeOrder(directory, everything);
  site.pages.set('/p5.html', chain(5));
  site.requests.length = 0;
  const last = await cli(...gatherArgs());
  t.equal(last.code, 0, last.stderr);
  t.match(JSON.parse(last.stdout), { gathered: { end: 'finished', resumed: true }, objects: PAGES });
  t.same(
    site.paths,
    Array.from({ length: PAGES - 5 }, (_, i) => `/p${i + 5}.html`),
    'the crawl continues from the checkpoint',
  );
  t.match(
    (await crawl('report', 'all')).stdout,
    /is finished; the next run starts again.*12 succeeded.*none\n/s,
  );
  const records = readdirSync(join(directory, 'warc'))
    .filter((name) => name.endsWith('.gz'))
    .map((name) => gunzipSync(readFileSync(join(directory, 'warc', name))).toString('latin1'))
    .join('');
  t.equal(
    new Set(
      records
        .match(/WARC-Type: response.*?\r\n\r\n/gs)
        ?.map((head) => /WARC-Target-URI: (.*)\r/.exec(head)?.[1]),
    ).size,
    PAGES + 1,
    'every page is archived, and robots.txt',
  );
  t.ok(readdirSync(join(data, 'crawl', 'reports')).length > 3, 'CRAWL-16.7');
  t.match(readFileSync(join(logs, 'crawl.log'), 'utf8'), /p11\.html/);

  // CRAWL-17.1.2: from the journal as it was when the crawl was stopped, into an empty directory.
  const other = join(directory, 'other');
  const fromJournal = words`crawl recover --journal ${parts} --data ${other} ${configuration}`;
  const recovered = await cli(...fromJournal, '--json');
  t.match(
    { ...recovered, stdout: JSON.parse(recovered.stdout || '{}') },
    { code: 0, stdout: { noted: 6, queued: 1, badLines: 0 } },
  );
  const again = await cli(...fromJournal);
  t.match(again, { code: 2, stderr: /interrupted run/ });
  site.requests.length = 0;
  const rest = await cli(...gatherArgs(other));
  t.match(JSON.parse(rest.stdout), { gathered: { end: 'finished', resumed: true }, objects: PAGES - 6 });
  t.same(
    site.paths,
    Array.from({ length: PAGES - 6 }, (_, i) => `/p${i + 6}.html`),
  );
});

t.test('CRAWL-19 harvest crawl order and settings', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'order.json');
  const text = await cli('crawl', 'order', '--default');
  t.match(text, {
    code: 0,
    stdout: /\/\/ Bandwidth limit of the whole crawl; 0: no limit \(.*KB\/s; CRAWL-7\.6\)/,
  });
  t.equal((await cli('crawl', 'order')).stdout, text.stdout, 'the default without an option');
  writeFileSync(file, text.stdout);
  t.match(await cli('crawl', 'order', '--check', file), {
    code: 0,
    stdout: /the order crawl is valid; 0 sheets/,
  });
  t.match((await cli('crawl', 'order', '--table')).stdout, /settings\.minDelayMs +3000 +ms/);
  writeFileSync(file, '{\n  "workers": 4,\n  "minDelayMs": 5\n}');
  for (const [checked, stderr] of [
    [file, /order\.json:3.*minDelayMs.*settings\.minDelayMs is meant/],
    [join(directory, 'none'), /none cannot be read/],
  ] as const)
    t.match(await cli('crawl', 'order', '--check', checked), { code: 2, stderr });

  writeFileSync(
    file,
    JSON.stringify({
      settings: { minDelayMs: 1000 },
      sheets: [
        { name: 'slow', surts: ['example.org'], settings: { minDelayMs: 7000 } },
        { name: 'slower', surts: ['http://(org,example,www,)/a'], settings: { minDelayMs: 9000 } },
      ],
    }),
  );
  const settingsOf = (url: string, ...options: readonly string[]) =>
    cli('crawl', 'settings', url, '--order', file, ...options);
  t.equal(
    (await settingsOf('http://www.example.org/a/b')).stdout,
    'sheet slow, because of the prefix http://(org,example,\nsheet slower, because of the prefix http://(org,example,www,)/a\n* minDelayMs: 9000\n',
  );
  t.match(
    (await settingsOf('http://example.com/', '--all')).stdout,
    /^No sheet applies.*^ {2}minDelayMs: 1000$/ms,
  );
  t.match(JSON.parse((await settingsOf('http://www.example.org/', '--json')).stdout), {
    sheets: [{ sheet: 'slow' }],
    settings: { minDelayMs: 7000 },
  });
  t.equal((await settingsOf('nothing')).code, 2);
});
