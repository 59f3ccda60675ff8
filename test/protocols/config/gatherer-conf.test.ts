// Tests the configuration file of a Gatherer: variables, RootNodes and LeafNodes, errors, and the table of
// variables.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import {
  filePaths,
  GATHERER_VARIABLES,
  parseEnumeratedNode,
  parseGathererConf,
  parseRootNode,
  parseSecrets,
  savesSpace,
  variablesMarkdown,
  variablesText,
} from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import { parseSpecification } from '../../../protocols/specification/index.js';
import { assertProperty } from '../../helpers/property.js';
import { garbage } from '../garbage.js';

/** The sample of G-17. */
const SAMPLE = `#
#  sample.cf - a sample Gatherer configuration
#
Gatherer-Name:    My Sample Harvest Gatherer
Gatherer-Port:    8500
Top-Directory:    /usr/local/harvest/gatherers/sample

# Specify the RootNodes
<RootNodes>
# one comment inside
http://www.mozilla.org/
http://www.xfree86.org/
</RootNodes>

<LeafNodes>
http://www.arco.de/~kj/index.html
</LeafNodes>
`;

const HEAD = 'Gatherer-Name: x\n';
const parse = (text: string, env = {}) => parseGathererConf(text, 'g/x.cf', env);
const roots = (lines: string) => parse(`${HEAD}<RootNodes>\n${lines}\n</RootNodes>`).config.rootNodes;

/** The error for a text; fails if there is no error. */
function errorOf(text: string, env = {}): ConfigError {
  try {
    parse(text, env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

/** The warning for a line of the RootNodes, which is the only one that is passed over. */
function passedOver(line: string): ConfigError {
  const { config, warnings } = parse(`${HEAD}<RootNodes>\n${line}\nhttp://good.example/\n</RootNodes>`);
  const [warning] = warnings;
  if (warning === undefined || config.rootNodes.length !== 1) throw new Error(`accepted: ${line}`);
  return warning;
}

t.test('G-24: all errors of a configuration are named at once, with their lines', async (t) => {
  const text = [
    'Gatherer-Port: 99999',
    'no variable',
    'Refresh-Rate: soon',
    'FTP-Auth: h u p',
    'FTP-Auth: wrong',
    'Log-File: a',
    'Log-File: b',
    `Top-Directory: \${NOWHERE}`,
    '<RootNodes>',
    'ht!tp://h.example/',
    '</RootNodes>',
    'Time-To-Live: 7',
    '<LeafNodes>',
    'http://h.example/ extra',
  ].join('\n');
  const error = errorOf(text);
  t.equal(error.others.length, 10);
  t.same(
    error.message.split('\n').map((line) => /^[^:]*(?::(\d+))?: (?:([A-Za-z-]+):)?/.exec(line)?.slice(1)),
    [
      [undefined, 'Gatherer-Name'],
      ['1', 'Gatherer-Port'],
      ['2', undefined],
      ['3', 'Refresh-Rate'],
      ['5', 'FTP-Auth'],
      ['7', 'Log-File'],
      ['8', 'Top-Directory'],
      ['10', undefined],
      ['12', 'Time-To-Live'],
      ['13', undefined],
      ['14', undefined],
    ],
  );
});

t.test('G-28, G-55: a line of the lists that cannot be used is named and passed over', async (t) => {
  const { config, warnings } = parse(
    `${HEAD}<RootNodes>\nhttp://a.example/\nnonsense\nhttp://b.example/ Depth=x\n</RootNodes>\n<LeafNodes>\nmailto:x\nhttp://c.example/\n</LeafNodes>`,
  );
  t.same(
    [...config.rootNodes, ...config.leafNodes].map(({ url }) => url),
    ['http://a.example/', 'http://c.example/'],
  );
  t.same(
    warnings.map(({ message }) => message.replace(/^[^:]*/, '')),
    [
      ':4: is not a URL of a supported form (G-28, G-55); the line is passed over',
      ':5: depth: must be a whole number from 0 to 2147483647 (G-28, G-55); the line is passed over',
      ':8: is not a URL of a supported form (G-28, G-55); the line is passed over',
    ],
  );
});

t.test('G-13, G-15, G-17: the sample is accepted unchanged, with the defaults of table 2.1', async (t) => {
  const { config, warnings } = parseGathererConf(SAMPLE, 'sample.cf', {}, { gathererHost: 'h.example' });
  t.same(warnings, []);
  t.match(config, {
    gathererName: 'My Sample Harvest Gatherer',
    gathererHost: 'h.example',
    gathererPort: 8500,
    gathererVersion: '1.0',
    topDirectory: '/usr/local/harvest/gatherers/sample',
    dataDirectory: '/usr/local/harvest/gatherers/sample/data',
    workingDirectory: '/usr/local/harvest/gatherers/sample/tmp',
    logFile: '/usr/local/harvest/gatherers/sample/log.gatherer',
    errorlogFile: '/usr/local/harvest/gatherers/sample/log.errors',
    accessDelay: 1,
    refreshRate: 604800,
    timeToLive: 2419200,
    keepCache: false,
    httpIfModifiedSince: true,
    gatherdInetd: false,
    localMappings: [],
    debugOptions: [],
    maxRetrievalSize: 10485760,
  });
  t.same(
    config.rootNodes.map((node) => [node.url, node.line]),
    [
      ['http://www.mozilla.org/', 11],
      ['http://www.xfree86.org/', 12],
    ],
  );
  t.same(config.leafNodes, [
    {
      url: 'http://www.arco.de/%7ekj/index.html',
      configuredUrl: 'http://www.arco.de/~kj/index.html',
      line: 16,
    },
  ]);
});

t.test('G-39: the seven numbered examples are read', async (t) => {
  const defaults = {
    urlMax: 250,
    hostMax: 1,
    access: ['http', 'https'],
    delay: 1,
    depth: 0,
    search: 'breadth',
  };
  const examples: [string, object][] = [
    ['http://harvest.cs.colorado.edu/ URL=100,MyFilter', { urlMax: 100, urlFilter: 'MyFilter' }],
    ['http://www.cs.colorado.edu/ Host=50 Delay=60', { hostMax: 50, delay: 60, hasDelay: true }],
    ['gopher://gopher.colorado.edu/ Depth=1', { depth: 1 }],
    ['file://powell.cs.colorado.edu/home/hardy/ Depth=2', { depth: 2 }],
    ['ftp://ftp.cs.colorado.edu/pub/cs/techreports/ Depth=1', { depth: 1 }],
    [
      'http://harvest.cs.colorado.edu/~hardy/hotlist.html Depth=1 Delay=60',
      { url: 'http://harvest.cs.colorado.edu/%7ehardy/hotlist.html', depth: 1, delay: 60, hasDelay: true },
    ],
    [
      'http://harvest.cs.colorado.edu/~hardy/ Depth=2 Access=HTTP|FTP',
      { url: 'http://harvest.cs.colorado.edu/%7ehardy/', depth: 2, access: ['http', 'https', 'ftp'] },
    ],
  ];
  for (const [line, expected] of examples) {
    const url = line.split(' ')[0]!;
    t.same(roots(line), [{ ...defaults, url, configuredUrl: url, line: 3, ...expected }], line);
  }
});

t.test('G-28 to G-36, G-52, G-53: the modifiers of a node are read, and wrong ones named', async (t) => {
  const [node] = roots(
    'http://h.example/ \\\n  url=9,u.f SITE=3,h.f Search=depth \\\n Enumeration=sitemap Delay=0.5',
  );
  t.match(node, {
    urlMax: 9,
    urlFilter: 'u.f',
    hostMax: 3,
    hostFilter: 'h.f',
    search: 'depth',
    enumeration: 'sitemap',
    delay: 0.5,
    line: 3,
  });
  t.match(roots('|my-fave-sites.pl -x Depth=1 URL=5000,url-filter'), [
    {
      url: '',
      program: { command: 'my-fave-sites.pl', args: ['-x'] },
      depth: 1,
      urlMax: 5000,
      urlFilter: 'url-filter',
    },
  ]);
  t.same(parse(`${HEAD}<LeafNodes>\n|generate-news-urls.sh\n</LeafNodes>`).config.leafNodes, [
    { url: '', configuredUrl: '', program: { command: 'generate-news-urls.sh', args: [] }, line: 3 },
  ]);
  const withDelay = parse(
    `${HEAD}Access-Delay: 7\n<RootNodes>\nhttp://h.example/\nhttp://i.example/ Delay=2\n</RootNodes>`,
  );
  t.same(
    withDelay.config.rootNodes.map((root) => root.delay),
    [7, 2],
    'G-38: Access-Delay is the default',
  );

  const wrong: [string, RegExp][] = [
    ['http://h.example/ URL=0', /:3: url: must be a whole number/],
    ['http://h.example/ URL=5,', /file name/],
    ['http://h.example/ Depth=-1', /depth/],
    ['http://h.example/ Depth=1x', /depth/],
    ['http://h.example/ Access=HTTP|SMTP', /access/],
    ['http://h.example/ Search=Random', /Breadth or Depth/],
    ['http://h.example/ Color=blue', /color: is not a keyword/],
    ['http://h.example/ Host=1 Site=2', /given twice/],
    ['http://h.example/ Depth=1 words', /is not a keyword/],
    ['http://h.example/ words', /Keyword=value/],
    ['mailto:a@b.example', /not a URL/],
    ['| Depth=1', /program/],
  ];
  for (const [line, message] of wrong) {
    const error = passedOver(line);
    t.match(error.message, message, line);
    t.equal(error.line, 3);
  }
});

t.test('G-50: the nine fields of an enumeration program are read', async (t) => {
  const location = { file: 'program', line: 1 };
  t.match(parseEnumeratedNode('http://h.example/ 10 /dev/null 2 hf HTTP|FTP 5 1 /bin/false', location), {
    url: 'http://h.example/',
    urlMax: 10,
    urlFilter: '/dev/null',
    hostMax: 2,
    hostFilter: 'hf',
    delay: 5,
    depth: 1,
  });
  t.equal(
    parseEnumeratedNode('http://h.example/ 1 a 1 b HTTP 1 1 /bin/false', location).enumeration,
    undefined,
  );
  t.equal(parseEnumeratedNode('http://h.example/ 1 a 1 b HTTP 1 1 prog', location).enumeration, 'prog');
  t.throws(() => parseEnumeratedNode('http://h.example/ 10', location), { code: 'ERR_CONFIG' });
  for (const limits of ['1,0 a 1 b', '1 a 1,0 b'])
    t.throws(() => parseEnumeratedNode(`http://h.example/ ${limits} HTTP 1 1 prog`, location), {
      code: 'ERR_CONFIG',
      message: /must be a whole number/,
    });
  t.throws(() => parseRootNode('', location, { delay: 1 }), { code: 'ERR_CONFIG' });
});

t.test('G-39, G-16: the published block of RootNodes is read, without its labels (G-40)', async (t) => {
  const nodes = roots(`http://harvest.cs.colorado.edu/ URL=100,MyFilter
http://www.cs.colorado.edu/ Host=50 Delay=60
gopher://gopher.colorado.edu/ Depth=1
file://powell.cs.colorado.edu/home/hardy/ Depth=2
ftp://ftp.cs.colorado.edu/pub/cs/techreports/ Depth=1
http://harvest.cs.colorado.edu/~hardy/hotlist.html \\
Depth=1 Delay=60
http://harvest.cs.colorado.edu/~hardy/ \\
Depth=2 Access=HTTP|FTP`);
  t.same(
    nodes.map(({ line, depth, delay }) => [line, depth, delay]),
    [
      [3, 0, 1],
      [4, 0, 60],
      [5, 1, 1],
      [6, 2, 1],
      [7, 1, 1],
      [8, 1, 60],
      [10, 2, 1],
    ],
  );
  // G-40: a label is not syntax.
  t.match(passedOver('(1) http://h.example/ URL=100,MyFilter').message, /:3: /);
});

t.test('G-28, G-31: every modifier has its defaults and its limits', async (t) => {
  const rows: [string, object][] = [
    ['URL=250,/dev/null', { urlMax: 250, urlFilter: '/dev/null' }],
    ['URL=2147483647', { urlMax: 2147483647, urlFilter: undefined }],
    ['Host=7,lib/host.filter', { hostMax: 7, hostFilter: 'lib/host.filter' }],
    ['Site=7', { hostMax: 7, hostFilter: undefined }],
    ['Access=HTTP|FTP|Gopher', { access: ['http', 'https', 'ftp', 'gopher'] }],
    ['access=file|ftp|gopher|http|news|telnet|wais', { access: { length: 8 } }],
    ['Delay=3', { delay: 3 }],
    ['Depth=0', { depth: 0 }],
    ['Search=BREADTH', { search: 'breadth' }],
    ['Search=Depth', { search: 'depth' }],
    ['Enumeration=/bin/false', { enumeration: undefined }],
    ['Enumeration=my.pl', { enumeration: 'my.pl' }],
  ];
  for (const [modifier, expected] of rows)
    t.match(roots(`http://h.example/ ${modifier}`), [expected], modifier);
  const none = roots('http://h.example/')[0]!;
  t.equal(none.urlFilter, undefined, 'G-31: the caller applies URL-filter-default');
  t.equal(none.enumeration, undefined);
  t.match(roots('|prog a=b -x=1 Depth=2 URL=3'), [
    { program: { command: 'prog', args: ['a=b', '-x=1'] }, depth: 2, urlMax: 3 },
  ]);
  for (const wrong of ['URL=2147483648', 'Host=0', 'Delay=x', 'Enumeration=', 'Host=1,', 'Access=']) {
    t.equal(passedOver(`http://h.example/ ${wrong}`).line, 3, wrong);
  }
});

t.test('E-116, E-5: Essence-Options are read like the command line of essence', async (t) => {
  const read = (value: string) => parse(`${HEAD}Essence-Options: ${value}`).config.essenceOptions;
  t.same(parse(HEAD).config.essenceOptions, {});
  t.same(read('--max-depth 3 --max-memory=512 --max-pool-memory 2048 --time-limit 10 --max-ratio 50'), {
    unnest: { maxDepth: 3, maxRatio: 50 },
    maxReaderMemoryMb: 512,
    maxPoolMemoryMb: 2048,
    timeLimitMs: 10_000,
  });
  t.same(read('--full-text'), { fullText: true });
  t.same(read('--main-text --language --grouping --code'), {
    mainText: true,
    language: true,
    grouping: true,
    code: true,
  });
  t.same(read('--full-text=raw --no-keywords'), { fullText: true, rawText: true, keywords: false });
  t.same(
    read(
      '--allowlist allowlist.cf --stoplist=stop.cf --fake-md5s --fast-summarizing --max-deletions 50 --minimal-bookkeeping ' +
        '--no-access --type-only --libdir lib2 --gatherer-name n --gatherer-host h --gatherer-version 2 --log l --verbose',
    ),
    {
      allowlist: 'allowlist.cf',
      stoplist: 'stop.cf',
      fakeMd5s: true,
      minimalBookkeeping: true,
      access: false,
      typeOnly: true,
      libDirectory: 'lib2',
      gathererName: 'n',
      gathererHost: 'h',
      gathererVersion: '2',
    },
  );
  for (const [value, message] of [
    ['--color', /Essence-Options: essence has no --color/],
    ['words', /Essence-Options: must be options/],
    ['--stoplist', /--stoplist needs a value/],
    ['--stoplist --no-access', /--stoplist needs a value/],
    ['--max-deletions many', /whole number/],
  ] as const) {
    t.match(errorOf(`${HEAD}Essence-Options: ${value}`), { message, line: 2 }, value);
  }
});

t.test('G-141, CRAWL-19.2: Annotations and Crawl-Order name files', async (t) => {
  const { config } = parse(
    `${HEAD}Annotations: a.txt lib/b.txt\nAnnotations: /c\nCrawl-Order: lib/order.json\n`,
  );
  t.same(config.annotations, ['a.txt', 'lib/b.txt', '/c']);
  t.equal(config.crawlOrder, 'lib/order.json');
  t.same(parse(HEAD).config.annotations, []);
  t.equal(parse(HEAD).config.crawlOrder, undefined);
});

const specification = readFileSync(
  new URL('protocols/config/specification.md', import.meta.resolve('#package.json')),
  'utf8',
);

t.test('GATHERER_VARIABLES describes every variable, and the specification has that table', async (t) => {
  const rows = GATHERER_VARIABLES.describe();
  for (const { name, syntax, description } of rows) {
    t.not(syntax, '', name);
    t.not(description, '', name);
  }
  const rowOf = (name: string) => rows.find((row) => row.name === name);
  t.match(rowOf('Refresh-Rate'), { syntax: 'seconds', default: '604800', many: false });
  t.match(rowOf('Time-To-Live'), { default: '2419200' });
  t.match(rowOf('Gatherer-Port'), { syntax: 'number from 1 to 65535', default: '8500' });
  t.match(rowOf('Keep-Cache'), { syntax: 'yes or no', default: 'no' });
  t.match(rowOf('Local-Mapping'), { many: true, default: '' });
  const text = variablesText(rows);
  t.match(text, /^Access-Delay: seconds, decimals allowed\n {2}seconds between .*\n {2}default: 1\n/);
  t.match(text, /\nFTP-Auth: host\[:port\] user password \(may be repeated\)\n/);
  t.ok(specification.includes(variablesMarkdown(rows)), variablesMarkdown(rows));
  const { rules } = parseSpecification(specification);
  const text18 = rules.find(({ id }) => id === 'G-18')?.text ?? '';
  for (const { name, description } of rows) {
    if (text18.includes(`\`${name}\``)) continue;
    const id = /\((G-\d+)\)$/.exec(description)?.[1];
    const rule = rules.find((one) => one.id === id);
    t.match(rule, { level: 'EXT' }, `${name} has a rule of its own`);
    t.ok(rule?.text.includes(`\`${name}:`) || rule?.text.includes(`\`${name}\``), `${id} names ${name}`);
  }
});

t.test('G-14, G-19, G-20, G-71, G-82, G-83: variables of every syntax are read', async (t) => {
  const { config } = parse(`gatherer-NAME:x
Local-Mapping: http://harvest.cs.colorado.edu/~hardy/ /homes/hardy/public_html/
Local-Mapping: ftp://ftp.cs.colorado.edu/pub/cs/ /cs/ftp/
HTTP-Basic-Auth: "My Realm" joe s3cret word
HTTP-Basic-Auth: Realm2 ann pw
HTTP-Basic-Auth: HTTP://H.example:80/~a/ "R 3" ann p w
HTTP-Basic-Auth: "http://realm/" ann pw
FTP-Auth: ftp.example.org:2121 joe pw
HTTP-Proxy: http://proxy.example:3128/
Debug-Options: -D68,5 -D44,1
Gatherer-Options: --save-space
Keep-Cache: YES
HTTP-If-Modified-Since: no
Lib-Directory: lib
Post-Summarizing: lib/myrules
Data-Directory: /elsewhere
Log-File:
`);
  t.match(config, {
    localMappings: [
      { prefix: 'http://harvest.cs.colorado.edu/~hardy/', path: '/homes/hardy/public_html/' },
      { prefix: 'ftp://ftp.cs.colorado.edu/pub/cs/', path: '/cs/ftp/' },
    ],
    httpBasicAuth: [
      { realm: 'My Realm', user: 'joe', password: 's3cret word' },
      { realm: 'Realm2', user: 'ann', password: 'pw' },
      { url: 'http://h.example/%7ea/', realm: 'R 3', user: 'ann', password: 'p w' },
      { realm: 'http://realm/', user: 'ann', password: 'pw' },
    ],
    ftpAuth: [{ host: 'ftp.example.org', port: 2121, user: 'joe', password: 'pw' }],
    httpProxy: 'proxy.example:3128',
    debugOptions: ['-D68,5', '-D44,1'],
    keepCache: true,
    httpIfModifiedSince: false,
    topDirectory: 'g',
    dataDirectory: '/elsewhere',
    logFile: 'g/log.gatherer',
  });
  t.ok(savesSpace(config));
  t.same(filePaths({ topDirectory: '/top' }, 'lib/myrules'), ['/top/lib/myrules', 'lib/myrules']);
  t.same(filePaths({ topDirectory: '/top' }, '/etc/rules'), ['/etc/rules']);
});

t.test('G-24: errors name file, line and variable; an unknown variable is a warning', async (t) => {
  const { warnings } = parse(`Color: blue\n${HEAD}`);
  t.same(warnings.map(String), ['ConfigError: g/x.cf:1: Color: unknown variable']);
  const rows: [string, number, RegExp][] = [
    ['Gatherer-Port: 8500', 0, /Gatherer-Name: must be given/],
    [`${HEAD}Gatherer-Port: 85OO`, 2, /Gatherer-Port: must be a whole number from 1 to 65535/],
    [`${HEAD}Refresh-Rate: -1`, 2, /Refresh-Rate/],
    [`${HEAD}Access-Delay: soon`, 2, /Access-Delay/],
    [`${HEAD}Keep-Cache: perhaps`, 2, /yes or no/],
    [`${HEAD}Gatherer-Name: y`, 2, /already set in line 1/],
    [`${HEAD}Local-Mapping: http://h.example/`, 2, /Local-Mapping/],
    [`${HEAD}HTTP-Proxy: nonsense`, 2, /host:port/],
    [`${HEAD} Gatherer-Port: 1`, 2, /column one/],
    [`${HEAD}<RootNodes>\n</RootNodes>\nGatherer-Port: 1`, 4, /Gatherer-Port: variables must come before/],
    [`${HEAD}<RootNodes>\nhttp://h.example/`, 2, /not closed/],
    [`${HEAD}</RootNodes>`, 2, /no such list/],
    [`${HEAD}<RootNodes>\n<LeafNodes>`, 3, /still open/],
  ];
  for (const [text, line, message] of rows) {
    const error = errorOf(text);
    t.equal(error.line, line, text);
    t.match(error.message, message, text);
  }
});

t.test('G-25: the environment and the secrets file are read; no message contains a password', async (t) => {
  const env = { NAME: 'n', PW: `\${NAME}` };
  t.equal(parse(`Gatherer-Name: a-\${NAME}-b`, env).config.gathererName, 'a-n-b');
  t.match(parse(`${HEAD}FTP-Auth: h u \${PW}`, env).config.ftpAuth, [{ password: `\${NAME}` }]);
  t.match(errorOf(`${HEAD}Log-File: \${MISSING}`).message, /Log-File: the environment has no MISSING/);
  for (const text of [
    `${HEAD}HTTP-Basic-Auth: hunter2`,
    `${HEAD}HTTP-Basic-Auth: http://h.example/ hunter2 hunter2`,
    `${HEAD}HTTP-Basic-Auth: http://u:hunter2@h.example/ R u hunter2`,
    `${HEAD}FTP-Auth: hunter2`,
    `${HEAD}hunter2`,
    `${HEAD}<RootNodes>\n</RootNodes>\nftp://u:hunter2@h.example/`,
  ]) {
    t.notMatch(errorOf(text).message, /hunter2/, text);
  }
  t.notMatch(passedOver('ftp://u:hunter2@h.example/ x').message, /hunter2/);
  const { secrets } = parseSecrets('HTTP-Basic-Auth: R u p\nFTP-Auth: h u p\n', 's');
  t.same(secrets, {
    httpBasicAuth: [{ realm: 'R', user: 'u', password: 'p' }],
    ftpAuth: [{ host: 'h', user: 'u', password: 'p' }],
  });
});

t.test('every variable of table 2.1 is known', async (t) => {
  const names =
    `Access-Delay Data-Directory Debug-Options Errorlog-File Essence-Options FTP-Auth Gatherd-Inetd
    Gatherer-Host Gatherer-Name Gatherer-Options Gatherer-Port Gatherer-Version HTTP-Basic-Auth HTTP-If-Modified-Since
    HTTP-Proxy Keep-Cache Lib-Directory Local-Mapping Log-File Post-Summarizing Refresh-Rate Time-To-Live Top-Directory
    Working-Directory`.split(/\s+/);
  const known = new Set(GATHERER_VARIABLES.describe().map((variable) => variable.name));
  for (const name of names) t.ok(known.has(name), name);
});

t.test('property: any garbage is read or throws a ConfigError', async () => {
  const line = fc.oneof(
    garbage,
    fc.constantFrom(
      ...'Gatherer-Name: x¦<RootNodes>¦</RootNodes>¦<LeafNodes>¦</LeafNodes>¦\\¦#¦|p'.split('¦'),
    ),
    fc
      .tuple(
        fc.constantFrom('Gatherer-Port:', 'Local-Mapping:', 'http://h.example/ ', 'Depth:', 'FTP-Auth:'),
        fc.string(),
      )
      .map((parts) => parts.join('')),
  );
  assertProperty(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      try {
        parseGathererConf(lines.join('\n'), 'x.cf', {});
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
      }
    }),
    { numRuns: 600 },
  );
});

t.test('G-28 to G-36: the words of a RootNode in the specification are those of the parser', async (t) => {
  const table = specification.slice(specification.indexOf('### Words of a RootNode'));
  const words = [...table.slice(0, table.indexOf('\n## ')).matchAll(/`([A-Za-z]+)=`/g)].map(
    ([, word = '']) => word,
  );
  const problemOf = (word: string): string => {
    try {
      parseRootNode(`http://a.example/ ${word}=?`, { file: 'x.cf', line: 1 }, { delay: 1 });
      return '';
    } catch (error) {
      return error instanceof ConfigError ? error.problem : String(error);
    }
  };
  t.same(words, ['URL', 'Host', 'Site', 'Access', 'Delay', 'Depth', 'Enumeration', 'Search']);
  for (const word of words) t.not(problemOf(word), 'is not a keyword of a RootNode', word);
  t.equal(problemOf('Color'), 'is not a keyword of a RootNode');
});
