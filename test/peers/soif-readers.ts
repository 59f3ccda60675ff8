// Reads the export of gatherd with the original SOIF libraries of 1994 and 1995, in C and in Perl. They are
// part of the sources of Debian's glimpse, which are fetched with apt into a temporary directory (or found in
// PEER_GLIMPSE_SOURCE) and compiled there. Prints TAP. Needs gcc, libc6-dev, make, perl and apt; the runner
// installs them.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { decodeSoif, encodeSoif, SoifObject } from '../../protocols/soif/index.js';
import { CliProcess } from '../helpers/cli.js';
import { Database } from '../servers/gatherd/helpers.js';
import { CLIENTS, run } from './clients/run.js';

/**
 * Fetches the sources from the mirror of the system, with separate package lists. Returns undefined if they are
 * not available.
 */
async function fetchSource(scratch: string): Promise<string | undefined> {
  const format = 'deb-src $(SITE) $(RELEASE) $(COMPONENT)';
  const targets = await run('apt-get', [
    'indextargets',
    '--format',
    format,
    'Created-By: Packages',
    'Origin: Debian',
  ]);
  const lists = join(scratch, 'lists');
  for (const directory of [join(lists, 'partial'), join(scratch, 'cache', 'archives', 'partial')])
    mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(scratch, 'sources.list'),
    [...new Set(targets.stdout.toString().split('\n'))].join('\n'),
  );
  const settings = {
    'Dir::Etc::sourcelist': join(scratch, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': lists,
    'Dir::Cache': join(scratch, 'cache'),
    // The user of apt may not read this directory.
    'APT::Sandbox::User': 'root',
  };
  const apt = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await run('apt-get', [...apt, 'update']);
  await run('apt-get', [...apt, 'source', '--download-only', '--tar-only', 'glimpse'], { cwd: scratch });
  const archive = readdirSync(scratch).find((name) => /^glimpse_.*\.orig\.tar\.gz$/.test(name));
  if (archive === undefined) return undefined;
  await run('tar', ['-xzf', archive], { cwd: scratch });
  const unpacked = readdirSync(scratch).find((name) => /^glimpse-/.test(name));
  return unpacked === undefined ? undefined : join(scratch, unpacked);
}

/** Compiles one program of the library. Returns its path. */
async function compile(library: string, program: string, scratch: string): Promise<string> {
  const target = join(scratch, program);
  const sources = ['template', 'util'].flatMap((folder) =>
    readdirSync(join(library, folder))
      .filter((name) =>
        folder === 'util' ? name.endsWith('.c') : name === 'template.c' || name === `${program}.c`,
      )
      .map((name) => join(library, folder, name)),
  );
  // The code is older than the compiler's default C standard.
  const flags = ['-w', '-std=gnu89', '-fcommon', '-I', join(library, 'include'), '-o', target];
  const { code, stderr } = await run('gcc', [...flags, ...sources]);
  if (code !== 0) throw new Error(`${program} was not compiled: ${stderr.slice(-500)}`);
  return target;
}

/**
 * Compiles the search engine with attribute search, which Debian omits. Returns the directory of its programs.
 */
async function compileGlimpse(source: string): Promise<string> {
  await run('sh', ['./configure', '--enable-structured-queries'], { cwd: source });
  // Its filters need flex and are not needed here, so make continues without them.
  const { stderr } = await run('make', ['-k', 'CC=gcc -w -std=gnu89 -fcommon', 'LEX=true'], { cwd: source });
  const programs = join(source, 'bin');
  for (const name of ['glimpse', 'glimpseindex']) {
    if (!readdirSync(programs).includes(name))
      throw new Error(`${name} was not compiled: ${stderr.slice(-500)}`);
  }
  return programs;
}

/**
 * Objects that are hard to read: values that look like syntax, every byte, one line, many lines, LF at the end,
 * no attributes.
 */
function objects(): SoifObject[] {
  const every = Uint8Array.from({ length: 256 }, (_, i) => i);
  const times = (i: number): [string, string] => ['Update-Time', String(1_000_000 + i)];
  const file = (url: string, i: number, ...attributes: readonly (readonly [string, string | Uint8Array])[]) =>
    SoifObject.of('FILE', url, [times(i), ...attributes]);
  const tricky = [
    file('http://a.example/plain', 0, ['Title', 'One line']),
    file('http://a.example/lines', 1, ['Body', 'two\nlines'], ['Keywords', 'ends with LF\n']),
    file('http://a.example/syntax', 2, ['Body', '}\n@FILE { x\nTitle{3}:\tno\n}\n@UPDATE {\n']),
    file('http://a.example/bytes', 3, ['Body', every]),
    file('http://a.example/utf8', 4, ['Title', 'Grüße, 世界\n'], ['Embed<1>-Type', 'Text']),
    file('http://a.example/{braces}', 5),
    SoifObject.of('DOCUMENT', 'http://a.example/large', [times(6), ['Full-Text', 'word '.repeat(60_000)]]),
  ];
  const many = Array.from({ length: 500 }, (_, i) =>
    file(`http://b.example/${i}`, 10 + i, ['Title', `No. ${i}`], ['Body', `x\n`.repeat(i)]),
  );
  return [...tricky, ...many];
}

/** Reads the export, with its section headers and without them. */
async function readExport(port: number): Promise<{ wrapped: Buffer; bare: Buffer }> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.end('SEND-UPDATE 0\nQUIT\n');
  await once(socket, 'close');
  const all = Buffer.concat(chunks).toString('latin1');
  const stream = all.slice(all.indexOf('@DELETE {\n'), all.lastIndexOf('499 - '));
  const bare = stream.slice(stream.indexOf('@UPDATE {\n') + '@UPDATE {\n'.length, -'}\n'.length);
  return { wrapped: Buffer.from(stream, 'latin1'), bare: Buffer.from(bare, 'latin1') };
}

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

t.test('readers of the 1990s read the export', async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), 'harvest-soif-'));
  t.teardown(() => rmSync(scratch, { recursive: true, force: true }));
  const written = objects();
  await new Database(join(scratch, 'data')).publish(
    written.map((object) => ({
      url: decodeSoif(encodeSoif(object)).url,
      updateTime: object.number('Update-Time') ?? 0,
      soif: Buffer.from(encodeSoif(object)).toString('latin1'),
    })),
  );
  const daemon = new CliProcess(['gatherd', '-d', join(scratch, 'data'), '0']);
  t.teardown(() => daemon.kill('SIGKILL'));
  const port = Number((await daemon.output(/^ready gatherd=\S*:(\d+)$/m))[1]);
  const stream = await readExport(port);
  // SOIF-3.2: attributes without a value are not written.
  const attributes = written.reduce((sum, object) => sum + decodeSoif(encodeSoif(object)).size, 0);

  await t.test('SOIF-8.8, 4.1 a line-based reader finds every object of every section', async (t) => {
    const { stdout } = await run('perl', [join(CLIENTS, 'soif-lines.pl')], { input: stream.wrapped });
    t.match(stdout.toString(), new RegExp(`^objects ${written.length} attributes ${attributes}$`, 'm'));
  });

  const source = process.env.PEER_GLIMPSE_SOURCE ?? (await fetchSource(scratch));
  if (source === undefined) {
    t.pass('skipped: the sources of glimpse are not available', { skip: true });
    return;
  }
  const library = join(source, 'libtemplate');

  await t.test('SOIF-2.2, 4.9 the C library finds every object valid', async (t) => {
    const cksoif = await compile(library, 'cksoif', scratch);
    const { stdout } = await run(cksoif, [], { input: stream.bare });
    t.notMatch(stdout.toString(), /Invalid SOIF/);
    const count = new RegExp(
      `Successfully parsed ${written.length} SOIF objects, in ${written.length} attempts`,
    );
    t.match(stdout.toString(), count);
  });

  await t.test('SOIF-1.2, 2.3 the C library reads and writes the same values', async (t) => {
    const printer = await compile(library, 'print-template', scratch);
    const wrong: string[] = [];
    for (const object of written.slice(0, 40)) {
      const { stdout } = await run(printer, [], { input: encodeSoif(object) });
      // SOIF-5.3: in another order, with Print-Time (SOIF-10.2).
      const back = decodeSoif(stdout.subarray(stdout.indexOf('@')));
      const same = [...object].every(
        ({ name, value }) => md5(back.get(name) ?? new Uint8Array(0)) === md5(value),
      );
      if (!same || back.type !== object.type)
        wrong.push(`${object.url}\n${stdout.toString('latin1').slice(0, 400)}`);
    }
    t.same(wrong, []);
  });

  await t.test('SOIF-4.7, 8.8 the Perl library reads the stream except a byte', async (t) => {
    const program = `
    require $ARGV[0]; require Digest::MD5; binmode STDIN;
    while (1) {
      my ($type, $url, %values) = &soif::parse();
      last unless defined $type and $type ne 'UNKNOWN';
      print "$type $url\\n", map { "$_ " . Digest::MD5::md5_hex($values{$_}) . "\\n" } sort keys %values;
    }`;
    const perl = await run('perl', ['-e', program, join(library, 'template', 'soif.pl')], {
      input: stream.wrapped,
    });
    t.equal(perl.code, 0, perl.stderr);
    const expected = written.flatMap((original) => {
      const object = decodeSoif(encodeSoif(original));
      const values = [...object].sort((a, b) => (a.name < b.name ? -1 : 1));
      return [
        `${object.type} ${object.url}`,
        ...values.map(
          ({ name, value }) => `${name} ${md5(value.includes(0x0a) ? value.subarray(0, -1) : value)}`,
        ),
      ];
    });
    t.same(perl.stdout.toString().trimEnd().split('\n'), expected);
  });

  await t.test('SOIF-1.2, 4.3 glimpse finds attribute=value, which no value can forge', async (t) => {
    const programs = await compileGlimpse(source);
    const [files, index] = [join(scratch, 'files'), join(scratch, 'index')];
    for (const directory of [files, index]) mkdirSync(directory);
    // One object per file, cut out of the export by its lengths.
    const texts = stream.bare.toString('latin1').split(/^(?=@(?:FILE|DOCUMENT) \{ http)/m);
    t.equal(texts.length, written.length);
    for (const text of texts) {
      const url = /^@\w+ \{ \S+\/(\S+)\n/.exec(text)?.[1] ?? '';
      if (!text.startsWith('@FILE { http://b.')) writeFileSync(join(files, `${url}.soif`), text, 'latin1');
    }
    const indexed = await run(join(programs, 'glimpseindex'), ['-s', '-o', '-H', index, files]);
    t.equal(indexed.code, 0, indexed.stderr);
    const find = async (query: string) => {
      const { stdout } = await run(join(programs, 'glimpse'), ['-H', index, '-y', '-i', '-l', query]);
      return [...new Set(stdout.toString('latin1').match(/[^/\s]+(?=\.soif)/g))].sort();
    };
    t.same(await find('Title=line'), ['plain']);
    t.same(await find('Body=lines'), ['lines']);
    t.same(await find('Keywords=ends'), ['lines']);
    t.same(await find('Body=no'), ['syntax'], 'what looks like an attribute is found in the value');
    t.same(await find('Title=no'), [], 'text that looks like an attribute is not one');
    t.same(await find('Title=line;Body=lines'), []);
  });

  daemon.kill('SIGTERM');
  t.equal((await daemon.finished).code, 0);
});
