// The query that `harvest run` suggests: words of one title, whose first result is that document.
import t from 'tap';
import { chooseTrials, queriesFor } from '../../../servers/all-in-one/trials.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { put } from '../../storage/helpers.js';

const titled = (...titles: string[]) => titles.map((title, i) => ({ url: `http://h/${i}`, title, links: 0 }));
const wordsOf = (...titles: string[]): string[] => queriesFor(titled(...titles)).map(({ words }) => words);

t.test('queries are phrases of titles as a person would type them', (t) => {
  t.same(wordsOf('The Registry File'), ['registry file'], 'without an article');
  t.same(wordsOf('Robots: robots.txt, META elements, X-Robots-Tag'), ['meta elements', 'robots']);
  t.same(wordsOf('One', 'A very long title of many many words', '№ 12', '', "Modules of one's own"), []);
  t.same(wordsOf('Cats and dogs', 'to be or not to be'), [], 'no operators of the query language');
  t.same(wordsOf('Überraschung im Wald'), ['überraschung im wald']);
  t.same(
    wordsOf('Common title', 'Common title', 'Single'),
    ['single'],
    'words of several titles find any of them',
  );
  const pages = Array.from(
    { length: 20 },
    (_, i) => `Chapter ${'abcdefghijklmnopqrst'[i]?.repeat(5)} - Manual`,
  );
  t.same(wordsOf(...pages).slice(0, 2), ['aaaaa', 'bbbbb'], 'without what all titles share');
  const [first] = queriesFor(titled('One word', 'Other words').map((one, links) => ({ ...one, links })));
  t.equal(first?.words, 'other words', 'the document with the most links goes first');
  t.end();
});

t.test('a query is suggested only if its first result is the document', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  for (const { url, title } of titled('First page', 'Second page'))
    await put(store, {
      url,
      updateTime: 1000,
      timeToLive: 50,
      soif: Buffer.from(`@FILE { ${url}\nTitle{${title.length}}:\t${title}\n}\n`),
    });
  const asked: string[] = [];
  const answer = (url: string | undefined) => async (query: string) => {
    asked.push(query);
    return url;
  };
  t.match(await chooseTrials(store.summaries, undefined, answer('http://h/1')), { query: 'second page' });
  t.same(asked, ['first page', 'second page']);
  t.same(await chooseTrials(store.summaries, undefined, answer('http://h/other')), {
    query: undefined,
    linked: undefined,
  });
  t.same(await chooseTrials(store.summaries, undefined, answer(undefined)), {
    query: undefined,
    linked: undefined,
  });
});
