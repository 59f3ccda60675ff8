// The page that compares implementations: tables, failures, data for the next run, and texts of a hostile peer.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import {
  addRun,
  type CaseResult,
  htmlReport,
  type ReportedRun,
  runsOf,
} from '../../../clients/conformance/index.js';
import { cli } from '../../helpers/cli.js';

function result(id: string, verdict: CaseResult['verdict'], more: Partial<CaseResult> = {}): CaseResult {
  const described = {
    suite: 'sample',
    id,
    title: `title of ${id}`,
    rules: ['SOIF-2.3'],
    source: 'template.c',
  } as const;
  return { ...described, basis: 'client', level: 'MUST', verdict, transcript: [], milliseconds: 1, ...more };
}

const run = (name: string, results: readonly CaseResult[], suite = 'sample'): ReportedRun => ({
  suite,
  name,
  target: 'localhost:1',
  date: '2026-11-29',
  results,
});

const HOSTILE = '</script><script>alert(1)</script>"\'&\u0000\ud800';

t.test('a page has a column for each implementation, and gives back its runs', async (t) => {
  const first = run('one', [
    result('a/b', 'pass'),
    result('a/c', 'fail', {
      basis: 'choice',
      message: 'no',
      expected: '1',
      received: '2',
      statements: ['SOIF-2.3: It is.'],
    }),
  ]);
  const second = run('two', [result('a/b', 'skip', { message: 'too small' }), result('a/d', 'pass')]);
  const page = htmlReport(addRun([second], first));
  t.match(page, '<th scope="col">one<br>');
  t.match(page, '<th scope="col">two<br>');
  t.ok(page.indexOf('>one<br>') < page.indexOf('>two<br>'), 'columns by name');
  t.match(page, '<td class="fail"><a href="#sample-0-a/c">fail</a></td><td class="skip">not run</td>');
  t.match(page, 'id="sample-0-a/c"');
  t.match(page, '<dt>rule</dt><dd>SOIF-2.3: It is.</dd>');
  t.match(page, 'a choice of this project');
  t.match(page, '<td class="skip" title="too small">skip</td>');
  t.same(runsOf(page), [first, second]);
});

t.test('a run replaces that of the same suite and name', async (t) => {
  const old = [run('one', [result('a/b', 'fail')]), run('one', [result('x/y', 'pass')], 'other')];
  const runs = addRun(old, run('one', [result('a/b', 'pass')]));
  t.same(
    runs.map(({ suite, name, results }) => [suite, name, results[0]?.verdict]),
    [
      ['other', 'one', 'pass'],
      ['sample', 'one', 'pass'],
    ],
  );
});

t.test('texts of a peer are texts', async (t) => {
  const hostile = run(HOSTILE, [
    result('a/b', 'fail', {
      message: HOSTILE,
      received: HOSTILE,
      transcript: [{ direction: 'received', text: HOSTILE }],
    }),
    result('a/c', 'skip', { message: HOSTILE }),
  ]);
  const page = htmlReport([hostile]);
  t.equal(page.split('<script').length, 2, 'one script element, that of the data');
  t.notMatch(page, 'alert(1)</script><');
  t.match(runsOf(page), [{ name: HOSTILE }]);
});

t.test('another file is no report', async (t) => {
  const page = htmlReport([run('one', [])]);
  for (const other of ['', '<html></html>', page.replace('[{', '[{{'), page.replace('"suite"', '"suit"')])
    t.equal(runsOf(other), undefined);
});

t.test('`harvest conformance --html` writes a page, adds to it, and leaves other files alone', async (t) => {
  const folder = t.testdir({
    'a.soif': '@FILE { http://a.example/\ntitle{1}:\tx\n}\n',
    'other.html': '<p>mine</p>',
  });
  const html = `${folder}/report.html`;
  const test = async (...options: string[]) =>
    await cli('conformance', 'soif', `${folder}/a.soif`, ...options);
  t.equal((await test('--html', html, '--name', 'first')).code, 0);
  t.equal((await test('--html', html, '--name', 'second')).code, 0);
  t.match(runsOf(await readFile(html, 'utf8')), [{ name: 'first', suite: 'soif' }, { name: 'second' }]);
  const refused = await test('--html', `${folder}/other.html`);
  t.equal(refused.code, 2);
  t.match(refused.stderr, 'is not a report of this command');
  t.equal(await readFile(`${folder}/other.html`, 'utf8'), '<p>mine</p>');
});
