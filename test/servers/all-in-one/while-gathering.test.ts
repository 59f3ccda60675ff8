// The pages of `harvest run` while it gathers: what is there can be searched, and how far it is.
import { load } from 'cheerio';
import t from 'tap';
import { ANY_PORTS, CliProcess } from '../../helpers/cli.js';
import { gate } from '../../helpers/gate.js';
import { page, Site } from '../../helpers/site.js';
import { waitUntil } from '../../helpers/wait-until.js';

interface Health {
  readonly objects: number;
  readonly gathering?: { readonly done: number; readonly known: number; readonly text: string };
}

const PAGES = 60;

t.test('its pages are open at once, can be searched while it gathers, and outlive kill -9', async (t) => {
  const released = gate();
  const names = Array.from({ length: PAGES }, (_, i) => `/p${i}.html`);
  await using site = await Site.start({
    // The held page is the last of the site's queue.
    '/': page('Start', [...names, '/held.html'], 'The entrance.'),
    ...Object.fromEntries(names.map((name, i) => [name, page(`Page ${i}`, [], 'Here grows wheat.')])),
    '/held.html': (_, response) => {
      void released.opened.then(() =>
        response.setHeader('content-type', 'text/html').end(page('Rye', [], 'Rye.')),
      );
    },
  });
  const args = ['run', `${site.url}/`, '--data', t.testdir(), ...ANY_PORTS];
  const start = async (): Promise<{ readonly program: CliProcess; readonly url: string }> => {
    const program = new CliProcess(args);
    t.teardown(() => program.kill('SIGKILL'));
    const [, url = ''] = await program.output(
      /^(\S+) can be searched while documents are gathered/m,
      'stderr',
    );
    return { program, url };
  };
  const health = async (url: string): Promise<Health> =>
    (await (await fetch(`${url}healthz`)).json()) as Health;
  const search = async (url: string, query: string, format = 'html'): Promise<string> => {
    const fields = new URLSearchParams({ query, format });
    return await (await fetch(`${url}Harvest/cgi-bin/BrokerQuery.cgi?${fields}`)).text();
  };

  const { program, url } = await start();
  await waitUntil(async () => (await health(url)).gathering?.done === PAGES + 1);
  await waitUntil(async () => /"listed": [1-9]/.test(await search(url, 'wheat', 'json')));
  t.same((await health(url)).gathering, {
    done: PAGES + 1,
    known: PAGES + 2,
    text: `Gathering: ${PAGES + 1} of ${PAGES + 2} documents.`,
  });
  const lineOf = (text: string): string => load(text)('#gathering').text();
  const line = `Gathering: ${PAGES + 1} of ${PAGES + 2} documents. What has been gathered so far can be searched.`;
  t.equal(lineOf(await (await fetch(url)).text()), line, 'without a script, too');
  t.match(await search(url, 'wheat'), /objects found/);
  t.equal(lineOf(await search(url, 'wheat')), line);
  const nothing = await search(url, 'rye');
  t.match(nothing, /Nothing found/);
  t.match(nothing, /may not have been gathered yet/);
  t.match(JSON.parse(await search(url, 'rye', 'json')), { listed: 0, gathering: { known: PAGES + 2 } });
  t.notMatch(program.stdout, /ready/, 'the line for programs comes when everything is there');
  program.kill('SIGKILL');
  await program.finished;

  const again = await start();
  t.ok((await health(again.url)).objects >= 50, 'what was published is there at once');
  released.open();
  await again.program.output(/^ready gatherd/m);
  t.strictSame(await health(again.url), { status: 'ok', objects: PAGES + 2 });
  t.equal(lineOf(await (await fetch(again.url)).text()), '');
  t.match(await search(again.url, 'rye'), /1 object found/);
  t.match(again.program.stderr, /^Continued: /m);
  again.program.kill('SIGTERM');
  t.equal((await again.program.finished).code, 0);
});

t.test('a directory is gathered by its file URLs, and its results open in a browser', async (t) => {
  const site = t.testdir({
    docs: { 'wheat.html': page('Wheat', [], 'Here grows wheat.'), 'rye.txt': 'Wheat and rye.\n' },
    data: {},
  });
  const program = new CliProcess(['run', `${site}/docs`, '--data', `${site}/data`, ...ANY_PORTS]);
  t.teardown(() => program.kill('SIGKILL'));
  const [, url = ''] = await program.output(/web=(\S+)/);
  const search = async (format: string): Promise<string> =>
    await (await fetch(`${url}Harvest/cgi-bin/BrokerQuery.cgi?query=wheat&format=${format}`)).text();
  const $ = load(await search('html'));
  const links = $('.results h2 a')
    .map((_, a) => $(a).attr('href') ?? '')
    .get();
  t.equal(links.length, 2);
  for (const link of links) t.match(await (await fetch(link)).text(), /wheat/i, link);
  t.match(
    $('.results .url').text(),
    /^file:\/\/localhost\/.*wheat\.html/,
    'the URL of the object does not depend on a port',
  );
  const feed = load(await search('rss'), { xml: true });
  t.same(
    feed('item > link')
      .map((_, item) => feed(item).text())
      .get()
      .sort(),
    [...links].sort(),
  );
  t.match(JSON.parse(await search('json')), { objects: [{ url: /^file:\/\/localhost\// }] });
  program.kill('SIGTERM');
  t.equal((await program.finished).code, 0);
});
