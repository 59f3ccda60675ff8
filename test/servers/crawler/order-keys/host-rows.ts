// The settings of a URI that one host shows: a row for each.
import type { Page } from '../../../helpers/site.js';
import { page } from '../../../helpers/site.js';
import type { HostRow, Settings } from './hosts.js';

const HOUR_MS = 3_600_000;
const HOUR_S = 3600;

/** Answers that begin with failures. */
function failing(times: number, status: number, headers: Record<string, string> = {}): Page {
  let count = 0;
  return (_, response) => {
    if (count++ < times) response.writeHead(status, headers).end('busy');
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page('Recovered', []));
  };
}

/** Answers later. */
function late(milliseconds: number, text: string): Page {
  return (_, response) =>
    void setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(text), milliseconds);
}

const lost: Page = (request) => void request.socket.destroy();

function redirect(location: string): Page {
  return (_, response) => void response.writeHead(302, { location }).end();
}

const KILOBYTES = 'words and more '.repeat(150);
const TWO = () => ({ '/': page('Start', ['/b']), '/b': page('B', []) });
const FOUR = () => ({
  '/': page('Start', ['/a', '/b', '/c']),
  '/a': page('A', []),
  '/b': page('B', []),
  '/c': page('C', []),
});
const robots = (text: string) => () => ({ '/robots.txt': text, ...TWO() });
const FORBIDS_B = 'User-agent: *\nDisallow: /b\n';
const FAVORS = `User-agent: friend\nDisallow:\n\n${FORBIDS_B}`;

/** Environment variable with the login of the proxy. */
export const PROXY_LOGIN = 'HARVEST_TEST_PROXY_LOGIN';

/**
 * A row for a setting. @param set the setting alone @param more the pages, if they are not two with a link, and
 * what else differs
 */
function row(set: Settings, shows: HostRow['shows'], more: Partial<HostRow> = {}): HostRow {
  const [name] = Object.keys(set);
  return { key: `settings.${name}`, set, pages: TWO, shows, ...more };
}

export const HOST_ROWS: readonly HostRow[] = [
  row({ delayFactor: 1e9 }, (host) => !host.fetched('/b'), {
    pages: () => ({ ...TWO(), '/': late(20, page('Start', ['/b'])) }),
  }),
  row({ minDelayMs: HOUR_MS }, (host) => !host.fetched('/b')),
  row({ maxDelayMs: 5 }, (host) => host.fetched('/b'), {
    both: { delayFactor: 1e9 },
    pages: () => ({ ...TWO(), '/': late(20, page('Start', ['/b'])), '/robots.txt': late(20, '') }),
  }),
  row({ respectCrawlDelayUpToSecs: 0.01 }, (host) => host.fetched('/b'), {
    pages: robots('User-agent: *\nCrawl-delay: 3600\n'),
  }),
  row({ maxPerHostBandwidthKBs: 0.0001 }, (host) => !host.fetched('/b')),
  row({ bandwidthReading: 'maximum' }, (host) => host.fetched('/b'), {
    both: { maxPerHostBandwidthKBs: 0.1 },
    pages: () => ({ ...TWO(), '/': page('Start', ['/b'], KILOBYTES) }),
  }),
  row({ respectRetryAfterUpToSecs: 0.01 }, (host) => host.status('/') === 200, {
    pages: () => ({ '/': failing(1, 503, { 'retry-after': '3600' }) }),
  }),
  row({ retireRetryAfterSecs: 0.5 }, (host) => host.status('/') !== 200, {
    pages: () => ({ '/': failing(1, 503, { 'retry-after': '1' }) }),
  }),
  row({ maxLengthBytes: 10 }, (host) => host.annotated('lenTrunc')),
  row({ fetchSeconds: 0.7 }, (host) => host.annotated('timeTrunc'), {
    pages: () => ({
      '/': (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write(page('Slow', []));
        setTimeout(() => response.end(), 2500);
      },
    }),
  }),
  row({ maxRetries: 2 }, (host) => host.annotated('2t'), { dead: true, pages: () => ({}) }),
  row({ retryDelaySeconds: HOUR_S }, (host) => host.lines.length === 0, { dead: true, pages: () => ({}) }),
  row({ unansweredRetryDelaySeconds: 0.01 }, (host) => host.lines.length > 0, {
    both: { retryDelaySeconds: HOUR_S },
    dead: true,
    pages: () => ({}),
  }),
  // The first attempt fetches robots.txt.
  row({ lostMaxRetries: 3 }, (host) => host.count('/') === 2, { pages: () => ({ '/': lost }) }),
  row({ lostRetryDelaySeconds: HOUR_S }, (host) => host.count('/') === 1, {
    both: { retryDelaySeconds: HOUR_S },
    pages: () => ({ '/': lost }),
  }),
  row({ busyMaxRetries: 3 }, (host) => host.count('/') === 2, { pages: () => ({ '/': failing(99, 503) }) }),
  row({ busyRetryDelaySeconds: HOUR_S }, (host) => host.count('/') === 1, {
    both: { retryDelaySeconds: HOUR_S },
    pages: () => ({ '/': failing(99, 503) }),
  }),
  row({ serverFailures: 1 }, (host) => !host.fetched('/b'), {
    both: { busyRetryDelaySeconds: HOUR_S, retryDelaySeconds: HOUR_S },
    pages: () => ({ ...TWO(), '/': page('Start', ['/bad', '/b']), '/bad': failing(99, 503) }),
  }),
  row(
    { queueAssignment: 'bucket' },
    (host) => !host.queuesAtStart.some(({ classKey }) => classKey.includes('127.')),
  ),
  row({ forceQueue: 'forced' }, (host) => host.queuesAtStart.some(({ classKey }) => classKey === 'forced')),
  row({ parallelQueues: 8 }, (host) => host.queuesAtStart.length > 1, {
    leaves: [...'abcdefghijkl'].map((segment) => `/${segment}/1`),
  }),
  row(
    { parallelQueuesBy: 'uri' },
    (host) => host.queuesAtStart.filter(({ lastQueued }) => /\/a\//.test(lastQueued)).length > 1,
    { both: { parallelQueues: 8 }, leaves: Array.from({ length: 12 }, (_, i) => `/a/${i}`) },
  ),
  row({ costPolicy: 'zero' }, (host) => host.fetched('/c'), { both: { queueTotalBudget: 2 }, pages: FOUR }),
  row({ uriPrecedence: 'base' }, (host) => host.before('/x?q=1', '/y'), {
    both: { costPolicy: 'wag' },
    pages: () => ({ '/': page('Start', ['/x?q=1', '/y']), '/x?q=1': page('X', []), '/y': page('Y', []) }),
  }),
  row(
    { queuePrecedence: 'success-counts' },
    (host) => host.queuesAtEnd.some(({ precedence }) => precedence === 4),
    {
      both: { serverFailures: 1, busyRetryDelaySeconds: HOUR_S, retryDelaySeconds: HOUR_S },
      // CRAWL-9.11: 100 successes change it.
      pages: () => ({
        '/': page('Start', [...Array.from({ length: 101 }, (_, i) => `/${i}`), '/busy']),
        ...Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`/${i}`, page('Page', [])])),
        '/busy': failing(99, 503),
      }),
    },
  ),
  row({ preferenceEmbedHops: 0 }, (host) => host.before('/a', '/b'), {
    pages: () => ({ ...FOUR(), '/': '<a href="/a">a</a><iframe src="/b"></iframe>' }),
  }),
  row({ preferenceDepthHops: 2 }, (host) => host.before('/b', '/frame'), {
    // CRAWL-2.6: the frame is too deep for the preference, which precedes that of embeds.
    pages: () => ({ ...FOUR(), '/a': '<iframe src="/frame"></iframe>', '/frame': page('Frame', []) }),
  }),
  row(
    { balanceReplenishAmount: 7 },
    (host) => host.queuesAtEnd.some(({ sessionBalance }) => sessionBalance <= 7),
    {
      both: { serverFailures: 1, busyRetryDelaySeconds: HOUR_S, retryDelaySeconds: HOUR_S },
      pages: () => ({ ...FOUR(), '/c': failing(99, 503) }),
    },
  ),
  row({ errorPenaltyAmount: 0 }, (host) => host.fetched('/b'), {
    both: { queueTotalBudget: 50, lostMaxRetries: 1 },
    pages: () => ({ ...FOUR(), '/': page('Start', ['/a', '/b']), '/a': lost }),
  }),
  row({ queueTotalBudget: 2 }, (host) => !host.fetched('/c'), { pages: FOUR }),
  row({ seenRules: ['Lowercase'] }, (host) => host.fetched('/A') && !host.fetched('/a'), {
    pages: () => ({ ...FOUR(), '/': page('Start', ['/A', '/a']), '/A': page('A', []) }),
  }),
  row(
    { maxUrisPerPattern: 2 },
    (host) => host.site.paths.filter((path) => /^\/p\d$/.test(path)).length === 2,
    { pages: () => ({ '/': page('Start', ['/p1', '/p2', '/p3', '/p4']) }) },
  ),
  row({ maxPathRepetitions: 0 }, (host) => host.fetched('/r/r/r/x'), {
    pages: () => ({ '/': page('Start', ['/r/r/r/x']) }),
  }),
  row({ maxOutlinks: 1 }, (host) => host.annotated('dol:2') && !host.fetched('/b'), { pages: FOUR }),
  row({ maxRedirects: 1 }, (host) => !host.fetched('/2'), {
    pages: () => ({ '/': redirect('/1'), '/1': redirect('/2'), '/2': page('End', []) }),
  }),
  row({ embeds: 'root' }, (host) => host.fetched('/i.png'), {
    pages: () => ({ '/': page('Start', [], '<img src="/i.png">') }),
  }),
  row(
    { maxTransHops: 1 },
    ({ elsewhere }) => elsewhere.paths.includes('/s.css') && !elsewhere.paths.includes('/i.png'),
    {
      both: { embeds: 'any' },
      pages: (elsewhere) => ({ '/': page('Start', [], `<link rel="stylesheet" href="${elsewhere}/s.css">`) }),
      elsewhere: {
        '/s.css': (_, response) =>
          void response.writeHead(200, { 'content-type': 'text/css' }).end('body { background: url(i.png) }'),
      },
    },
  ),
  row(
    { maxSpeculativeHops: 0 },
    ({ elsewhere }) => elsewhere.paths.includes('/i.png') && !elsewhere.paths.includes('/guess.html'),
    {
      both: { embeds: 'any' },
      pages: (elsewhere) => ({
        '/': page(
          'Start',
          [],
          `<script>load("${elsewhere}/guess.html");</script><img src="${elsewhere}/i.png">`,
        ),
      }),
    },
  ),
  row({ urlForm: 'clean' }, (host) => host.fetched('/~user/') && !host.fetched('/%7euser/'), {
    both: { embeds: 'root' },
    pages: () => ({
      '/': page('Start', ['/~user/']),
      '/~user/': page('User', []),
      '/%7euser/': page('User', []),
    }),
  }),
  row({ lenientHttp: false }, (host) => host.status('/') === -3, {
    pages: () => ({
      '/': (request) =>
        void request.socket.end(
          'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\n<p>text</p>',
        ),
    }),
  }),
  row({ cookies: true }, (host) => host.header('/b', 'cookie') === 'a=1', {
    pages: () => ({
      ...TWO(),
      '/': (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=1' })
          .end(page('Start', ['/b'])),
    }),
  }),
  row({ sendReferer: true }, (host) => host.header('/b', 'referer') === `${host.url}/`),
  row({ requestHeaders: { 'X-Row': 'seen' } }, (host) => host.header('/', 'x-row') === 'seen'),
  row({}, ({ elsewhere, site, url }) => elsewhere.paths.includes(`${url}/`) && site.paths.length === 0, {
    key: 'settings.proxy',
    setElsewhere: (proxy) => ({ proxy }),
  }),
  row(
    { proxyLoginEnvironment: PROXY_LOGIN },
    ({ elsewhere }) =>
      elsewhere.requests.length > 0 &&
      elsewhere.requests.every(({ headers }) => headers['proxy-authorization'] !== undefined),
    { both: (proxy) => ({ proxy }) },
  ),
  row({ robotsPolicy: 'ignore' }, (host) => host.fetched('/b'), { pages: robots(FORBIDS_B) }),
  row({ robotsAnswers: 'original' }, (host) => host.fetched('/b'), {
    pages: () => ({ ...TWO(), '/robots.txt': failing(99, 500) }),
  }),
  row({ customRobots: FORBIDS_B }, (host) => host.fetched('/') && !host.fetched('/b'), {
    both: { robotsPolicy: 'custom', customRobots: 'User-agent: *\nDisallow:\n' },
  }),
  row({ userAgents: ['friend'] }, (host) => host.fetched('/b'), {
    both: { robotsPolicy: 'most-favored-set', userAgents: ['stranger'] },
    pages: robots(FAVORS),
  }),
  row({ masquerade: true }, (host) => host.header('/b', 'user-agent')?.includes('friend') === true, {
    both: { robotsPolicy: 'most-favored-set', userAgents: ['friend'] },
    pages: robots(FAVORS),
  }),
  row({ robotsUnreachable: 'allow' }, (host) => host.fetched('/b'), {
    both: { maxRetries: 10 },
    pages: () => ({ ...TWO(), '/robots.txt': failing(99, 503) }),
  }),
  row({ calculateRobotsOnly: true }, (host) => host.fetched('/b') && host.annotated('robotExcluded'), {
    pages: robots(FORBIDS_B),
  }),
  row({ robotsValiditySeconds: 1 }, (host) => host.count('/robots.txt') > 1, {
    pages: () => ({ ...TWO(), '/': late(1200, page('Start', ['/b'])) }),
  }),
  row({ digestStripPattern: '[0-9]+ hits' }, (host) => host.line('/a')?.digest === host.line('/b')?.digest, {
    pages: () => ({ ...FOUR(), '/a': '<p>5 hits</p>', '/b': '<p>6 hits</p>' }),
  }),
  row({ digestStripMaxKB: 0 }, (host) => host.line('/a')?.digest !== host.line('/b')?.digest, {
    both: { digestStripPattern: '[0-9]+ hits' },
    pages: () => ({ ...FOUR(), '/a': '<p>5 hits</p>', '/b': '<p>6 hits</p>' }),
  }),
  // On a slow machine the first page comes too late itself.
  row({ runtimeSeconds: 1 }, (host) => host.status('/b') === -5004 || host.status('/') === -5004, {
    both: { runtimeOperation: 'block' },
    pages: () => ({ ...TWO(), '/': late(1200, page('Start', ['/b'])) }),
  }),
  row({ quotaForceRetire: false }, (host) => host.status('/b') === -5003, {
    both: { quotas: { hostMaxSuccesses: 1 } },
  }),
  row({ blockAll: true }, (host) => host.status('/') === -5001),
  row({ blockPattern: '.*/b' }, (host) => host.status('/b') === -5001 && host.status('/') === 200),
  row({ allowPattern: '.*/' }, (host) => host.status('/b') === -5001 && host.status('/') === 200),
  ...(['server', 'host', 'group'] as const).flatMap((subject) =>
    (['MaxSuccesses', 'MaxSuccessKB', 'MaxResponses', 'MaxAllKB'] as const).map((limit): HostRow => {
      const quota = `${subject}${limit}` as const;
      return {
        key: `settings.quotas.${quota}`,
        // The first page is larger than a kilobyte; with robots.txt it is the second response.
        set: { quotas: { [quota]: 1 } },
        both: { quotaForceRetire: false },
        pages: () => ({ ...TWO(), '/': page('Start', ['/b'], KILOBYTES) }),
        shows: (host) => host.status('/b') === -5003 && host.annotated(`Q:${quota}`),
      };
    }),
  ),
];
