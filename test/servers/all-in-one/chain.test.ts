// The whole chain as users run it: the command line in its own process, a site on loopback, real sockets.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { load } from 'cheerio';
import t from 'tap';
import { SectionDecoder } from '../../../protocols/soif/index.js';
import { ANY_PORTS, CliProcess, cli } from '../../helpers/cli.js';
import { page, Site } from '../../helpers/site.js';

/** Five documents, an image, a broken link, a link to another host, and a page that robots.txt forbids. */
const PAGES = {
  '/': page(
    'Start',
    ['a.html', 'b.html', 'notes.txt', 'logo.png', 'http://other.invalid/'],
    'The entrance of a small site.',
  ),
  '/a.html': page('Alpha', ['b.html', 'c/d.html', 'old.html'], 'Alpha speaks of harvesting <b>wheat</b>.'),
  '/b.html': page('Beta', ['/', 'missing.html', 'private/x.html'], 'Beta speaks of brokers and of wheat.'),
  '/c/d.html': page('Delta', ['../a.html'], 'Delta is three steps away.'),
  '/notes.txt': 'Plain notes about gathering.\n\nA second paragraph.\n',
  '/robots.txt': 'User-agent: *\nDisallow: /private/\n',
  '/private/x.html': page('Private', []),
};
/** Paths of the documents that must be exported. */
const EXPECTED_PATHS = ['/', '/a.html', '/b.html', '/c/d.html', '/notes.txt'];

/** Returns the options of `harvest run` with free ports. */
const optionsFor = (data: string): string[] => ['--data', data, ...ANY_PORTS];

// The tests start about twenty processes in sequence; each takes seconds on a busy machine.
/** The JSON line of `harvest run --once`. */
interface RunSummary {
  readonly gathered: Record<string, number>;
  readonly exported: number;
  readonly objects: number;
  readonly collected: Record<string, number>;
}

function parseLastLine(text: string): RunSummary {
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as RunSummary;
}

/** Sends a text and returns everything until the server closes, as nc does. */
async function netcat(port: number, send: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(send);
  await once(socket, 'close');
  return text;
}

t.test('harvest run --once gathers, publishes, collects and prints one JSON line', async (t) => {
  await using site = await Site.start({
    ...PAGES,
    '/old.html': (_, response) => response.writeHead(302, { location: '/c/d.html' }).end(),
  });
  const data = t.testdir();
  const args = ['run', `${site.url}/`, '--once', '--delay', '0', ...optionsFor(data)];
  const first = await cli(...args);
  t.equal(first.code, 0, first.stderr);
  const summary = parseLastLine(first.stdout);
  t.equal(summary.exported, EXPECTED_PATHS.length, 'every expected document is exported');
  t.equal(summary.objects, EXPECTED_PATHS.length, 'every exported document is collected');
  t.equal(summary.gathered.summarized, EXPECTED_PATHS.length);
  t.equal(summary.gathered.redirected, 1, 'G-60: the redirect is followed as a separate link');
  t.equal(summary.gathered.failed, 1, 'the missing page fails');
  t.notOk(site.paths.includes('/private/x.html'), 'G-62: robots.txt is obeyed');
  t.notOk(site.paths.includes('/logo.png'), 'E-28: an image is not fetched');
  t.equal(new Set(site.paths).size, site.paths.length, 'G-68: nothing is fetched twice');
  t.equal(site.maxConcurrent, 1, 'CRAWL-1.9, 5.6.4: one connection per host');
  t.match(site.requests[0]?.headers['user-agent'] ?? '', /^Harvest\//, 'G-65: the user agent is Harvest');
  t.equal(site.requests[0]?.path, '/robots.txt', 'CRAWL-12.4: robots.txt comes first');

  const before = site.requests.length;
  const second = await cli(...args);
  const again = parseLastLine(second.stdout);
  t.equal(second.code, 0, second.stderr);
  t.equal(again.gathered.kept, EXPECTED_PATHS.length, 'G-108: nothing is due, so nothing is fetched again');
  t.equal(again.objects, EXPECTED_PATHS.length);
  t.equal(again.exported, EXPECTED_PATHS.length);
  t.notOk(
    site.paths.slice(before).some((path) => EXPECTED_PATHS.includes(path)),
    'G-108: no requests',
  );

  site.pages.set('/a.html', page('Alpha the second', ['b.html', 'e.html'], 'Changed.'));
  site.pages.set('/e.html', page('Epsilon', [], 'New.'));
  const third = parseLastLine((await cli(...args, '--force')).stdout);
  t.equal(third.gathered.summarized, 2, 'the changed page and the new one are summarized');
  t.equal(third.gathered.unchanged, EXPECTED_PATHS.length - 2, 'G-108: documents with the same digest stay');
  t.equal(third.exported, EXPECTED_PATHS.length + 1, 'G-104: a page without links stays until it expires');
});

t.test('harvest run serves gatherd, broker and web page until it is stopped', async (t) => {
  await using site = await Site.start(PAGES);
  const data = t.testdir();
  const config = join(data, 'sample.cf');
  writeFileSync(
    config,
    `# sample\nGatherer-Name: Test Gatherer\nGatherer-Host: gatherer.example.org\nGatherer-Port: 9111\nTop-Directory: ${data}\n<RootNodes>\n${site.url}/ URL=100 Delay=0 Depth=1\n</RootNodes>\n<LeafNodes>\n${site.url}/c/d.html\n</LeafNodes>\n`,
  );
  const run = new CliProcess(['run', config, ...optionsFor(join(data, 'kit')), '--json-log']);
  t.teardown(() => run.kill('SIGKILL'));
  const [, gatherd, broker, web] = await run.output(
    /^ready gatherd=127\.0\.0\.1:(\d+) broker=127\.0\.0\.1:(\d+) web=(http:\S+)$/m,
  );
  t.match(run.stdout, /harvest(?:\.js)? query/, 'the output suggests a query');

  const taken = await cli('run', data, ...optionsFor(join(data, 'taken')), '--gatherd-port', String(gatherd));
  t.equal(taken.code, 1, 'a port in use is a failure');
  t.equal(taken.stdout, '');
  t.match(
    taken.stderr,
    new RegExp(`cannot listen on 127.0.0.1:${gatherd}.*--gatherd-port chooses another port`),
  );

  const gather = await cli('gather', '-nocompress', '127.0.0.1', String(gatherd));
  t.equal(gather.code, 0, gather.stderr);
  const decoder = new SectionDecoder({ mode: 'strict' });
  const items = [...decoder.push(Buffer.from(gather.stdout)), ...decoder.end()];
  const urls = items.flatMap((item) => (item.kind === 'object' ? [item.object.url] : []));
  t.same(
    urls.sort(),
    ['/', '/a.html', '/b.html', '/c/d.html', '/notes.txt'].map((path) => site.url + path).sort(),
    'G-34: one step from the root, and the LeafNode',
  );
  const names = items.flatMap((item) => (item.kind === 'object' ? [item.object.text('Gatherer-Name')] : []));
  t.same([...new Set(names)], ['Test Gatherer'], 'G-17: the variables of the configuration are used');
  const compressed = await cli('gather', '127.0.0.1', String(gatherd), '0');
  t.equal(compressed.stdout, gather.stdout, 'GATHERD-6.3: both transfers give the same stream');
  const info = await cli('gather', '-info', '127.0.0.1', String(gatherd));
  t.match(info.stdout, /Number-Of-Objects\{1\}:\t5\n/, 'GATHERD-8.4: INFO has the number of objects');

  t.match(
    await netcat(Number(gatherd), 'HELLO nc.example.org\nSEND-UPDATE 9999999999\nQUIT\n'),
    /^000 - HELLO \S+ \S+.*\n100 - .*\n400 - .*\n@DELETE \{\n\}\n@REFRESH \{\n\}\n@UPDATE \{\n\}\n499 - .*\n999 - .*\n$/,
    'GATHERD-7: a session by hand gets all status lines',
  );
  const answer = await netcat(
    Number(broker),
    '#USER #desc #index case insensitive #index matchword #END wheat\r\n',
  );
  t.match(answer, /^200 - HARVEST Broker/, 'BRK-1.3: the version line comes first');
  t.same([...answer.matchAll(/^120 - (.*)$/gm)].map((match) => match[1]).sort(), [
    `${site.url}/a.html`,
    `${site.url}/b.html`,
  ]);

  const query = await cli('query', `127.0.0.1:${broker}`, 'title : delta', '--json');
  t.equal(query.code, 0, query.stderr);
  t.equal(
    (JSON.parse(query.stdout) as { url: string }).url,
    `${site.url}/c/d.html`,
    'BRK-2.14: a query for an attribute finds its document',
  );
  t.equal((await cli('query', `127.0.0.1:${broker}`, 'nowhere-to-be-found')).code, 1, 'nothing matched');
  t.equal(
    (await cli('query', `127.0.0.1:${broker}`, '--exact', '( broken')).code,
    2,
    'exit status 2: syntax',
  );
  t.equal((await cli('query', '127.0.0.1:1', 'x')).code, 3, 'exit status 3: no broker listens');

  const results = load(await (await fetch(`${web}Harvest/cgi-bin/BrokerQuery.cgi?query=brokers`)).text());
  t.match(results('main').text(), /Beta/, 'the search page answers');

  run.kill('SIGINT');
  const { code, stderr } = await run.finished;
  t.equal(code, 0, 'Ctrl-C ends it cleanly');
  for (const line of stderr.trimEnd().split('\n')) t.type(JSON.parse(line), 'object', '--json-log');
});
