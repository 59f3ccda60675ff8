// Files that an operator drops while a crawl runs (CRAWL-17.1.4).
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import {
  type ActionCounts,
  ActionDirectory,
  type ActionSink,
  doneName,
  parseActionLine,
  parseActionName,
  type ScheduleOptions,
} from '../../../servers/crawler/actions/action-directory.js';
import { type CrawlEvent, crawlChannel } from '../../../servers/crawler/events.js';
import type { JournalUri } from '../../../servers/crawler/journal/journal-line.js';
import { openOrdered } from '../../helpers/ordered-crawl.js';
import { type Page, Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { waitUntil } from '../../helpers/wait-until.js';
import { crawl } from '../crawler/order-keys/crawls.js';

const never = new AbortController().signal;

t.test('CRAWL-17.1.4: the names of files', async (t) => {
  for (const [name, action, checkScope] of [
    ['a.seeds', 'seeds', false],
    ['a.b.recover', 'recover', false],
    ['a.include.gz', 'include', false],
    ['a.s.schedule', 'schedule', true],
    ['a.s.force.gz', 'force', true],
    ['a.force', 'force', false],
  ] as const)
    t.same(parseActionName(name), { action, checkScope }, name);
  for (const name of ['a', 'seeds', '.a.seeds', 'a.seeds.tmp', 'a.seeds.bz2', 'a.schedule.s', 'a.sh'])
    t.equal(parseActionName(name), undefined, name);
  t.equal(doneName('a.seeds', Date.UTC(2026, 0, 2, 3, 4, 5, 6)), '20260102030405006.a.seeds');
});

t.test('CRAWL-17.1.4: the lines of lists', async (t) => {
  const uri = (url: string, pathFromSeed = '', via = '') => ({ url, pathFromSeed, via });
  for (const [line, expected] of [
    ['http://a/', uri('http://a/')],
    [' http://a/ LLE http://b/ \r', uri('http://a/', 'LLE', 'http://b/')],
    ['F+ http://a/ LL http://b/', uri('http://a/', 'LL', 'http://b/')],
    ['F+ http://a/  ', uri('http://a/')],
    ['Fi http://a/', uri('http://a/')],
    ['http://a/ 1+LLL', uri('http://a/', '1+LLL')],
    ['', ''],
    ['# comment', ''],
    ['T 20260101000000', ''],
    ['not a URI', undefined],
    ['http://a/ lower', undefined],
    ['http://a/ L http://b/ more', undefined],
  ] as const)
    t.same(parseActionLine(line), expected, line);
});

/** Collects what the crawl says about actions. */
function listen(t: { teardown(work: () => void): void }): string[] {
  const said: string[] = [];
  const listener = ({ text }: CrawlEvent): void => void (text.startsWith('action ') && said.push(text));
  crawlChannel.subscribe(listener as Parameters<typeof crawlChannel.subscribe>[0]);
  t.teardown(() => void crawlChannel.unsubscribe(listener as Parameters<typeof crawlChannel.subscribe>[0]));
  return said;
}

t.test('CRAWL-17.1.4: files of every kind act on a running crawl', async (t) => {
  const said = listen(t);
  const directory = await temporaryDirectory(t);
  const actions = join(directory, 'actions');
  const done = join(actions, 'done');
  mkdirSync(actions);
  const slow: Page = async (_, response) => {
    // The start page is answered when all files are done.
    await waitUntil(() => existsSync(done) && readdirSync(done).length === 6);
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<a href=/noted>n</a> <a href=/linked>l</a>');
  };
  await using site = await Site.start({
    '/': slow,
    '/linked': 'linked',
    '/noted': 'noted',
    '/scheduled': 's',
  });
  const drop = (name: string, text: string | Buffer): void => writeFileSync(join(actions, name), text);
  drop('1.include', `${site.url}/noted`);
  drop('2.schedule', `${site.url}/scheduled\nthis is no URI\n${site.url}/noted L ${site.url}`);
  drop('3.s.schedule', `${site.url}/scheduled\nhttp://elsewhere.test/`);
  drop('4.force.gz', gzipSync(`${site.url}/forced\n${site.url}/forced\n`));
  drop('5.seeds', `# more\n${site.url.replace('://', '://joe:x@')}/seed\nhttp://127.0.0.77:1/\n`);
  drop(
    '6.recover',
    `F+ ${site.url.replace('://', '://evil:planted@')}/recovered L ${site.url}\nFs ${site.url}/finished L ${site.url}\nF+ ${site.url}/finished L ${site.url}\n`,
  );
  drop('.7.schedule', `${site.url}/hidden`);
  drop('8.schedule.tmp', `${site.url}/unfinished`);
  await using gatherer = await openOrdered(join(directory, 'data'), site.url, {
    actions: { directory: actions, firstLookSeconds: 0, lookSeconds: 0.05 },
  });
  await gatherer.run(never);
  const paths = site.requests.map(({ path }) => path).filter((path) => path !== '/robots.txt');
  t.same(
    [...new Set(paths)].sort(),
    ['/', '/forced', '/linked', '/recovered', '/scheduled', '/seed'],
    'what was noted, hidden, unfinished or out of scope is not fetched',
  );
  const sent = site.requests.map(({ headers }) => headers.authorization ?? '');
  const login = `Basic ${Buffer.from('joe:x').toString('base64')}`;
  t.same(
    [...new Set(sent)].sort(),
    ['', login],
    'G-81: the login of a seed is sent, that of a journal is not',
  );
  t.equal(site.requests.find(({ path }) => path === '/seed')?.headers.authorization, login);
  t.equal(paths.filter((path) => path === '/scheduled').length, 1, 'a seen URI is not scheduled again');
  t.match(readdirSync(done).sort(), [
    /^\d{17}\.1\.include$/,
    /^\d{17}\.2\.schedule$/,
    /^\d{17}\.3\.s\.schedule$/,
    /^\d{17}\.4\.force\.gz$/,
    /^\d{17}\.5\.seeds$/,
    /^\d{17}\.6\.recover$/,
  ]);
  t.same(readdirSync(actions).sort(), ['.7.schedule', '8.schedule.tmp', 'done']);
  t.match(said.join('\n'), /2\.schedule:2: the line is not a URI\n/);
  t.match(said.join('\n'), /3\.s\.schedule: done: 0 accepted, 1 refused, 0 bad lines/);
});

/** A crawl that only remembers, and stops at a batch. */
class MemorySink implements ActionSink {
  readonly scheduled: string[] = [];
  failAt = Number.POSITIVE_INFINITY;
  isOver = false;
  #position: { file: string; line: number } | undefined;

  begin(): (() => void) | undefined {
    return this.isOver ? undefined : () => undefined;
  }

  async seeds(): Promise<ActionCounts> {
    return { accepted: 0, refused: 0 };
  }

  async note(): Promise<void> {}

  async schedule(uris: readonly JournalUri[], { position }: ScheduleOptions): Promise<ActionCounts> {
    if (this.scheduled.length >= this.failAt) throw new Error('killed');
    this.scheduled.push(...uris.map(({ url }) => url));
    this.#position = position;
    return { accepted: uris.length, refused: 0 };
  }

  accepts(): boolean {
    return true;
  }

  async position(file: string): Promise<number | undefined> {
    return this.#position?.file === file ? this.#position.line : undefined;
  }

  async sync(): Promise<void> {}

  async clearPosition(): Promise<void> {
    this.#position = undefined;
  }
}

t.test('CRAWL-17.1.4: after a crash a file with the ending force goes on after what is stored', async (t) => {
  listen(t);
  const directory = await temporaryDirectory(t);
  const urls = Array.from({ length: 2500 }, (_, i) => `http://site.test/${i}`);
  writeFileSync(join(directory, 'a.force'), urls.join('\n'));
  const sink = new MemorySink();
  const open = (): ActionDirectory => new ActionDirectory({ directory, firstLookMs: 0, lookMs: 10, sink });
  sink.failAt = 2000;
  await open().look(never);
  t.equal(sink.scheduled.length, 2000);
  sink.failAt = Number.POSITIVE_INFINITY;
  await open().look(never);
  t.same(sink.scheduled, urls, 'each once');
  writeFileSync(join(directory, 'a.force'), urls.join('\n'));
  await open().look(never);
  t.equal(sink.scheduled.length, 5000, 'a new file of the same name is carried out');
});

t.test('CRAWL-17.1.4: in a crawl that is over no file is carried out', async (t) => {
  const directory = await temporaryDirectory(t);
  writeFileSync(join(directory, 'a.schedule'), 'http://site.test/1\n');
  const sink = new MemorySink();
  sink.isOver = true;
  await new ActionDirectory({ directory, firstLookMs: 0, lookMs: 10, sink }).look(never);
  t.same([sink.scheduled, readdirSync(directory)], [[], ['a.schedule']], 'it stays for the next run');
});

t.test('CRAWL-17.1.4, 6.1: a crawl that waits for more URIs continues with those of a file', async (t) => {
  const directory = await temporaryDirectory(t);
  const actions = join(directory, 'actions');
  await using site = await Site.start({ '/': 'start', '/more': 'more' });
  await crawl(directory, site, {
    order: { pauseAtFinish: true, actions: { directory: actions, firstLookSeconds: 0, lookSeconds: 0.05 } },
    drive: async ({ control }) => {
      await waitUntil(() => control.snapshot().state === 'empty');
      mkdirSync(actions);
      writeFileSync(join(actions, '.1.schedule'), `${site.url}/more\n`);
      renameSync(join(actions, '.1.schedule'), join(actions, '1.schedule'));
      await waitUntil(() => site.paths.includes('/more'));
      await waitUntil(() => control.snapshot().state === 'empty');
      control.stop();
    },
  });
  t.same(site.paths, ['/', '/more']);
});
