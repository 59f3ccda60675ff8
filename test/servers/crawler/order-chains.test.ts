// The chains of an order: which processors run, in which order; the operator's own, whatever they do; and
// errors with their lines.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import type { CrawlControl } from '../../../servers/crawler/index.js';
import { parseCrawlLogLine } from '../../../servers/crawler/logs/crawl-log.js';
import { chainSteps } from '../../../servers/crawler/order/chain-config.js';
import { defaultOrderText } from '../../../servers/crawler/order/describe.js';
import { ignoredSettings } from '../../../servers/crawler/order/ignored-settings.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { readOrderXml } from '../../../servers/crawler/order/order-xml.js';
import { readOrder } from '../../../servers/crawler/order/read-order.js';
import { warcSchema } from '../../../servers/crawler/order/warc.js';
import { PROCESSORS } from '../../../servers/crawler/processors/table.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;
const FAST = { delayFactor: 0, minDelayMs: 0, maxDelayMs: 0, retryDelaySeconds: 0 };

interface Crawled {
  /** Lines of crawl.log by path. */
  readonly lines: ReadonlyMap<string, NonNullable<ReturnType<typeof parseCrawlLogLine>>>;
  readonly control: CrawlControl;
}

/** Crawls a site by an order file; modules are its neighbors. */
async function crawl(
  t: Test,
  site: Site,
  order: object,
  modules: Readonly<Record<string, string>> = {},
  onControl: (control: CrawlControl) => void = () => undefined,
): Promise<Crawled> {
  const directory = t.testdir(modules);
  const file = join(directory, 'order.json');
  writeFileSync(file, JSON.stringify({ settings: FAST, ...order }));
  const text = `Gatherer-Name: T\nGatherer-Host: g.example.org\nAccess-Delay: 0\nCrawl-Order: ${file}\n<RootNodes>\n${site.url}/ Delay=0\n</RootNodes>\n`;
  let control: CrawlControl | undefined;
  {
    await using gatherer = await Gatherer.open({
      directory: join(directory, 'data'),
      config: parseGathererConf(text, 'test.cf', {}).config,
      essenceWorkers: 0,
      onControl: (running) => {
        control = running;
        onControl(running);
      },
    });
    await gatherer.run(never);
  }
  const log = readFileSync(join(directory, 'data/crawl/logs/crawl.log'), 'utf8');
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => parseCrawlLogLine(line))
    .filter((line) => line !== undefined);
  return { lines: new Map(lines.map((line) => [new URL(line.url).pathname, line])), control: control! };
}

/** The processors of a crawl by chain. */
function namesOf(control: CrawlControl): Record<string, string[]> {
  const names: Record<string, string[]> = {};
  for (const { chain, processor } of control.chains()) names[chain] = [...(names[chain] ?? []), processor];
  return names;
}

const PAGES = {
  '/': page('Start', ['/a', '/b', '/c', '/d']),
  '/a': page('A', []),
  '/b': page('B', []),
  '/c': page('C', []),
  '/d': page('D', []),
};

t.test('CRAWL-11.1 the chains of an order have its processors; the others are default', async (t) => {
  await using site = await Site.start(PAGES);
  const { lines, control } = await crawl(t, site, {
    chains: {
      'pre-fetch': [
        'History',
        { processor: 'QuotaEnforcer', enabled: false },
        {
          processor: 'Blocker',
          settings: { blockPattern: '.*/b' },
          rules: [{ rule: 'seed', answer: 'REJECT' }],
        },
        'PreconditionEnforcer',
      ],
    },
  });
  t.same(namesOf(control), {
    'pre-fetch': ['History', 'Blocker', 'PreconditionEnforcer'],
    fetch: ['Fetch', 'ContentDigest', 'ResponseClassifier'],
    extract: ['ListingExtractor', 'Essence'],
    write: ['Writer'],
    'post-process': ['ReferencesWriter', 'LinksScoper'],
  });
  t.equal(lines.get('/b')?.status, -5001, 'the setting of its entry has an effect');
  t.equal(lines.get('/')?.status, 200);
  t.equal(lines.get('/a')?.status, 200);
});

t.test('CRAWL-11.3, 18.5, 18.8 optional processors are used by name', async (t) => {
  await using site = await Site.start({ ...PAGES, '/a': page('same', []), '/b': page('same', []) });
  const warc = join(t.testdirName, 'warc');
  const { lines, control } = await crawl(t, site, {
    workers: 1,
    chains: {
      fetch: [
        'Fetch',
        'ContentDigest',
        'FetchHistory',
        'DigestHistory',
        { processor: 'WarcWriter', settings: { directory: warc, prefix: 'NAMED' } },
        'ResponseClassifier',
      ],
    },
  });
  t.match(namesOf(control), {
    'post-process': [
      'ReferencesWriter',
      'LinksScoper',
      'WarcMetadata',
      'FetchHistoryKeeper',
      'DigestHistoryKeeper',
    ],
  });
  t.ok(lines.get('/b')?.annotations.includes('warcRevisit:digest'));
});

const MODULES = {
  'tricky.mjs': `export function createProcessor({ name, chain, settings, directory }) {
  return {
    async process(uri, signal) {
      uri.annotations.push(name + '-' + chain + '-' + settings.mark);
      if (uri.url.endsWith('/a')) throw new Error('no a');
      if (uri.url.endsWith('/b')) {
        signal.addEventListener('abort', () => setImmediate(() => { try { uri.status = 1; } catch {} }));
        await new Promise(() => {});
      }
      if (uri.url.endsWith('/c')) { await new Promise((resolve) => setTimeout(resolve, 20)); return 'nonsense'; }
    },
  };
}`,
  'keeper.mjs': `import { mkdirSync, writeFileSync } from 'node:fs';
export const createProcessor = ({ directory }) => {
  const seen = [];
  return {
    process: (uri) => { if (uri.fetched !== undefined) seen.push(new URL(uri.url).pathname); },
    close: () => { mkdirSync(directory, { recursive: true }); writeFileSync(directory + '/seen.txt', seen.sort().join(' ')); },
  };
};`,
};

t.test('CRAWL-11.6 a processor that throws, hangs or answers nonsense fails its URI alone', async (t) => {
  await using site = await Site.start(PAGES);
  const { lines, control } = await crawl(
    t,
    site,
    {
      workers: 2,
      chains: {
        extract: [
          { module: './tricky.mjs', name: 'Tricky', settings: { mark: 7 }, timeoutSeconds: 0.2 },
          'Essence',
        ],
        'post-process': ['ReferencesWriter', 'LinksScoper', { module: './keeper.mjs' }],
      },
    },
    MODULES,
  );
  t.match(namesOf(control), {
    extract: ['Tricky', 'Essence'],
    'post-process': ['ReferencesWriter', 'LinksScoper', 'keeper'],
  });
  t.same(
    ['/', '/a', '/b', '/c', '/d'].map((path) => lines.get(path)?.status),
    [200, -5, -5, -5, 200],
  );
  t.ok(lines.get('/d')?.annotations.includes('Tricky-extract-7'));
  t.equal(
    readFileSync(join(t.testdirName, 'data/crawl/seen.txt'), 'utf8'),
    '/ /a /b /c /d',
    'the post-process chain has every URI, and its processor is closed',
  );
  const errors = readFileSync(join(t.testdirName, 'data/crawl/logs/runtime-errors.log'), 'utf8');
  t.match(errors, /Tricky: no a/);
  t.match(errors, /Tricky: not finished after 0\.2 seconds/);
  t.match(errors, /Tricky: it returned nonsense instead of/);
});

t.test('CRAWL-11.6 a processor cannot leave a URI in a state that the crawl cannot use', async (t) => {
  const damages = (
    'uri.status = "ok"|uri.disposition = "fine"|uri.reason = undefined|uri.size = -1|' +
    'uri.digest = "a b"|uri.outLinks = undefined|uri.outLinks = [{ url: "/relative", hop: "L" }]|' +
    'uri.outLinks = [null]|uri.annotations.push(undefined)|uri.annotations.push("a b")|' +
    'uri.annotations.push("a,b")|uri.candidates = {}|uri.retryAfterMs = NaN|' +
    'uri.contactEnd = "now"|uri.retire = 7'
  ).split('|');
  const paths = damages.map((_, index) => `/p${index}`);
  await using site = await Site.start({
    '/': page('Start', paths),
    ...Object.fromEntries(paths.map((path) => [path, page(path, ['/next'])])),
    '/next': page('Next', []),
  });
  const cases = damages.map((damage, index) => `case '/p${index}': ${damage}; break;`).join('\n');
  const { lines } = await crawl(
    t,
    site,
    { chains: { 'post-process': [{ module: './damage.mjs' }, 'ReferencesWriter', 'LinksScoper'] } },
    {
      'damage.mjs': `export const createProcessor = () => ({
  process(uri) { switch (new URL(uri.url).pathname) { ${cases} } },
});`,
    },
  );
  for (const [index, damage] of damages.entries()) {
    const line = lines.get(`/p${index}`);
    // A URI that is deferred for robots.txt has the processor's answer only once.
    t.equal(line?.status, -5, damage);
    t.same(
      line?.annotations.filter((text) => !/^\\d+t$/.test(text)),
      [],
      `${damage}: nothing of it is left`,
    );
  }
  t.equal(lines.get('/')?.status, 200);
});

t.test('CRAWL-20.3 a worker whose processor hangs can be killed', async (t) => {
  await using site = await Site.start(PAGES);
  const { lines } = await crawl(
    t,
    site,
    { chains: { fetch: ['Fetch', 'ResponseClassifier', { module: './hang.mjs', timeoutSeconds: 3600 }] } },
    {
      'hang.mjs': `export const createProcessor = () => ({
  process: (uri) => uri.url.endsWith('/b') ? new Promise(() => {}) : 'proceed',
});`,
    },
    (control) => {
      const timer = setInterval(() => {
        const hanging = control.workers.reports().find(({ step }) => step === 'hang');
        if (hanging?.url.endsWith('/b') === true) control.workers.kill(hanging.worker);
      }, 5);
      t.teardown(() => clearInterval(timer));
    },
  );
  t.equal(lines.get('/b')?.status, -7000);
  t.equal(lines.get('/d')?.status, 200);
});

t.test('CRAWL-22 a wrong processor is named with its line', async (t) => {
  const order = (...entries: readonly string[]): string =>
    `{"chains": {"fetch": [\n"Fetch",\n${entries.join(',\n')},\n"ResponseClassifier"\n]}}`;
  const invalid: readonly (readonly [string, string | RegExp])[] = [
    [
      order('"Fetsch"'),
      /^o:3: chains\.fetch\[1\]: there is no processor Fetsch; the processors are Preselector, /,
    ],
    [order('"FetchHTTP"'), 'o:3: chains.fetch[1]: there is no processor FetchHTTP; Fetch is meant?'],
    [order('"org.archive.crawler.prefetch.RuntimeLimitEnforcer"'), /; RuntimeLimit is meant\?$/],
    [
      order('"content-digest"'),
      'o:3: chains.fetch[1]: there is no processor content-digest; ContentDigest is meant?',
    ],
    [order('"Blocker"'), 'o:3: chains.fetch[1]: Blocker belongs into the chain pre-fetch'],
    [order('"Fetch"'), 'o:3: chains.fetch[1]: the chain has two processors Fetch'],
    [order('"WarcWriter"'), 'o:3: chains.fetch[1]: WarcWriter requires warc.directory (CRAWL-18.6)'],
    [
      order('"FetchHistory",\n"ContentDigest"'),
      'o:3: chains.fetch[1]: FetchHistory must come after ContentDigest',
    ],
    [
      '{"chains": {"fetch": ["Fetch"]}}',
      'o:1: chains.fetch: ResponseClassifier is missing, which is necessary',
    ],
    [
      '{"chains": {"fetch": ["ResponseClassifier",\n"Fetch"]}}',
      'o:1: chains.fetch[0]: ResponseClassifier must come after Fetch',
    ],
    [
      '{"chains": {"write": [{"processor": "Writer",\n"enabled": false}]}}',
      'o:1: chains.write[0]: Writer is necessary for every URI: it has neither rules nor "enabled": false',
    ],
    [
      '{"chains": {"post-process": ["FetchHistoryKeeper"], "fetch": ["Fetch", "ResponseClassifier"]}}',
      'o:1: chains.post-process[0]: FetchHistoryKeeper has no effect without FetchHistory in the chain fetch',
    ],
    [
      order('{"processor": "ContentDigest",\n"color": 1}'),
      'o:4: chains.fetch[1].color: there is no such name',
    ],
    [
      order('{"processor": "ContentDigest", "settings": {\n"color": 1}}'),
      'o:4: chains.fetch[1].settings.color: ContentDigest has no setting color; it has digestStripPattern, digestStripMaxKB',
    ],
    [
      order('{"processor": "ContentDigest", "settings": {\n"digestStripMaxKB": "x"}}'),
      'o:4: chains.fetch[1].settings.digestStripMaxKB: expected number, received string: "x"',
    ],
    [
      '{"settings": {"digestStripMaxKB": 3},\n"chains": {"fetch": [{"processor": "ContentDigest", "settings": {"digestStripMaxKB": 4}}]}}',
      'o:2: chains.fetch[0].settings.digestStripMaxKB: settings.digestStripMaxKB is given, too',
    ],
    [
      order('{"settings": {}}'),
      'o:3: chains.fetch[1]: either "processor", a name, or "module", a path, is necessary',
    ],
    [
      order('{"module": "https://example.org/x.js"}'),
      'o:3: chains.fetch[1]: https://example.org/x.js: a module is a path that begins with ./, ../ or /',
    ],
    [order('{"module": "lodash"}'), /a module is a path/],
    [
      order(
        '{"processor": "ContentDigest", "rules": [{"rule": "matches", "answer": "REJECT", "patterns": ["("]}]}',
      ),
      /^o:3: chains\.fetch\[1\]\.rules: /,
    ],
    ['{"chains": {"candidates": []}}', /^o:1: chains\.candidates: there is no such name/],
  ];
  for (const [text, message] of invalid)
    t.throws(() => readOrder(text, 'o'), { message, code: 'ERR_CONFIG' });
});

t.test('CRAWL-19.2 a checked order with all defaults is an order again', (t) => {
  const order = readOrder(
    '{"chains": {"pre-fetch": ["History", {"processor": "Blocker", "settings": {"blockPattern": "x"}}, "PreconditionEnforcer"]}}',
    'o',
  );
  t.equal(order.settings.blockPattern, 'x');
  t.same(readOrder(JSON.stringify(order), 'o'), order);
  t.end();
});

t.test('CRAWL-22 settings of a processor that no chain has are named', (t) => {
  const order = readOrder(
    '{"settings": {"blockAll": true, "quotas": {"hostMaxAllKB": 1}, "minDelayMs": 1}, "warc": {"directory": "x"}, "chains": {"pre-fetch": ["History", "QuotaEnforcer", "PreconditionEnforcer"], "fetch": ["Fetch", "ResponseClassifier"]}}',
    'o',
  );
  t.same(
    ignoredSettings(order).map(({ path, problem }) => `${path.join('.')}: ${problem}`),
    [
      'settings.blockAll: it has no effect: the chain pre-fetch has no Blocker',
      'warc.directory: it has no effect: the chain fetch has no WarcWriter',
    ],
  );
  t.end();
});

t.test('CRAWL-22 a module that cannot be used is named with its line when the crawl starts', async (t) => {
  await using site = await Site.start({});
  const invalid: readonly (readonly [string, RegExp])[] = [
    ['export const x = 1;', /exports no function createProcessor/],
    ['export const createProcessor = () => 7;', /returned no object with a function process/],
    ['export const createProcessor = () => { throw new Error("bad settings"); };', /bad settings/],
    ['import "./missing.mjs";', /missing\.mjs/],
    ['export const createProcessor = () => new Promise(() => {});', /not finished after 0\.5 seconds/],
    ['', /exports no function/],
    ['export const = ;', /bad6\.mjs: /],
  ];
  const absent = { chains: { write: ['Writer', { module: './nothing.mjs' }] } };
  await t.rejects(crawl(t, site, absent), { message: /order\.json:1: chains\.write\[1\]: .*nothing\.mjs/ });
  for (const [index, [source, message]] of invalid.entries()) {
    const name = `bad${index}.mjs`;
    const order = { chains: { write: ['Writer', { module: `./${name}`, timeoutSeconds: 0.5 }] } };
    await t.rejects(crawl(t, site, order, { [name]: source }), { code: 'ERR_CONFIG', message });
    await t.rejects(crawl(t, site, order, { [name]: source }), {
      message: /order\.json:1: chains\.write\[1\]/,
    });
  }
});

t.test('CRAWL-11.2 the default order explains the default chains, and states them', async (t) => {
  const text = defaultOrderText();
  const all = { warc: { directory: 'x', digestHistory: true }, mapper: { crawlers: 2 } };
  const steps = chainSteps(crawlOrderSchema.parse(all));
  const names = Object.values(steps).flatMap((chain) => chain.map(({ entry }) => entry.processor));
  t.equal(names.length, 27);
  for (const name of names) t.match(text, new RegExp(`// +"${name}", +\\S`), `${name}`);
  // The chains as they are printed, without their comments, are an order.
  const printed = text
    .slice(text.indexOf('// The processors of each chain'), text.indexOf('"chains": {}'))
    .split('\n')
    .filter((line) => /^ *\/\/ +(?:"[\w-]+",|"[\w-]+": \[|\])/.test(line))
    .map((line) =>
      line
        .replace('//', '')
        .replace(/^( +"\w+",) .*/, '$1')
        .replace(/^ *\]/, '],'),
    );
  const explicit = readOrder(
    `{"warc": {"directory": "x"}, "mapper": {"crawlers": 2}, "chains": {${printed.join('\n')}}}`,
    'o',
  );
  t.same(
    Object.values(chainSteps(explicit)).flatMap((chain) => chain.map(({ entry }) => entry.processor)),
    names,
  );
});

t.test('each option of archives belongs to a processor, so that its entry may give it', (t) => {
  const known = PROCESSORS.flatMap(({ warc = [] }) => warc);
  // The entry DigestHistory is this option.
  t.same([...known, 'digestHistory'].sort(), Object.keys(warcSchema.shape).sort());
  t.end();
});

t.test('CRAWL-19.2 the processors of an order.xml are converted to chains', async (t) => {
  const orderOf = (inner: string) =>
    readOrderXml(`<crawl-order><controller>\n${inner}</controller></crawl-order>`, 'f');
  const map = (name: string, ...modules: readonly string[]): string =>
    `<map name="${name}">${modules.map((module) => `<newObject name="${module}" class="x.${module}"/>`).join('')}</map>`;
  const names = (inner: string, chain: 'pre-fetch' | 'post-process') =>
    chainSteps(orderOf(inner).order)[chain].map(({ entry }) => entry.processor);
  t.same(
    names(map('pre-fetch-processors', 'QuotaEnforcer', 'Preselector', 'PreconditionEnforcer'), 'pre-fetch'),
    [
      'Preselector',
      'QuotaEnforcer',
      'Blocker',
      'FetchHistoryLoader',
      'History',
      'LocalMapping',
      'PreconditionEnforcer',
      'FormLogin',
    ],
    'in the order of the file, without the RuntimeLimit that it lacks',
  );
  t.same(names(map('pre-fetch-processors', 'PreconditionEnforcer', 'RuntimeLimitEnforcer'), 'pre-fetch'), [
    'Preselector',
    'FetchHistoryLoader',
    'History',
    'LocalMapping',
    'PreconditionEnforcer',
    'RuntimeLimit',
    'FormLogin',
  ]);
  t.same(names(map('post-processors', 'CrawlStateUpdater'), 'post-process').slice(0, 2), [
    'ReferencesWriter',
    'FetchHistoryKeeper',
  ]);
  t.same(
    orderOf(map('post-processors', 'CrawlStateUpdater', 'LinksScoper', 'FrontierScheduler')).order.chains,
    {},
    'the default chains',
  );
  const gated = orderOf(
    '<map name="pre-fetch-processors"><newObject name="P" class="x.PreconditionEnforcer"/><newObject name="Q" class="x.QuotaEnforcer"><newObject name="Q#decide-rules" class="x.DecideRuleSequence"><map name="rules"><newObject name="r" class="x.SeedAcceptDecideRule"/></map></newObject></newObject></map>',
  );
  t.match(gated.order.chains['pre-fetch']?.at(-2), { processor: 'QuotaEnforcer', rules: [{ rule: 'seed' }] });
  t.same(gated.warnings, []);
  const writer = orderOf(
    '<map name="write-processors"><newObject name="A" class="x.ARCWriterProcessor">\n<boolean name="compress">false</boolean>\n<string name="prefix">IAH</string><integer name="max-size-bytes">2000</integer>\n<stringList name="path"><string>my-arcs</string></stringList>\n<integer name="pool-max-active">5</integer><integer name="pool-max-wait">300000</integer></newObject></map>',
  );
  t.match(writer.order.warc, {
    format: 'arc',
    directory: 'my-arcs',
    compress: false,
    prefix: 'IAH',
    maxFileBytes: 2000,
    poolMaxActive: 5,
  });
  t.match(writer.warnings, [{ line: 6, text: /^pool-max-wait is ignored/ }]);
});
