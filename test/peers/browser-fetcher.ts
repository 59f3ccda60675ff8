// Crawls pages whose content scripts make, with Debian's Chromium, and pages that attack a crawler's browser.
// Prints TAP. Needs chromium; skipped without it. `CHROMIUM` names another one.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CloseStack } from '../../protocols/close-stack.js';
import { processTree } from '../../servers/crawler/browser/process-tree.js';
import type { CrawlOrderInput } from '../../servers/crawler/order/order.js';
import { Gatherer } from '../../servers/gatherer/index.js';
import { CliProcess } from '../helpers/cli.js';
import { scratchDirectory } from '../helpers/daemon.js';
import { parseConfiguration, readExport, renderConfiguration } from '../helpers/gather-peers/gather.js';
import { type Page, page, Site } from '../helpers/site.js';
import { waitUntil } from '../helpers/wait-until.js';
import { crawl } from '../servers/crawler/order-keys/crawls.js';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const skip = existsSync(CHROMIUM) ? false : `${CHROMIUM} needed`;
const BROWSER = { fetcher: 'browser', browserDelayMs: 0, browserMaxSeconds: 20 } as const;

function order(settings: CrawlOrderInput['settings'] = {}, more: CrawlOrderInput = {}): CrawlOrderInput {
  return {
    ...more,
    browser: { executable: CHROMIUM, ...more.browser },
    settings: { ...BROWSER, ...settings },
  };
}

function shell(script: string, body = 'shell'): string {
  return `<!DOCTYPE html><html><head><title>Shell</title></head><body><p>${body}</p><script>${script}</script></body></html>`;
}

function json(value: unknown): Page {
  return (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function script(text: string): Page {
  return (_, response) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end(text);
}

/** Processes of Chromium that this process started. */
async function browserProcesses(root = process.pid): Promise<number[]> {
  const { pids } = await processTree(root);
  return pids.filter((pid) => /chrom/.test(commandLine(pid)));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return ''; // It has ended.
  }
}

async function hasNoBrowser(t: Test): Promise<void> {
  t.strictSame(await browserProcesses(), [], 'no process of the browser is left');
}

t.test('CRAWL-11.2 text and links that only scripts make', { skip }, async (t) => {
  await using other = await Site.start({ '/x': 'x' }, '127.0.0.2');
  await using site = await Site.start({
    '/robots.txt': 'User-agent: *\nDisallow: /secret\n',
    '/': '<!DOCTYPE html><html><head><title>Shell</title><script type="module" src="/app.js"></script></head><body><iframe src="/frame"></iframe><img src="/i.png"></body></html>',
    '/app.js': script(`
      import { words } from './moved.js';
      const data = await (await fetch('/data.json')).json();
      document.title = 'Made title';
      document.body.innerHTML += '<p>' + words + ' ' + data.text + '</p>' + data.links.map((l) => '<a href="' + l + '">x</a>').join('');
      const refused = [];
      for (const [url, init] of [['/secret'], ['${other.url}/x'], ['/data.json', { method: 'POST', body: 'x' }]])
        await fetch(url, init).catch(() => refused.push(url));
      document.body.append('refused' + refused.length);
      for (const begin of [() => new WebSocket('ws://' + location.host + '/socket'), () => window.open('/popup'),
        () => navigator.serviceWorker?.register('/worker.js'), () => navigator.sendBeacon('/beacon', 'x'),
        () => new EventSource('/events'), () => alert('x')]) try { begin(); } catch {}
      const a = document.createElement('a'); a.href = '/download.bin'; a.download = 'x'; a.click();
      document.cookie = 'a=b'; localStorage.setItem('a', 'b');
    `),
    '/moved.js': (_, response) => response.writeHead(302, { location: '/words.js' }).end(),
    '/words.js': script(`export const words = 'quagga';`),
    '/data.json': json({ text: 'okapi', links: ['/made', '/away'] }),
    '/frame': page('Frame', []),
    '/made': shell(`document.body.append(document.cookie + localStorage.length); location = '/by-script'`),
    '/by-script': page('By script', []),
    '/away': '<html><body><meta http-equiv="refresh" content="0; url=/by-script"><p>away</p></body></html>',
  });
  const directory = scratchDirectory(t);
  const warc = join(directory, 'warc');
  const more = { warc: { directory: warc, compress: false }, browser: { keepDocuments: true } };
  const { lines } = await crawl(directory, site, { order: order({}, more) });
  t.strictSame(
    [...new Set(site.paths)].toSorted(),
    ['/', '/app.js', '/away', '/by-script', '/data.json', '/frame', '/made', '/moved.js', '/words.js'],
    'nothing else is requested',
  );
  t.strictSame(other.requests, []);
  t.equal(site.paths.filter((path) => path === '/data.json').length, 1);
  t.equal(site.maxConcurrent, 1);
  t.equal(lines.get('/app.js')?.pathFromSeed, 'E');
  t.equal(lines.get('/words.js')?.pathFromSeed, 'ER');
  t.equal(lines.get('/secret')?.status, -9998);
  t.strictSame(lines.get('/')?.annotations, ['2t', 'browser']);
  const archive = readdirSync(warc)
    .map((name) => readFileSync(join(warc, name), 'utf8'))
    .join('');
  const targets = (type: string) =>
    [...archive.matchAll(new RegExp(`^WARC-Type: ${type}\\r\\nWARC-.*?\\r\\n\\r\\n`, 'gms'))].map(
      ([head]) => /WARC-Target-URI: \S+?\/\/[^/]+(\S*)/.exec(head)?.[1],
    );
  for (const path of ['/', '/app.js', '/data.json', '/moved.js', '/words.js', '/frame'])
    t.ok(targets('response').includes(path), `CRAWL-18.6 a response record of ${path}`);
  t.ok(targets('request').includes('/data.json'), 'CRAWL-18.6 its request record');
  t.strictSame(targets('conversion').toSorted(), ['/', '/away', '/by-script', '/made']);
  t.match(archive, /Made title[\s\S]*quagga okapi[\s\S]*refused3/);
  await hasNoBrowser(t);
  t.strictSame(await titles(directory), ['', 'By script\n', 'Made title\n', 'Shell\n']);
});

/** Publishes what was gathered; returns the titles of the objects, sorted. */
async function titles(directory: string): Promise<string[]> {
  const data = join(directory, 'data');
  await using gatherer = await Gatherer.open({
    directory: data,
    config: parseConfiguration({}),
    essenceWorkers: 0,
  });
  await gatherer.publish();
  return (await readExport(gatherer.generationsDirectory)).map(({ text }) => text('title') ?? '').sort();
}

t.test('CRAWL-7.1 the requests of a page to one host have a pause between them', { skip }, async (t) => {
  const parts = ['/part/1', '/part/2', '/part/3', '/part/4'];
  await using site = await Site.start({
    '/': shell(`Promise.all(${JSON.stringify(parts)}.map((path) => fetch(path)))`),
    ...Object.fromEntries(parts.map((path) => [path, 'part'])),
  });
  await crawl(scratchDirectory(t), site, { order: order({ browserDelayMs: 250 }) });
  const times = site.requests.filter(({ path }) => path.startsWith('/part/')).map(({ at }) => at);
  t.equal(times.length, parts.length);
  // A timer may be a few milliseconds early.
  for (const [i, at] of times.slice(1).entries())
    t.ok(at - (times[i] ?? at) >= 240, `${at - (times[i] ?? at)} ms`);
});

t.test('CRAWL-11.2 a page is scrolled to its end', { skip }, async (t) => {
  const growing = shell(
    `let n = 0; addEventListener('scroll', () => { if (n++ < 3) fetch('/more' + n).then(() => { const d = document.createElement('div'); d.style.height = '3000px'; document.body.append(d); }); });`,
    '<span style="display:block;height:4000px">tall</span>',
  );
  await using site = await Site.start({ '/': growing, '/more1': 'a', '/more2': 'b', '/more3': 'c' });
  await crawl(scratchDirectory(t), site, { order: order({ browserScroll: true }) });
  t.strictSame(site.paths, ['/', '/more1', '/more2', '/more3']);
});

t.test('CRAWL-11.2 pages that attack the browser are read as fetched', { skip }, async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/endless', '/alerts', '/requests', '/large', '/memory', '/navigates', '/good']),
    '/endless': shell('for (;;) ;'),
    '/alerts': shell('for (;;) alert("x");'),
    '/requests': shell(`for (let i = 0; i < 10_000; i++) fetch('/part/' + i).catch(() => {});`),
    '/large': shell(`document.body.append(document.createComment('x'.repeat(12e6)))`),
    '/memory': shell(`const all = []; for (;;) all.push(new Uint8Array(50e6).fill(1));`),
    '/navigates': shell(`setInterval(() => { location = '/good?' + Math.random(); open('/good'); }, 1);`),
    '/good': shell(`document.body.innerHTML = '<a href="/found">made</a>'`),
    '/found': page('Found', []),
  });
  const directory = scratchDirectory(t);
  const { lines } = await crawl(directory, site, {
    order: order(
      { browserMaxSeconds: 3, browserMaxRequests: 20, maxUrisPerPattern: 5 },
      { browser: { memoryMiB: 700 } },
    ),
  });
  const annotations = (path: string): string => lines.get(path)?.annotations.join() ?? '';
  t.match(annotations('/endless'), 'browser:hung');
  t.match(annotations('/alerts'), 'browser:hung');
  t.match(annotations('/memory'), /browser:(?:memory|crashed|hung)/);
  t.match(annotations('/large'), 'browser:large');
  t.ok(site.paths.filter((path) => path.startsWith('/part/')).length <= 20);
  t.match(annotations('/requests'), /browser/);
  t.ok(site.paths.includes('/found'), 'a page beside them has its links');
  await hasNoBrowser(t);
});

const MIB = 1 << 20;

/** A script of this size, sent as fast as it is read. */
function longScript(mebibytes: number): Page {
  const piece = Buffer.alloc(MIB, 'x = 1;\n');
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript', 'content-length': mebibytes * MIB });
    let left = mebibytes;
    const write = (): void => {
      while (left-- > 0) if (!response.write(piece)) return void response.once('drain', write);
      response.end();
    };
    write();
  };
}

/** Returns the most memory that this process takes while the work runs. */
async function peakOf<T>(work: () => Promise<T>): Promise<{ readonly peak: number; readonly result: T }> {
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const result = await work().finally(() => clearInterval(look));
  return { peak, result };
}

/** A page whose script requests all of these and says how many came; no link reader sees the URLs. */
function requesting(urls: readonly string[]): string {
  const hidden = Buffer.from(JSON.stringify(urls)).toString('base64');
  return shell(
    `Promise.allSettled(JSON.parse(atob('${hidden}')).map((url) => fetch(url, { mode: 'no-cors' }).then((r) => r.arrayBuffer())))
      .then((all) => { document.title = 'came: ' + all.filter((each) => each.status === 'fulfilled').length; })`,
  );
}

for (const archived of [true, false])
  t.test(
    `CRAWL-22.12 many and long parts of a page take no more memory than its limit, ${archived ? 'archived' : 'not archived'}`,
    { skip },
    async (t) => {
      const directory = scratchDirectory(t);
      const visit = async (name: string, hosts: number, mebibytes: number) => {
        const sites = await Promise.all(
          Array.from({ length: hosts }, (_, i) => Site.start({ '/x': longScript(9) }, `127.0.0.${i + 2}`)),
        );
        await using opened = new CloseStack();
        for (const each of sites) opened.use(each);
        await using site = await Site.start({
          '/': requesting([...sites.map(({ url }) => `${url}/x`), '/long', '/short']),
          '/long': longScript(mebibytes),
          '/short': script('1;'),
        });
        const warc = join(directory, `warc-${name}`);
        const more: CrawlOrderInput = {
          browser: { maxCacheMiB: 0, keepDocuments: true },
          ...(archived ? { warc: { directory: warc, compress: false } } : {}),
        };
        const set = order({ embeds: 'any', browserMaxSeconds: 60 }, more);
        const { peak, result } = await peakOf(() => crawl(join(directory, name), site, { order: set }));
        return { peak, sites, lines: result.lines, warc };
      };
      await visit('first', 0, 1);
      const few = await visit('few', 2, 1);
      const many = await visit('many', 30, 200);
      const growth = Math.round((many.peak - few.peak) / MIB);
      t.ok(growth < 200, `${growth} MiB more for 470 MiB than for 19`);
      t.match(many.lines.get('/')?.annotations.join(), /browser,browser:refused:\d+/);
      if (!archived) return;
      const alone = await visit('alone', 0, 200);
      t.strictSame(alone.lines.get('/long')?.annotations, ['browser'], 'the archive has all of it');
      t.equal(alone.lines.get('/long')?.size, 200 * MIB);
      t.strictSame(alone.lines.get('/')?.annotations, ['2t', 'browser', 'browser:refused:1']);
      const bytes = readdirSync(alone.warc).reduce(
        (sum, file) => sum + statSync(join(alone.warc, file)).size,
        0,
      );
      t.ok(bytes > 200 * MIB && bytes < 202 * MIB, `${bytes} bytes of WARC`);
    },
  );

t.test('a Chromium that is killed is started again, and loads the page again', { skip }, async (t) => {
  let killed = 0;
  const kill: Page = async (_, response) => {
    if (killed++ === 0) for (const pid of await browserProcesses()) process.kill(pid, 'SIGKILL');
    response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' }).end('okapi');
  };
  await using site = await Site.start({
    '/': shell(
      `fetch('/kill').then((r) => r.text()).then((x) => { document.body.innerHTML = '<a href="/made">' + x + '</a>'; });`,
    ),
    '/kill': kill,
    '/made': page('Made', []),
  });
  const { lines } = await crawl(scratchDirectory(t), site, { order: order() });
  t.equal(killed, 2);
  t.strictSame(lines.get('/')?.annotations, ['2t', 'browser']);
  t.ok(site.paths.includes('/made'));
  await hasNoBrowser(t);
});

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  t.test(`no process of Chromium is left after ${signal}`, { skip }, async (t) => {
    await using site = await Site.start({
      '/': shell(`fetch('/slow')`),
      '/slow': () => undefined, // never answered
    });
    const directory = scratchDirectory(t);
    const file = join(directory, 'g.cf');
    await writeFile(join(directory, 'order.json'), JSON.stringify(order()));
    const lines = [`Crawl-Order: ${join(directory, 'order.json')}`];
    await writeFile(file, renderConfiguration({ roots: [`${site.url}/ Delay=0`], lines }));
    const program = new CliProcess(['gatherer', '--no-daemon', '--data', join(directory, 'data'), file]);
    await waitUntil(() => site.paths.includes('/slow'));
    const pids = await browserProcesses();
    t.ok(pids.length > 2, `${pids.length} processes`);
    program.kill(signal);
    await program.finished;
    await waitUntil(() => !pids.some((pid) => /chrom/.test(commandLine(pid))));
    t.strictSame(await browserProcesses(), []);
  });

t.test('a missing Chromium ends the command with a sentence and status 2', async (t) => {
  const directory = scratchDirectory(t);
  const file = join(directory, 'g.cf');
  const missing = { settings: BROWSER, browser: { executable: '/none/chromium' } };
  await writeFile(join(directory, 'order.json'), JSON.stringify(missing));
  const lines = [`Crawl-Order: ${join(directory, 'order.json')}`];
  await writeFile(file, renderConfiguration({ roots: ['http://127.0.0.1:1/'], lines }));
  const program = new CliProcess(['gatherer', '--no-daemon', '--data', join(directory, 'data'), file]);
  const { code, stderr } = await program.finished;
  t.equal(code, 2);
  t.match(stderr, 'browser.executable: /none/chromium is not a program that can be run');
});
