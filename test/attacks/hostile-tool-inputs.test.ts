// Files whose lengths lie, whose names are megabytes long or whose objects never end, read by the tools in
// processes of limited memory.
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { CliProcess, type Finished } from '../helpers/cli.js';

const MIB = 1024 * 1024;
/** Writable memory of a tool (RLIMIT_DATA), in KiB: the largest of these inputs needs about half. */
const MEMORY_KIB = 640 * 1024;

/** Runs a tool that the system ends when it takes more memory than the limit. */
function limited(...args: readonly string[]): Promise<Finished> {
  return new CliProcess(args, {}, ['sh', '-c', `ulimit -d ${MEMORY_KIB}; exec "$0" "$@"`]).finished;
}

/** Writes a file of a beginning, many equal pieces and an end, without holding it in memory. */
async function writeMany(
  path: string,
  begin: string,
  piece: Uint8Array,
  count: number,
  end: string,
): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.write(begin);
    for (let i = 0; i < count; i++) await file.write(piece);
    await file.write(end);
  } finally {
    await file.close();
  }
}

const letters = (byte: string) => Buffer.alloc(MIB, byte);
const GOOD = '@FILE { http://good.example/\nA{1}:\tx\n}\n';

t.test('SOIF-4.4: every tool that reads SOIF is bounded, and names the rule and the offset', async (t) => {
  const directory = t.testdir();
  const path = (name: string) => join(directory, name);
  await writeFile(path('length'), '@FILE { http://a/\nBody{4294967295}:\tx');
  await writeFile(path('digits'), `@FILE { http://a/\nBody{${'9'.repeat(MIB)}}:\tx\n}\n${GOOD}`);
  await writeMany(path('name'), '@FILE { http://a/\n', letters('N'), 60, `{1}:\tx\n}\n${GOOD}`);
  await writeMany(path('url'), '@FILE { ', letters('u'), 60, `\n}\n${GOOD}`);
  await writeMany(
    path('attributes'),
    '@FILE { http://a/\n',
    Buffer.from('A{1}:\tx\n'.repeat(100_000)),
    20,
    `}\n${GOOD}`,
  );
  await writeMany(path('headers'), '', Buffer.from('@FILE { http://a/\nBody{9}:\t'.repeat(100_000)), 5, '');
  await writeFile(
    path('packed'),
    Buffer.concat([
      gzipSync('@FILE { http://a/\nBody{1073741824}:\t'),
      ...Array.from({ length: 16 }, () => gzipSync(Buffer.alloc(64 * MIB), { level: 1 })),
    ]),
  );
  for (const name of ['length', 'digits', 'name', 'url', 'attributes', 'headers', 'packed']) {
    const { code, stdout, stderr } = await limited('soif', 'cat', path(name));
    t.equal(code, 1, `${name}: ${stderr.slice(0, 300)}`);
    t.match(stderr, /\(SOIF-\d+\.\d+, offset \d+\)/, name);
    if (['name', 'url', 'attributes'].includes(name))
      t.match(stdout, 'http://good.example/', `${name}: goes on`);
  }
  for (const [...command] of [
    ['soif', 'check'],
    ['print-template'],
    ['print-urlrefs'],
    ['soif', 'cat', '--json'],
  ]) {
    for (const name of ['name']) {
      const { code, stdout, stderr } = await limited(...command, path(name));
      t.equal(code, 1, `${command.join(' ')} ${name}: ${stderr.slice(0, 300)}`);
      t.match(stdout + stderr, /SOIF-\d+\.\d+/);
    }
  }
});

t.test('SOIF-4.4: JSON nested without end, or of millions of values, is refused unparsed', async (t) => {
  const directory = t.testdir();
  const path = (name: string) => join(directory, name);
  await writeMany(path('nested'), '', letters('['), 60, '\n');
  await writeMany(
    path('values'),
    '{"type":"FILE","url":"http://a/","attributes":[',
    Buffer.from('{},'.repeat(300_000)),
    30,
    '{}]}\n',
  );
  await writeMany(path('line'), '{"type":"', letters('x'), 120, '"}\n');
  const long = {
    type: 'FILE',
    url: 'http://a/',
    attributes: [{ name: 'A', value: '[{,\\"\\'.repeat(100_000) }],
  };
  await writeFile(path('good'), `${JSON.stringify(long)}\n`);
  for (const [name, reason] of [
    ['nested', /line 1: more than 16 nested values \(SOIF-4\.4, offset 16\)/],
    ['values', /line 1: more than 262144 values \(SOIF-4\.4, offset \d+\)/],
    ['line', /line 1: the line is too long \(SOIF-4\.4, offset 0\)/],
  ] as const) {
    const { code, stderr } = await limited('soif', 'convert', '--to', 'soif', path(name));
    t.equal(code, 1, `${name}: ${stderr.slice(0, 300)}`);
    t.match(stderr, reason);
  }
  const { code, stdout, stderr } = await limited('soif', 'convert', '--to', 'soif', path('good'));
  t.equal(code, 0, stderr);
  t.ok(
    stdout.includes(long.attributes[0]?.value ?? '-'),
    'brackets and quotation marks in a text do not count',
  );
});

t.test('SOIF-11.1: a file without annotations, a fault in each line, floods no terminal', async (t) => {
  const path = join(t.testdir(), 'file');
  await writeMany(path, '', Buffer.from('Title: x\n'.repeat(10_000)), 20, '');
  const { code, stderr } = await limited('mktemplate', path);
  t.equal(code, 1);
  t.match(stderr, /file: line 1: text between objects, skipped \(SOIF-11\.1\)/);
  t.match(stderr, /file: 199000 more faults are not listed/);
  t.equal(stderr.split('\n').length, 1002);
});

t.test('R-16, REG-11: files of links and Registries with false lengths', async (t) => {
  const directory = t.testdir();
  const path = (name: string) => join(directory, name);
  await writeMany(path('documents'), '{"id":10,"url":"', letters('u'), 60, '"}\n');
  await writeFile(path('good'), '{"id":1,"url":"http://a/"}\n');
  await writeMany(path('refs'), '', letters('1'), 60, ' 1\n');
  for (const [documents, refs, rule] of [
    ['documents', 'refs', /documents:1: a line is longer than \d+ bytes \(R-16\)/],
    ['good', 'refs', /refs:1: a line is longer than \d+ bytes \(R-19\)/],
  ] as const) {
    const { code, stderr } = await limited(
      ...['links', 'load', '--documents', path(documents), '--refs', path(refs), '--data', path('DATA')],
    );
    t.equal(code, 1, stderr.slice(0, 300));
    t.match(stderr, rule);
  }
  await mkdir(path('admin'));
  await mkdir(path('objects'));
  const registry = Buffer.alloc(20 + 12 + 64);
  for (const [index, value] of [
    0x48425247, 1, 0xffffffff, 0, 0xffffffff, 0xffffffff, 0x48425252, 1,
  ].entries())
    registry.writeUInt32BE(value, 4 * index);
  await writeFile(path('admin/Registry'), registry);
  const { code, stderr } = await limited('registry', 'import', '--from', directory, '--data', path('broker'));
  t.equal(code, 1, stderr.slice(0, 300));
  t.match(
    stderr,
    /damaged at offset 20: a record of 4294967295 bytes is longer than the limit of \d+ \(REG-11\)/,
  );
});
