// The registries of the specification have the names of the code, no more and no less; its grammar has the lines of
// the logs.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROBOTS_POLICIES } from '../../../protocols/robots/index.js';
import { parseSpecification } from '../../../protocols/specification/index.js';
import { cleanUri, impliedSurtPrefix, QUEUE_POLICIES, surt } from '../../../protocols/urls/index.js';
import { FETCH_STATUS } from '../../../servers/crawler/crawl-uri.js';
import { outcomeOf } from '../../../servers/crawler/dispositions.js';
import { formatJournalLine } from '../../../servers/crawler/journal/journal-line.js';
import { crawlLogLine } from '../../../servers/crawler/logs/crawl-log.js';
import { PROGRESS_LEGEND } from '../../../servers/crawler/logs/progress.js';
import { REPORTS } from '../../../servers/crawler/logs/reports.js';
import { crawlSettingsSchema } from '../../../servers/crawler/order/settings.js';
import { PROCESSORS } from '../../../servers/crawler/processors/table.js';
import { CRAWL_STATES, END_REASONS, QUEUE_STATES, WAIT_REASONS } from '../../../servers/crawler/states.js';
import { SEEN_KINDS } from '../../../storage/seen/index.js';
import { ROOT, textOf } from '../../architecture/sources.js';
import { Grammar } from '../../rules/grammar/grammar.js';
import { EVENT, TIME } from './log-fixtures.js';
import { settingRows } from './setting-rows.js';

const document = textOf('servers/crawler/specification.md');

/** The rows of the table under a heading, without its head and the brackets of links. */
function rowsUnder(heading: string): string[][] {
  const start = document.indexOf(`${heading}\n`);
  const end = document.indexOf('\n#', start + heading.length);
  const lines = document.slice(start, end).split('\n');
  const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
  return rows.map((row) =>
    row
      .replace(/\[([A-Z]+-[\d.]+)\]/g, '$1')
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** The names in backquotes. */
const names = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
/** The names of a cell of the row that begins with this text. */
const namesOf = (heading: string, first: string, cell = 1): string[] =>
  names(rowsUnder(heading).find((row) => row[0]?.startsWith(first))?.[cell]);
const sorted = (list: readonly string[]): string[] => [...list].sort();

t.test(
  'CRAWL-8.1 every status of the code is registered, with the result that the code gives it',
  async (t) => {
    const rows = rowsUnder('### Status codes');
    for (const [name, status] of Object.entries(FETCH_STATUS)) {
      const row = rows.find(([codes]) => names(codes).includes(String(status)));
      t.ok(row, `${name} ${status}`);
    }
    for (const [codes = '', , result = ''] of rows)
      for (const code of names(codes)) {
        const outcome = outcomeOf({ disposition: 'failed', status: Number(code) });
        const expected = { success: 'succeeded', disregarded: 'disregarded' }[result] ?? 'failed';
        t.equal(outcome, expected, code);
      }
  },
);

t.test('CRAWL-16.2 every annotation of the code is registered', async (t) => {
  const registered = rowsUnder('### Annotations').flatMap(([annotation]) => names(annotation));
  const known = (text: string): boolean =>
    registered.some((name) => (/[:]$/.test(name) ? text.startsWith(name) : text === name));
  const found = new Set<string>();
  for (const folder of ['servers/crawler', 'servers/gatherer'])
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      if (!entry.endsWith('.ts')) continue;
      const text = textOf(`${folder}/${entry.replaceAll('\\', '/')}`);
      const pushed = [...text.matchAll(/annotations\.push\(([^;]*)\);|annotation: ([^,}]*)/g)];
      for (const [, one = '', other = ''] of pushed)
        for (const [, word = ''] of (one + other).matchAll(/['`]([a-zA-Z][^'`$]*)/g)) found.add(word);
      for (const [, word = ''] of text.matchAll(/(?:REPEATED|SAME_PAGE|UNCHANGED) = '([^']+)'/g))
        found.add(word);
      for (const [, word = ''] of text.matchAll(/const annotation = `([^$`]+)/g)) found.add(word);
    }
  t.ok(found.size > 15, [...found].join(' '));
  t.same(
    [...found].filter((word) => !known(word)),
    [],
  );
  const line = crawlLogLine({ ...EVENT, attempts: 3, annotations: ['lenTrunc', 'a,b c'] }, TIME);
  t.match(line, / 3t,lenTrunc,a%2Cb%20c$/, 'the attempts first; a comma separates');
});

t.test('the other registries have the names of the code', async (t) => {
  const states = '### States and reasons';
  t.same(sorted(namesOf(states, 'a crawl')), sorted(CRAWL_STATES), 'CRAWL-20.1');
  t.same(sorted(namesOf(states, 'its end')), sorted(END_REASONS), 'CRAWL-20.2');
  t.same(sorted(namesOf(states, 'a queue (')), sorted(QUEUE_STATES));
  t.same(sorted(namesOf(states, 'a queue that')), sorted(WAIT_REASONS));
  const policies = '### Policies of this kit';
  t.same(sorted(namesOf(policies, '`seen`')), sorted(SEEN_KINDS));
  t.same(sorted(namesOf(policies, '`settings.queueAssignment`')), sorted(QUEUE_POLICIES));
  t.same(sorted(namesOf(policies, '`settings.robotsPolicy`')), sorted(ROBOTS_POLICIES));
  for (const setting of ['costPolicy', 'uriPrecedence', 'queuePrecedence'] as const)
    for (const value of namesOf(policies, `\`settings.${setting}\``))
      t.ok(crawlSettingsSchema.safeParse({ [setting]: value }).success, `${setting} ${value}`);
  const files = rowsUnder('### Files').flatMap(([file]) => names(file));
  for (const kind of Object.keys(REPORTS)) t.ok(files.includes(`${kind}-report.txt`), kind);
  t.same(
    rowsUnder('### Processors of this kit').map(([name, chain, , rule]) => [...names(name), chain, rule]),
    PROCESSORS.map(({ name, chain, rule }) => [name, chain, rule]),
    'CRAWL-11.2',
  );
  t.same(rowsUnder('### Settings of this kit'), settingRows(), 'CRAWL-19.5');
  const rules = rowsUnder('### Decide rules of this kit').flatMap(([name]) => names(name));
  const literals = textOf('servers/crawler/decide/rule-config.ts').matchAll(/z\.literal\('([^']+)'\)/g);
  t.same(
    rules,
    [...literals].map(([, name]) => name),
    'CRAWL-10.2.4',
  );
});

t.test('CRAWL-16.1, 17.1.1 the lines of the logs are sentences of the grammar', async (t) => {
  const grammar = new Grammar(parseSpecification(document).grammar);
  const accepts = (rule: string, line: string) => t.ok(grammar.derives(rule, Buffer.from(`${line}\n`)), line);
  accepts('crawl-line', crawlLogLine(EVENT, TIME));
  accepts(
    'crawl-line',
    crawlLogLine({ ...EVENT, status: -9998, bytes: 0, via: '', digest: '', attempts: 2 }, TIME),
  );
  accepts(
    'crawl-line',
    crawlLogLine({ ...EVENT, pathFromSeed: '12+LLE', fetchBegin: 0, contentType: '' }, TIME),
  );
  const seed = { url: 'http://a.test/', pathFromSeed: '', via: '' };
  accepts('journal-line', formatJournalLine({ tag: 'F+', ...seed }));
  accepts(
    'journal-line',
    formatJournalLine({ tag: 'Fs', ...seed, pathFromSeed: 'L', via: 'http://b.test/' }),
  );
  accepts('journal-line', formatJournalLine({ tag: 'Fe', url: seed.url }));
  accepts('journal-line', formatJournalLine({ tag: 'T', time: TIME }));
  accepts('journal-line', formatJournalLine({ tag: 'E', text: 'no space' }));
});

t.test('CRAWL-16.3 the columns end where the rule says', async (t) => {
  const start = document.indexOf('| column | ends at |');
  const rows = document.slice(start, document.indexOf('\n\n', start)).split('\n').slice(3);
  for (const row of rows) {
    const [, name = '', end = ''] = row.split('|').map((cell) => cell.trim());
    t.equal(PROGRESS_LEGEND.slice(0, Number(end)).trimEnd().length, Number(end), name);
    t.ok(PROGRESS_LEGEND.slice(0, Number(end)).endsWith(name), name);
  }
  t.equal(rows.length, 12);
});

/** The lines of the samples of a rule: what is given, and the result, with two or more blanks between them. */
function samplesOf(rule: string): string[][] {
  const [, block = ''] =
    /```text\n([^`]*)```/.exec(document.slice(document.indexOf(`<a id="${rule}"></a>`))) ?? [];
  return block
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
}

t.test('CRAWL-2.1, 15.1, 15.2 the samples of the rules are results', async (t) => {
  const base = 'http://example.com/a/b/x';
  for (const [given = '', result] of samplesOf('CRAWL-2.1')) t.equal(cleanUri(given, base), result, given);
  for (const [given = '', result] of samplesOf('CRAWL-15.1')) t.equal(surt(given), result, given);
  for (const [given = '', result] of samplesOf('CRAWL-15.2'))
    t.equal(impliedSurtPrefix(given), result, given);
});
