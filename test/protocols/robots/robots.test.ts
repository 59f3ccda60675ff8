// Tests the parser of robots.txt and of robots META tags (G-62, G-63, CRAWL-13.1, CRAWL-13.2).
import fc from 'fast-check';
import t from 'tap';
import { normalizePath, parseRobots, parseRobotsMeta, RobotsTxt } from '../../../protocols/robots/index.js';
import { assertProperty } from '../../helpers/property.js';
import { garbage } from '../garbage.js';

const AGENT = 'Harvest/1.9 harvest-kit/0.1 (robot; +http://www.example.org/robot)';

t.test('the deciding line is reported with its number', async (t) => {
  const robots = parseRobots('# hello\r\nUser-agent: *\r\n\r\n  Disallow: /a # why\r\nAllow: /a/b\r\n');
  t.same(robots.allowed(AGENT, '/a/c'), { allowed: false, line: 'Disallow: /a # why', lineNumber: 4 });
  t.same(robots.allowed(AGENT, '/a/b'), { allowed: true, line: 'Allow: /a/b', lineNumber: 5 });
  t.same(robots.allowed(AGENT, '/c'), { allowed: true });
});

t.test('G-63: the groups of harvest and of the product apply, else those of all agents', async (t) => {
  const file = `User-agent: other
Disallow: /
User-agent: *
Disallow: /star
User-Agent: HARVEST/1.0
Disallow: /one
Sitemap: http://h.example/sitemap.xml
Disallow: /also-one
User-agent: someone
User-agent: Harvest-Kit
Disallow: /two`;
  const robots = parseRobots(file);
  t.equal(robots.allowed(AGENT, '/star').allowed, true);
  t.equal(robots.allowed(AGENT, '/one').allowed, false, 'groups of both names are merged');
  t.equal(robots.allowed(AGENT, '/also-one').allowed, false, 'CRAWL-13.1.2: Sitemap does not close a group');
  t.equal(robots.allowed(AGENT, '/two').allowed, false);
  t.equal(robots.allowed('Harvest', '/two').allowed, true);
  t.equal(robots.allowed('Nobody/1.0 (harvest)', '/star').allowed, false, 'a comment is not a product');
  t.equal(robots.allowed('harvester/1.0', '/one').allowed, true, 'whole names only');
  t.equal(robots.allowed('Someone', '/two').allowed, false);
});

t.test(
  'CRAWL-13.1.1: lines are trimmed; empty lines, comments and HTML tags are no part of them',
  async (t) => {
    const robots = parseRobots(
      '# all\n\n  User-agent: * # everyone\n\t\n<b>Disallow: /x</b> # not /y\n#Disallow: /z\n',
    );
    const allowed = (path: string) => robots.allowed(AGENT, path);
    t.same(robots.names, ['*']);
    t.match(allowed('/x'), { allowed: false, lineNumber: 5 });
    t.ok(allowed('/y').allowed);
    t.ok(allowed('/z').allowed);
  },
);

t.test('CRAWL-13.1.3: consecutive User-agent lines are one group, up to its first rule', async (t) => {
  const robots = parseRobots(
    'User-agent: a\nUser-agent: b\nHost: x\nUser-agent: c\nDisallow: /1\nUser-agent: d\nDisallow: /2',
  );
  const forbidden = (name: string) =>
    ['/1', '/2'].filter((path) => !robots.allowedByName(name, path).allowed);
  t.same(['a', 'b', 'c'].map(forbidden), [['/1'], ['/1'], ['/1']]);
  t.same(forbidden('d'), ['/2']);
});

t.test('CRAWL-13.2.8: path and query are compared in escaped form, with regard to case', async (t) => {
  const denied = (rule: string, path: string) =>
    !parseRobots(`User-agent: *\nDisallow: ${rule}`).allowed(AGENT, path).allowed;
  t.ok(denied('/a?id=', '/a?id=7'), 'the query counts');
  t.notOk(denied('/a?id=', '/a/?id=7'));
  t.ok(denied('/a%20b', '/a%20b/c'));
  t.ok(denied('/caf\u00e9', '/caf%C3%A9'), 'a path that is not escaped is escaped first');
  t.notOk(denied('/Private', '/private'));
  t.ok(denied('/%7ejoe', '/~joe'), 'CRAWL-13.7: one escape has one meaning');
});

t.test('CRAWL-13.1, 13.7: malformed files are read', async (t) => {
  const denied = (text: string) => !parseRobots(text).allowed(AGENT, '/x').allowed;
  t.ok(denied('\ufeffUser-agent: *\nDisallow: /x'), 'byte-order mark');
  t.ok(denied('User-agent : *\nDisallow : /x'), 'blank before the colon');
  t.ok(denied('USER-AGENT:*\rDISALLOW:/x\r'), 'CR line ends');
  t.ok(denied('<pre>User-agent: *<br>\nDisallow: /x<br></pre>'), 'HTML tags');
  t.ok(denied('User-agent: *\n\n\nDisallow: /x'), 'blank lines do not end a group');
  t.notOk(denied('Disallow: /x\nUser-agent: *\n'), 'CRAWL-13.1.4: rules before any agent are ignored');
  t.notOk(
    denied('User-agent: *\nDisallow: /y\nUser-agent:\nDisallow: /x'),
    'a group without a name applies to no agent',
  );
  t.notOk(denied(''), 'empty file');
});

t.test('CRAWL-13.1.6: Crawl-delay is a decimal number, the largest of all groups', async (t) => {
  const delay = (value: string) => parseRobots(`User-agent: *\nCrawl-delay: ${value}`).crawlDelay(AGENT);
  t.equal(delay('10'), 10);
  t.equal(delay('0.5 s'), 0.5);
  t.equal(delay('.5'), 0.5);
  t.equal(delay('soon'), undefined);
  t.equal(delay('9'.repeat(400)), undefined);
  t.equal(parseRobots('User-agent: harvest\nDisallow:').crawlDelay(AGENT), undefined);
  const merged = parseRobots('User-agent: harvest\nCrawl-delay: 2\nUser-agent: harvest-kit\nCrawl-delay: 7');
  t.equal(merged.crawlDelay(AGENT), 7);
});

t.test('CRAWL-13.1.7: a file is limited in length, and the cut line is dropped', async (t) => {
  const text = `User-agent: *\nDisallow: /x\nDisallow: /yes-and-more`;
  const robots = parseRobots(text, { maxLength: text.length - 5 });
  t.ok(robots.truncated);
  t.notOk(robots.allowed(AGENT, '/x').allowed);
  t.ok(robots.allowed(AGENT, '/yes-and-more').allowed);
  t.notOk(parseRobots('x\n'.repeat(256_000)).truncated);
  t.ok(parseRobots('x\n'.repeat(256_001)).truncated);
});

t.test('G-63: the rules after a 4xx allow everything', async (t) => {
  t.ok(RobotsTxt.ALLOW_ALL.allowed(AGENT, '/').allowed);
});

t.test('CRAWL-13.1.6, RFC 9309 2.2.2: paths are compared by octets', async (t) => {
  const octets = (text: string) => Buffer.from(text, 'latin1');
  const denied = (rule: string, path: string) =>
    !parseRobots(octets(`User-agent: *\nDisallow: ${rule}\n`)).allowed(AGENT, path).allowed;
  for (const rule of ['/caf\xe9/', '/caf%E9/', '/caf%e9/']) {
    t.ok(denied(rule, '/caf%E9/x'), rule);
    t.ok(denied(rule, '/caf%e9/x'), `${rule}, small digits`);
    t.notOk(denied(rule, '/caf%C3%A9/x'), `${rule}, another octet`);
  }
  t.ok(denied('/\xc4\xcf\xcb/', '/%C4%CF%CB/a'), 'KOI8-R');
  t.ok(denied('/x\xff', '/x%FF'));
  t.ok(denied('/ok\xc3\xa9', '/ok%c3%a9'), 'UTF-8');
  t.ok(denied('/ok\xc3\xa9', '/ok\u00e9'), 'a URL that is not escaped is UTF-8');
  t.ok(denied('/voil\xc3\xa0', '/voil%C3%A0'), 'A0 is not white space');
  t.notOk(denied('/voil\xc3\xa0', '/voil%C3'));
  t.ok(denied('/a\xa0', '/a%A0'));
  t.ok(denied('/a\x85b', '/a%85b'));
  t.ok(denied('/a\0b', '/a%00b'), 'NUL');
  t.ok(denied('/pad\0\0', '/pad'));
  t.ok(denied('/*\xe9$', '/caf%E9'));
  const shown = (text: Uint8Array) => parseRobots(text).allowed(AGENT, '/caf%E9/').line;
  t.equal(shown(octets('User-agent: *\nDisallow: /caf\xe9')), 'Disallow: /caf\u00e9');
  t.equal(
    parseRobots('User-agent: *\nDisallow: /\u00e9').allowed(AGENT, '/%C3%A9').line,
    'Disallow: /\u00e9',
  );
});

t.test('RFC 9309 2.2.2: reserved characters and those that no URL has', async (t) => {
  const denied = (rule: string, path: string) =>
    !parseRobots(`User-agent: *\nDisallow: ${rule}`).allowed(AGENT, path).allowed;
  t.ok(denied('/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'), "the RFC's table");
  t.ok(denied('/foo/bar?baz=https%3A%2F%2Ffoo.bar', '/foo/bar?baz=https://foo.bar'));
  t.ok(denied('/foo/bar/%62%61%7A', '/foo/bar/baz'));
  for (const character of "!'()+,;=&:@") {
    const escaped = `/a%${character.charCodeAt(0).toString(16)}b`;
    t.ok(denied(`/a${character}b`, escaped) && denied(escaped, `/a${character}b`), character);
  }
  for (const character of '"<>[]^`{|}\\')
    t.ok(denied(`/a${character}b`, `/a%${character.charCodeAt(0).toString(16)}b`), character);
  t.ok(denied('/a b', '/a%20b'));
  t.notOk(denied('/a/b', '/a%2Fb'), 'an escaped slash divides nothing');
  t.notOk(denied('/a?b', '/a%3Fb'));
  t.ok(denied('/*?u=%2f', '/x?u=/y'), 'a query after a star');
  t.ok(denied('/*%2f', '/?%2f'), 'the same octets');
  t.ok(denied('/*u=%2Fy$', '/x?u=%2fy'));
  t.ok(denied('/100%', '/100%25'));
  t.ok(denied('/100%zz', '/100%25zz'));
  t.ok(denied('/a$b', '/a%24b'));
  t.ok(denied('/a%2a', '/a*b'));
  t.notOk(denied('/a%2a', '/ab'), 'an escaped star is a character');
});

t.test('CRAWL-13.1.6: files in UTF-16, and with several marks', async (t) => {
  const text = 'User-agent: *\nDisallow: /x\u00e9';
  const little = Buffer.from(text, 'utf16le');
  const big = Buffer.from(little).swap16();
  const files = [
    little,
    big,
    Buffer.concat([Buffer.from([0xff, 0xfe]), little]),
    Buffer.concat([Buffer.from([0xfe, 0xff]), big]),
    Buffer.from(`\ufeff\ufeff${text}`),
  ];
  for (const file of files) t.notOk(parseRobots(file).allowed(AGENT, '/x%C3%A9').allowed);
});

t.test('G-62: a robots META tag has noindex and nofollow', async (t) => {
  t.same(parseRobotsMeta('NOINDEX, follow'), { noindex: true, nofollow: false });
  t.same(parseRobotsMeta('index,NoFollow'), { noindex: false, nofollow: true });
  t.same(parseRobotsMeta('none'), { noindex: true, nofollow: true });
  t.same(parseRobotsMeta('all'), { noindex: false, nofollow: false });
  t.same(parseRobotsMeta(''), { noindex: false, nofollow: false });
});

/** A recursive matcher without escapes, independent of the code under test. */
function naiveMatch(pattern: string, path: string): boolean {
  if (pattern === '') return true;
  if (pattern === '$') return path === '';
  if (pattern[0] === '*')
    return naiveMatch(pattern.slice(1), path) || (path !== '' && naiveMatch(pattern, path.slice(1)));
  return path !== '' && path[0] === pattern[0] && naiveMatch(pattern.slice(1), path.slice(1));
}

t.test('CRAWL-13.2.9: the longest match agrees with a naive matcher (property)', async () => {
  const piece = fc
    .array(fc.constantFrom('a', 'b', '/', '*'), { maxLength: 6 })
    .map((parts) => `/${parts.join('')}`);
  const pattern = fc.tuple(piece, fc.constantFrom('', '$')).map(([text, end]) => text + end);
  const rule = fc.record({ allow: fc.boolean(), pattern });
  const path = fc
    .array(fc.constantFrom('a', 'b', '/'), { maxLength: 8 })
    .map((parts) => `/${parts.join('')}`);
  const lengthOf = (text: string) => text.replace(/\*+/g, '*').replace(/\*$/, '').length;
  assertProperty(
    fc.property(fc.array(rule, { maxLength: 8 }), path, (rules, path) => {
      const matching = rules.filter(({ pattern }) => naiveMatch(pattern, path));
      const longest = Math.max(-1, ...matching.map(({ pattern }) => lengthOf(pattern)));
      const best = matching.filter(({ pattern }) => lengthOf(pattern) === longest);
      const expected = best.length === 0 || best.some(({ allow }) => allow);
      const text = rules
        .map(({ allow, pattern }) => `${allow ? 'Allow' : 'Disallow'}: ${pattern}`)
        .join('\n');
      if (parseRobots(`User-agent: *\n${text}`).allowed('x', path).allowed !== expected)
        throw new Error(`${text} | ${path}`);
    }),
    { numRuns: 3000 },
  );
});

t.test('property: any garbage is a valid robots.txt, and normalizing a path is idempotent', async () => {
  const line = fc.oneof(
    garbage,
    fc
      .tuple(fc.constantFrom('User-agent', 'allow', 'Disallow ', 'Crawl-delay', '<b'), fc.string())
      .map((parts) => parts.join(':')),
  );
  assertProperty(
    fc.property(fc.array(line), garbage, (lines, text) => {
      const robots = parseRobots(lines.join('\n'));
      robots.allowed(text, text);
      robots.crawlDelay(text);
      parseRobotsMeta(text);
      const normal = normalizePath(text);
      if (normalizePath(normal) !== normal) throw new Error(normal);
    }),
    { numRuns: 2000 },
  );
});
