import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { attributesOf } from '../essence/helpers.js';
import { tar } from '../essence/unnest-fixtures.js';
import { cli } from '../helpers/cli.js';

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
    'essence',
    archive,
    text,
    join(directory, 'bad.gif'),
    '--gatherer-name',
    'me',
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

t.test('section 11 --type-only, --explain with file and line, --json, -f, --libdir, lists', async (t) => {
  const directory = t.testdir({
    'a.txt': 'Plain words.\n',
    'b.ps': '%!PS\n',
    lib: { 'byname.cf': '# own\nNotes \\.txt$\n' },
    allow: 'PostScript\n',
    none: '',
  });
  const at = (name: string) => join(directory, name);
  symlinkSync('a.txt', at('link'));
  const types = await cli(
    'essence',
    '--type-only',
    '--explain',
    '--libdir',
    at('lib'),
    at('a.txt'),
    at('link'),
  );
  t.equal(types.stdout, `Notes\t${urlOf(at('a.txt'))}\nSymbolicLink\t${urlOf(at('link'))}\n`);
  t.match(types.stderr, `by name, "a.txt": Notes (${at('lib/byname.cf')}:2)\n`);
  t.match(types.stderr, 'by content, "symbolic link to a.txt": SymbolicLink (bycontent.cf:');
  t.match(types.stderr, 'Notes is wanted\n');
  const json = await cli('essence', '--type-only', '--json', '--explain', at('a.txt'));
  const found: { type: string; steps: { how: string }[] } = JSON.parse(json.stdout);
  t.equal(found.type, 'Text');
  t.same(
    found.steps.map(({ how }) => how),
    ['url', 'name'],
  );
  const allowed = await cli(
    'essence',
    '--json',
    '--allowlist',
    at('allow'),
    '--stoplist',
    at('none'),
    at('a.txt'),
    at('b.ps'),
  );
  const lines = allowed.stdout.trim().split('\n');
  t.equal(lines.length, 1);
  const object: { url: string } = JSON.parse(lines[0]!);
  t.equal(object.url, urlOf(at('b.ps')));
  const raw = await cli('essence', '--full-text=raw', '--no-keywords', at('b.ps'));
  t.match(raw.stdout, 'Full-Text{5}:\t%!PS\n');
});

t.test(
  'exit statuses: 1 for a document that is not there, 2 for usage and wrong configuration',
  async (t) => {
    const directory = t.testdir({ 'a.txt': 'x\n', lib: { 'byname.cf': 'Text (\n' } });
    const missing = await cli('essence', join(directory, 'none'), join(directory, 'a.txt'));
    t.equal(missing.code, 1);
    t.match(missing.stderr, /none: it cannot be read: ENOENT/);
    t.match(missing.stdout, /^@FILE .*a\.txt\n/, 'the others are done');
    t.equal((await cli('essence')).code, 2);
    const wrong = await cli('essence', '--libdir', join(directory, 'lib'), join(directory, 'a.txt'));
    t.equal(wrong.code, 2);
    t.match(wrong.stderr, /byname\.cf:1: Text/);
  },
);

t.test('E-45 what is wrong with a component is told on standard error', async (t) => {
  const directory = t.testdir({
    'x.tar': Buffer.from(
      tar([
        ['../up.txt', 'x'],
        ['ok.txt', 'y'],
      ]),
    ),
  });
  const { code, stderr, stdout } = await cli('essence', join(directory, 'x.tar'));
  t.equal(code, 0);
  t.match(stderr, /a member named "\.\.\/up\.txt" is left out \(E-45\)/);
  t.match(stdout, /Embed<1>-Nested-Filename\{6\}:\tok\.txt\n/);
});
