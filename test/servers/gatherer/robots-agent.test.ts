// The names by which robots.txt and pages address a Gatherer: those of the User-Agent that it sends, and
// `harvest` (CRAWL-13.2.10, G-63).
import t, { type Test } from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { type Page, page, Site } from '../../helpers/site.js';

const PATHS = ['/mine', '/harvest', '/others', '/all'];
const ROBOTS = `\ufeffUser-agent: otherbot
Disallow: /others

User-agent: MyArchiveBot
Disallow: /mine

User-Agent: Harvest
Disallow: /harvest

User-agent: *
Disallow: /all
`;

/** Gathers a site with these pages as this agent; returns the paths that it requested, sorted. */
async function gather(
  t: Test,
  agent: string,
  settings: NonNullable<CrawlOrderInput['settings']>,
  pages: Readonly<Record<string, Page>> = {},
): Promise<{ paths: string[]; agents: Set<string> }> {
  await using site = await Site.start({
    '/': page('Start', PATHS),
    ...Object.fromEntries(PATHS.map((path) => [path, page(path, [])])),
    '/robots.txt': ROBOTS,
    ...pages,
  });
  const line = agent === '' ? '' : `HTTP-User-Agent: ${agent}\n`;
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\n${line}<RootNodes>\n${site.url}/ Delay=0\n</RootNodes>\n`;
  await using gatherer = await Gatherer.open({
    directory: t.testdir(),
    config: parseGathererConf(text, 'test.cf', {}).config,
    essenceWorkers: 0,
    order: crawlOrderSchema.parse({ logs: false, settings: { delayFactor: 0, minDelayMs: 0, ...settings } }),
  });
  await gatherer.run(new AbortController().signal);
  const agents = new Set(site.requests.map(({ headers }) => headers['user-agent'] ?? ''));
  return { paths: site.paths.filter((path) => path !== '/').sort(), agents };
}

const without = (...refused: string[]): string[] => PATHS.filter((path) => !refused.includes(path)).sort();

t.test('the group of the agent that is sent is obeyed, in every form of the agent', async (t) => {
  for (const agent of [
    'MyArchiveBot/2.0',
    'myarchivebot',
    'Mozilla/5.0 (compatible; MyArchiveBot/2.0; +http://archive.example/bot)',
    'Other/1.0 MyArchiveBot/2.0 (+http://archive.example/)',
  ]) {
    const classic = await gather(t, agent, {});
    t.same(classic.paths, without('/mine'), `classic: the first name in the file, ${agent}`);
    t.same([...classic.agents], [agent]);
    const rfc = await gather(t, agent, { robotsPolicy: 'rfc9309' });
    t.same(rfc.paths, without('/mine', '/harvest'), `rfc9309: all groups of its names, ${agent}`);
  }
  t.same((await gather(t, '', {})).paths, without('/harvest'), 'the default agent is Harvest');
  t.same((await gather(t, 'Nameless/1.0', {})).paths, without('/harvest'), 'G-63: harvest counts always');
});

t.test('CRAWL-13.4, 13.6: every policy decides by the agent that is sent', async (t) => {
  const agent = 'MyArchiveBot/2.0';
  t.same((await gather(t, agent, { robotsPolicy: 'ignore' })).paths, without());
  const customRobots = 'User-agent: myarchivebot\nDisallow: /others\nUser-agent: *\nDisallow: /';
  t.same((await gather(t, agent, { robotsPolicy: 'custom', customRobots })).paths, without('/others'));
  t.same((await gather(t, agent, { robotsPolicy: 'most-favored' })).paths, without());
  const favored: CrawlOrderInput['settings'] = { robotsPolicy: 'most-favored-set', userAgents: ['otherbot'] };
  t.same((await gather(t, agent, favored)).paths, without('/others'));
  const masked = await gather(t, agent, { ...favored, masquerade: true });
  t.same([...masked.agents].sort(), [agent, 'otherbot'], 'robots.txt itself is fetched as the crawler');
  t.same((await gather(t, agent, { robotsPolicy: 'robots-txt-only' })).paths, without('/mine'));
  const first: CrawlOrderInput['settings'] = {
    robotsPolicy: 'first-named',
    userAgents: ['unlisted', 'otherbot'],
  };
  t.same((await gather(t, agent, first)).paths, without('/mine'), 'the file names the crawler');
  const pages = { '/robots.txt': 'User-agent: otherbot\nDisallow: /others\nUser-agent: *\nDisallow: /all\n' };
  t.same((await gather(t, agent, first, pages)).paths, without('/others'), 'it names an agent of the set');
});

t.test('CRAWL-13.6: ignore and robots-txt-only do not obey META nofollow, the others do', async (t) => {
  const meta = '<meta name="robots" content="noindex, nofollow">';
  const pages = {
    '/': `<html><head>${meta}</head><body><a href="/all">x</a></body></html>`,
    '/robots.txt': '',
  };
  for (const [robotsPolicy, followed] of [
    ['ignore', true],
    ['robots-txt-only', true],
    ['classic', false],
    ['rfc9309', false],
  ] as const) {
    const { paths } = await gather(t, 'MyArchiveBot/2.0', { robotsPolicy }, pages);
    t.same(paths, followed ? ['/all'] : [], robotsPolicy);
  }
});

t.test('X-Robots-Tag may name the agent that is sent', async (t) => {
  const answer =
    (tag: string): Page =>
    (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'x-robots-tag': tag })
        .end('<a href="/all">x</a>');
  const pages = (tag: string) => ({ '/': answer(tag), '/robots.txt': '' });
  t.same((await gather(t, 'MyArchiveBot/2.0', {}, pages('myarchivebot: nofollow'))).paths, []);
  t.same((await gather(t, 'MyArchiveBot/2.0', {}, pages('otherbot: nofollow'))).paths, ['/all']);
});
