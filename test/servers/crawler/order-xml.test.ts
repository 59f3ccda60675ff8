// Orders of the 1.x line in XML are converted to orders: settings, scopes, overrides of hosts, and errors with
// their lines.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decideSequence } from '../../../servers/crawler/decide/build-rules.js';
import { hostOfSettingsFile, readOrderXml } from '../../../servers/crawler/order/order-xml.js';
import { readOrderText } from '../../../servers/crawler/order/read-order-file.js';
import { SheetOverlays } from '../../../servers/crawler/order/sheets.js';

/** An order in XML and what becomes of it: the files NAME.xml and NAME.json of this folder. */
const FIXTURES = new URL('test/servers/crawler/fixtures/order-xml/', import.meta.resolve('#package.json'));

for (const file of readdirSync(FIXTURES).filter((name) => name.endsWith('.json'))) {
  const { title, expected, warnings } = JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8'));
  t.test(title, async (t) => {
    const xml = readFileSync(new URL(file.replace(/json$/, 'xml'), FIXTURES), 'utf8');
    const found = readOrderXml(xml, 'order.xml');
    t.match({ ...found.order, seedsFile: found.seedsFile }, expected);
    if (expected.scope !== undefined) t.same(found.order.scope, expected.scope);
    t.same(
      found.warnings.map(({ line, text }) => `${line} ${text}`),
      warnings,
    );
  });
}

t.test('CRAWL-19.2 modules of the 1.x line have their defaults', async (t) => {
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
  t.match(settingsOfModule('FetchHTTP'), { cookies: true, sendReferer: true }, 'CRAWL-6.4');
});

t.test('CRAWL-19.3: passwords of an order.xml are left out, and their place is named', async (t) => {
  const { order, warnings } = readOrderXml(
    `<crawl-order><controller>
      <newObject name="credential-store" class="org.archive.crawler.datamodel.CredentialStore"><map name="credentials">
        <newObject name="area" class="org.archive.crawler.datamodel.credential.Rfc2617Credential"><string name="password">s3cret</string></newObject>
      </map></newObject></controller></crawl-order>`,
    'order.xml',
  );
  t.same(order.credentials, []);
  t.match(warnings[0], {
    line: 2,
    text: /credential-store .*name variables of the environment in credentials/,
  });
  t.notOk(JSON.stringify(warnings).includes('s3cret'));
});

/** The rules of a scope of the 1.x line. @param inner elements of the scope */
function scopeOf(name: string, inner = '') {
  return readOrderXml(
    `<crawl-order><controller><newObject name="scope" class="org.archive.crawler.scope.${name}">${inner}</newObject></controller></crawl-order>`,
    'f',
    [],
    new Map([['more.txt', ['+more.org']]]),
  ).order.scope;
}

/** CRAWL-10.1.4 switched off. */
const NO_MEDIA =
  '<newObject name="additionalScopeFocus" class="x.FilePatternFilter"><boolean name="enabled">false</boolean></newObject>';

t.test('CRAWL-10.1 the classic scopes are converted to rules', async (t) => {
  const rulesOf = (name: string, inner?: string): unknown[] => scopeOf(name, inner).map(({ rule }) => rule);
  const all = ['all', 'seed', 'classic-focus', 'file-pattern', 'classic-transitive', 'too-many-link-hops'];
  t.same(rulesOf('DomainScope'), all);
  t.same(rulesOf('HostScope'), all);
  t.same(rulesOf('PathScope'), all);
  t.equal(rulesOf('SurtPrefixScope')[2], 'surt-prefixed');
  t.equal(rulesOf('BroadScope')[2], 'all');
  t.same(
    rulesOf('DomainScope', NO_MEDIA),
    all.filter((rule) => rule !== 'file-pattern'),
    'CRAWL-10.1.4',
  );
});

t.test('CRAWL-10.1.1, 10.1.2, 10.1.3 a converted scope accepts and rejects as the classic one', async (t) => {
  const seeds = ['http://www2.example.com/a/b/index.html'];
  const accepts = (scope: string, uri: string, hops = 'L', inner = NO_MEDIA): boolean =>
    decideSequence(scopeOf(scope, inner), { seeds }).accepts({ uri, hops, via: 'http://www.example.com/' });
  t.ok(accepts('BroadScope', 'http://anything/'));
  // CRAWL-10.1.3, one row of the rule after the other.
  t.ok(accepts('DomainScope', 'http://www.example.com/'), 'Domain: www and digits are cut from the seed');
  t.ok(accepts('DomainScope', 'http://x.y.example.com/'));
  t.ok(accepts('DomainScope', 'ftp://example.com:8021/'), 'Domain: hosts are compared, not ports or schemes');
  t.notOk(accepts('DomainScope', 'http://myexample.com/'));
  t.notOk(accepts('DomainScope', 'http://com/'));
  t.notOk(accepts('HostScope', 'http://example.com/'), 'Host: www is part of the host');
  t.ok(accepts('HostScope', 'https://www2.example.com/x'));
  t.ok(accepts('HostScope', 'http://www2.example.com:8080/x'), 'Host: the port is not part of it');
  t.ok(accepts('PathScope', 'http://www2.example.com/a/bc'), 'Path: up to, not including, the last slash');
  t.ok(accepts('PathScope', 'http://www2.example.com/a/b'));
  t.notOk(accepts('PathScope', 'http://www2.example.com/a/c'));
  t.notOk(accepts('PathScope', 'http://www.example.com/a/b/'), 'Path: the same host');
  t.notOk(accepts('HostScope', 'mailto:someone'), 'a URI without a host is in no focus');
  t.ok(accepts('SurtPrefixScope', 'http://www2.example.com/a/b/c'));
  const lines = `${NO_MEDIA}<string name="surts-source-file">more.txt</string>`;
  t.ok(accepts('SurtPrefixScope', 'http://more.org/', 'L', lines));
  t.notOk(accepts('BroadScope', 'http://anything/', 'L'.repeat(26)), '10.1.1 too many link hops');
  t.ok(accepts('BroadScope', 'http://anything/', 'E'.repeat(26)));
  t.ok(accepts('HostScope', 'http://cdn/x.gif', 'L', ''), '10.1.4 media files are accepted');
  const transitive = 'LE|LEEEEE|LEEEEEE|LX|LXX|LRRR|LP|LEEEEEEP|LXXPE|LPE|L|'.split('|');
  t.same(
    transitive.filter((hops) => accepts('HostScope', 'http://cdn/x', hops)),
    ['LE', 'LEEEEE', 'LX', 'LRRR', 'LP', 'LEEEEEEP', 'LPE'],
    '10.1.2 the paths that are accepted transitively',
  );
});

t.test('CRAWL-19.2 what has no equivalent in a rule, or in a disabled one, is named', async (t) => {
  const rules = (rule: string) =>
    readOrderXml(
      `<crawl-order><controller><newObject name="scope" class="x.DecidingScope"><newObject name="decide-rules" class="x.DecideRuleSequence"><map name="rules">\n${rule}\n</map></newObject></newObject></controller></crawl-order>`,
      'o.xml',
    );
  const hops = rules(
    '<newObject name="h" class="x.TooManyHopsDecideRule">\n<integer name="max-hops">2</integer>\n<string name="color">red</string></newObject>',
  );
  t.same(hops.order.scope, [{ rule: 'too-many-hops', max: 2 }]);
  t.match(hops.warnings, [{ line: 4, text: 'color has no equivalent here' }], 'within a single rule');
  const disabled = rules(
    '<newObject name="h" class="x.TooManyHopsDecideRule"><boolean name="enabled">false</boolean>\n<integer name="max-hops">2</integer></newObject>',
  );
  t.same(
    disabled.warnings.map(({ line, text }) => [line, text]),
    [
      [2, 'the rule h is disabled and left out'],
      [3, 'max-hops is left out with h'],
    ],
  );
});

t.test('CRAWL-11.2 extractors, seed prefixes and the interval of figures are converted', async (t) => {
  const orderOf = (inner: string) =>
    readOrderXml(`<crawl-order><controller>${inner}</controller></crawl-order>`, 'f');
  const scope =
    '<newObject name="scope" class="x.SurtPrefixScope"><boolean name="seeds-as-surt-prefixes">false</boolean><integer name="max-trans-hops">7</integer></newObject>';
  const extractors = (...names: readonly string[]) =>
    `<map name="extract-processors">${names.map((name) => `<newObject name="${name}" class="x.Extractor${name}"/>`).join('')}</map>`;
  const all = orderOf(scope + extractors('HTTP', 'HTML', 'CSS', 'JS'));
  t.match(all.order.settings, { embeds: 'any', maxTransHops: 7, maxSpeculativeHops: 1, maxOutlinks: 10_000 });
  t.match(all.order.scope[2], { rule: 'surt-prefixed', seeds: false });
  t.same(all.warnings, []);
  t.match(orderOf(extractors('HTML')).order.settings, { embeds: 'any', maxSpeculativeHops: 0 });
  t.match(orderOf('').order.settings, { embeds: 'frames' });
  const none = orderOf(
    '<map name="extract-processors"><newObject name="H" class="x.ExtractorHTML"><boolean name="enabled">false</boolean></newObject></map>',
  );
  t.match(none.order.settings, { embeds: 'frames', maxOutlinks: 0 });
  const partly = orderOf(
    `<map name="extract-processors"><newObject name="H" class="x.ExtractorHTML"/>
<newObject name="C" class="x.ExtractorCSS"><boolean name="enabled">false</boolean></newObject></map>`,
  );
  t.match(partly.warnings, [
    { line: 2, text: 'the module C is disabled, but embeds reads its references too' },
  ]);
  const figures = orderOf(
    '<map name="loggers"><newObject name="s" class="x.StatisticsTracker"><integer name="interval-seconds">7</integer></newObject></map>',
  );
  t.equal(figures.order.progressSeconds, 7);
});

t.test('CRAWL-19.4 the overrides in the settings directory of an order.xml are read', async (t) => {
  const overrides = '<crawl-settings><object name="frontier">\n<integer name="min-delay-ms">';
  const directory = t.testdir({
    'order.xml':
      '<crawl-order><controller><string name="settings-directory">settings</string>\n<string name="color">red</string></controller></crawl-order>',
    settings: {
      org: { example: { 'settings.xml': `${overrides}9000</integer></object></crawl-settings>` } },
      'notes.txt': 'x',
    },
  });
  const file = join(directory, 'order.xml');
  const text = readFileSync(file, 'utf8');
  const { order, warnings } = await readOrderText(text, file);
  t.match(order.sheets, [{ name: 'example.org', settings: { minDelayMs: 9000 } }]);
  t.same(
    warnings.map(({ message }) => message),
    [`${file}:2: color has no equivalent here`],
  );
  writeFileSync(
    join(directory, 'settings/org/example/settings.xml'),
    `${overrides}-9</integer></object></crawl-settings>`,
  );
  await t.rejects(readOrderText(text, file), {
    message: /settings\.xml:2: |:2: sheets\[0\]\.settings\.minDelayMs/,
  });
  const elsewhere = text.replace('>settings<', '>none<');
  const without = await readOrderText(elsewhere, file);
  t.same(without.order.sheets, [], 'without the directory there are none');
  t.same(without.warnings[0]?.message, `${file}:1: ${join(directory, 'none')} has no overrides of hosts`);
});

t.test('CRAWL-15.2 the prefixes of a scope are read from the file that it names', async (t) => {
  const directory = t.testdir({ 'surts.txt': '# prefixes\n+http://(org,example,\n\nexample.net\n' });
  const file = join(directory, 'order.xml');
  const xml = (name: string): string =>
    `<crawl-order><controller><newObject name="scope" class="x.DecidingScope"><newObject name="decide-rules" class="x.DecideRuleSequence"><map name="rules"><newObject name="s" class="x.SurtPrefixedDecideRule">\n<string name="surts-source-file">${name}</string></newObject></map></newObject></newObject></controller></crawl-order>`;
  const { order, warnings } = await readOrderText(xml('surts.txt'), file);
  t.same(order.scope, [
    { rule: 'surt-prefixed', answer: 'ACCEPT', seeds: true, lines: ['http://(org,example,', 'example.net'] },
  ]);
  t.same(warnings, []);
  await t.rejects(readOrderText(xml('none.txt'), file), {
    message: /surts-source-file: .*none\.txt cannot be read/,
  });
  t.match(readOrderXml(xml('surts.txt'), 'o.xml').warnings, [{ line: 2, text: /are not read/ }]);
});

t.test('CRAWL-22 what has no effect is named with its line, in JSON and in XML', async (t) => {
  const json = await readOrderText('{"settings": {\n"masquerade": true}}', 'o.json');
  t.same(
    json.warnings.map(({ message }) => message),
    ['o.json:2: settings.masquerade: it has no effect without a most-favored robotsPolicy'],
  );
  const chain = await readOrderText(
    '{"chains": {"fetch": ["Fetch",\n{"processor": "ContentDigest", "settings": {\n"digestStripMaxKB": 3}}, "ResponseClassifier"]}}',
    'o.json',
  );
  t.same(
    chain.warnings.map(({ message }) => message),
    ['o.json:3: settings.digestStripMaxKB: it has no effect without a digestStripPattern'],
  );
  const xml = await readOrderText(
    '<crawl-order><controller><newObject name="robots-honoring-policy" class="x.RobotsHonoringPolicy">\n<boolean name="masquerade">true</boolean></newObject></controller></crawl-order>',
    'o.xml',
  );
  t.same(
    xml.warnings.map(({ message }) => message),
    ['o.xml:2: settings.masquerade: it has no effect without a most-favored robotsPolicy'],
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
