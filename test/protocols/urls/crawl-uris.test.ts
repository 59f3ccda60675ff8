// Tests what the crawl engine computes from URIs: clean-up, SURT, canonical forms, queues, hashes, hops, costs,
// precedences.
import fc from 'fast-check';
import t from 'tap';
import {
  appendHop,
  basePrecedence,
  COST_POLICIES,
  ConsistentHash,
  canonicalString,
  classKey,
  cleanUri,
  crawlerOf,
  highestUriPrecedence,
  hopCount,
  hopsPrecedence,
  hostOf,
  impliedSurtPrefix,
  linkHops,
  PublicSuffixes,
  preloadedPrecedence,
  prerequisiteDirective,
  queueAssignment,
  referenceResolver,
  regexRule,
  resolveUrl,
  SurtPrefixSet,
  schedulingDirective,
  seenRules,
  successCountsPrecedence,
  surt,
  surtPrefixOfDomain,
  surtPrefixOfHost,
  transHops,
} from '../../../protocols/urls/index.js';
import { cli } from '../../helpers/cli.js';
import { assertProperty } from '../../helpers/property.js';

/** Input, base or undefined, the clean form or undefined. */
const CLEAN: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ['', undefined, undefined],
  [`http://a/${'x'.repeat(2075)}`, undefined, undefined],
  [`http://a/${' x'.repeat(1000)}`, undefined, undefined],
  ['\u00a0 http://a.b/\u00a0c ', undefined, 'http://a.b/%20c'],
  ['http:\\\\a.b\\c?d\\e', undefined, 'http://a.b/c?d%5Ce'],
  ['http://a.b/c\r\n\td', undefined, 'http://a.b/cd'],
  ['http:////a.b/c', undefined, 'http://a.b/c'],
  ['HTTP://A.B', undefined, 'http://a.b/'],
  ['http:c', undefined, undefined],
  ['http:c', 'http://a.b/d/e', 'http://a.b/d/c'],
  ['http:c', 'https://a.b/d/e', undefined],
  ['http://User:Pw@A.B/', undefined, 'http://User:Pw@a.b/'],
  ['http://a.b%20%20/', undefined, 'http://a.b/'],
  ['http://m\u00fcnchen.de/', undefined, 'http://xn--mnchen-3ya.de/'],
  ['http://a_b.c-d/', undefined, 'http://a_b.c-d/'],
  ['http://a~b/', undefined, undefined],
  ['http://a.b/../../c', undefined, 'http://a.b/c'],
  ['http://a.b/c/./d/../e', undefined, 'http://a.b/c/e'],
  ['http://a.b/c/..', undefined, 'http://a.b/'],
  ['http://a.b:0080/', undefined, 'http://a.b/'],
  ['http://a.b:08080/', undefined, 'http://a.b:8080/'],
  ['https://a.b:443/', undefined, 'https://a.b/'],
  ['https://a.b:80/', undefined, 'https://a.b:80/'],
  ['http://a.b:0/', undefined, undefined],
  ['http://a.b:65536/', undefined, undefined],
  ['http://.a.b./', undefined, 'http://a.b/'],
  ['http://a.b/~x %zz|\'"<>[]^{}`', undefined, "http://a.b/~x%20%zz|'%22%3C%3E%5B%5D%5E%7B%7D%60"],
  ['http://a.b/?{}[]^?"\u00e9', undefined, 'http://a.b/?{}[]^?%22%C3%A9'],
  ['http://a.b/c#d?e', undefined, 'http://a.b/c'],
  ['http://0x7f.1/', undefined, 'http://0x7f.1/'],
  ['../f?g', 'http://a.b/c/d/e', 'http://a.b/c/f?g'],
  ['?g', 'http://a.b/c/d?e', 'http://a.b/c/d?g'],
  ['//x.y/z', 'https://a.b/c', 'https://x.y/z'],
  ['dns:archive.org', undefined, 'dns:archive.org'],
  ['c', undefined, undefined],
];

t.test('CRAWL-2.1: the clean-up of discovered strings, step by step', async (t) => {
  for (const [input, base, expected] of CLEAN)
    t.equal(cleanUri(input, base), expected, JSON.stringify(input));
  assertProperty(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (tail) => {
      const once = cleanUri(`http://a.b/${tail}`);
      if (once !== undefined && cleanUri(once) !== once) throw new Error(once);
    }),
  );
});

t.test('CRAWL-2.1: a URL in the form clean is as written, and can be fetched', async (t) => {
  const base = 'http://a.b/~c/d';
  for (const [reference, expected] of [
    ['~x', 'http://a.b/~c/~x'],
    ['?q={[|]}', 'http://a.b/~c/d?q={[|]}'],
    ['/a|b', 'http://a.b/a|b'],
    ['http://u:p@0x7f.1:81/~x', 'http://u:p@127.0.0.1:81/~x'],
    ['http://[0:0::1]/', 'http://[::1]/'],
    ['HTTP://A.B:80', 'http://a.b/'],
    ['http://1.2.3.4.5/', undefined],
    ['ftp://A.B/~x', 'ftp://a.b/%7ex'],
    ['mailto:a@b', undefined],
  ] as const)
    t.equal(resolveUrl(reference, base, 'clean'), expected, reference);
  t.equal(resolveUrl('~x', base, 'canonical'), 'http://a.b/%7ec/%7ex');
  t.throws(() => referenceResolver('no URL', 'clean'), TypeError);
  assertProperty(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (reference) => {
      const url = resolveUrl(reference, base, 'clean');
      if (url === undefined) return;
      if (resolveUrl(url, undefined, 'clean') !== url) throw new Error(url);
      if (/^https?:/.test(url) && new URL(url).hostname !== hostOf(url)) throw new Error(url);
    }),
  );
});

t.test('CRAWL-15.1: the SURT form of a URI', async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['http://a.b.c.d.e/', 'http://(e,d,c,b,a,)/'],
    ['ftp://ftp.example.org/pub/', 'ftp://(org,example,ftp,)/pub/'],
    ['dns:archive.org', 'dns:archive.org'],
    ['http://1.2.3.4:81/A?B', 'http://(1.2.3.4:81)/a?b'],
    ['http://user:pw@www.a.org:8080/x', 'http://(org,a,www,:8080@user:pw)/x'],
    ['http://a.org?q=b.c', 'http://(c,org?q=b,a,)'],
    ['http://a.org.', 'http://(org.,a,)'],
    ['http:///triple/slash', 'http://(/triple,)/slash'],
    ['http://a b/', 'http://a b/'],
  ];
  for (const [uri, form] of rows) t.equal(surt(uri), form, uri);
  t.equal(surt('http://A.Org/B', { preserveCase: true }), 'http://(Org,A,)/B');
});

t.test('CRAWL-15.2, 15.3: implied prefixes, and sets of prefixes', async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['example.com', 'http://(com,example,'],
    ['http://www.example.com/~user', 'http://(com,example,www,)/'],
    ['http://example.com:8080', 'http://(com,example,:8080'],
    ['https://example.com/a/b/c.html', 'http://(com,example,)/a/b/'],
    ['http://example.com/', 'http://(com,example,)/'],
    ['http://example.com/a?b/c', 'http://(com,example,)/a?b/'],
  ];
  for (const [text, prefix] of rows) t.equal(impliedSurtPrefix(text), prefix, text);
  const set = SurtPrefixSet.fromLines(['http://example.com/a/', 'example.com', '# no', '', 'http://(ORG,']);
  t.same(set.prefixes, ['http://(com,example,', 'http://(org,'], 'a covered prefix is redundant');
  t.ok(set.has('https://www.example.com/x'), 'https is compared as http');
  t.notOk(set.has('http://example.co/'));
  t.notOk(set.has('http://examples.com/'));
  t.equal(surtPrefixOfHost('http://(com,example,'), 'http://(com,example,)');
  t.equal(surtPrefixOfHost('http://(com,example'), 'http://(com,example,)');
  t.equal(surtPrefixOfHost('http://(com,example,www,)/a/'), 'http://(com,example,www,)');
  t.equal(surtPrefixOfDomain('http://(com,example,www,)/a/'), 'http://(com,example,');
  const word = fc.array(fc.constantFrom('a', 'b'), { maxLength: 4 }).map((letters) => letters.join(''));
  assertProperty(
    fc.property(fc.array(word.filter((text) => text !== '')), word, (prefixes, text) => {
      const found = new SurtPrefixSet(prefixes).findSurt(text) !== undefined;
      if (found !== prefixes.some((prefix) => text.startsWith(prefix))) throw new Error(text);
    }),
  );
});

t.test('CRAWL-14.1: rules by name and by pattern apply in the given order', async (t) => {
  const url = 'http://www.archive.org//A//B/index.html';
  t.equal(canonicalString(url, seenRules(['StripExtraSlashes'])), 'http://www.archive.org/A/B/index.html');
  t.equal(canonicalString(url, seenRules(['stripwww', 'lowercase'])), 'http://archive.org//a//b/index.html');
  t.throws(() => seenRules(['nothing']), { code: 'ERR_USAGE' });
  const rule = regexRule(String.raw`(.*)/index\.html(\?.*)?`, '$'.concat('{1}/$', '{2}'));
  t.equal(rule.apply('http://a.b/c/index.html'), 'http://a.b/c/');
  t.equal(rule.apply('http://a.b/c/index.html?x'), 'http://a.b/c/?x');
  t.equal(rule.apply('http://a.b/c/index.htm'), 'http://a.b/c/index.htm', 'the whole string or nothing');
  t.throws(() => regexRule('(', ''), { code: 'ERR_USAGE' });
});

t.test('CRAWL-9.2 to 9.7: the queue of a URI by each policy', async (t) => {
  const address = new Map([['www.example.com', Uint8Array.of(192, 0, 2, 1)]]);
  const addressOf = (host: string): Uint8Array | undefined => address.get(host);
  const keys = (uri: string, via?: string): readonly string[] =>
    (['host', 'surt', 'topmost', 'ip', 'bucket'] as const).map((policy) =>
      queueAssignment({ policy, addressOf })(via === undefined ? { uri } : { uri, via }),
    );
  // -1073741311 is the address as a signed number; its magnitude mod 1021 is 1073741311 - 1021 * 1051656.
  t.same(keys('http://www.example.com/a'), [
    'www.example.com',
    'com,example,www,',
    'com,example,',
    '192.0.2.1',
    '535',
  ]);
  t.same(keys('http://www.example.com:8080/a').slice(0, 2), [
    'www.example.com#8080',
    'com,example,www,#8080',
  ]);
  t.same(keys('ftp://ftp.example.org/x').slice(0, 2), ['ftp.example.org', 'org,example,ftp,']);
  t.same(keys('http://example.com/').slice(0, 3), ['example.com', 'com,example,', 'com,example,']);
  t.same(keys('https://u@a.co.uk/').slice(0, 3), ['a.co.uk#443', 'uk,co,a,@u', 'uk,co,a,']);
  t.same(
    keys('dns:a.b', 'https://a.b/x').slice(0, 2),
    ['a.b#443', 'b,a,'],
    'a dns: URI is queued with its via',
  );
  t.same(keys('dns:a.b').slice(0, 2), ['a.b', 'b,a,']);
  t.same(keys('news:x').slice(0, 2), ['default...', 'default...']);
  t.equal(classKey('news:x'), 'default...');
  // The hash of "b" is 98.
  t.equal(queueAssignment({ policy: 'bucket' })({ uri: 'http://b/' }), 'NO-IP-98');
  t.equal(queueAssignment({ policy: 'bucket' })({ uri: 'news:x' }), 'NO-HOST');
  t.equal(queueAssignment({ policy: 'elf' })({ uri: 'http://www.autohome.com.cn/' }), '19');
  t.equal(queueAssignment({ policy: 'elf', elfQueues: 50 })({ uri: 'http://www.example.com/' }), '49');
  const limited = (labels: number) =>
    queueAssignment({ policy: 'limits', labels })({ uri: 'http://a.b.c.d:81/' });
  t.same([limited(2), limited(-1), limited(9)], ['d,c,#81', 'd,c,b,a,#81', 'd,c,b,a,#81']);
  const limitedHost = (uri: string, labels = 2) =>
    queueAssignment({ policy: 'host-limits', labels })({ uri });
  t.same(
    [
      'http://www.example.com/',
      'https://a.b.c/',
      'http://a.b.c:81/',
      'http://b.c/',
      'http://10.0.0.1:81/',
      'http://[::1]/',
    ].map((uri) => limitedHost(uri)),
    ['example.com', 'b.c#443', 'b.c#81', 'b.c', '10.0.0.1#81', '[##1]'],
  );
  t.equal(limitedHost('http://a.b.c/', -1), 'a.b.c');
  t.equal(queueAssignment()({ uri: 'whois:a.b' }), 'whois...');
  const split = queueAssignment({
    parallelQueues: 50,
    forcedKey: (uri) => (uri.includes('f.g') ? 'forced' : ''),
  });
  t.equal(split({ uri: 'http://a.b/css/x' }), 'a.b+26');
  t.equal(split({ uri: 'http://a.b/css' }), 'a.b', 'no second slash');
  t.equal(split({ uri: 'http://f.g/wiki/x' }), 'forced+24', 'a forced queue is split too');
  t.equal(queueAssignment({ parallelQueues: 4 })({ uri: 'http://a.b/wiki/x' }), 'a.b', 'bucket 0: no suffix');
});

t.test('CRAWL-9.4: the assigned labels of a host by the list of public suffixes', async (t) => {
  const list = PublicSuffixes.parse('// comment\ncom\nco.uk\n*.ck\n!www.ck\n\u516c\u53f8.cn\ncn');
  const assigned = (host: string): number => list.assignedLabels(host.split('.'));
  t.same(
    ['a.b.com', 'a.b.co.uk', 'x.y.z.ck', 'x.www.ck', 'a.b.xn--55qx5d.cn', 'a.b.unknown', 'com'].map(assigned),
    [2, 3, 3, 2, 3, 2, 1],
  );
});

t.test('CRAWL-3.11, CRAWL-9.8: the hash assigns buckets, the mapping crawlers', async (t) => {
  const hash = new ConsistentHash(50);
  const rows = {
    css: [0, 2, 2, 2, 26],
    2018: [1, 2, 2, 6, 26],
    b: [1, 1, 1, 7, 7],
    wiki: [0, 0, 0, 0, 24],
  };
  for (const [text, buckets] of Object.entries(rows)) {
    t.same(
      [2, 3, 4, 10, 50].map((n) => hash.bucketOf(text, n)),
      buckets,
      text,
    );
  }
  t.equal(new ConsistentHash(3).bucketOf('css'), 2, 'the size of the circle has no effect');
  // fp64("a") is 3e67e43317cb4865: positive and odd.
  t.equal(crawlerOf('a', 2), 1);
  // fp64("http://archive.org/index.html") is c28b406a9c55d91c: negative; the last digit of its magnitude is 4.
  t.equal(crawlerOf('http://archive.org/index.html', 16), 4, 'the magnitude of a negative remainder');
});

t.test('CRAWL-2.3, 2.4, 2.5, 2.6: hop paths and scheduling directives', async (t) => {
  const fifty = 'L'.repeat(49);
  t.equal(appendHop(fifty, 'E'), `${fifty}E`);
  t.equal(appendHop(`${fifty}E`, 'X'), `1+${fifty.slice(1)}EX`);
  t.equal(appendHop(`9+${fifty}E`, 'R'), `10+${fifty.slice(1)}ER`);
  t.equal(hopCount(`10+${fifty}E`), 60);
  t.equal(linkHops('3+LEL'), 2, 'only the letters that are shown count');
  t.same(['', 'L', 'LE', 'LMXX', 'ER', 'LRL'].map(transHops), [0, 0, 1, 2, 2, 0]);
  t.same(
    ['L', 'LE', 'LEE', 'LR', ''].map((path) => schedulingDirective(path)),
    [3, 2, 3, 2, 3],
  );
  t.equal(schedulingDirective('LR', { preferenceDepthHops: 0 }), 1);
  t.equal(schedulingDirective('L', { preferenceDepthHops: 0 }), 1);
  t.equal(schedulingDirective('LL', { preferenceDepthHops: 3 }), 1);
  t.equal(schedulingDirective('LLL', { preferenceDepthHops: 3 }), 3);
  t.equal(schedulingDirective('LE', { preferenceEmbedHops: 0 }), 3);
  t.equal(schedulingDirective('LE', {}, 1), 1, 'only the normal directive is raised');
  t.same(([0, 1, 2, 3] as const).map(prerequisiteDirective), [0, 0, 1, 2]);
});

t.test('CRAWL-9.10: the cost by each policy', async (t) => {
  const { zero, unit, wag, 'anti-calendar': calendar } = COST_POLICIES;
  t.same([zero('http://a/?b'), unit('http://a/?b')], [0, 1]);
  t.same([wag('http://a/b'), wag('http://a/b?c'), wag('http://a/b?c', 'http://a/b?d')], [1, 2, 3]);
  t.equal(wag('http://a/b?c', 'http://a/'), 2);
  t.equal(calendar('http://www.example.com/calendar/2010/'), 2);
  t.equal(calendar('http://www.example.com/page'), 1);
  t.equal(calendar('http://www.example.com/UPDATEs'), 2, 'the word may be anywhere, in any case');
  t.equal(calendar('http://www.example.com/x2010x'), 2);
  t.equal(calendar('http://www.example.com/2010'), 1, 'the year must be between non-digits');
  t.equal(calendar('http://www.example.com/x12010x'), 1);
});

t.test('CRAWL-9.11: the precedence by each policy', async (t) => {
  const subject = { uri: 'u', hops: 'LELX', cost: 7 };
  t.equal(hopsPrecedence()(subject), 3);
  t.equal(hopsPrecedence({ allHops: true, base: 2 })(subject), 6);
  t.equal(basePrecedence()(subject), 1);
  t.equal(preloadedPrecedence(new Map([['u', 4]]))(subject), 4);
  t.equal(preloadedPrecedence(new Map())(subject), 7);
  t.same([highestUriPrecedence([5, 2, 9]), highestUriPrecedence([])], [5, 3]);
  t.same(
    [0, 99, 100, 1099, 1100, 2099, 2100].map((count) => successCountsPrecedence(count)),
    [3, 3, 4, 4, 5, 5, 6],
  );
});

t.test('`harvest url` prints fingerprints, keys, SURT forms, canonical forms and class keys', async (t) => {
  const run = async (...args: string[]) => (await cli('url', ...args)).stdout;
  t.equal(
    await run('fingerprint', '--bits', '24', 'http://archive.org/index.html', ''),
    '2553d40000000000\n30733b0000000000\n',
  );
  t.equal(await run('fingerprint', 'a'), '3e67e43317cb4865\n');
  t.equal(await run('key', '--json', 'a'), '{"url":"a","key":"60aadf90ae15793d"}\n');
  t.equal(await run('surt', '--prefix', 'example.com'), 'http://(com,example,\n');
  t.equal(await run('canonical', 'HTTP://u@WWW2.A.org/B?&c=~'), 'http://a.org/b?c=~\n');
  t.equal(await run('class', '--policy', 'surt', 'HTTPS://A.org:443/'), 'org,a,\n');
  const bad = await cli('url', 'canonical', 'http://', 'http://a/');
  t.same([bad.code, bad.stdout, bad.stderr], [1, '\nhttp://a/\n', 'url: "http://" is not a usable URI\n']);
});
