// The two logs of a Gatherer, the sections of -D, and error messages that name the remedy.
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { debugChannel, LocalMapper, publishDebug } from '../../../clients/fetch/index.js';
import { parseGathererConf } from '../../../protocols/config/index.js';
import {
  debugProcessors,
  followDebug,
  Gatherer,
  type GathererOptions,
  logDocuments,
  logRun,
} from '../../../servers/gatherer/index.js';
import { createDebug, createLoggerOn, DebugFlags, type Logger } from '../../../servers/host/index.js';
import { onLines, scripted } from '../../clients/fetch/scripted.js';
import { cli } from '../../helpers/cli.js';
import { page, Site } from '../../helpers/site.js';
import { words } from '../../helpers/words.js';

const never = new AbortController().signal;

/** Returns a logger that keeps its messages. */
function memoryLog(level = 'info'): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const write = (line: string): void => {
    const { msg }: { msg: string } = JSON.parse(line);
    lines.push(msg);
  };
  return { log: createLoggerOn({ write }, { program: 'essence', level }), lines };
}

/** The messages of a run. */
interface RunMessages {
  readonly log: readonly string[];
  readonly errors: readonly string[];
  readonly debug: readonly string[];
}

/** Runs a Gatherer with this configuration and these debug flags; returns its messages. */
async function gather(
  directory: string,
  text: string,
  flags: readonly string[] = [],
  options: Partial<GathererOptions> = {},
): Promise<RunMessages> {
  const log = memoryLog();
  const errors = memoryLog();
  const debug = memoryLog('debug');
  const { config } = parseGathererConf(`Gatherer-Name: Test\nAccess-Delay: 0\n${text}`, 'test.cf', {});
  using _debug =
    flags.length === 0 ? undefined : followDebug(createDebug(DebugFlags.parse(flags), debug.log));
  using _log = logDocuments(log.log, errors.log);
  await using gatherer = await Gatherer.open({
    directory: join(directory, 'data'),
    config,
    essenceWorkers: 0,
    retryDelayMs: 5,
    maxRetries: 1,
    ...(flags.length === 0 ? {} : { processors: debugProcessors() }),
    ...options,
  });
  await logRun(log.log, errors.log, config, () => gatherer.run(never));
  return { log: log.lines, errors: errors.lines, debug: debug.lines };
}

const leafNodes = (...urls: string[]): string => `<LeafNodes>\n${urls.join('\n')}\n</LeafNodes>\n`;
const rootNodes = (line: string): string => `<RootNodes>\n${line}\n</RootNodes>\n`;

/** Checks that exactly one line has this prefix; returns the rest of the line. */
function lineOf(t: Test, lines: readonly string[], prefix: string): string {
  const found = lines.filter((line) => line.startsWith(prefix));
  t.equal(found.length, 1, `one line starts with ${prefix}:\n${lines.join('\n')}`);
  return found[0]?.slice(prefix.length) ?? '';
}

t.test('G-149 to G-151: a run over HTTP writes the lines of each section', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a.html', '/deny/b.html', '/secret/c.html']),
    '/a.html': page('A', []),
    '/robots.txt': 'User-agent: *\nDisallow: /secret/\n',
  });
  const { url } = site;
  const directory = t.testdir({
    filter: 'Deny ^/deny/\nAllow .\n',
    rules: 'type == \'HTML\'\n\tcity = "Here"\n',
  });
  const text = `Post-Summarizing: ${directory}/rules\n${rootNodes(`${url}/ URL=10,${directory}/filter`)}`;
  const { debug } = await gather(
    directory,
    text,
    words`-D20 -D21 -D40 -D41 -D42 -D44 -D48 -D60 -D61 -D62 -D63 -D64 -D66 -D67 -D69`,
  );
  const debugLine = (prefix: string): string => lineOf(t, debug, prefix);

  t.equal(debugLine(`[20,5] ${url}/a.html: `), 'requested by http');
  t.match(
    debugLine(`[20,9] ${url}/a.html: `),
    /^status 200, \d+ bytes, type text\/html, modified 0, \d+ ms$/,
  );
  t.equal(debugLine(`[40,5] ${url}/deny/b.html, found in ${url}/: `), 'refused: url-filter', 'G-148');
  t.match(debugLine(`[21,1] GET ${url}/a.html: `), /^status 200, \d+ bytes$/);
  t.match(debugLine(`[21,9] ${url}/a.html: sent `), /user-agent: Harvest/);
  t.match(debugLine(`[21,9] ${url}/a.html: 200, `), /content-type: text\/html/);
  t.equal(debugLine(`[40,1] ${url}/: `), 'summarized, 3 links');
  t.equal(debugLine(`[40,5] ${url}/a.html: `), `depth 1, path L, found in ${url}/`);
  t.equal(debugLine(`[41,1] ${url}/a.html: `), 'not known');
  t.equal(debugLine(`[42,1] ${url}/: `), 'a document of 3 links');
  t.equal(
    debugLine(`[42,5] ${url}/: `),
    `links: L ${url}/a.html L ${url}/deny/b.html L ${url}/secret/c.html`,
  );
  t.equal(debugLine('[44,1] /deny/b.html: '), `denied by ${directory}/filter, line 1, ^/deny/`);
  t.ok(debug.includes(`[44,5] /a.html: allowed by ${directory}/filter, line 2, .`));
  t.equal(debugLine(`[48,1] ${url}/secret/c.html: `), 'robots.txt: Disallow: /secret/ (line 2)');
  t.equal(debugLine(`[48,5] ${url}/a.html: `), 'allowed');
  t.match(debugLine(`[60,1] ${url}/a.html: `), /^\d+ bytes, text\/html, utf-8, modified 0$/);
  t.match(debugLine(`[61,1] ${url}/a.html: `), /^new, Update-Time \d+$/);
  t.match(debugLine(`[62,1] ${url}/a.html: `), /^summarized, type HTML, status 200, \d+ bytes, \d+ ms$/);
  t.match(
    debugLine(`[63,1] ${url}/a.html: `),
    /^type HTML: .*name "a.html" says HTML \(byname.cf line \d+\)/,
  );
  t.match(debugLine(`[64,1] ${url}/a.html: `), /^\d+ bytes, \d+ attributes, 0 links$/);
  t.equal(debugLine(`[66,1] ${url}/a.html: `), 'rules of lines 1 apply');
  t.match(debugLine(`[67,1] ${url}/a.html: `), /^MD5 [0-9a-f]{32}$/);
  t.match(debugLine(`[69,5] ${url}/a.html: `), /city\{4\}/);
  t.ok(
    debug.some(
      (line) =>
        line.startsWith(`[69,9] @FILE { ${url}/a.html\\x0a`) ||
        line.startsWith(`[69,9] @FILE { ${url}/a.html\n`),
    ),
  );
});

t.test('G-150: runs over Gopher, FTP and files trace the sections 22 to 24, 43, 45 and 46', async (t) => {
  const gopher = await scripted(t, (socket) => {
    onLines(socket, () => socket.end('0About\t/about\t127.0.0.1\t70\r\n.\r\n'));
  });
  const ftp = await scripted(t, (socket) => {
    socket.write('220 here\r\n');
    onLines(socket, (line) =>
      socket.write(line.startsWith('USER') ? '530 access denied\r\n' : '502 unknown command\r\n'),
    );
  });
  const directory = t.testdir({ files: { 'a.txt': 'Text.\n', 'b.txt': 'Text.\n' } });
  const text = `Keep-Cache: yes\nWorking-Directory: ${directory}/tmp\n<RootNodes>\nfile://${directory}/files/ Access=FILE\n</RootNodes>\n${leafNodes(
    `gopher://127.0.0.1:${gopher.port}/1/`,
    `ftp://127.0.0.1:${ftp.port}/pub/`,
  )}`;
  const { debug, errors } = await gather(directory, text, ['-D22,1 -D23 -D24 -D43,1 -D45 -D46']);
  t.equal(
    lineOf(t, debug, `[46,1] file://localhost${directory}/files/: `),
    `a list of 2 links: L file://localhost${directory}/files/a.txt L file://localhost${directory}/files/b.txt`,
  );
  t.match(lineOf(t, debug, `[43,1] gopher://127.0.0.1:${gopher.port}/1/: `), /^a list of 1 links$/);
  t.match(
    lineOf(t, debug, `[24,1] 127.0.0.1:${gopher.port} type 1, `),
    /^"\/": a menu of 1 links, \d+ bytes$/,
  );
  t.match(lineOf(t, debug, `[23,1] 127.0.0.1:${ftp.port} as anonymous: `), /status 401, .*access denied/);
  t.match(lineOf(t, debug, `[45,1] ftp://127.0.0.1:${ftp.port}/pub/: `), /^a document of 0 links: none$/);
  t.ok(debug.includes(`[22,1] gopher://127.0.0.1:${gopher.port}/1/: not in the cache`));
  t.match(
    lineOf(t, errors, `ftp://127.0.0.1:${ftp.port}/pub/: `),
    `FTP-Auth: 127.0.0.1:${ftp.port} username password`,
    'G-83: the message names the remedy',
  );
});

t.test('G-151: messages that are not shown are not computed; disposing unsubscribes', async (t) => {
  const shown = memoryLog('debug');
  let computed = 0;
  const message = (): string => {
    computed++;
    return 'ftp://joe:secret@ftp.example.org/x';
  };
  {
    using _debug = followDebug(createDebug(DebugFlags.parse(['-D20,5']), shown.log));
    publishDebug(20, 9, message);
    publishDebug(21, 1, message);
    t.equal(computed, 0);
    publishDebug(20, 5, message);
    t.equal(computed, 1);
    publishDebug(20, 1, message);
  }
  t.same(
    shown.lines,
    ['[20,5] ftp://ftp.example.org/x', '[20,1] ftp://ftp.example.org/x'],
    'G-81: logins are removed from URLs',
  );
  t.notOk(debugChannel.hasSubscribers);
  publishDebug(20, 1, message);
  t.equal(computed, 2);
});

t.test('G-75, G-76, G-78: -D20,1 and the log show how Local-Mapping maps, or why it fails', async (t) => {
  const directory = t.testdir({ files: { 'good.txt': 'Good.\n', 'run.cgi': '#!/bin/sh\n', sub: {} } });
  const files = `${directory}/files/`;
  chmodSync(`${files}run.cgi`, 0o755);
  symlinkSync('good.txt', `${files}link.txt`);
  await using site = await Site.start({ '/m/link.txt': 'From the server.\n' });
  const urlOf = (name: string): string => `${site.url}/m/${name}`;
  const names = ['good.txt', 'run.cgi', 'link.txt', 'sub', 'none.txt', 'a%20b.txt'];
  const text = `Local-Mapping: ${site.url}/m/ ${files}\n${leafNodes(...names.map(urlOf))}`;
  const { debug, log, errors } = await gather(directory, text, ['-D20,1']);
  const reasons: Readonly<Record<string, string>> = {
    'run.cgi': 'has execute bits set (G-75 c)',
    'link.txt': 'is a symbolic link, not a regular file (G-75 b)',
    sub: 'is a directory, not a regular file (G-75 b)',
    'none.txt': 'cannot be opened: ENOENT (G-75 a)',
    'a%20b.txt': 'cannot be opened: ENOENT (G-75 a); escapes in the URL are not undone (G-76)',
  };
  for (const name of names) {
    t.ok(
      debug.includes(
        `[20,1] Local-Mapping: ${urlOf(name)}: ${site.url}/m/ is ${files}, the file is ${files}${name}`,
      ),
      name,
    );
    if (reasons[name] === undefined) continue;
    t.ok(
      debug.includes(
        `[20,1] Local-Mapping: ${urlOf(name)}: ${files}${name} ${reasons[name]}: the document is requested from the server`,
      ),
      name,
    );
  }
  t.ok(log.includes(`${urlOf('good.txt')} Text 200 [L]`), 'G-77: a local document is marked [L]');
  t.ok(log.includes(`${urlOf('link.txt')} Text 200: Local-Mapping: ${files}link.txt ${reasons['link.txt']}`));
  t.equal(
    lineOf(t, errors, `${urlOf('none.txt')}: `),
    `status 404 (status 404); Local-Mapping: ${files}none.txt ${reasons['none.txt']}`,
  );
  const outside = new LocalMapper([{ prefix: 'http://a.test/', path: files }]);
  t.equal(await outside.fetch({ url: 'http://a.test/../x' }), undefined, 'G-76: .. stays inside');
});

t.test('G-148: the log: [C] or [N] of each document, begin, totals, limits of each RootNode', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a.html', '/b.html', '/no.html', 'http://elsewhere.example.org/']),
    '/a.html': page('A', []),
    '/b.html': page('B', []),
    '/robots.txt': 'User-agent: *\nDisallow: /no\n',
  });
  const { url } = site;
  const directory = t.testdir();
  const first = await gather(directory, `Keep-Cache: yes\n${rootNodes(`${url}/ URL=3`)}`);
  t.equal(first.log[0], 'begin: Test: 1 RootNode, 0 LeafNodes');
  t.ok(first.log.includes(`${url}/ HTML 200`));
  t.match(
    lineOf(t, first.log, `RootNode ${url}/: `),
    /^3 URLs, 1 host; .*1 link over the number of URLs: raise URL= in the RootNode/,
    'gatherer.md 14: the log names the remedy for the limit',
  );
  t.match(
    first.log.at(-1),
    /^end: finished: 3 summarized, 0 unchanged, 0 kept, 0 listed, 0 redirected, 0 rejected, 0 failed, \d+ bytes in \d+\.\d s$/,
  );
  const again = await gather(directory, `Keep-Cache: yes\n${rootNodes(`${url}/ URL=9`)}`, [], {
    force: true,
  });
  t.ok(again.log.includes(`${url}/ HTML 200 [C] [N]`), again.log.join('\n'));
  t.ok(again.log.includes(`${url}/no.html rejected -9998: robots.txt: Disallow: /no (line 2)`));
  t.match(
    lineOf(t, again.log, `RootNode ${url}/: `),
    /^4 URLs, 1 host; 1 link to more hosts than allowed: raise Host= in the RootNode$/,
  );
  const whole = await gather(t.testdir(), rootNodes(`${url}/a.html`));
  t.equal(lineOf(t, whole.log, `RootNode ${url}/a.html: `), '1 URL, 1 host; all links were followed');
});

t.test('G-148: both logs report a run that ends early', async (t) => {
  const log = memoryLog();
  const errors = memoryLog();
  const { config } = parseGathererConf('Gatherer-Name: Test\n', 'test.cf', {});
  await t.rejects(
    logRun(log.log, errors.log, config, async () => {
      throw new Error('no space left');
    }),
    { message: 'no space left' },
  );
  t.same(log.lines, ['begin: Test: 0 RootNodes, 0 LeafNodes', 'end: early; the next run continues']);
  t.same(errors.lines, ['the run ended early: no space left']);
});

t.test('G-65: the log says at the start of a run that its requests have no From', async (t) => {
  const linesFor = async (text: string): Promise<readonly string[]> => {
    const log = memoryLog();
    const { config } = parseGathererConf(`Gatherer-Name: Test\n${text}`, 'test.cf', {});
    const end = async (): Promise<never> => {
      throw new Error('end');
    };
    await t.rejects(logRun(log.log, memoryLog().log, config, end), { message: 'end' });
    return log.lines.filter((line) => line.includes('From'));
  };
  const sentence =
    'requests have no From: sites cannot tell whose crawl this is; add your mail address to the configuration: HTTP-From: name@host';
  for (const nodes of [
    rootNodes('http://a.example/'),
    leafNodes('https://a.example/x'),
    rootNodes('http://127.0.0.1.example/'),
    rootNodes('|generate-urls'),
  ])
    t.same(await linesFor(nodes), [sentence], nodes);
  for (const nodes of [
    `HTTP-From: me@a.example\n${rootNodes('http://a.example/')}`,
    rootNodes('ftp://a.example/'),
    rootNodes('file:///var/www/'),
    rootNodes('http://localhost:8000/'),
    rootNodes('http://127.0.0.1/'),
    leafNodes('http://[::1]:8000/'),
    '',
  ])
    t.same(await linesFor(nodes), [], nodes);
});

t.test('CRAWL-13.8: the log says that the requests of a crawl by an order name no contact', async (t) => {
  const isNoted = async (lines: string): Promise<boolean> => {
    const log = memoryLog();
    const text = `Gatherer-Name: Test\nCrawl-Order: order.json\n${lines}\n${rootNodes('http://a.example/')}`;
    const { config } = parseGathererConf(text, 'test.cf', {});
    await t.rejects(logRun(log.log, memoryLog().log, config, () => Promise.reject(new Error('end'))));
    return log.lines.some((line) => line.startsWith('requests name no contact'));
  };
  for (const lines of ['', 'HTTP-User-Agent: Bot/1.0', 'HTTP-User-Agent: Bot/1.0 (+http://localhost)'])
    t.ok(await isNoted(lines), lines);
  for (const lines of [
    'HTTP-From: me@a.example',
    'HTTP-User-Agent: Mozilla/5.0 (compatible; bot/1.0 +https://a.example/bot)',
    'HTTP-User-Agent: Bot/1.0 (me@a.example)',
  ])
    t.notOk(await isNoted(lines), lines);
});

t.test('G-148, G-173: the log names a remedy for links that differ only in their numbers', async (t) => {
  const log = memoryLog();
  const { config } = parseGathererConf('Gatherer-Name: Test\n', 'test.cf', {});
  const counts = {
    summarized: 1,
    unchanged: 0,
    kept: 0,
    listed: 0,
    redirected: 0,
    rejected: 0,
    failed: 0,
    retry: 0,
  };
  const root = { url: 'http://a.test/', urls: 1, hosts: 1, refused: { pattern: 2, depth: 1 } };
  const report = {
    counts,
    bytes: 0,
    seconds: 1,
    end: 'finished',
    resumed: false,
    roots: [root],
    failedRoots: [],
  } as const;
  await logRun(log.log, memoryLog().log, config, async () => report);
  t.equal(
    lineOf(t, log.lines, 'RootNode http://a.test/: '),
    '1 URL, 1 host; 2 links that differ from others only in their numbers: raise maxUrisPerPattern in the crawl order, ' +
      '0 is no limit; 1 link too deep: raise Depth= in the RootNode, 0 is no limit',
  );
});

t.test('G-82: the message about a 401 names the realm and the remedy', async (t) => {
  const pages = (challenge: string): Parameters<typeof Site.start>[0] => ({
    '/x': (_, response) =>
      response.writeHead(401, challenge === '' ? {} : { 'www-authenticate': challenge }).end(),
  });
  let url = '';
  const errorFor = async (challenge: string, variables = ''): Promise<string> => {
    await using site = await Site.start(pages(challenge));
    ({ url } = site);
    const { errors } = await gather(t.testdir(), `${variables}${leafNodes(`${url}/x`)}`);
    return lineOf(t, errors, `${url}/x: status 401 (status 401); `);
  };
  const unknown = await errorFor('Basic realm="My Realm"');
  const remedy = `if the server may have one, add to the configuration: HTTP-Basic-Auth: ${url}/ "My Realm" username password`;
  t.equal(unknown, `no login is known for its realm; ${remedy}`);
  t.equal(
    await errorFor('Basic realm="Staff"', 'HTTP-Basic-Auth: Staff joe secret\n'),
    'the server refuses the login for its realm Staff',
  );
  t.equal(await errorFor(''), 'the server names no realm, so HTTP-Basic-Auth cannot apply');
});

t.test('gatherer.md 14: the error log names the remedy for a server without TLS', async (t) => {
  await using site = await Site.start({});
  const { port } = site;
  const { errors } = await gather(t.testdir(), leafNodes(`https://127.0.0.1:${port}/x`));
  t.match(
    lineOf(t, errors, `https://127.0.0.1:${port}/x: `),
    /no TLS connection: .*; is this an https port\?/,
  );
});

t.test('G-146, G-149: harvest gatherer prefixes its lines, obeys -D and --help-variables', async (t) => {
  await using site = await Site.start({ '/a.txt': 'Text.\n' });
  const nodes = leafNodes(`${site.url}/a.txt`, `${site.url}/none.txt`);
  const directory = t.testdir({ 'my.cf': `Gatherer-Name: Mine\nAccess-Delay: 0\n${nodes}` });
  const runGatherer = (...args: string[]) =>
    cli('gatherer', join(directory, 'my.cf'), '--data', join(directory, 'data'), '--no-daemon', ...args);
  t.equal((await runGatherer('-D60,1')).code, 0);
  const log = readFileSync(join(directory, 'log.gatherer'), 'utf8');
  const prefix = 'essence: \\d{6} \\d\\d:\\d\\d:\\d\\d: ';
  for (const text of [
    'begin: Mine: 0 RootNodes, 2 LeafNodes',
    `${site.url}/a.txt Text 200`,
    'end: finished: 1 summarized,',
  ])
    t.match(log, new RegExp(`^${prefix}${text.replaceAll('.', '\\.')}`, 'm'));
  t.match(log, new RegExp(`^${prefix}\\[60,1\\] ${site.url}/a\\.txt: 6 bytes, text/plain, modified 0$`, 'm'));
  t.match(
    readFileSync(join(directory, 'log.errors'), 'utf8'),
    new RegExp(`^${prefix}ERROR: ${site.url}/none\\.txt: status 404`, 'm'),
  );

  process.env.HARVEST_DEBUG = '-D21,1';
  t.teardown(() => delete process.env.HARVEST_DEBUG);
  const urlget = await cli('urlget', `${site.url.replace('://', '://joe:cret@')}/a.txt`);
  delete process.env.HARVEST_DEBUG;
  t.equal(urlget.stdout, 'Text.\n', urlget.stderr);
  t.match(urlget.stderr, `[21,1] GET ${site.url}/a.txt: status 200`, 'G-149: urlget prints sections');
  t.notMatch(urlget.stderr, 'cret', 'G-81: the login is not shown');

  const help = await cli('gatherer', '--help-variables');
  t.equal(help.code, 0, help.stderr);
  t.match(help.stdout, /^Local-Mapping: .*\n {2}\S.*\n {2}default: none$/m);
});
