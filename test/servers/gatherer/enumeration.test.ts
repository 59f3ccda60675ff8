// URLs that programs generate (G-50 to G-54), and the settings of Search= and Enumeration=.
import { chmod, mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type GathererConfig, parseGathererConf, type RootNode } from '../../../protocols/config/index.js';
import type { ConfigError } from '../../../protocols/errors.js';
import type { ProgramLimits } from '../../../servers/essence/external/limits.js';
import { isListed, searchSettings } from '../../../servers/gatherer/enumerate/listed.js';
import {
  type EnumerationOptions,
  enumerationSettings,
  expandLeafNodes,
  expandRootNodes,
} from '../../../servers/gatherer/enumerate/programs.js';
import { sitemapUrls } from '../../../servers/gatherer/enumerate/sitemaps.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

/** Creates a Gatherer's directory with these programs, and a configuration with these lists of nodes. */
async function createGatherer(
  t: Test,
  programs: Readonly<Record<string, string>>,
  lists: string,
  limits: ProgramLimits = {},
): Promise<{ config: GathererConfig; options: EnumerationOptions; problems: string[]; top: string }> {
  const top = await realpath(await temporaryDirectory(t));
  for (const [name, script] of Object.entries(programs)) {
    await mkdir(join(top, name, '..'), { recursive: true });
    await writeFile(join(top, name), script);
    await chmod(join(top, name), 0o755);
  }
  const text = `Gatherer-Name: x\nTop-Directory: ${top}\nLib-Directory: lib\n${lists}`;
  const { config } = parseGathererConf(text, 'x.cf');
  const problems: string[] = [];
  const environment = { PATH: '/usr/bin:/bin', NNTPSERVER: 'news.example', SECRET: 'hunter2' };
  const options = {
    file: 'x.cf',
    programs: enumerationSettings(config, environment, limits),
    onProblem: (problem: ConfigError) => void problems.push(problem.message),
  };
  return { config, options, problems, top };
}

/** Returns all items of an iterable. */
async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const rootNodes = (lines: string): string => `<RootNodes>\n${lines}\n</RootNodes>\n`;
const leafNodes = (lines: string): string => `<LeafNodes>\n${lines}\n</LeafNodes>\n`;
const urlsOf = (nodes: readonly { url: string }[]): string[] => nodes.map(({ url }) => url);

t.test('G-52, G-53, G-69: URL generators of the examples run in order; output keeps its order', async (t) => {
  const { config, options, problems } = await createGatherer(
    t,
    {
      'bin/generate-news-urls.sh':
        '#!/bin/sh\necho news:comp.unix.voodoo\necho news:rec.pets.birds\n\n# a comment\necho http://www.nlanr.net/\n',
      'bin/my-fave-sites.pl': '#!/bin/sh\nfor a in "$@"; do echo "http://$a.example/"; done\n',
    },
    rootNodes(
      'http://first.example/\n|my-fave-sites.pl b=1 c Depth=1 URL=5000,url-filter\nftp://last.example/',
    ) + leafNodes('|generate-news-urls.sh\nhttp://one.example/~x'),
  );
  t.match(await collect(expandRootNodes(config.rootNodes, options)), [
    { url: 'http://first.example/', depth: 0, urlMax: 250 },
    {
      url: 'http://c.example/',
      program: undefined,
      depth: 1,
      urlMax: 5000,
      urlFilter: 'url-filter',
      line: 6,
    },
    { url: 'ftp://last.example/' },
  ]);
  t.same(urlsOf(await collect(expandLeafNodes(config.leafNodes, options))), [
    'news:comp.unix.voodoo',
    'news:rec.pets.birds',
    'http://www.nlanr.net/',
    'http://one.example/%7ex',
  ]);
  // `b=1` is an argument of the program (G-53), not a host name.
  t.same(problems, ['my-fave-sites.pl:1: is not a URL of a supported form']);
});

t.test('G-54: programs of bin, Lib-Directory and PATH run in Top-Directory, without a shell', async (t) => {
  const { config, options, problems, top } = await createGatherer(
    t,
    {
      'bin/both': '#!/bin/sh\necho http://bin.example/\n',
      'lib/both': '#!/bin/sh\necho http://lib.example/\n',
      'lib/only-lib': '#!/bin/sh\necho http://only-lib.example/\n',
      'tools/deep': '#!/bin/sh\necho "http://h.example$(pwd)/$SECRET$NNTPSERVER/$1"\n',
    },
    leafNodes('|both\n|only-lib\n|tools/deep $(id)\n|echo http://path.example/\n|not-there'),
  );
  t.same(urlsOf(await collect(expandLeafNodes(config.leafNodes, options))), [
    'http://bin.example/',
    'http://only-lib.example/',
    `http://h.example${top}/news.example/$(id)`,
    'http://path.example/',
  ]);
  t.same(problems, ['x.cf:9: not-there failed: there is no such program']);
});

t.test('G-50, G-51: a program of Enumeration= reads URLs and writes RootNodes of nine fields', async (t) => {
  const { config, options, problems } = await createGatherer(
    t,
    {
      'bin/generate': '#!/bin/sh\necho http://g1.example/\necho http://g2.example/\n',
      // Appends a line at each run.
      'bin/enum.pl': `#!/bin/sh
echo run >> runs
while read url; do
  echo "\${url}a/ 10 my.filter 2 /dev/null HTTP|FTP 5 3 /bin/false"
  echo "only eight fields 1 2 3 4 5"
  echo "\${url}b/ 20 /dev/null 1 h.f HTTP 0 0 second"
done
`,
      'bin/second': '#!/bin/sh\nsed "s|.*|&c/ 1 /dev/null 1 /dev/null HTTP 1 1 /bin/false|"\n',
    },
    rootNodes('http://h.example/ Enumeration=enum.pl Search=Depth\n|generate Enumeration=enum.pl'),
  );
  const nodes = await collect(expandRootNodes(config.rootNodes, options));
  t.match(nodes.slice(0, 2), [
    {
      url: 'http://h.example/a/',
      urlMax: 10,
      urlFilter: 'my.filter',
      hostMax: 2,
      hostFilter: '/dev/null',
      access: ['http', 'https', 'ftp'],
      delay: 5,
      depth: 3,
      enumeration: undefined,
      search: 'depth',
      line: 5,
    },
    { url: 'http://h.example/b/c/', urlMax: 1, enumeration: undefined, search: 'depth' },
  ]);
  t.same(urlsOf(nodes.slice(2)), [
    'http://g1.example/a/',
    'http://g1.example/b/c/',
    'http://g2.example/a/',
    'http://g2.example/b/c/',
  ]);
  t.same(problems, [
    'enum.pl:2: Enumeration: nine fields are needed, not 8',
    'enum.pl:2: Enumeration: nine fields are needed, not 8',
    'enum.pl:5: Enumeration: nine fields are needed, not 8',
  ]);
});

t.test('G-51: programs that call themselves terminate', async (t) => {
  const line = 'echo "http://h.example/$$ 1 /dev/null 1 /dev/null HTTP 1 1 again"';
  const program = { 'bin/again': `#!/bin/sh\n${line}\n` };
  const recursive = await createGatherer(t, program, rootNodes('http://h.example/ Enumeration=again'));
  t.same(await collect(expandRootNodes(recursive.config.rootNodes, recursive.options)), []);
  t.same(recursive.problems, ['x.cf:5: again not run: 16 programs were already chained (G-51)']);

  const many = await createGatherer(
    t,
    { 'bin/again': '#!/bin/sh\nyes "http://h.example/ 1 /dev/null 1 /dev/null HTTP 1 1 again" | head -50\n' },
    rootNodes('http://h.example/ Enumeration=again'),
  );
  t.same(await collect(expandRootNodes(many.config.rootNodes, { ...many.options, maxLines: 120 })), []);
  t.ok(many.problems.includes('x.cf:5: again lines after the first 120 are skipped'), many.problems.join());
});

t.test('G-54, G-174: programs that fail, never end or write endlessly are ended and reported', async (t) => {
  const list = leafNodes('|fail\nhttp://after.example/');
  const failing = await createGatherer(
    t,
    { 'bin/fail': '#!/bin/sh\necho http://a.example/\nprintf http://half.ex\necho no disk >&2\nexit 3\n' },
    list,
  );
  t.same(urlsOf(await collect(expandLeafNodes(failing.config.leafNodes, failing.options))), [
    'http://a.example/',
    'http://after.example/',
  ]);
  t.same(failing.problems, ['x.cf:5: fail failed: exit status 3: no disk']);

  const endless = { 'bin/fail': '#!/bin/sh\nexec yes http://a.example/\n' };
  const printing = await createGatherer(t, endless, list, { outputBytes: 100 });
  const printed = await collect(expandLeafNodes(printing.config.leafNodes, printing.options));
  // 100 bytes are five lines of 18 bytes and an incomplete one.
  t.same(urlsOf(printed), [...Array(5).fill('http://a.example/'), 'http://after.example/']);
  t.same(printing.problems, ['x.cf:5: fail failed: its output was cut at 100 bytes']);

  const hanging = await createGatherer(t, { 'bin/fail': '#!/bin/sh\nexec sleep 100\n' }, list, {
    timeMs: 20,
  });
  t.same(urlsOf(await collect(expandLeafNodes(hanging.config.leafNodes, hanging.options))), [
    'http://after.example/',
  ]);
  t.match(hanging.problems, [/fail failed: it took more than \d+ ms/]);

  const stop = new AbortController();
  const aborted = await createGatherer(t, { 'bin/fail': '#!/bin/sh\nexec sleep 100\n' }, list);
  const waiting = collect(
    expandLeafNodes(aborted.config.leafNodes, { ...aborted.options, signal: stop.signal }),
  );
  stop.abort(new Error('enough'));
  await t.rejects(waiting, { message: 'enough' });
});

t.test('G-51: invalid lines are reported with their numbers, up to a limit', async (t) => {
  const { config, options, problems } = await createGatherer(
    t,
    { 'bin/wrong': '#!/bin/sh\necho http://ok.example/\nyes nonsense | head -30\necho "|id"\n' },
    leafNodes('|wrong'),
  );
  const nodes = await collect(expandLeafNodes(config.leafNodes, { ...options, maxProblems: 2 }));
  t.same(urlsOf(nodes), ['http://ok.example/']);
  t.same(problems, [
    'wrong:2: is not a URL of a supported form',
    'wrong:3: is not a URL of a supported form',
    'x.cf:5: wrong 29 more lines are not valid',
  ]);
});

t.test('G-30, G-172: the values of Search= and Enumeration=', async (t) => {
  const node = (line: string): RootNode =>
    parseGathererConf(`Gatherer-Name: x\n${rootNodes(line)}`, 'x.cf').config.rootNodes[0]!;
  t.same(searchSettings(node('http://h.example/ Search=Depth')), {
    preferenceDepthHops: 0,
    uriPrecedence: 'depth-first',
  });
  t.same(searchSettings(node('http://h.example/')), {});
  t.ok(isListed(node('http://h.example/ Enumeration=Sitemap')));
  t.ok(isListed(node('http://h.example/ Enumeration=feed')));
  t.notOk(isListed(node('http://h.example/ Enumeration=./sitemap')));
  t.notOk(isListed(node('http://h.example/')));
  const defaultUrls = ['https://h.example:444/robots.txt', 'https://h.example:444/sitemap.xml'];
  t.same(sitemapUrls('https://h.example:444/'), defaultUrls);
  t.same(sitemapUrls('https://h.example:444/news/'), ['https://h.example:444/news/', ...defaultUrls]);
  for (const url of ['http://h.example/s.xml.gz', 'http://h.example/feed.rss?x', 'ftp://h.example/pub/']) {
    t.same(sitemapUrls(url), [url]);
  }
});
