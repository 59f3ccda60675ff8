// The example Gatherers, run as their READMEs describe.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { SectionDecoder, type SoifObject } from '../../protocols/soif/index.js';
import { PROGRAM } from '../helpers/cli.js';

// Each test starts processes, which takes long on a busy machine.
const EXAMPLES = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'examples');

/** Runs an example in a copy of its directory. Returns the exported objects. */
function runExample(t: Test, example: number | string, directory = t.testdir({})): SoifObject[] {
  const name = typeof example === 'number' ? `example-${example}` : example;
  cpSync(join(EXAMPLES, name), directory, { recursive: true });
  const words = [PROGRAM, 'gatherer', '--no-daemon', `${name}.cf`];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: directory, encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.equal(readFileSync(join(directory, 'log.errors'), 'utf8'), '');
  const decoder = new SectionDecoder();
  const stream = gunzipSync(readFileSync(join(directory, 'data/All-Templates.gz')));
  const items = [...decoder.push(stream), ...decoder.end()];
  return items.flatMap((item) => (item.kind === 'object' ? [item.object] : []));
}

function urlsOf(objects: readonly SoifObject[]): string[] {
  return objects.map(({ url }) => url).sort();
}

function objectOf(objects: readonly SoifObject[], url: string): SoifObject {
  const found = objects.find((object) => object.url === url);
  if (found === undefined) throw new Error(`${url} is not exported`);
  return found;
}

t.test("G-164 example 1: a RootNode and a LeafNode; bookkeeping attributes in the sample's order", (t) => {
  const objects = runExample(t, 1);
  t.same(urlsOf(objects), [
    'http://harvest.example.org/Home.html',
    'http://harvest.example.org/replication.html',
    'http://harvest.example.org/reports/IRTF.html',
    'http://harvest.example.org/summaries.html',
  ]);
  const object = objectOf(objects, 'http://harvest.example.org/reports/IRTF.html');
  t.equal(object.type, 'FILE');
  t.same(
    object.attributes.slice(0, 10).map(({ name }) => name),
    (
      'Time-to-Live Last-Modification-Time Refresh-Rate Gatherer-Name Gatherer-Host Gatherer-Version Update-Time Type ' +
      'File-Size MD5'
    ).split(' '),
  );
  t.equal(object.text('Time-to-Live'), '9676800');
  t.equal(object.text('Refresh-Rate'), '2419200');
  t.equal(object.text('Gatherer-Name'), 'Example Gatherer Number 1');
  t.equal(object.text('Gatherer-Version'), '0.4');
  t.equal(object.text('Type'), 'HTML');
  t.equal(
    object.text('URL-References'),
    'http://harvest.example.org/charter.html\nhttp://harvest.example.org/minutes.html\nhttp://harvest.example.org/papers.html\n',
  );
  t.end();
});

t.test('G-165 example 2: an Exploder makes three objects of two files, with URLs of the software', (t) => {
  const objects = runExample(t, 2);
  t.same(urlsOf(objects), [
    'ftp://ftp.example.org/pub/software/gatherlib-1.2.tar.gz',
    'ftp://ftp.example.org/pub/tools/linkcheck.tar.gz',
    'ftp://ftp.example.org/pub/tools/pagecount.tar.gz',
  ]);
  const object = objectOf(objects, 'ftp://ftp.example.org/pub/software/gatherlib-1.2.tar.gz');
  t.equal(object.text('Description'), 'A library that reads summaries\nof documents, and writes them.');
  t.equal(object.text('Gatherer-Name'), 'Example Gatherer Number 2');
  t.equal(object.text('MD5'), undefined, 'G-111');
  t.end();
});

t.test('G-166 example 3: only home pages are exported', (t) => {
  const objects = runExample(t, 3);
  t.same(urlsOf(objects), [
    'http://homes.example.org/Home.html',
    'http://homes.example.org/Welcome.html',
    'http://homes.example.org/garden/index.html',
  ]);
  const garden = objectOf(objects, 'http://homes.example.org/garden/index.html');
  t.equal(garden.text('Type'), 'HomeHTML');
  t.equal(garden.text('Title')?.trim(), 'The garden');
  t.match(garden.text('Partial-Text'), 'Beans, peas and a pear tree.');
  t.end();
});

t.test('G-167 example 4: regular expressions summarize one type (E-65), a program another (E-63)', (t) => {
  const objects = runExample(t, 4);
  const refer = objectOf(objects, 'http://papers.example.org/networks.referbib');
  t.equal(refer.text('Type'), 'ReferBibliographic');
  for (const [name, text] of [
    ['Author', 'A. S. Tanenbaum'],
    ['Title', 'Computer Networks'],
    ['Issuer', 'Prentice Hall'],
    ['City', 'Englewood Cliffs, NJ'],
    ['Date', '1988'],
  ] as const)
    t.match(refer.text(name), text, name);
  t.equal(refer.text('Title'), '%T Computer Networks\n', 'not after the name of the file');
  const abstract = objectOf(objects, 'http://papers.example.org/gathering.abs');
  t.equal(abstract.text('Type'), 'Abstract');
  const lines = abstract.text('Abstract')?.trimEnd().split('\n') ?? [];
  t.equal(lines.length, 50);
  t.equal(lines.at(-1), 'Line 49 of an abstract that is longer than most.');
  t.end();
});

t.test('G-163 every example has its configuration, its script and a README', (t) => {
  for (const number of [1, 2, 3, 4]) {
    const directory = join(EXAMPLES, `example-${number}`);
    for (const name of [`example-${number}.cf`, 'RunGatherer', 'README.md', 'documents'])
      t.ok(existsSync(join(directory, name)), `${number}: ${name}`);
    const configuration = readFileSync(join(directory, `example-${number}.cf`), 'utf8');
    // 9111, 9222, 9333, 9444
    t.match(configuration, `Gatherer-Port:\t\t9${String(number).repeat(3)}\n`);
  }
  t.end();
});

t.test("CRAWL-11.1 own-processor: an operator's processor counts documents in a chain of the order", (t) => {
  const directory = t.testdir({});
  const objects = runExample(t, 'own-processor', directory);
  t.same(urlsOf(objects), [
    'http://harvest.example.org/Home.html',
    'http://harvest.example.org/drafts/next.html',
    'http://harvest.example.org/notes.txt',
  ]);
  const table = readFileSync(join(directory, 'data/crawl/media-types.tsv'), 'utf8');
  const documents = table
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.split('\t')[1]));
  t.equal(
    documents.reduce((sum, count) => sum + count, 0),
    2,
    'its rules leave out the draft',
  );
  const log = readFileSync(join(directory, 'data/crawl/logs/crawl.log'), 'utf8');
  t.equal(log.match(/type:/g)?.length, 2);
  t.end();
});

t.test('own-modules: a fetcher, a summarizer and an unpacker of the operator (E-46, E-60)', async (t) => {
  const server = spawn(process.execPath, ['spartan-server.mjs', 'documents', '9667'], {
    cwd: join(EXAMPLES, 'own-modules'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => server.kill());
  await once(server.stdout, 'data');
  const objects = runExample(t, 'own-modules');
  t.same(urlsOf(objects), [
    'http://kitchen.example/bo',
    'http://kitchen.example/wilma',
    'spartan://localhost:9667/',
    'spartan://localhost:9667/recipes/pancakes.gmi',
    'spartan://localhost:9667/recipes/soup.gmi',
  ]);
  const pancakes = objectOf(objects, 'spartan://localhost:9667/recipes/pancakes.gmi');
  t.equal(pancakes.text('Type'), 'Gemtext');
  t.equal(pancakes.text('Title')?.trim(), 'Pancakes');
  t.equal(pancakes.text('Headings')?.trim(), 'What you need\nWhat you do');
  t.equal(objectOf(objects, 'http://kitchen.example/bo').text('Author')?.trim(), 'Uncle Bo');
});
