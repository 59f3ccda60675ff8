// Orders of the 1.x line in XML are converted to orders: settings, scopes, overrides of hosts, and errors with their lines.

import t from 'tap';
import { hostOfSettingsFile, readOrderXml, SheetOverlays } from '../../../servers/crawler/order/index.js';

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

t.test('CRAWL-19.2 an order of the 1.x line is converted', async (t) => {
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
  const settingsOfModule = (module: string): unknown =>
    readOrderXml(
      `<crawl-order><controller><map name="m"><newObject name="m" class="x.${module}"/></map></controller></crawl-order>`,
      'f',
    ).order.settings;
  t.match(
    settingsOfModule('RuntimeLimitEnforcer'),
    { runtimeSeconds: 86_400, runtimeOperation: 'pause' },
    "the module's defaults",
  );
  t.match(settingsOfModule('ChangeEvaluator'), { skipUnchanged: true });
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
      [82, 'the module ExtractorSWF (ExtractorSWF) has no equivalent here'],
    ],
  );
});

t.test('CRAWL-10.1 the classic scopes are converted to rules', async (t) => {
  const rulesOf = (name: string, inner = ''): unknown[] =>
    readOrderXml(
      `<crawl-order><controller><newObject name="scope" class="org.archive.crawler.scope.${name}">${inner}</newObject></controller></crawl-order>`,
      'f',
    ).order.scope.map((rule) => rule.rule);
  const all = ['all', 'seed', 'on-domains', 'file-pattern', 'transclusion', 'too-many-link-hops'];
  t.same(rulesOf('DomainScope'), all);
  t.equal(rulesOf('HostScope')[2], 'on-hosts');
  t.equal(rulesOf('PathScope')[2], 'surt-prefixed');
  t.equal(rulesOf('SurtPrefixScope')[2], 'surt-prefixed');
  t.equal(rulesOf('BroadScope')[2], 'all');
  t.same(
    rulesOf(
      'DomainScope',
      '<newObject name="additionalScopeFocus" class="x.FilePatternFilter"><boolean name="enabled">false</boolean></newObject>',
    ),
    all.filter((rule) => rule !== 'file-pattern'),
    'CRAWL-10.1.4',
  );
});

t.test('CRAWL-19.4 overrides of hosts are converted to sheets; the longer domain wins', async (t) => {
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
  const settingsOf = (uri: string): unknown[] => {
    const { minDelayMs, maxRetries } = sheets.settingsFor({ uri, hops: '' });
    return [minDelayMs, maxRetries];
  };
  t.same(settingsOf('http://www.example.org/x'), [9000, 3]);
  t.same(settingsOf('https://ftp.example.org/x'), [5000, 3]);
  t.same(settingsOf('ftp://example.org/x'), [5000, 3]);
  t.same(settingsOf('http://example.com/x'), [3000, 30]);
  t.same(warnings, [{ file: 'www.xml', line: 2, text: 'hold-queues cannot be overridden (CRAWL-19.5)' }]);
  t.equal(hostOfSettingsFile('org/example/www/settings.xml'), 'www.example.org');
  t.equal(hostOfSettingsFile('settings.xml'), undefined);
  t.equal(hostOfSettingsFile('org/example/notes.txt'), undefined);
});

t.test('CRAWL-19.2 an error in a 1.x order names its line', async (t) => {
  const frontier = (inner: string): string =>
    `<crawl-order>\n<controller>\n<newObject name="frontier" class="x.BdbFrontier">\n${inner}\n</newObject></controller></crawl-order>`;
  const invalid: [string, string][] = [
    [
      frontier('<integer name="max-delay-ms">soon</integer>'),
      'o.xml:4: settings.maxDelayMs: expected number, received string: "soon"',
    ],
    ['<html/>', 'o.xml:1: html: the root element must be crawl-order'],
    ['no xml', 'o.xml:1: it is not XML'],
    ['<crawl-order/>', 'o.xml:1: controller: it is missing'],
    [`<crawl-order><controller>${'<a>'.repeat(200)}`, 'o.xml:1: a: nested too deeply'],
  ];
  for (const [text, message] of invalid) t.throws(() => readOrderXml(text, 'o.xml'), { message });
  const invalidSettings =
    '<crawl-settings>\n\n<object name="frontier"><integer name="max-retries">-4</integer></object></crawl-settings>';
  t.throws(
    () =>
      readOrderXml('<crawl-order><controller/></crawl-order>', 'o.xml', [
        { host: 'a.example', file: 'a.xml', text: invalidSettings },
      ]),
    { message: /:3: sheets\[0\]\.settings\.maxRetries: / },
  );
  const { warnings } = readOrderXml(
    frontier('<string name="cost-policy">x.OddPolicy</string>\n<string name="color">red</string>'),
    'o.xml',
  );
  t.same(warnings, [
    { file: 'o.xml', line: 4, text: 'cost-policy: x.OddPolicy is unknown' },
    { file: 'o.xml', line: 5, text: 'color has no equivalent here' },
  ]);
});
