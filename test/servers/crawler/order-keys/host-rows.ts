// The settings of a URI that one host shows: a row for each.

import type { Page } from '../../../helpers/site.js';
import { page } from '../../../helpers/site.js';
import type { HostRow } from './hosts.js';

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

export const HOST_ROWS: readonly HostRow[] = [
  {
    key: 'settings.delayFactor',
    set: { delayFactor: 1e9 },
    pages: () => ({ ...TWO(), '/': late(20, page('Start', ['/b'])) }),
    shows: (host) => !host.fetched('/b'),
  },
  {
    key: 'settings.minDelayMs',
    set: { minDelayMs: HOUR_MS },
    pages: TWO,
    shows: (host) => !host.fetched('/b'),
  },
  {
    key: 'settings.maxDelayMs',
    set: { maxDelayMs: 5 },
    both: { delayFactor: 1e9 },
    pages: () => ({ ...TWO(), '/': late(20, page('Start', ['/b'])), '/robots.txt': late(20, '') }),
    shows: (host) => host.fetched('/b'),
  },
  {
    key: 'settings.respectCrawlDelayUpToSecs',
    set: { respectCrawlDelayUpToSecs: 0.01 },
    pages: robots('User-agent: *\nCrawl-delay: 3600\n'),
    shows: (host) => host.fetched('/b'),
  },
  {
    key: 'settings.maxPerHostBandwidthKBs',
    set: { maxPerHostBandwidthKBs: 0.0001 },
    pages: TWO,
    shows: (host) => !host.fetched('/b'),
  },
  {
    key: 'settings.bandwidthReading',
    set: { bandwidthReading: 'maximum' },
    both: { maxPerHostBandwidthKBs: 0.1 },
    pages: () => ({ ...TWO(), '/': page('Start', ['/b'], KILOBYTES) }),
    shows: (host) => host.fetched('/b'),
  },
  {
    key: 'settings.respectRetryAfterUpToSecs',
    set: { respectRetryAfterUpToSecs: 0.01 },
    pages: () => ({ '/': failing(1, 503, { 'retry-after': '3600' }) }),
    shows: (host) => host.status('/') === 200,
  },
  {
    key: 'settings.fetchSeconds',
    set: { fetchSeconds: 0.7 },
    pages: () => ({
      '/': (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write(page('Slow', []));
        setTimeout(() => response.end(), 2500);
      },
    }),
    shows: (host) => host.annotated('timeTrunc'),
  },
  {
    key: 'settings.maxRetries',
    set: { maxRetries: 2 },
    dead: true,
    pages: () => ({}),
    shows: (host) => host.annotated('2t'),
  },
  {
    key: 'settings.retryDelaySeconds',
    set: { retryDelaySeconds: HOUR_S },
    dead: true,
    pages: () => ({}),
    shows: (host) => host.lines.length === 0,
  },
  {
    key: 'settings.lostMaxRetries',
    // The first attempt fetches robots.txt.
    set: { lostMaxRetries: 3 },
    pages: () => ({ '/': lost }),
    shows: (host) => host.count('/') === 2,
  },
  {
    key: 'settings.lostRetryDelaySeconds',
    set: { lostRetryDelaySeconds: HOUR_S },
    both: { retryDelaySeconds: HOUR_S },
    pages: () => ({ '/': lost }),
    shows: (host) => host.count('/') === 1,
  },
  {
    key: 'settings.busyMaxRetries',
    set: { busyMaxRetries: 3 },
    pages: () => ({ '/': failing(99, 503) }),
    shows: (host) => host.count('/') === 2,
  },
  {
    key: 'settings.busyRetryDelaySeconds',
    set: { busyRetryDelaySeconds: HOUR_S },
    both: { retryDelaySeconds: HOUR_S },
    pages: () => ({ '/': failing(99, 503) }),
    shows: (host) => host.count('/') === 1,
  },
  {
    key: 'settings.serverFailures',
    set: { serverFailures: 1 },
    both: { busyRetryDelaySeconds: HOUR_S, retryDelaySeconds: HOUR_S },
    pages: () => ({ ...TWO(), '/': page('Start', ['/bad', '/b']), '/bad': failing(99, 503) }),
    shows: (host) => !host.fetched('/b'),
  },
  {
    key: 'settings.queueAssignment',
    set: { queueAssignment: 'bucket' },
    pages: TWO,
    shows: (host) => !host.queuesAtStart.some(({ classKey }) => classKey.includes('127.')),
  },
  {
    key: 'settings.forceQueue',
    set: { forceQueue: 'forced' },
    pages: TWO,
    shows: (host) => host.queuesAtStart.some(({ classKey }) => classKey === 'forced'),
  },
  {
    key: 'settings.parallelQueues',
    set: { parallelQueues: 8 },
    leaves: [...'abcdefghijkl'].map((segment) => `/${segment}/1`),
    pages: TWO,
    shows: (host) => host.queuesAtStart.length > 1,
  },
  {
    key: 'settings.parallelQueuesBy',
    set: { parallelQueuesBy: 'uri' },
    both: { parallelQueues: 8 },
    leaves: Array.from({ length: 12 }, (_, i) => `/a/${i}`),
    pages: TWO,
    shows: (host) => host.queuesAtStart.filter(({ lastQueued }) => /\/a\//.test(lastQueued)).length > 1,
  },
  {
    key: 'settings.costPolicy',
    set: { costPolicy: 'zero' },
    both: { queueTotalBudget: 2 },
    pages: FOUR,
    shows: (host) => host.fetched('/c'),
  },
  {
    key: 'settings.uriPrecedence',
    set: { uriPrecedence: 'base' },
    both: { costPolicy: 'wag' },
    pages: () => ({ '/': page('Start', ['/x?q=1', '/y']), '/x?q=1': page('X', []), '/y': page('Y', []) }),
    shows: (host) => host.before('/x?q=1', '/y'),
  },
  {
    key: 'settings.queuePrecedence',
    set: { queuePrecedence: 'success-counts' },
    both: { serverFailures: 1, busyRetryDelaySeconds: HOUR_S, retryDelaySeconds: HOUR_S },
    // CRAWL-9.11: 100 successes change it.
    pages: () => ({
      '/': page('Start', [...Array.from({ length: 101 }, (_, i) => `/${i}`), '/busy']),
      ...Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`/${i}`, page('Page', [])])),
      '/busy': failing(99, 503),
    }),
    shows: (host) => host.queuesAtEnd.some(({ precedence }) => precedence === 4),
  },
  {
    key: 'settings.preferenceEmbedHops',
    set: { preferenceEmbedHops: 0 },
    pages: () => ({ ...FOUR(), '/': '<a href="/a">a</a><iframe src="/b"></iframe>' }),
    shows: (host) => host.before('/a', '/b'),
  },
  {
    key: 'settings.preferenceDepthHops',
    set: { preferenceDepthHops: 2 },
    // CRAWL-2.6: the frame is too deep for the preference, which precedes that of embeds.
    pages: () => ({ ...FOUR(), '/a': '<iframe src="/frame"></iframe>', '/frame': page('Frame', []) }),
    shows: (host) => host.before('/b', '/frame'),
  },
  {
    key: 'settings.balanceReplenishAmount',
    set: { balanceReplenishAmount: 7 },
    both: { serverFailures: 1, busyRetryDelaySeconds: HOUR_S, retryDelaySeconds: HOUR_S },
    pages: () => ({ ...FOUR(), '/c': failing(99, 503) }),
    shows: (host) => host.queuesAtEnd.some(({ sessionBalance }) => sessionBalance <= 7),
  },
  {
    key: 'settings.errorPenaltyAmount',
    set: { errorPenaltyAmount: 0 },
    both: { queueTotalBudget: 50, lostMaxRetries: 1 },
    pages: () => ({ ...FOUR(), '/': page('Start', ['/a', '/b']), '/a': lost }),
    shows: (host) => host.fetched('/b'),
  },
  {
    key: 'settings.queueTotalBudget',
    set: { queueTotalBudget: 2 },
    pages: FOUR,
    shows: (host) => !host.fetched('/c'),
  },
  {
    key: 'settings.seenRules',
    set: { seenRules: ['Lowercase'] },
    pages: () => ({ ...FOUR(), '/': page('Start', ['/A', '/a']), '/A': page('A', []) }),
    shows: (host) => host.fetched('/A') && !host.fetched('/a'),
  },
  {
    key: 'settings.maxUrisPerPattern',
    set: { maxUrisPerPattern: 2 },
    pages: () => ({ '/': page('Start', ['/p1', '/p2', '/p3', '/p4']) }),
    shows: (host) => host.site.paths.filter((path) => /^\/p\d$/.test(path)).length === 2,
  },
  {
    key: 'settings.maxPathRepetitions',
    set: { maxPathRepetitions: 0 },
    pages: () => ({ '/': page('Start', ['/r/r/r/x']) }),
    shows: (host) => host.fetched('/r/r/r/x'),
  },
  {
    key: 'settings.maxOutlinks',
    set: { maxOutlinks: 1 },
    pages: FOUR,
    shows: (host) => host.annotated('dol:2') && !host.fetched('/b'),
  },
  {
    key: 'settings.maxRedirects',
    set: { maxRedirects: 1 },
    pages: () => ({ '/': redirect('/1'), '/1': redirect('/2'), '/2': page('End', []) }),
    shows: (host) => !host.fetched('/2'),
  },
  {
    key: 'settings.embeds',
    set: { embeds: 'root' },
    pages: () => ({ '/': page('Start', [], '<img src="/i.png">') }),
    shows: (host) => host.fetched('/i.png'),
  },
  {
    key: 'settings.maxTransHops',
    set: { maxTransHops: 1 },
    both: { embeds: 'any' },
    pages: (elsewhere) => ({ '/': page('Start', [], `<link rel="stylesheet" href="${elsewhere}/s.css">`) }),
    elsewhere: {
      '/s.css': (_, response) =>
        void response.writeHead(200, { 'content-type': 'text/css' }).end('body { background: url(i.png) }'),
    },
    shows: ({ elsewhere }) => elsewhere.paths.includes('/s.css') && !elsewhere.paths.includes('/i.png'),
  },
  {
    key: 'settings.maxSpeculativeHops',
    set: { maxSpeculativeHops: 0 },
    both: { embeds: 'any' },
    pages: (elsewhere) => ({
      '/': page(
        'Start',
        [],
        `<script>load("${elsewhere}/guess.html");</script><img src="${elsewhere}/i.png">`,
      ),
    }),
    shows: ({ elsewhere }) => elsewhere.paths.includes('/i.png') && !elsewhere.paths.includes('/guess.html'),
  },
  {
    key: 'settings.urlForm',
    set: { urlForm: 'clean' },
    both: { embeds: 'root' },
    pages: () => ({
      '/': page('Start', ['/~user/']),
      '/~user/': page('User', []),
      '/%7euser/': page('User', []),
    }),
    shows: (host) => host.fetched('/~user/') && !host.fetched('/%7euser/'),
  },
  {
    key: 'settings.lenientHttp',
    set: { lenientHttp: false },
    pages: () => ({
      '/': (request) =>
        void request.socket.end(
          'HTTP/1.1 200 OK\r\nno colon\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<p>text</p>',
        ),
    }),
    shows: (host) => host.status('/') === -3,
  },
  {
    key: 'settings.cookies',
    set: { cookies: true },
    pages: () => ({
      ...TWO(),
      '/': (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=1' })
          .end(page('Start', ['/b'])),
    }),
    shows: (host) => host.header('/b', 'cookie') === 'a=1',
  },
  {
    key: 'settings.sendReferer',
    set: { sendReferer: true },
    pages: TWO,
    shows: (host) => host.header('/b', 'referer') === `${host.url}/`,
  },
  {
    key: 'settings.requestHeaders',
    set: { requestHeaders: { 'X-Row': 'seen' } },
    pages: TWO,
    shows: (host) => host.header('/', 'x-row') === 'seen',
  },
  {
    key: 'settings.proxy',
    set: {},
    setElsewhere: (proxy) => ({ proxy }),
    pages: TWO,
    shows: ({ elsewhere, site, url }) => elsewhere.paths.includes(`${url}/`) && site.paths.length === 0,
  },
  {
    key: 'settings.proxyLoginEnvironment',
    set: { proxyLoginEnvironment: PROXY_LOGIN },
    both: (proxy) => ({ proxy }),
    pages: TWO,
    shows: ({ elsewhere }) =>
      elsewhere.requests.length > 0 &&
      elsewhere.requests.every(({ headers }) => headers['proxy-authorization'] !== undefined),
  },
  {
    key: 'settings.robotsPolicy',
    set: { robotsPolicy: 'ignore' },
    pages: robots(FORBIDS_B),
    shows: (host) => host.fetched('/b'),
  },
  {
    key: 'settings.robotsAnswers',
    set: { robotsAnswers: 'original' },
    pages: () => ({ ...TWO(), '/robots.txt': failing(99, 500) }),
    shows: (host) => host.fetched('/b'),
  },
  {
    key: 'settings.customRobots',
    set: { customRobots: FORBIDS_B },
    both: { robotsPolicy: 'custom', customRobots: 'User-agent: *\nDisallow:\n' },
    pages: TWO,
    shows: (host) => host.fetched('/') && !host.fetched('/b'),
  },
  {
    key: 'settings.userAgents',
    set: { userAgents: ['friend'] },
    both: { robotsPolicy: 'most-favored-set', userAgents: ['stranger'] },
    pages: robots(FAVORS),
    shows: (host) => host.fetched('/b'),
  },
  {
    key: 'settings.masquerade',
    set: { masquerade: true },
    both: { robotsPolicy: 'most-favored-set', userAgents: ['friend'] },
    pages: robots(FAVORS),
    shows: (host) => host.header('/b', 'user-agent')?.includes('friend') === true,
  },
  {
    key: 'settings.robotsUnreachable',
    set: { robotsUnreachable: 'allow' },
    both: { maxRetries: 10 },
    pages: () => ({ ...TWO(), '/robots.txt': failing(99, 503) }),
    shows: (host) => host.fetched('/b'),
  },
  {
    key: 'settings.calculateRobotsOnly',
    set: { calculateRobotsOnly: true },
    pages: robots(FORBIDS_B),
    shows: (host) => host.fetched('/b') && host.annotated('robotExcluded'),
  },
  {
    key: 'settings.robotsValiditySeconds',
    set: { robotsValiditySeconds: 1 },
    pages: () => ({ ...TWO(), '/': late(1200, page('Start', ['/b'])) }),
    shows: (host) => host.count('/robots.txt') > 1,
  },
  {
    key: 'settings.digestStripPattern',
    set: { digestStripPattern: '[0-9]+ hits' },
    pages: () => ({ ...FOUR(), '/a': '<p>5 hits</p>', '/b': '<p>6 hits</p>' }),
    shows: (host) => host.line('/a')?.digest === host.line('/b')?.digest,
  },
  {
    key: 'settings.digestStripMaxKB',
    set: { digestStripMaxKB: 0 },
    both: { digestStripPattern: '[0-9]+ hits' },
    pages: () => ({ ...FOUR(), '/a': '<p>5 hits</p>', '/b': '<p>6 hits</p>' }),
    shows: (host) => host.line('/a')?.digest !== host.line('/b')?.digest,
  },
  {
    key: 'settings.runtimeSeconds',
    set: { runtimeSeconds: 1 },
    both: { runtimeOperation: 'block' },
    pages: () => ({ ...TWO(), '/': late(1200, page('Start', ['/b'])) }),
    // On a slow machine the first page comes too late itself.
    shows: (host) => host.status('/b') === -5004 || host.status('/') === -5004,
  },
  {
    key: 'settings.quotaForceRetire',
    set: { quotaForceRetire: false },
    both: { quotas: { hostMaxSuccesses: 1 } },
    pages: TWO,
    shows: (host) => host.status('/b') === -5003,
  },
  {
    key: 'settings.blockAll',
    set: { blockAll: true },
    pages: TWO,
    shows: (host) => host.status('/') === -5001,
  },
  {
    key: 'settings.blockPattern',
    set: { blockPattern: '.*/b' },
    pages: TWO,
    shows: (host) => host.status('/b') === -5001 && host.status('/') === 200,
  },
  {
    key: 'settings.allowPattern',
    set: { allowPattern: '.*/' },
    pages: TWO,
    shows: (host) => host.status('/b') === -5001 && host.status('/') === 200,
  },
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
