// Tests broker.conf, Collection.conf and gatherd.cf.
import fc from 'fast-check';
import t from 'tap';
import {
  BROKER_VARIABLES,
  collectionMode,
  decideAccess,
  parseAddress,
  parseBrokerConf,
  parseCollectionConf,
  parseFilter,
  parseGatherdConf,
} from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import { assertProperty } from '../../helpers/property.js';
import { garbage } from '../garbage.js';

t.test('BRK-7.3: an empty broker.conf gives these defaults', async (t) => {
  const { config, warnings } = parseBrokerConf('', '/h/brokers/My Broker/admin/broker.conf');
  t.same(warnings, []);
  t.same(config, {
    brokerDirectory: '/h/brokers/My Broker',
    brokerHost: 'localhost',
    brokerPort: 8501,
    brokerName: 'My Broker',
    adminPassword: '',
    httpHost: 'localhost',
    httpPort: 80,
    homePage: 'http://localhost/Harvest/brokers/My%20Broker/',
    registryFile: '/h/brokers/My Broker/admin/Registry',
    collectionFile: '/h/brokers/My Broker/admin/Collection.conf',
    logFile: '/h/brokers/My Broker/admin/LOG',
    logTypes: ['Update', 'Delete', 'Refresh', 'Query', 'Collection', 'Admin'],
    collectionTime: 10800,
    collectionInterval: 86400,
    cleanInterval: 86400,
    compressPercent: 50,
    indexerType: 'Embedded',
    glimpseMaxLife: 900,
    glimpseIndexOption: '-b',
    glimpseServerHost: 'localhost',
    glimpseServerPort: 2001,
    maxResults: 1000,
    maxQueries: 20,
    maxWork: 10,
    bulkCacheSize: 1024,
    collectionMaxSize: 65_536,
    collectionMaxTime: 86_400,
    openSearchUrl: [],
    trustedProxies: [],
    webNames: [],
    opaqueMode: 'suppress',
  });
});

t.test(
  'BRK-7.1, 7.2: lines of every form are read; the file overrides the defaults of the caller',
  async (t) => {
    const { config, warnings } = parseBrokerConf(
      `# comment
Broker-Port	9001
broker-host: b.example
HTTP-Port 8080
Admin-Password  a b:c
Collection-Time 4:30
GlimpseServer-Host false
Opaque-Mode show
Color blue
Max-Results 5
Max-Results 6
`,
      'broker.conf',
      { brokerDirectory: '/b', brokerPort: 1, maxQueries: 3, brokerName: 'n' },
    );
    t.match(config, {
      brokerPort: 9001,
      brokerHost: 'b.example',
      httpHost: 'b.example',
      homePage: 'http://b.example:8080/Harvest/brokers/n/',
      adminPassword: 'a b:c',
      collectionTime: 16200,
      glimpseServerHost: false,
      opaqueMode: 'show',
      maxResults: 6,
      maxQueries: 3,
      logFile: '/b/admin/LOG',
    });
    t.same(
      warnings.map((warning) => [warning.line, warning.variable]),
      [
        [9, 'Color'],
        [11, 'Max-Results'],
      ],
    );
    t.throws(() => parseBrokerConf('Broker-Port x', 'f'), {
      code: 'ERR_CONFIG',
      message: /^f:1: Broker-Port: /,
    });
    t.throws(() => parseBrokerConf('=', 'f'), { code: 'ERR_CONFIG' });
    t.throws(() => parseBrokerConf('Collection-Time 25:00', 'f'), { code: 'ERR_CONFIG' });
    for (const variable of BROKER_VARIABLES.describe()) t.ok(variable.description !== '', variable.name);
  },
);

t.test('BRK-7.4 to 7.8: Collection.conf is read, and malformed lines are warnings', async (t) => {
  const { points, warnings } = parseCollectionConf(
    `# host port type filter

gatherer.example 8500 3 --
other.example 8500 1
broker.example 8501 7 --QUERY (title: "a --b") AND c --FLAGS #index case insensitive #desc
broker.example 8501 6 --FLAGS #opaque --QUERY word
broker.example 8501 6 --
two fields
h 8500 8 --
h 99999 1 --
h 8500 1 --QUERY x
broker.example 8501 6 --QUERY x --FLAGS #blink
`,
    'Collection.conf',
  );
  t.same(points, [
    { host: 'gatherer.example', port: 8500, type: 3, line: 3 },
    { host: 'other.example', port: 8500, type: 1, line: 4 },
    {
      host: 'broker.example',
      port: 8501,
      type: 7,
      filter: { query: '(title: "a --b") AND c', flags: '#index case insensitive #desc' },
      line: 5,
    },
    { host: 'broker.example', port: 8501, type: 6, filter: { query: 'word', flags: '#opaque' }, line: 6 },
    { host: 'broker.example', port: 8501, type: 6, line: 7 },
    { host: 'h', port: 8500, type: 1, line: 11 },
    { host: 'broker.example', port: 8501, type: 6, filter: { query: 'x', flags: '#blink' }, line: 12 },
  ]);
  t.same(
    warnings.map((warning) => warning.line),
    [7, 8, 9, 10, 11, 12],
  );
  t.same(collectionMode(3), { peer: 'gatherer', incremental: true, compressed: true, byQuery: false });
  t.same(collectionMode(6), { peer: 'broker', incremental: false, compressed: false, byQuery: true });
});

t.test('BRK-7.6, 7.8: queries and flags that no peer can answer are found', async (t) => {
  const wrong = (
    '--QUERY (unclosed|--QUERY "unclosed|--QUERY and|--QUERY title :|--QUERY a #END b|' +
    '--QUERY x --FLAGS #desc #END y|--QUERY x --FLAGS #index error many|--QUERY x --FLAGS #index|' +
    '--QUERY x --FLAGS "#desc|--FLAGS word'
  ).split('|');
  for (const filter of wrong) {
    const text = `one.example 8500 3 --\nbroker.example 8501 6 ${filter}\ntwo.example 8500 3 --\n`;
    const { points, warnings } = parseCollectionConf(text, 'Collection.conf');
    t.same(
      points.map(({ host }) => host),
      ['one.example', 'two.example'],
      filter,
    );
    t.match(warnings.at(-1)?.message, /^Collection\.conf:2: --(?:QUERY|FLAGS): skipped: .*BRK-/, filter);
  }
  const right = [
    '--QUERY a and b or not c',
    '--QUERY Title: (dog AND cat) OR potatoe',
    '--QUERY #allb',
    '--QUERY "title=x" --FLAGS #since 0 #attribute title',
    '--QUERY x --FLAGS #blink now #desc',
    '--QUERY x --FLAGS #index unknown "a value"',
  ];
  for (const filter of right)
    t.equal(parseCollectionConf(`broker.example 8501 7 ${filter}\n`, 'f').points.length, 1, filter);
});

t.test('GATHERD-9: gatherd.cf allows and denies by name and address', async (t) => {
  const access = parseGatherdConf(
    `# who may
Allow cs.colorado.edu ftp.wustl.edu 192.0.2.7
Allow 10.1.0.0/16 2001:db8::/33
Gzip /usr/bin/gzip
Color blue
Deny
Deny all
`,
    'gatherd.cf',
  );
  t.equal(access.gzip, '/usr/bin/gzip');
  t.same(
    access.warnings.map((warning) => warning.line),
    [5, 6],
  );
  const rows: [string | undefined, string, boolean][] = [
    ['cs.colorado.edu', '203.0.113.1', true],
    ['Powell.CS.Colorado.EDU.', '203.0.113.1', true],
    ['xcs.colorado.edu', '203.0.113.1', false],
    ['colorado.edu', '203.0.113.1', false],
    ['x.ftp.wustl.edu', '203.0.113.1', true],
    [undefined, '192.0.2.7', true],
    [undefined, '::ffff:192.0.2.7', true],
    [undefined, '192.0.2.70', false],
    [undefined, '10.1.255.255', true],
    [undefined, '10.2.0.0', false],
    [undefined, '2001:db8:7fff::1', true],
    [undefined, '2001:db8:8000::1', false],
    ['192.0.2.7', '203.0.113.1', false],
    [undefined, '', false],
  ];
  for (const [name, address, expected] of rows)
    t.equal(access.decide(name, address), expected, `${name} ${address}`);
  t.equal(
    decideAccess([], undefined, '203.0.113.1'),
    true,
    'GATHERD-9.4: without a rule everything is allowed',
  );
  t.equal(decideAccess([{ allow: false, names: ['x.example'] }], 'y.example', '203.0.113.1'), true);
});

t.test('GATHERD-9: wrong names get few warnings, and a long one takes linear time', async (t) => {
  const { warnings } = parseGatherdConf(`Deny ${'/ '.repeat(60_000)}\nAllow 1/2\n`, 'gatherd.cf');
  t.equal(warnings.length, 22);
  t.match(warnings[20]?.message, /^gatherd\.cf:1: .*59980 more are not names/);
  t.match(warnings[21]?.message, /^gatherd\.cf:2: .*1\/2 is not a name/);
  // A search for the zone from every `%` to the line end would take minutes.
  t.equal(parseAddress(`${'%'.repeat(1 << 20)}\r1`), undefined);
  t.same(parseGatherdConf(`Deny ${'%'.repeat(1 << 20)}\u20281`, 'gatherd.cf').warnings, []);
});

t.test('parseAddress reads literal IPv4 and IPv6 addresses', async (t) => {
  const hex = (text: string) => {
    const address = parseAddress(text);
    return address && Buffer.from(address.toByteArray()).toString('hex');
  };
  t.equal(hex('1.2.3.4'), '01020304');
  t.equal(hex('::1'), '00000000000000000000000000000001');
  t.equal(hex('fe80::1%eth0'), 'fe800000000000000000000000000001');
  t.equal(hex('1:2:3:4:5:6:7:8'), '00010002000300040005000600070008');
  t.equal(hex('::ffff:1.2.3.4'), '01020304');
  t.equal(hex('[::ffff:102:304]'), '01020304');
  t.equal(hex('010.2.3.004'), '0a020304', 'leading zeros are decimal');
  for (const wrong of (
    '|1.2.3|1.2.3.256|:|1:2:3|1::2::3|:::|g::|1:2:3:4:5:6:7:8:9|::1.2.3|::1.2.3.4|1.2.3.4::|' +
    '0x1.2.3.4|1234'
  ).split('|')) {
    t.equal(parseAddress(wrong), undefined, wrong);
  }
});

t.test('property: any garbage is read or throws a ConfigError', async () => {
  const line = fc.oneof(
    garbage,
    fc
      .tuple(fc.constantFrom('Allow ', 'Deny ', 'h 1 6 ', 'Broker-Port ', 'Gzip '), garbage)
      .map((parts) => parts.join('')),
    fc
      .array(fc.constantFrom(...'Deny ¦[¦]¦[:¦:]¦alpha¦\\¦{¦}¦*¦(¦)¦|¦1¦,¦^¦-'.split('¦')))
      .map((parts) => `Deny ${parts.join('')}`),
  );
  assertProperty(
    fc.property(fc.array(line, { maxLength: 6 }), garbage, (lines, subject) => {
      const text = lines.join('\n');
      parseCollectionConf(text, 'f');
      parseGatherdConf(text, 'f').decide(subject, subject);
      for (const parse of [() => parseFilter(text, 'f').allows(subject), () => parseBrokerConf(text, 'f')]) {
        try {
          parse();
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
        }
      }
    }),
    { numRuns: 1000 },
  );
});
