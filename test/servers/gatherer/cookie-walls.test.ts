// Cookie walls (CRAWL-22.5): a page that redirects to itself, directly or by others, until it gets its cookie.
import t from 'tap';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { gather, unlimitedRoot, urlsOf } from '../../helpers/gather-peers/gather.js';
import { type Page, page, Site } from '../../helpers/site.js';

/** Redirects to `target` and sets a cookie, unless the request has one that matches. */
const wall =
  (cookie: RegExp, target: string, set?: string): Page =>
  ({ headers }, response) => {
    if (cookie.test(headers.cookie ?? ''))
      response.writeHead(200, { 'content-type': 'text/html' }).end(page('Document', []));
    else redirect(target, set)({ headers } as never, response);
  };

const redirect =
  (target: string, set?: string): Exclude<Page, string> =>
  (_, response) =>
    response.writeHead(302, { location: target, ...(set === undefined ? {} : { 'set-cookie': set }) }).end();

/** Crawls a site that links these pages; returns its objects and errors by path, and the number of requests. */
async function crawl(
  directory: string,
  pages: Readonly<Record<string, Page>>,
  links: readonly string[],
  cookies = true,
  maxRedirects = 5,
) {
  await using site = await Site.start({ '/': page('Start', links), ...pages });
  const gathered = await gather(
    directory,
    { roots: [unlimitedRoot(`${site.url}/`)] },
    {
      order: crawlOrderSchema.parse({
        logs: false,
        settings: { cookies, maxRedirects, delayFactor: 0, minDelayMs: 0, retryDelaySeconds: 0.01 },
      }),
    },
  );
  const failed = gathered.events.filter(({ disposition }) => disposition === 'failed');
  const path = (url: string): string => url.slice(site.url.length);
  return {
    objects: urlsOf(gathered)
      .map(path)
      .filter((found) => found !== '/'),
    errors: failed.map(({ url, reason }) => [path(url), reason.replaceAll(site.url, '')]),
    requests: (wanted: string) => site.paths.filter((found) => found === wanted).length,
  };
}

t.test('CRAWL-22.5: a redirect to the same page is followed when its cookies have changed', async (t) => {
  const { objects, errors, requests } = await crawl(
    t.testdir(),
    {
      '/self': wall(/a=1/, '/self', 'a=1'),
      '/bounce': wall(/b=1/, '/gate'),
      '/gate': redirect('/bounce', 'b=1; path=/'),
      '/three': wall(/c=1/, '/three/1'),
      '/three/1': redirect('/three/2', 'c=1; path=/three'),
      '/three/2': redirect('/three'),
      '/steps': ({ headers: { cookie = '' } }, response) => {
        const at = Number(/step=(\d)/.exec(cookie)?.[1] ?? 0);
        if (at === 3) response.writeHead(200, { 'content-type': 'text/html' }).end(page('Steps', []));
        else redirect('/steps', `step=${at + 1}`)({ headers: {} } as never, response);
      },
    },
    ['/self', '/bounce', '/three', '/steps'],
  );
  t.same(errors, []);
  t.same(objects, ['/bounce', '/self', '/steps', '/three']);
  t.same([requests('/self'), requests('/bounce'), requests('/three'), requests('/steps')], [2, 2, 2, 4]);
});

t.test('CRAWL-22.5: redirects that lead back without a document are an error', async (t) => {
  let count = 0;
  const pages: Readonly<Record<string, Page>> = {
    '/loop': redirect('/loop'),
    '/ping': redirect('/pong'),
    '/pong': redirect('/ping'),
    '/elsewhere': redirect('/elsewhere', 'd=1; path=/other'),
    '/counter': (_, response) => redirect('/counter', `n=${++count}`)({ headers: {} } as never, response),
  };
  const { objects, errors, requests } = await crawl(t.testdir(), pages, Object.keys(pages));
  t.same(objects, []);
  const reasons = new Map(errors.map(([path, reason]) => [path, reason]));
  t.match(reasons.get('/loop'), /lead back to \/loop/);
  t.match(reasons.get('/ping') ?? reasons.get('/pong'), /lead back to \/p[io]ng/);
  t.match(reasons.get('/elsewhere'), /lead back to \/elsewhere/);
  t.match(reasons.get('/counter'), /redirects in a row/);
  t.same([requests('/loop'), requests('/elsewhere'), requests('/counter')], [1, 1, 6]);
  t.ok(requests('/ping') + requests('/pong') <= 3);
});

t.test('CRAWL-22.5: without cookies a wall is an error that names the setting', async (t) => {
  const { errors, requests } = await crawl(
    t.testdir(),
    { '/self': wall(/a=1/, '/self', 'a=1') },
    ['/self'],
    false,
  );
  t.match(errors, [['/self', /settings\.cookies/]]);
  t.equal(requests('/self'), 1);
});

t.test('CRAWL-22.5: a fragment of a redirect is no other page, and a refresh is a link', async (t) => {
  const { objects, errors, requests } = await crawl(
    t.testdir(),
    {
      '/self': wall(/a=1/, '/self#top', 'a=1'),
      '/bounce': wall(/b=1/, '/gate#in'),
      '/gate': redirect('/bounce#out', 'b=1; path=/'),
      '/loop': redirect('/loop#again'),
      '/refresh': '<title>Refresh</title><meta http-equiv=refresh content="0; url=/target#part">text',
      '/target': '<title>Target</title>text<meta http-equiv=refresh content="0; url=/target#other">',
    },
    ['/self', '/bounce', '/loop', '/refresh'],
  );
  t.same(objects, ['/bounce', '/refresh', '/self', '/target']);
  t.match(errors, [['/loop', /lead back to \/loop/]]);
  t.same(['/self', '/bounce', '/loop', '/refresh', '/target'].map(requests), [2, 2, 1, 1, 1]);
});

t.test('CRAWL-22.5: other cookies each time end, with a limit of redirects and without', async (t) => {
  for (const maxRedirects of [5, 3, 0]) {
    let count = 0;
    const next =
      (target: () => string): Page =>
      (_, response) =>
        redirect(target(), `n=${++count}; path=/`)({ headers: {} } as never, response);
    const pages: Readonly<Record<string, Page>> = {
      '/swing': next(() => '/swung'),
      '/swung': next(() => '/swing'),
      '/one': next(() => '/two'),
      '/two': next(() => '/three'),
      '/three': next(() => '/one'),
      '/self': next(() => `/self#${count}`),
    };
    const { objects, errors, requests } = await crawl(
      t.testdir(),
      pages,
      ['/swing', '/one', '/self'],
      true,
      maxRedirects,
    );
    t.same(objects, []);
    for (const path of ['/sw[iu]ng', '/one|/two|/three', '/self'])
      t.ok(
        errors.some(([url, reason]) => new RegExp(`^(?:${path})$`).test(url!) && /redirects/.test(reason!)),
        `${path} is an error`,
      );
    t.ok(
      Object.keys(pages).every((path) => requests(path) <= 8),
      Object.keys(pages).map(requests).join(' '),
    );
  }
});
