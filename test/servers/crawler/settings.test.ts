// Crawl orders: parsing, checks and descriptions; sheets; conversion of 1.x orders.

import t from 'tap';
import type { DecideSubject } from '../../../servers/crawler/decide/index.js';
import {
  type CrawlOrderInput,
  crawlOrderSchema,
  defaultOrderText,
  describeSettings,
  hostOfSettingsFile,
  orderProblems,
  readOrder,
  readOrderXml,
  SheetOverlays,
  settingsTable,
} from '../../../servers/crawler/order/index.js';
import { parseJsonWithComments } from '../../../servers/crawler/order/json-with-comments.js';

const at = (uri: string, extra: Partial<DecideSubject> = {}): DecideSubject => ({ uri, hops: '', ...extra });

function overlays(input: CrawlOrderInput): SheetOverlays {
  return SheetOverlays.of(crawlOrderSchema.parse(input));
}

t.test('CRAWL-6.1 CRAWL-6.4 the defaults', async (t) => {
  const order = crawlOrderSchema.parse({});
  t.match(order.settings, {
    delayFactor: 5,
    maxDelayMs: 30_000,
    minDelayMs: 3000,
    respectCrawlDelayUpToSecs: 300,
    maxRetries: 30,
    retryDelaySeconds: 900,
    preferenceEmbedHops: 1,
    preferenceDepthHops: -1,
    balanceReplenishAmount: 3000,
    errorPenaltyAmount: 100,
    queueTotalBudget: -1,
    costPolicy: 'unit',
    queueAssignment: 'host',
    ipValiditySeconds: 21_600,
    robotsValiditySeconds: 86_400,
    calculateRobotsOnly: false,
    robotsPolicy: 'classic',
  });
  t.match(order, {
    holdQueues: true,
    targetReadyBacklog: 50,
    snoozeDeactivateMs: 300_000,
    pauseAtStart: false,
  });
});

t.test('CRAWL-19.6 a sheet contains only the settings that it names', async (t) => {
  const [sheet] = crawlOrderSchema.parse({
    sheets: [{ name: 'a', surts: ['a.example'], settings: { minDelayMs: 1, quotas: { hostMaxAllKB: 5 } } }],
  }).sheets;
  t.same(sheet?.settings, { minDelayMs: 1, quotas: { hostMaxAllKB: 5 } });
  t.throws(() => crawlOrderSchema.parse({ sheets: [{ name: 'a', settings: { minDelayMs: -1 } }] }));
  t.throws(() => crawlOrderSchema.parse({ sheets: [{ name: 'a', settings: { workers: 2 } }] }), 'CRAWL-19.5');
});

t.test('CRAWL-19.6 prefixes from the shortest, then rules in order: the last one wins', async (t) => {
  const sheets = overlays({
    settings: { minDelayMs: 1, retryDelaySeconds: 1, quotas: { hostMaxAllKB: 1 } },
    sheets: [
      {
        name: 'rule first',
        rules: [{ rule: 'matches', answer: 'ACCEPT', patterns: ['.*cal.*'] }],
        settings: { minDelayMs: 50, maxRetries: 50 },
      },
      {
        name: 'path',
        surts: ['http://www.example.org/a/'],
        settings: { minDelayMs: 40, retryDelaySeconds: 40, quotas: { serverMaxAllKB: 40 } },
      },
      {
        name: 'domain',
        surts: ['example.org'],
        settings: { minDelayMs: 20, maxRetries: 20, quotas: { hostMaxAllKB: 20 } },
      },
      {
        name: 'all of org',
        surts: ['http://(org,', 'https://(net,'],
        settings: { minDelayMs: 10, delayFactor: 1 },
      },
      {
        name: 'rule second',
        surts: ['never.example'],
        rules: [{ rule: 'matches', answer: 'ACCEPT', patterns: ['.*cal2.*'] }],
        settings: { minDelayMs: 60 },
      },
    ],
  });
  const of = (uri: string): unknown[] => {
    const { minDelayMs, retryDelaySeconds, maxRetries, delayFactor, quotas } = sheets.settingsFor(at(uri));
    return [
      minDelayMs,
      retryDelaySeconds,
      maxRetries,
      delayFactor,
      quotas.hostMaxAllKB,
      quotas.serverMaxAllKB,
    ];
  };
  t.same(of('http://a.example.com/'), [1, 1, 30, 5, 1, -1]);
  t.same(of('http://other.org/'), [10, 1, 30, 1, 1, -1]);
  t.same(of('http://b.net/'), [10, 1, 30, 1, 1, -1], 'CRAWL-15.3: a prefix of https is one of http');
  t.same(of('https://example.org/'), [20, 1, 20, 1, 20, -1], 'and the URI too');
  t.same(of('http://www.example.org/b'), [20, 1, 20, 1, 20, -1], 'sub-domains');
  t.same(of('http://www.example.org/a/x'), [40, 40, 20, 1, 20, 40], 'setting by setting, quota by quota');
  t.same(of('http://www.example.org/a/cal'), [50, 40, 50, 1, 20, 40], 'a rule beats prefixes');
  t.same(of('http://x.example/cal2'), [60, 1, 50, 5, 1, -1], 'the later rule beats the earlier');
  t.same(sheets.explain(at('http://www.example.org/a/cal')), [
    { sheet: 'all of org', because: { surt: 'http://(org,' } },
    { sheet: 'domain', because: { surt: 'http://(org,example,' } },
    { sheet: 'path', because: { surt: 'http://(org,example,www,)/a/' } },
    { sheet: 'rule first', because: { rule: 'matches', ruleNumber: 1 } },
  ]);
  t.same(sheets.explain(at('http://a.example.com/')), []);
});

t.test('CRAWL-19.6 URIs of the same sheets share their settings', async (t) => {
  const order = crawlOrderSchema.parse({
    sheets: [
      ...Array.from({ length: 1500 }, (_, n) => ({
        name: `s${n}`,
        surts: [`h${n}.example`],
        settings: { minDelayMs: n },
      })),
      {
        name: 'tagged',
        rules: [{ rule: 'source-tag-matches', answer: 'ACCEPT', patterns: ['big'] }],
        settings: { maxRetries: 1 },
      },
    ],
  });
  const sheets = SheetOverlays.of(order);
  t.equal(
    sheets.settingsFor(at('http://other.example/')),
    order.settings,
    'no sheet applies: the same object',
  );
  t.equal(sheets.settingsFor(at('http://h7.example/1')), sheets.settingsFor(at('http://h7.example/2')));
  const delays = Array.from(
    { length: 1500 },
    (_, n) => sheets.settingsFor(at(`http://h${n}.example/`)).minDelayMs,
  );
  t.ok(delays.every((delay, n) => delay === n));
  t.equal(sheets.settingsFor(at('http://h7.example/1')).minDelayMs, 7, 'what was forgotten is made again');
  t.equal(sheets.settingsFor(at('http://a.example/', { sourceTag: 'big' })).maxRetries, 1);
  t.equal(overlays({}).settingsFor(at('http://a.example/')).maxRetries, 30);
});

t.test('CRAWL-22 pain 8: JSON with comments, and the line of each value', async (t) => {
  const text =
    '\ufeff// an order\n{ /* one\n two */ "a": [1, -2.5e1, {"b": "x // no comment",},],\n"c": null, "__proto__": true }\n//';
  const { value, lineOf } = parseJsonWithComments(text, 'f');
  t.equal(JSON.stringify(value), '{"a":[1,-25,{"b":"x // no comment"}],"c":null,"__proto__":true}');
  t.same([lineOf(['a', 2, 'b']), lineOf(['c']), lineOf(['c', 'd']), lineOf(['nothing'])], [3, 4, 4, 2]);
  const wrong: [string, RegExp][] = [
    ['', /^f:1: a value is expected/],
    ['{"a": 1\n"b": 2}', /^f:2: a comma is missing/],
    ['{"a" 1}', /a colon is missing/],
    ['{a: 1}', /^f:1: (?:not a value|a name in double quotes)/],
    ['{"a": 1,\n"a": 2}', /^f:2: a is repeated/],
    ['[1] 2', /there is text after the end/],
    ['[1, /* ', /a comment has no end/],
    ['[01]', /^f:1: a comma is missing/],
    ['["\\x"]', /not an escape of a character/],
    ['["a\nb"]', /^f:1: a string has no end on its line/],
    ['['.repeat(200), /nested too deeply/],
    ['[1', /a \] is missing/],
  ];
  for (const [bad, message] of wrong) t.throws(() => parseJsonWithComments(bad, 'f'), { message });
});

t.test('CRAWL-22 pain 8: an error names file, line, path and value', async (t) => {
  const wrong: [string, string][] = [
    ['{\n"workers": "3"\n}', 'o.json:2: workers: expected number, received string: "3"'],
    [
      '{"settings": {\n"minDelayMs": -1}}',
      'o.json:2: settings.minDelayMs: Too small: expected number to be >=0: -1',
    ],
    ['{"max-delay-ms": 1}', 'o.json:1: max-delay-ms: there is no such name; settings.maxDelayMs is meant?'],
    [
      '{"settings": {"max_delay_ms": 1}}',
      'o.json:1: settings.max_delay_ms: there is no such name; maxDelayMs is meant?',
    ],
    [
      '{"settings": {"workers": 1}}',
      'o.json:1: settings.workers: there is no such name; workers, at the top of the order, is meant?',
    ],
    ['{"color": 1}', 'o.json:1: color: there is no such name'],
    [
      '{"scope": [\n{"rule": "all", "answer": "REJECT"},\n{"rule": "odd"}]}',
      'o.json:3: scope[1].rule: there is no such rule: "odd"',
    ],
    ['{"settings": {"blockPattern": "("}}', 'o.json:1: settings.blockPattern: ( is not a regular expression'],
    [
      '{"settings": {"robotsPolicy": "custom"}}',
      'o.json:1: settings.robotsPolicy: custom needs a text in customRobots (CRAWL-13.4)',
    ],
    [
      '{"sheets": [{"name": "a"}]}',
      'o.json:1: sheets[0]: it has neither surts nor rules, so it never applies',
    ],
    ['7', 'o.json:1: expected object, received number: 7'],
  ];
  for (const [text, message] of wrong)
    t.throws(() => readOrder(text, 'o.json'), { message, code: 'ERR_CONFIG' });
  t.equal(readOrder('{"workers": 3}', 'o.json').workers, 3);
});

t.test('CRAWL-22 pain 8: problems that a schema cannot express', async (t) => {
  const problemsOf = (input: CrawlOrderInput): string[] =>
    orderProblems(crawlOrderSchema.parse(input)).map(({ path, problem }) => `${path.join('.')}: ${problem}`);
  t.same(problemsOf({}), []);
  t.same(problemsOf({ warc: { digestHistory: true }, settings: { digestStripPattern: '(' } }), [
    'warc.digestHistory: it needs a directory of WARC files (CRAWL-18.5)',
    'settings.digestStripPattern: ( is not a regular expression',
  ]);
  const found = problemsOf({
    scope: [{ rule: 'matches', answer: 'ACCEPT', patterns: ['['] }],
    settings: { minDelayMs: 40_000, seenRules: ['Nothing'] },
    sheets: [
      {
        name: 'a',
        surts: ['a.example'],
        settings: { robotsPolicy: 'most-favored-set', maxDelayMs: 50_000, seenRules: [] },
      },
      {
        name: 'a',
        rules: [{ rule: 'matches', answer: 'ACCEPT', patterns: ['('] }],
        settings: { maxDelayMs: 40_000, seenRules: [] },
      },
    ],
  });
  t.same(
    found.map((text) => text.split(': ')[0]),
    [
      'scope',
      'settings.minDelayMs',
      'settings.seenRules',
      'sheets.0.settings.robotsPolicy',
      'sheets.1.name',
      'sheets.1.rules',
    ],
  );
});

t.test('CRAWL-19.3 every setting has a note, a default and legal values', async (t) => {
  const settings = describeSettings();
  for (const { path, text, rule, legal } of settings)
    t.ok(text !== '' && /^(?:CRAWL|G)-\d/.test(rule) && legal !== '', path);
  t.match(
    settings.find(({ path }) => path === 'settings.minDelayMs'),
    {
      default: 3000,
      unit: 'ms',
      legal: 'a whole number from 0 on',
      rule: 'CRAWL-7.1 step 2',
      overridable: true,
    },
  );
  t.match(
    settings.find(({ path }) => path === 'workers'),
    { legal: 'a whole number from 1 to 1000', overridable: false },
  );
  t.match(
    settings.find(({ path }) => path === 'settings.bandwidthReading'),
    { legal: 'sum | maximum', default: 'sum' },
  );
  t.match(
    settings.find(({ path }) => path === 'settings.quotas.groupMaxAllKB'),
    { default: -1, unit: 'KB' },
  );
  t.match(settingsTable(), /^settings\.robotsPolicy +"classic" .*\n {4}How robots\.txt is honored\.$/m);
  t.same(
    readOrder(defaultOrderText(), 'default'),
    crawlOrderSchema.parse({}),
    'the default order says what holds',
  );
});

const ORDER_XML = `<?xml version="1.0" encoding="UTF-8"?>
<crawl-order>
  <meta><name>basic</name></meta>
  <controller>
    <string name="disk-path"></string>
    <long name="max-bytes-download">1000</long>
    <long name="max-document-download">20</long>
    <long name="max-time-sec">60</long>
    <integer name="max-toe-threads">50</integer>
    <newObject name="scope" class="org.archive.crawler.deciderules.DecidingScope">
      <boolean name="enabled">true</boolean>
      <string name="seedsfile">seeds.txt</string>
      <newObject name="decide-rules" class="org.archive.crawler.deciderules.DecideRuleSequence">
        <map name="rules">
          <newObject name="rejectByDefault" class="org.archive.crawler.deciderules.RejectDecideRule"></newObject>
          <newObject name="surts" class="org.archive.crawler.deciderules.SurtPrefixedDecideRule">
            <string name="decision">ACCEPT</string>
            <string name="surts-source-file"></string>
            <boolean name="seeds-as-surt-prefixes">true</boolean>
          </newObject>
          <newObject name="hops" class="org.archive.crawler.deciderules.TooManyHopsDecideRule">
            <integer name="max-hops">9</integer>
          </newObject>
          <newObject name="list" class="org.archive.crawler.deciderules.MatchesListRegExpDecideRule">
            <string name="decision">REJECT</string>
            <string name="list-logic">OR</string>
            <stringList name="regexp-list"><string>.*\\.exe</string><string>.*&amp;sid=.*</string></stringList>
          </newObject>
          <newObject name="odd" class="org.archive.crawler.deciderules.BeanShellDecideRule"></newObject>
        </map>
      </newObject>
    </newObject>
    <map name="http-headers">
      <string name="user-agent">Mozilla/5.0 (compatible; +http://crawler.example/)</string>
      <string name="from">crawler@crawler.example</string>
    </map>
    <newObject name="robots-honoring-policy" class="org.archive.crawler.datamodel.RobotsHonoringPolicy">
      <string name="type">most-favored-set</string>
      <boolean name="masquerade">true</boolean>
      <text name="custom-robots"></text>
      <stringList name="user-agents"><string>one</string><string>two</string></stringList>
    </newObject>
    <newObject name="frontier" class="org.archive.crawler.frontier.BdbFrontier">
      <float name="delay-factor">4.0</float>
      <integer name="max-delay-ms">20000</integer>
      <integer name="min-delay-ms">2000</integer>
      <integer name="total-bandwidth-usage-KB-sec">7</integer>
      <string name="queue-assignment-policy">org.archive.crawler.frontier.SurtAuthorityQueueAssignmentPolicy</string>
      <string name="cost-policy">org.archive.crawler.frontier.ZeroCostAssignmentPolicy</string>
      <string name="uri-included-structure">org.archive.crawler.util.BloomUriUniqFilter</string>
      <boolean name="hold-queues">false</boolean>
    </newObject>
    <map name="uri-canonicalization-rules">
      <newObject name="Lowercase" class="org.archive.crawler.url.canonicalize.LowercaseRule"><boolean name="enabled">true</boolean></newObject>
      <newObject name="WWW" class="org.archive.crawler.url.canonicalize.StripWWWRule"><boolean name="enabled">false</boolean></newObject>
      <newObject name="Fix" class="org.archive.crawler.url.canonicalize.FixupQueryStr"><boolean name="enabled">true</boolean></newObject>
    </map>
    <map name="pre-fetch-processors">
      <newObject name="Preprocessor" class="org.archive.crawler.prefetch.PreconditionEnforcer">
        <boolean name="enabled">true</boolean>
        <newObject name="Preprocessor#decide-rules" class="org.archive.crawler.deciderules.DecideRuleSequence"><map name="rules"/></newObject>
        <integer name="robot-validity-duration-seconds">3600</integer>
      </newObject>
      <newObject name="Quota" class="org.archive.crawler.prefetch.QuotaEnforcer">
        <boolean name="force-retire">false</boolean>
        <long name="host-max-all-kb">99</long>
        <long name="group-max-fetch-successes">-1</long>
      </newObject>
      <newObject name="Runtime" class="org.archive.crawler.prefetch.RuntimeLimitEnforcer">
        <long name="runtime-sec">7200</long>
        <string name="end-operation">Block URIs</string>
      </newObject>
    </map>
    <map name="fetch-processors">
      <newObject name="Digest" class="org.archive.crawler.extractor.HTTPContentDigest">
        <string name="strip-reg-expr">[0-9]+ hits</string>
        <long name="max-size-kb">-1</long>
      </newObject>
    </map>
    <map name="extract-processors">
      <newObject name="Changes" class="org.archive.crawler.extractor.ChangeEvaluator"><boolean name="enabled">true</boolean></newObject>
      <newObject name="ExtractorSWF" class="org.archive.crawler.extractor.ExtractorSWF"></newObject>
      <newObject name="off" class="org.archive.crawler.extractor.ExtractorPDF"><boolean name="enabled">false</boolean></newObject>
    </map>
  </controller>
</crawl-order>
`;

t.test('CRAWL-19.2 an order of the 1.x line', async (t) => {
  const { order, seedsFile, warnings } = readOrderXml(ORDER_XML, 'order.xml');
  t.equal(seedsFile, 'seeds.txt');
  t.match(order, {
    name: 'basic',
    maxBytes: 1000,
    maxDocuments: 20,
    maxSeconds: 60,
    workers: 50,
    totalBandwidthKBs: 7,
    seen: 'bloom',
    holdQueues: false,
    userAgent: 'Mozilla/5.0 (compatible; +http://crawler.example/)',
    from: 'crawler@crawler.example',
    settings: {
      delayFactor: 4,
      maxDelayMs: 20_000,
      minDelayMs: 2000,
      queueAssignment: 'surt',
      costPolicy: 'zero',
      robotsPolicy: 'most-favored-set',
      masquerade: true,
      userAgents: ['one', 'two'],
      seenRules: ['Lowercase', 'FixupQuery'],
      robotsValiditySeconds: 3600,
      quotaForceRetire: false,
      quotas: { hostMaxAllKB: 99, groupMaxSuccesses: -1 },
      retryDelaySeconds: 900,
      runtimeSeconds: 7200,
      runtimeOperation: 'block',
      digestStripPattern: '[0-9]+ hits',
      digestStripMaxKB: -1,
      skipUnchanged: true,
    },
  });
  const alone = (module: string): unknown =>
    readOrderXml(
      `<crawl-order><controller><map name="m"><newObject name="m" class="x.${module}"/></map></controller></crawl-order>`,
      'f',
    ).order.settings;
  t.match(
    alone('RuntimeLimitEnforcer'),
    { runtimeSeconds: 86_400, runtimeOperation: 'pause' },
    "the module's defaults",
  );
  t.match(alone('ChangeEvaluator'), { skipUnchanged: true });
  t.same(order.scope, [
    { rule: 'all', answer: 'REJECT' },
    { rule: 'surt-prefixed', answer: 'ACCEPT', seeds: true, lines: [] },
    { rule: 'too-many-hops', max: 9 },
    { rule: 'matches', answer: 'REJECT', patterns: ['.*\\.exe', '.*&sid=.*'], logic: 'OR' },
  ]);
  t.same(
    warnings.map(({ line, text }) => [line, text]),
    [
      [29, 'the rule BeanShellDecideRule is unknown and left out'],
      [82, 'the module ExtractorSWF (ExtractorSWF) has no counterpart here'],
    ],
  );
});

t.test('CRAWL-10.1 the classic scopes as rules', async (t) => {
  const scope = (name: string, inner = ''): unknown[] =>
    readOrderXml(
      `<crawl-order><controller><newObject name="scope" class="org.archive.crawler.scope.${name}">${inner}</newObject></controller></crawl-order>`,
      'f',
    ).order.scope.map((rule) => rule.rule);
  const all = ['all', 'seed', 'on-domains', 'file-pattern', 'transclusion', 'too-many-link-hops'];
  t.same(scope('DomainScope'), all);
  t.equal(scope('HostScope')[2], 'on-hosts');
  t.equal(scope('PathScope')[2], 'surt-prefixed');
  t.equal(scope('SurtPrefixScope')[2], 'surt-prefixed');
  t.equal(scope('BroadScope')[2], 'all');
  t.same(
    scope(
      'DomainScope',
      '<newObject name="additionalScopeFocus" class="x.FilePatternFilter"><boolean name="enabled">false</boolean></newObject>',
    ),
    all.filter((rule) => rule !== 'file-pattern'),
    'CRAWL-10.1.4',
  );
});

t.test('CRAWL-19.4 overrides of hosts are sheets: the longer domain wins', async (t) => {
  const settings = (inner: string): string =>
    `<crawl-settings><object name="frontier">${inner}</object></crawl-settings>`;
  const { order, warnings } = readOrderXml('<crawl-order><controller/></crawl-order>', 'order.xml', [
    {
      host: 'www.example.org',
      file: 'www.xml',
      text: settings(
        '<integer name="min-delay-ms">9000</integer>\n<boolean name="hold-queues">true</boolean>',
      ),
    },
    {
      host: 'example.org',
      file: 'org.xml',
      text: settings('<integer name="min-delay-ms">5000</integer><integer name="max-retries">3</integer>'),
    },
  ]);
  const sheets = SheetOverlays.of(order);
  const of = (uri: string): unknown[] => {
    const { minDelayMs, maxRetries } = sheets.settingsFor(at(uri));
    return [minDelayMs, maxRetries];
  };
  t.same(of('http://www.example.org/x'), [9000, 3]);
  t.same(of('https://ftp.example.org/x'), [5000, 3]);
  t.same(of('ftp://example.org/x'), [5000, 3]);
  t.same(of('http://example.com/x'), [3000, 30]);
  t.same(warnings, [{ file: 'www.xml', line: 2, text: 'hold-queues cannot be overridden (CRAWL-19.5)' }]);
  t.equal(hostOfSettingsFile('org/example/www/settings.xml'), 'www.example.org');
  t.equal(hostOfSettingsFile('settings.xml'), undefined);
  t.equal(hostOfSettingsFile('org/example/notes.txt'), undefined);
});

t.test('CRAWL-19.2 an error in a 1.x order names its line', async (t) => {
  const frontier = (inner: string): string =>
    `<crawl-order>\n<controller>\n<newObject name="frontier" class="x.BdbFrontier">\n${inner}\n</newObject></controller></crawl-order>`;
  const wrong: [string, string][] = [
    [
      frontier('<integer name="max-delay-ms">soon</integer>'),
      'o.xml:4: settings.maxDelayMs: expected number, received string: "soon"',
    ],
    ['<html/>', 'o.xml:1: html: the outermost element must be crawl-order'],
    ['no xml', 'o.xml:1: it is not XML'],
    ['<crawl-order/>', 'o.xml:1: controller: it is missing'],
    [`<crawl-order><controller>${'<a>'.repeat(200)}`, 'o.xml:1: a: nested too deeply'],
  ];
  for (const [text, message] of wrong) t.throws(() => readOrderXml(text, 'o.xml'), { message });
  const bad =
    '<crawl-settings>\n\n<object name="frontier"><integer name="max-retries">-4</integer></object></crawl-settings>';
  t.throws(
    () =>
      readOrderXml('<crawl-order><controller/></crawl-order>', 'o.xml', [
        { host: 'a.example', file: 'a.xml', text: bad },
      ]),
    { message: /:3: sheets\[0\]\.settings\.maxRetries: / },
  );
  const { warnings } = readOrderXml(
    frontier('<string name="cost-policy">x.OddPolicy</string>\n<string name="color">red</string>'),
    'o.xml',
  );
  t.same(warnings, [
    { file: 'o.xml', line: 4, text: 'cost-policy: x.OddPolicy is unknown' },
    { file: 'o.xml', line: 5, text: 'color has no counterpart here' },
  ]);
});
