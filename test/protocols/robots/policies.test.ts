// Tests the robots policies of the crawl engine, X-Robots-Tag, agreement with another parser, and
// `harvest robots check`.
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import {
  isRobotsExpired,
  isRobotsMetaName,
  parseRobots,
  parseXRobotsTag,
  RobotsPolicy,
  type RobotsPolicyOptions,
  robotsOutcome,
} from '../../../protocols/robots/index.js';
import { cli } from '../../helpers/cli.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const FILE = `User-agent: harvest
Disallow: /private
User-agent: harvest-kit
User-agent: other
Disallow: /kit
User-agent: *
Disallow: /
Allow: /open
User-agent: harvest
Disallow: /more
Crawl-delay: 3`;

const robots = parseRobots(FILE);

function decide(options: Partial<RobotsPolicyOptions>, path: string) {
  return new RobotsPolicy({ policy: 'classic', userAgent: 'Harvest-Kit/1.0', ...options }).decide(
    robots,
    path,
  );
}

t.test('CRAWL-13.2.10: classic takes the first name in file order that is part of ours', async (t) => {
  t.same(decide({}, '/private/x'), {
    allowed: false,
    line: 'Disallow: /private',
    lineNumber: 2,
    group: 'harvest',
    fetchAs: 'Harvest-Kit/1.0',
  });
  t.equal(decide({}, '/kit').allowed, true, 'harvest-kit comes later in the file');
  t.equal(decide({}, '/more').allowed, false, 'CRAWL-13.1.7: groups of one name are merged');
  t.equal(decide({ userAgent: 'unlisted' }, '/x').group, '*');
  t.equal(decide({ userAgent: 'unlisted' }, '/open').lineNumber, 8);
  t.same(decide({ userAgent: 'A-HARVESTER' }, '/private').group, 'harvest', 'any case');
  const noStar = parseRobots('User-agent: x\nDisallow: /');
  t.same(new RobotsPolicy({ policy: 'classic', userAgent: 'me' }).decide(noStar, '/'), {
    allowed: true,
    fetchAs: 'me',
  });
});

t.test('CRAWL-13.9: rfc9309 chooses by product; CRAWL-13.4: ignore and custom', async (t) => {
  t.equal(decide({ policy: 'rfc9309' }, '/kit').allowed, false);
  t.equal(decide({ policy: 'rfc9309' }, '/private').allowed, true);
  t.same(decide({ policy: 'ignore' }, '/private'), { allowed: true, fetchAs: 'Harvest-Kit/1.0' });
  const customRobots = parseRobots('User-agent: *\nDisallow: /mine');
  t.equal(decide({ policy: 'custom', customRobots }, '/private').allowed, true);
  t.equal(decide({ policy: 'custom', customRobots }, '/mine').allowed, false);
  t.throws(() => decide({ policy: 'custom' }, '/'), { code: 'ERR_USAGE' });
  t.throws(() => decide({ policy: 'most-favored-set' }, '/'), { code: 'ERR_USAGE' });
});

t.test('CRAWL-13.4, 13.5: most-favored and most-favored-set, with and without masquerade', async (t) => {
  const favored = decide({ policy: 'most-favored', masquerade: true }, '/private');
  t.same([favored.allowed, favored.fetchAs], [true, 'harvest-kit']);
  t.equal(decide({ policy: 'most-favored' }, '/private').fetchAs, 'Harvest-Kit/1.0', 'off by default');
  const set = (masquerade: boolean, userAgents: string[], path: string) =>
    decide({ policy: 'most-favored-set', masquerade, userAgents }, path);
  t.equal(set(true, ['harvest', 'stranger'], '/private').allowed, false);
  t.same(set(true, ['harvest', 'other'], '/private').fetchAs, 'other');
  t.same(set(true, ['harvest'], '/private').fetchAs, 'Harvest-Kit/1.0', 'refused everywhere: no masquerade');
  const empty = parseRobots('');
  const policy = new RobotsPolicy({ policy: 'most-favored', userAgent: 'me', masquerade: true });
  t.same(policy.decide(empty, '/'), { allowed: true, fetchAs: 'me' });
  const onlyStar = parseRobots('User-agent: *\nDisallow: /x');
  t.same(policy.decide(onlyStar, '/').fetchAs, 'me', '* is not the name of an agent');
});

t.test(
  'CRAWL-13.1.6: a Crawl-delay is for the agents before it; the rules after the list of agents are for all',
  (t) => {
    const robots = parseRobots(
      'User-agent: slow\nCrawl-delay: 250\nUser-agent: b\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /no/\n',
    );
    const readings = ['slow', 'b', 'other'].map((name) => [
      robots.crawlDelay(name),
      robots.allowed(name, '/no/a').allowed,
      robots.allowed(name, '/yes').allowed,
    ]);
    t.same(readings, [
      [250, false, true],
      [2, false, true],
      [undefined, false, true],
    ]);
    t.end();
  },
);

t.test('CRAWL-13.1.6: Crawl-delay follows the policy; a malformed one does not close a group', async (t) => {
  const delay = (policy: RobotsPolicyOptions['policy'], userAgent: string) =>
    new RobotsPolicy({ policy, userAgent, userAgents: ['harvest', 'other'] }).crawlDelay(robots);
  t.same(
    [delay('classic', 'harvest'), delay('rfc9309', 'other'), delay('ignore', 'harvest')],
    [3, undefined, undefined],
  );
  t.equal(delay('most-favored-set', 'x'), undefined, 'no delay if one of the agents has none');
  const open = parseRobots('User-agent: a\nCrawl-delay: soon\nUser-agent: b\nDisallow: /');
  t.equal(open.allowed('a', '/').allowed, false);
  t.equal(parseRobots('User-agent: a\nCrawl-delay: 1.2.3').crawlDelay('a'), undefined);
});

t.test(
  'CRAWL-13.1.6: rfc9309 reads what RFC 9309 and its best-known parser read; the other policies do not',
  async (t) => {
    const denies = (text: string, path: string, policy: RobotsPolicyOptions['policy'] = 'rfc9309') =>
      !new RobotsPolicy({ policy, userAgent: 'b/1.0' }).decide(parseRobots(text), path).allowed;
    const delayed = 'User-agent: b\nCrawl-delay: 7\nUser-agent: c\nDisallow: /x';
    t.ok(denies(delayed, '/x'), 'RFC 9309 2.2.4: Crawl-delay does not end the list of agents');
    t.notOk(denies(delayed, '/x', 'classic'), 'CRAWL-13.1.3: the first rule ends it');
    const delayOf = (agent: string) =>
      new RobotsPolicy({ policy: 'rfc9309', userAgent: agent }).crawlDelay(parseRobots(delayed));
    t.same([delayOf('b'), delayOf('c')], [7, undefined], 'it is for the agents before it');
    t.ok(denies('User-agent: b\nSitemap: /s\nUser-agent: c\nDisallow: /x', '/x'));
    for (const line of ['Disallow /x', 'Dissallow: /x', 'disalow: /x', 'DISALLAW /x']) {
      t.ok(denies(`User-agent: b\n${line}`, '/x/y'), line);
      t.notOk(denies(`User-agent: b\n${line}`, '/x/y', 'classic'), `${line}, classic`);
    }
    const misspelled = 'User-agent: a\nDisallow: /a\nUseragent: b\nDisallow: /x';
    t.ok(denies(misspelled, '/x'));
    t.notOk(denies(misspelled, '/a'));
    t.notOk(denies('User-agent: b\nDisallow or not /x', '/x'), 'a sentence is not a rule');
    t.ok(denies('User-agent: B2 (all of them)\nDisallow: /x', '/x'), 'the name ends at the digit');
    t.ok(denies('User-agent: b\nDisallow: /caf\u00e9', '/caf%C3%A9'), 'RFC 9309 2.2.2: octets above 7F');
  },
);

t.test('CRAWL-13.3.11: which status gives rules, allows all, or holds the server', async (t) => {
  const outcomes = (rules: Parameters<typeof robotsOutcome>[1], tries: number) =>
    [200, 299, 300, 308, 403, 404, 429, 500, 503].map((status) =>
      robotsOutcome({ kind: 'status', status }, rules, tries),
    );
  const parse = ['parse', 'parse'];
  t.same(outcomes({}, 1), [...parse, ...Array.from({ length: 7 }, () => 'allow-all')]);
  const standard = [...parse, 'follow', 'follow', 'allow-all', 'allow-all'];
  t.same(outcomes({ rfc9309: true }, 1), [...standard, 'retry', 'retry', 'retry'], '429 and 5xx');
  t.same(outcomes({ rfc9309: true }, 3), [...standard, 'unavailable', 'unavailable', 'unavailable']);
  t.equal(robotsOutcome({ kind: 'status', status: 429 }, { rfc9309: true, ignore: true }), 'allow-all');
});

t.test('CRAWL-13.3: the outcome of a request for robots.txt', async (t) => {
  const status = (code: number) => robotsOutcome({ kind: 'status', status: code });
  t.same([200, 299, 301, 404, 500].map(status), ['parse', 'parse', 'allow-all', 'allow-all', 'allow-all']);
  const failure = { kind: 'failure' } as const;
  t.same(
    [1, 2, 3].map((tries) => robotsOutcome(failure, {}, tries)),
    ['retry', 'retry', 'unavailable'],
  );
  t.equal(robotsOutcome(failure, { unreachable: 'allow-all' }, 3), 'allow-all');
  t.equal(robotsOutcome(failure, { ignore: true }), 'allow-all');
  t.equal(robotsOutcome({ kind: 'empty' }), 'allow-all');
  const standard = { rfc9309: true };
  t.equal(robotsOutcome({ kind: 'status', status: 403 }, standard), 'allow-all');
  t.equal(robotsOutcome({ kind: 'status', status: 302 }, standard, 1, 4), 'follow');
  t.equal(robotsOutcome({ kind: 'status', status: 302 }, standard, 1, 5), 'allow-all');
  t.equal(robotsOutcome({ kind: 'empty' }, standard), 'retry');
  t.same(
    [isRobotsExpired(1000, 87_399), isRobotsExpired(1000, 87_400), isRobotsExpired(0, 9e9, 0)],
    [false, true, false],
  );
});

t.test('X-Robots-Tag has directives for all agents and for one agent', async (t) => {
  const read = (...values: string[]) => parseXRobotsTag(values, 'Harvest/1.9 harvest-kit');
  const nothing = { noindex: false, nofollow: false, noarchive: false, unavailableAfter: undefined };
  t.same(read('noindex, NOFOLLOW'), { ...nothing, noindex: true, nofollow: true });
  t.same(read('none'), { ...nothing, noindex: true, nofollow: true });
  t.same(
    read('googlebot: noindex, nofollow'),
    nothing,
    'directives of another agent, to the end of the field',
  );
  t.same(read('harvest: noindex, other: nofollow', 'noarchive'), {
    ...nothing,
    noindex: true,
    noarchive: true,
  });
  t.same(read('max-snippet: -1, nofollow'), { ...nothing, nofollow: true });
  t.same(read('unavailable_after: Sun, 25 Jun 2023 15:00:00 GMT, noindex'), {
    ...nothing,
    noindex: true,
    unavailableAfter: 1_687_705_200,
  });
  t.same(read('harvest: unavailable_after: 1 Jan 1970 00:00:10 GMT').unavailableAfter, 10);
  t.same(
    ['robots', 'HARVEST-KIT', 'googlebot'].map((name) => isRobotsMetaName(name, 'Harvest/1.9 harvest-kit')),
    [true, true, false],
  );
});

/** What this test uses of the package robots-parser. */
interface OtherRobots {
  isAllowed(url: string, agent: string): boolean | undefined;
  getMatchingLineNumber(url: string, agent: string): number;
}

t.test('RFC 9309 2.2: the decision and the deciding line agree with robots-parser (property)', async () => {
  // The package exports its function as module.exports, unlike its types.
  const parseOther: (url: string, text: string) => OtherRobots = createRequire(import.meta.url)(
    'robots-parser',
  );
  const text = fc
    .array(fc.constantFrom('a', 'b', '/', '*', '.', '?', '%7E', '%2f', '\u00e9'), { maxLength: 6 })
    // CRAWL-13.1.5 cuts a star at the end, where robots-parser counts it.
    .map((parts) =>
      `/${parts.join('')}`
        .replace(/\*+$/, '')
        .replace(/\*{2,}/g, '*')
        .replaceAll('%7E', '~'),
    );
  const rule = fc
    .tuple(fc.constantFrom('Allow', 'Disallow'), text, fc.constantFrom('', '', '$'))
    .map(([name, path, end]) => `${name}: ${path}${end}`);
  // robots-parser ignores an agent whose group has no rule.
  const agent = fc.constantFrom('one', 'two', '*');
  const group = fc
    .tuple(fc.array(agent, { minLength: 1, maxLength: 2 }), fc.array(rule, { minLength: 1, maxLength: 4 }))
    .map(([agents, rules]) => [...agents.map((name) => `User-agent: ${name}`), ...rules].join('\n'));
  const path = fc
    .array(fc.constantFrom('a', 'b', '/', '.', '?', '~', '%2f', '%C3%A9'), { maxLength: 8 })
    .map((parts) => `/${parts.join('')}`);
  assertProperty(
    fc.property(
      fc.array(group, { maxLength: 4 }),
      path,
      fc.constantFrom('one', 'three'),
      (groups, path, agent) => {
        const file = groups.join('\n');
        const url = `http://h.example${path}`;
        const { pathname, search } = new URL(url);
        if (pathname + search !== path) return; // robots-parser resolves dots first
        // To robots-parser an escaped slash in a query is another character than a slash.
        if (/\?[^\n]*%2f/i.test(`${file}\n${path}`)) return;
        const ours = parseRobots(file).allowed(agent, path);
        const other = parseOther('http://h.example/robots.txt', file);
        const line = other.getMatchingLineNumber(url, agent);
        const isSameLine = (ours.lineNumber ?? -1) === line || file.split('\n')[line - 1] === ours.line;
        if (ours.allowed !== other.isAllowed(url, agent) || !isSameLine)
          throw new Error(`${file}\n${path} ${agent}: ours ${JSON.stringify(ours)}, other ${line}`);
      },
    ),
    { numRuns: 3000 },
  );
});

t.test('`harvest robots check` prints decisions, and fails on wrong options and absent files', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'robots.txt');
  await writeFile(file, FILE);
  const check = (...args: string[]) => cli('robots', 'check', '--file', file, '--agent', ...args);
  t.equal(
    (await check('harvest', 'http://h.example/private?x', '/y')).stdout,
    'disallow\thttp://h.example/private?x\t2\tDisallow: /private\nallow\t/y\t-\t-\n',
  );
  t.same(JSON.parse((await check('Harvest-Kit/1.0', '--policy', 'classic', '--json', '/private')).stdout), {
    url: '/private',
    verdict: 'disallow',
    allowed: false,
    lineNumber: 2,
    line: 'Disallow: /private',
    group: 'harvest',
    fetchAs: 'Harvest-Kit/1.0',
  });
  t.equal((await check('x', '--policy', 'custom', '/')).code, 2);
  t.equal((await cli('robots', 'check', '--file', join(directory, 'none'), '--agent', 'x', '/')).code, 1);
});
