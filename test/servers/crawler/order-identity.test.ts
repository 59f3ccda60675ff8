// The seeds and the identity that an order names, in JSON and in the original XML, over real sockets.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { ignoredSettings } from '../../../servers/crawler/order/ignored-settings.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;
const FAST = { delayFactor: 0, minDelayMs: 0, retryDelaySeconds: 0 };

/** Runs a configuration with an order file; returns the problems that were reported. */
async function gather(directory: string, orderFile: string): Promise<string[]> {
  const text = `Gatherer-Name: T\nGatherer-Host: g.example.org\nAccess-Delay: 0\nHTTP-User-Agent: Configured/1.0\nHTTP-From: configured@example.org\nCrawl-Order: ${orderFile}\n`;
  const problems: string[] = [];
  await using gatherer = await Gatherer.open({
    directory: join(directory, 'data'),
    config: parseGathererConf(text, join(directory, 'test.cf'), {}).config,
    essenceWorkers: 0,
    onProblem: ({ message }) => problems.push(message),
  });
  await gatherer.run(never);
  return problems;
}

t.test('seeds, userAgent and from of an order take effect (G-65, CRAWL-10.1.5)', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a']),
    '/a': page('A', []),
    '/only-seed': page('Seed', []),
  });
  const directory = t.testdir();
  const file = join(directory, 'order.json');
  writeFileSync(
    file,
    JSON.stringify({
      seeds: [`${site.url}/`, `${site.url.slice('http://'.length)}/only-seed`, '# a comment', '+org.example'],
      userAgent: 'MyArchiveBot/2.0',
      from: 'operator@example.net',
      settings: FAST,
    }),
  );
  const problems = await gather(directory, file);
  t.same(site.paths.sort(), ['/', '/a', '/only-seed']);
  t.same([...new Set(site.requests.map(({ headers }) => headers['user-agent']))], ['MyArchiveBot/2.0']);
  t.same([...new Set(site.requests.map(({ headers }) => headers.from))], ['operator@example.net']);
  t.match(problems.join('\n'), /seeds: a prefix is not a seed/);
});

t.test('user-agent, from and seedsfile of order.xml take effect (CRAWL-19.2, 10.1.5)', async (t) => {
  await using site = await Site.start({ '/': page('Start', ['/a']), '/a': page('A', []) });
  const directory = t.testdir();
  writeFileSync(join(directory, 'seeds.txt'), `# seeds\n${site.url}/\n`);
  const file = join(directory, 'order.xml');
  writeFileSync(
    file,
    `<?xml version="1.0"?><crawl-order><meta><name>x</name></meta><controller>
<newObject name="scope" class="org.archive.crawler.scope.BroadScope"><boolean name="enabled">true</boolean><string name="seedsfile">seeds.txt</string></newObject>
<map name="http-headers"><string name="user-agent">XmlBot/1.0 (+http://example.net)</string><string name="from">xml@example.net</string></map>
<newObject name="frontier" class="org.archive.crawler.frontier.BdbFrontier"><float name="delay-factor">0.0</float><integer name="min-delay-ms">0</integer><integer name="max-delay-ms">0</integer></newObject>
</controller></crawl-order>`,
  );
  await gather(directory, file);
  t.same(site.paths.sort(), ['/', '/a']);
  t.same(
    [...new Set(site.requests.map(({ headers }) => headers['user-agent']))],
    ['XmlBot/1.0 (+http://example.net)'],
  );
  t.same([...new Set(site.requests.map(({ headers }) => headers.from))], ['xml@example.net']);
});

t.test('what an order sets to no effect is named', async (t) => {
  const ignored = ignoredSettings(
    crawlOrderSchema.parse({
      settings: { customRobots: 'User-agent: *', masquerade: true, runtimeOperation: 'block' },
      warc: { prefix: 'X' },
      sheets: [{ name: 's', surts: ['example.org'], settings: { digestStripMaxKB: 3 } }],
    }),
  );
  t.same(
    ignored.map(({ path }) => path.join('.')),
    [
      'settings.customRobots',
      'settings.masquerade',
      'settings.runtimeOperation',
      'sheets.0.settings.digestStripMaxKB',
      'warc.prefix',
    ],
  );
  t.same(ignoredSettings(crawlOrderSchema.parse({})), []);
});

t.test('each setting that another one makes effective is named without it, and not with it', async (t) => {
  const cases: readonly (readonly [string, CrawlOrderInput, CrawlOrderInput])[] = [
    ['customRobots', { settings: { customRobots: 'x' } }, { settings: { robotsPolicy: 'custom' } }],
    ['userAgents', { settings: { userAgents: ['x'] } }, { settings: { robotsPolicy: 'most-favored-set' } }],
    ['masquerade', { settings: { masquerade: true } }, { settings: { robotsPolicy: 'most-favored' } }],
    [
      'robotsUnreachable',
      { settings: { robotsUnreachable: 'allow', robotsPolicy: 'ignore' } },
      { settings: { robotsPolicy: 'classic' } },
    ],
    [
      'calculateRobotsOnly',
      { settings: { calculateRobotsOnly: true, robotsPolicy: 'ignore' } },
      { settings: { robotsPolicy: 'classic' } },
    ],
    [
      'robotsAnswers',
      { settings: { robotsAnswers: 'original', robotsPolicy: 'rfc9309' } },
      { settings: { robotsPolicy: 'classic' } },
    ],
    ['digestStripMaxKB', { settings: { digestStripMaxKB: 3 } }, { settings: { digestStripPattern: 'x' } }],
    ['runtimeOperation', { settings: { runtimeOperation: 'block' } }, { settings: { runtimeSeconds: 1 } }],
    [
      'proxyLoginEnvironment',
      { settings: { proxyLoginEnvironment: 'X' } },
      { settings: { proxy: 'http://p:1' } },
    ],
    [
      'bandwidthReading',
      { settings: { bandwidthReading: 'maximum' } },
      { settings: { maxPerHostBandwidthKBs: 1 } },
    ],
    [
      'quotaForceRetire',
      { settings: { quotaForceRetire: false } },
      { settings: { quotas: { hostMaxAllKB: 1 } } },
    ],
    ['parallelQueuesBy', { settings: { parallelQueuesBy: 'uri' } }, { settings: { parallelQueues: 2 } }],
    ['queueLabels', { settings: { queueLabels: 1 } }, { settings: { queueAssignment: 'limits' } }],
    [
      'queueAssignment',
      { settings: { queueAssignment: 'surt', forceQueue: 'x' } },
      { settings: { forceQueue: '' } },
    ],
    ['maxTransHops', { settings: { maxTransHops: 1 } }, { settings: { embeds: 'any' } }],
    ['maxSpeculativeHops', { settings: { maxSpeculativeHops: 0 } }, { settings: { embeds: 'root' } }],
    ['blockPattern', { settings: { blockPattern: 'x', blockAll: true } }, { settings: { blockAll: false } }],
    ['allowPattern', { settings: { allowPattern: 'x', blockAll: true } }, { settings: { blockAll: false } }],
    ['lostMaxRetries', { settings: { lostMaxRetries: 31 } }, { settings: { maxRetries: 31 } }],
    ['busyMaxRetries', { settings: { busyMaxRetries: 31 } }, { settings: { maxRetries: 31 } }],
    [
      'unansweredRetryDelaySeconds',
      { settings: { unansweredRetryDelaySeconds: 901 } },
      { settings: { retryDelaySeconds: 901 } },
    ],
    [
      'lostRetryDelaySeconds',
      { settings: { lostRetryDelaySeconds: 901 } },
      { settings: { retryDelaySeconds: 901 } },
    ],
    [
      'busyRetryDelaySeconds',
      { settings: { busyRetryDelaySeconds: 901 } },
      { settings: { retryDelaySeconds: 901 } },
    ],
    [
      'maxPathRepetitions',
      { settings: { maxPathRepetitions: 5 }, scope: [{ rule: 'all', answer: 'ACCEPT' }] },
      { scope: [] },
    ],
    ['progressSeconds', { progressSeconds: 7, logs: false }, { logs: true }],
    ['targetReadyBacklog', { targetReadyBacklog: 7, holdQueues: false }, { holdQueues: true }],
  ];
  for (const [name, order, partner] of cases) {
    const namesOf = (input: CrawlOrderInput): unknown[] =>
      ignoredSettings(crawlOrderSchema.parse(input)).map(({ path }) => path.at(-1));
    const both = { ...order, ...partner, settings: { ...order.settings, ...partner.settings } };
    t.same(namesOf(order), [name], name);
    t.same(namesOf(both), [], `${name} with the other one`);
    if (partner.settings === undefined) continue;
    const sheets = [{ name: 's', surts: ['example.org'], settings: partner.settings }];
    t.same(namesOf({ ...order, sheets }), [], `${name} with the other one in a sheet`);
  }
});
