// `harvest essence` as a process.
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { DatabaseFile } from '../../storage/databases/index.js';
import { cli } from '../helpers/cli.js';
import { words } from '../helpers/words.js';
import { attributesOf } from '../servers/essence/helpers.js';
import { tar } from '../servers/essence/unnest-fixtures.js';

// Each test starts processes, which takes long on a busy machine.
const urlOf = (file: string) => pathToFileURL(file).href.replace('file:///', 'file://localhost/');

t.test('E-5 harvest essence FILE...: SOIF in the order given, components embedded', async (t) => {
  const directory = t.testdir({
    'a.txt': 'Plain words.\n',
    'x.tgz': gzipSync(tar([['in.txt', 'inside\n']])),
    'bad.gif': 'GIF89a',
    list: 'not used\n',
  });
  const [text, archive] = [join(directory, 'a.txt'), join(directory, 'x.tgz')];
  const { code, stdout, stderr } = await cli(
    ...words`essence ${archive} ${text} ${join(directory, 'bad.gif')} --gatherer-name me`,
  );
  t.equal(code, 0);
  t.equal(stderr, '');
  const border = stdout.indexOf('@FILE', 1);
  t.ok(stdout.startsWith(`@FILE { ${urlOf(archive)}\n`));
  t.equal(attributesOf(Buffer.from(stdout.slice(0, border)))['Embed<1>-Nested-Filename'], 'in.txt');
  const second = attributesOf(Buffer.from(stdout.slice(border)));
  t.equal(second['Partial-Text'], 'Plain words.\n');
  t.equal(second['Gatherer-Name'], 'me');
});

t.test('G-87: a file URL names a file of this machine, or it is refused', async (t) => {
  const directory = t.testdir({ 'a b.txt': 'Plain words.\n' });
  execFileSync('mkfifo', [join(directory, 'pipe')]);
  const path = `${directory}/a%20b.txt`;
  for (const url of [
    `file://${path}`,
    `FILE://LOCALHOST${path}`,
    `file://${hostname()}${path}`,
    `file:${path}`,
  ]) {
    const { stdout, stderr } = await cli('essence', url);
    t.equal(stderr, '', url);
    t.ok(stdout.startsWith(`@FILE { file://localhost${path}\n`), stdout);
  }
  for (const [url, reason] of [
    [`file://other.example${path}`, /must have no host, localhost or this host \(G-87\)/],
    [`FILE://OTHER${path}`, /must have no host/],
    [`file://127.0.0.1${path}`, /must have no host/],
    [`file://localhost.example.org${path}`, /must have no host/],
    [`file://user@other${path}`, /is not the URL of a file/],
    [`file://${directory}%2fa%20b.txt`, /is not the URL of a file/],
    [`file://${path}%00`, /is not the URL of a file/],
    [`file://${directory}/pipe`, /is not a regular file \(G-87\)/],
  ] as const) {
    const { code, stdout, stderr } = await cli('essence', url);
    t.not(code, 0, url);
    t.equal(stdout, '', url);
    t.match(stderr, reason);
  }
});

t.test('section 11 --type-only, --explain with file and line, --json, -f, --libdir, lists', async (t) => {
  const directory = t.testdir({
    'a.txt': 'Plain words.\n',
    'b.ps': '%!PS\n',
    lib: { 'byname.cf': '# own\nNotes \\.txt$\n' },
    allow: 'PostScript\n',
    none: '',
  });
  const path = (name: string) => join(directory, name);
  symlinkSync('a.txt', path('link'));
  const steps = words`essence --type-only --explain --libdir ${path('lib')}`;
  const types = await cli(...steps, path('a.txt'), path('link'));
  t.equal(types.stdout, `Notes\t${urlOf(path('a.txt'))}\nSymbolicLink\t${urlOf(path('link'))}\n`);
  t.match(types.stderr, `by name, "a.txt": Notes (${path('lib/byname.cf')}:2)\n`);
  t.match(types.stderr, 'by content, "symbolic link to a.txt": SymbolicLink (bycontent.cf:');
  t.match(types.stderr, 'Notes is accepted\n');
  const json = await cli('essence', '--type-only', '--json', '--explain', path('a.txt'));
  const found: { type: string; steps: { how: string }[] } = JSON.parse(json.stdout);
  t.equal(found.type, 'Text');
  t.same(
    found.steps.map(({ how }) => how),
    ['url', 'name'],
  );
  const lists = words`--allowlist ${path('allow')} --stoplist ${path('none')}`;
  const allowed = await cli('essence', '--json', ...lists, path('a.txt'), path('b.ps'));
  const lines = allowed.stdout.trim().split('\n');
  t.equal(lines.length, 1);
  const object: { url: string } = JSON.parse(lines[0]!);
  t.equal(object.url, urlOf(path('b.ps')));
  const raw = await cli('essence', '--full-text=raw', '--no-keywords', path('b.ps'));
  t.match(raw.stdout, 'Full-Text{5}:\t%!PS\n');
});

t.test('exit statuses: 1 for a missing document, 2 for wrong usage or configuration', async (t) => {
  const directory = t.testdir({ 'a.txt': 'x\n', lib: { 'byname.cf': 'Text (\n' } });
  const missing = await cli('essence', join(directory, 'none'), join(directory, 'a.txt'));
  t.equal(missing.code, 1);
  t.match(missing.stderr, /none: cannot be read: ENOENT/);
  t.match(missing.stdout, /^@FILE .*a\.txt\n/, 'the other documents are summarized');
  t.equal((await cli('essence')).code, 2);
  const wrong = await cli('essence', '--libdir', join(directory, 'lib'), join(directory, 'a.txt'));
  t.equal(wrong.code, 2);
  t.match(wrong.stderr, /byname\.cf:1: Text/);
});

t.test('E-45 errors of a component are reported on standard error', async (t) => {
  const directory = t.testdir({
    'x.tar': Buffer.from(tar(Object.entries({ '../up.txt': 'x', 'ok.txt': 'y' }))),
  });
  const { code, stderr, stdout } = await cli('essence', join(directory, 'x.tar'));
  t.equal(code, 0);
  t.match(stderr, /a member named "\.\.\/up\.txt" is left out \(E-45\)/);
  t.match(stdout, /Embed<1>-Nested-Filename\{6\}:\tok\.txt\n/);
});

t.test('E-5 --dbdir stores the objects, --log has the messages in the line head of G-146', async (t) => {
  const directory = t.testdir({ 'a.txt': 'First words.\n', 'b.arj': Buffer.from('\x60\xea', 'latin1') });
  const path = (name: string) => join(directory, name);
  const log = path('essence.log');
  const files = [path('a.txt'), path('none'), path('b.arj')];
  const first = await cli(...words`essence --dbdir ${path('db')} --log ${log} ${files}`);
  t.equal(first.code, 1, 'one of the files is missing');
  t.equal(first.stdout, 'essence: 2 added, 0 replaced, 2 objects\n');
  t.equal(first.stderr, '', 'messages go to the log');
  const lines = readFileSync(log, 'utf8').split('\n');
  t.match(lines[0], /^essence: \d{6} \d\d:\d\d:\d\d: ERROR: \/.*\/none: cannot be read: ENOENT/);
  t.match(
    lines[1],
    /^essence: \d{6} \d\d:\d\d:\d\d: \/.*\/b\.arj: its name says ARJ archive, but it is not one/,
  );
  t.equal(lines.length, 3, 'the log has no other lines');
  const stored = () => {
    using database = DatabaseFile.open(join(path('db'), 'WORKING.gdbm'), { readOnly: true });
    return [...database.entries()].map(({ url, soif }) => [url, attributesOf(soif)] as const);
  };
  t.same(
    stored().map(([url, { Title, ...rest }]) => [url, rest['Partial-Text'] ?? Title]),
    [
      [urlOf(path('a.txt')), 'First words.\n'],
      [urlOf(path('b.arj')), 'b.arj\n'],
    ],
  );
  const options = words`--dbdir ${path('db')} --json --no-access --max-deletions 1`;
  const second = await cli('essence', ...options, path('a.txt'));
  t.same(JSON.parse(second.stdout), { added: 0, replaced: 1, objects: 2 });
  t.notOk('Partial-Text' in stored()[0]![1], 'E-119 the new object is in the rewritten file');
});

t.test('E-5 --dbdir and --log that cannot be used: status and message', async (t) => {
  const directory = t.testdir({ 'a.txt': 'x\n' });
  const file = join(directory, 'a.txt');
  const types = await cli('essence', '--type-only', '--dbdir', join(directory, 'db'), file);
  t.equal(types.code, 2);
  t.match(types.stderr, /--type-only and --dbdir are mutually exclusive/);
  const noDirectory = await cli('essence', '--dbdir', join(file, 'db'), file);
  t.equal(noDirectory.code, 1);
  t.match(noDirectory.stderr, /a\.txt\/db cannot be created: ENOTDIR/);
  const noLog = await cli('essence', '--log', directory, file);
  t.equal(noLog.code, 1);
  t.match(noLog.stderr, /the log .* cannot be opened/);
});
