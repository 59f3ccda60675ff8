// Crawl orders: defaults, parsing, checks, descriptions, and the sheets that override settings.
import t from 'tap';
import type { DecideSubject } from '../../../servers/crawler/decide/decision.js';
import { orderProblems } from '../../../servers/crawler/order/check-order.js';
import {
  defaultOrderText,
  describeSettings,
  settingsTable,
} from '../../../servers/crawler/order/describe.js';
import { parseJsonWithComments } from '../../../servers/crawler/order/json-with-comments.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { readOrder } from '../../../servers/crawler/order/read-order.js';
import { SheetOverlays } from '../../../servers/crawler/order/sheets.js';

const subject = (uri: string, fields: Partial<DecideSubject> = {}): DecideSubject => ({
  uri,
  hops: '',
  ...fields,
});

/** Parses an order and returns its sheets. */
function overlaysOf(input: CrawlOrderInput): SheetOverlays {
  return SheetOverlays.of(crawlOrderSchema.parse(input));
}

t.test('CRAWL-6.1 CRAWL-6.4 an empty order has the specified defaults', async (t) => {
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

t.test('CRAWL-11.2 the profile archive turns options on; the order precedes', async (t) => {
  t.equal(readOrder('{}', 'o').settings.embeds, 'frames');
  t.equal(readOrder('{"profile": "archive"}', 'o').settings.embeds, 'any');
  const given = readOrder('{"profile": "archive", "settings": {"embeds": "root", "minDelayMs": 1}}', 'o');
  t.match(given.settings, { embeds: 'root', minDelayMs: 1 });
  t.throws(() => readOrder('{"profile": "all"}', 'o'), /o:1: profile: .*"gather"\|"archive"/);
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
  const sheets = overlaysOf({
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
  const settingsOf = (uri: string): unknown[] => {
    const { minDelayMs, retryDelaySeconds, maxRetries, delayFactor, quotas } = sheets.settingsFor(
      subject(uri),
    );
    return [
      minDelayMs,
      retryDelaySeconds,
      maxRetries,
      delayFactor,
      quotas.hostMaxAllKB,
      quotas.serverMaxAllKB,
    ];
  };
  t.same(settingsOf('http://a.example.com/'), [1, 1, 30, 5, 1, -1]);
  t.same(settingsOf('http://other.org/'), [10, 1, 30, 1, 1, -1]);
  t.same(settingsOf('http://b.net/'), [10, 1, 30, 1, 1, -1], 'CRAWL-15.3: a prefix of https also matches');
  t.same(settingsOf('https://example.org/'), [20, 1, 20, 1, 20, -1], 'https also matches prefixes of http');
  t.same(settingsOf('http://www.example.org/b'), [20, 1, 20, 1, 20, -1], 'a prefix includes the subdomains');
  t.same(
    settingsOf('http://www.example.org/a/x'),
    [40, 40, 20, 1, 20, 40],
    'each one is overridden separately',
  );
  t.same(settingsOf('http://www.example.org/a/cal'), [50, 40, 50, 1, 20, 40], 'a rule overrides prefixes');
  t.same(settingsOf('http://x.example/cal2'), [60, 1, 50, 5, 1, -1], 'a later rule overrides an earlier one');
  t.same(sheets.explain(subject('http://www.example.org/a/cal')), [
    { sheet: 'all of org', because: { surt: 'http://(org,' } },
    { sheet: 'domain', because: { surt: 'http://(org,example,' } },
    { sheet: 'path', because: { surt: 'http://(org,example,www,)/a/' } },
    { sheet: 'rule first', because: { rule: 'matches', ruleNumber: 1 } },
  ]);
  t.same(sheets.explain(subject('http://a.example.com/')), []);
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
  t.equal(sheets.settingsFor(subject('http://other.example/')), order.settings, 'without a sheet: the order');
  t.equal(
    sheets.settingsFor(subject('http://h7.example/1')),
    sheets.settingsFor(subject('http://h7.example/2')),
  );
  const delays = Array.from(
    { length: 1500 },
    (_, n) => sheets.settingsFor(subject(`http://h${n}.example/`)).minDelayMs,
  );
  t.ok(delays.every((delay, n) => delay === n));
  t.equal(sheets.settingsFor(subject('http://h7.example/1')).minDelayMs, 7, 'computed again when dropped');
  t.equal(sheets.settingsFor(subject('http://a.example/', { sourceTag: 'big' })).maxRetries, 1);
  t.equal(overlaysOf({}).settingsFor(subject('http://a.example/')).maxRetries, 30);
});

t.test('CRAWL-22: an order may have comments, and the line of each value is known', async (t) => {
  const text =
    '\ufeff// an order\n{ /* one\n two */ "a": [1, -2.5e1, {"b": "x // no comment",},],\n"c": null, "__proto__": true }\n//';
  const { value, lineOf } = parseJsonWithComments(text, 'f');
  t.equal(JSON.stringify(value), '{"a":[1,-25,{"b":"x // no comment"}],"c":null,"__proto__":true}');
  t.same([lineOf(['a', 2, 'b']), lineOf(['c']), lineOf(['c', 'd']), lineOf(['nothing'])], [3, 4, 4, 2]);
  const invalid: [string, RegExp][] = [
    ['', /^f:1: a value is expected/],
    ['{"a": 1\n"b": 2}', /^f:2: a comma is missing/],
    ['{"a" 1}', /a colon is missing/],
    ['{a: 1}', /^f:1: (?:not a value|a name in double quotes)/],
    ['{"a": 1,\n"a": 2}', /^f:2: a is repeated/],
    ['[1] 2', /there is text after the end/],
    ['[1, /* ', /a comment has no end/],
    ['[01]', /^f:1: a comma is missing/],
    ['["\\x"]', /an invalid escape sequence/],
    ['["a\nb"]', /^f:1: a string has no end on its line/],
    ['['.repeat(200), /nested too deeply/],
    ['[1', /a \] is missing/],
  ];
  for (const [text, message] of invalid) t.throws(() => parseJsonWithComments(text, 'f'), { message });
});

t.test('CRAWL-22: an error names file, line, path and value', async (t) => {
  const invalid: [string, string][] = [
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
      'o.json:1: settings.robotsPolicy: custom requires a text in customRobots (CRAWL-13.4)',
    ],
    [
      '{"sheets": [{"name": "a"}]}',
      'o.json:1: sheets[0]: it has neither surts nor rules, so it never applies',
    ],
    ['7', 'o.json:1: expected object, received number: 7'],
  ];
  for (const [text, message] of invalid)
    t.throws(() => readOrder(text, 'o.json'), { message, code: 'ERR_CONFIG' });
  t.equal(readOrder('{"workers": 3}', 'o.json').workers, 3);
});

t.test('CRAWL-22: problems that the schema cannot express are found', async (t) => {
  const problemsOf = (input: CrawlOrderInput): string[] =>
    orderProblems(crawlOrderSchema.parse(input)).map(({ path, problem }) => `${path.join('.')}: ${problem}`);
  t.same(problemsOf({}), []);
  t.same(problemsOf({ warc: { digestHistory: true }, settings: { digestStripPattern: '(' } }), [
    'warc.digestHistory: it requires a directory of WARC files (CRAWL-18.5)',
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
      legal: 'a whole number of at least 0',
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
  t.match(settingsTable(), /^settings\.robotsPolicy +"classic" .*\n {4}How robots\.txt is obeyed\.$/m);
  t.same(readOrder(defaultOrderText(), 'default'), crawlOrderSchema.parse({}), 'the order states defaults');
});
