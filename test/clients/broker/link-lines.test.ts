// Which lines of a text are links.
import t from 'tap';
import { kindOfLine, sortLines } from '../../../clients/broker/link-lines.js';

t.test('rows of links: pagers, paths, links to the pages before and after', async (t) => {
  for (const line of [
    'Prev Up Chapter 9 Home Next',
    'Prev Up Next',
    'Previous | Next',
    '« Previous | Next »',
    'Next: Thread Safety, Previous: The Closure API, Up: Using libffi [Index]',
    '<< 3. Using and understanding the Valgrind core: Advanced Topics Up 5. Cachegrind: a profiler >>',
    '← Older posts Newer posts →',
    'Home > Manual > Chapter 9',
    'Home » Manual » Server Administration » Vacuuming',
    'Docs › Guides › Getting started',
    'Home / Products / Garden tools',
    'News | Sport | Weather | Video',
    'home · about · contact',
    'modules • index • next',
    '1 2 3 ... 10',
    'Page 1 2 3 4 … 20 Next',
    '« 1 | 2 | 3 | 4 »',
    '[1] [2] [3] [4]',
    'Zurück Weiter',
    'Zurück Nach oben Weiter',
    'Précédent Sommaire Suivant',
    'Página anterior Página siguiente',
    'Назад Содержание Вперед',
    'السابق التالي',
    'הקודם הבא',
    '上一页 目录 下一页',
    '首页 > 文档 > 教程',
    '前へ 次へ',
    '٠ ١ ٢ ٣',
  ])
    t.equal(kindOfLine(line), 'chain', line);
});

t.test('labels: headings, entries of menus in a row', async (t) => {
  for (const line of [
    'Downloads Gopher Support',
    'Chapter 25. Routine Database Maintenance Tasks Home 25.2. Routine Reindexing',
    '25.1.1. Vacuuming Basics',
    'Search Documentation Search Changelog',
    'Startseite Über uns Kontakt Impressum',
    'Главная Новости Контакты',
    '产品 新闻 支持 联系我们',
  ])
    t.equal(kindOfLine(line), 'label', line);
});

t.test('text', async (t) => {
  for (const line of [
    'A quick fox jumps over a lazy dog.',
    'The next and previous pages are read ahead',
    'Next, the previous page is written back to its home.',
    'Gopher, Veronica, Archie',
    'About the gopher',
    'All about gopher holes and tools.',
    'VACUUM reclaims storage occupied by dead tuples.',
    'If a > b then b < a.',
    'cat access.log | grep vacuum | wc -l',
    'SELECT a || b FROM t WHERE a > 5;',
    'In 1995, 12 servers were in use.',
    'Wie man Häuser baut, die Stürmen trotzen',
    'Индексы и таблицы занимают место',
    '数据库需要定期清理，以便重新使用磁盘空间。',
    'これは文です。',
    'قاعدة البيانات تحتاج إلى صيانة دورية',
    '',
    '...',
    'x'.repeat(400),
    `Home > ${'Manual > '.repeat(60)}`,
  ])
    t.equal(kindOfLine(line), 'text', line);
});

t.test('short lines in a row are entries of a menu; one of them among text is text', async (t) => {
  const menu = ['about us', 'gopher holes', 'tools', 'All about gopher holes and tools.'];
  t.same(sortLines(menu, true), { text: menu.slice(3), withLabels: menu, all: menu });
  const wrapped = ['Nothing of interest is said here.', 'about the gopher', 'of Minnesota.'];
  t.same(sortLines(wrapped, true).text, wrapped);
  t.same(sortLines(['gopher holes', menu[3]!, '1 2 3 4'], false), {
    text: [menu[3]],
    withLabels: ['gopher holes', menu[3]],
    all: ['gopher holes', menu[3], '1 2 3 4'],
  });
});
