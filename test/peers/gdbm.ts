// Imports, lists and publishes original GDBM databases, created by GNU's programs. Prints TAP. Needs Debian's
// gdbmtool; the runner installs it.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { CliProcess, cli, PROGRAM } from '../helpers/cli.js';

const installed = spawnSync('gdbm_load', ['--version']).status === 0;

function run(
  command: string,
  ...args: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 1 << 26, encoding: 'latin1' }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

/** Renders a dump in GDBM's text format, for `gdbm_load`. */
function renderDump(records: ReadonlyMap<string, Buffer>): string {
  const datum = (bytes: Buffer): string => {
    const lines = bytes.toString('base64').match(/.{1,76}/g) ?? [''];
    return `#:len=${bytes.length}\n${lines.join('\n')}\n`;
  };
  const data = [...records].map(([key, value]) => datum(Buffer.from(key, 'latin1')) + datum(value));
  return `# GDBM dump file created by a test\n#:version=1.1\n#:file=x.gdbm\n#:format=standard\n# End of header\n${data.join('')}#:count=${records.size}\n# End of data\n`;
}

async function createGdbm(path: string, records: ReadonlyMap<string, Buffer>): Promise<void> {
  writeFileSync(`${path}.dump`, renderDump(records), 'latin1');
  const { code, stderr } = await run('gdbm_load', '--no-meta', `${path}.dump`, path);
  if (code !== 0) throw new Error(stderr);
  rmSync(`${path}.dump`);
}

function object(url: string, title: Buffer | string): Buffer {
  const value = Buffer.from(title);
  return Buffer.concat([
    Buffer.from(`@FILE { ${url}\nUpdate-Time{9}:\t800000000\nTitle{${value.length}}:\t`),
    value,
    Buffer.from('\n}\n'),
  ]);
}

t.test('original GDBM databases', { skip: installed ? false : 'gdbmtool is not installed' }, async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), 'harvest-gdbm-'));
  t.teardown(() => rmSync(scratch, { recursive: true, force: true }));
  const records = new Map<string, Buffer>();
  for (let i = 0; i < 500; i++) records.set(`http://h/${i}`, object(`http://h/${i}`, `title ${i}`));
  records.set('http://h/large', object('http://h/large', Buffer.alloc(3_000_000, 'large ')));
  records.set('http://h/binary', object('http://h/binary', Buffer.from([0, 1, 2, 0xff, 10, 125, 10])));
  records.set('http://h/c-string', Buffer.concat([object('http://h/c-string', 'NUL ends it'), Buffer.of(0)]));
  const urls = [...records.keys()].sort();
  const original = join(scratch, 'PRODUCTION.gdbm');
  await createGdbm(original, records);

  await t.test('G-135: gdbmutil import, byte for byte', async (t) => {
    const target = join(scratch, 'imported');
    const imported = await cli('gdbmutil', 'import', '--json', original, target);
    t.match(JSON.parse(imported.stdout), { read: urls.length, added: urls.length });
    t.equal((await cli('gdbmutil', 'list', target)).stdout, `${urls.join('\n')}\n`);
    const { stdout } = await run(process.execPath, ...programArgs('gdbmutil', 'dump', target));
    const expected = urls.map((url) =>
      (records.get(url) ?? Buffer.alloc(0)).toString('latin1').replace(/\0$/, ''),
    );
    t.ok(stdout === expected.join(''), 'every object is unchanged, including the large and the binary one');
  });

  await t.test('gdbmtool and the kit find the same records', async (t) => {
    const created = join(scratch, 'tool.gdbm');
    const script = join(scratch, 'script');
    writeFileSync(script, 'store "http://t/" "@FILE { http://t/\\nTitle{4}:\\tfour\\n}\\n"\n');
    t.equal((await run('gdbmtool', '--newdb', `--file=${script}`, created)).code, 0);
    t.equal(
      (await cli('gdbmutil', 'get', created, 'http://t/')).stdout,
      '@FILE { http://t/\nTitle{4}:\tfour\n}\n',
    );
    t.match((await run('gdbmtool', '--read-only', original, 'count')).stdout, String(records.size));
    t.equal((await cli('gdbmutil', 'count', original)).stdout, `${records.size}\n`);
  });

  await t.test('dumps of gdbm_dump: text is read, the binary format is refused', async (t) => {
    const text = join(scratch, 'text.dump');
    await run('gdbm_dump', '--format=ascii', original, text);
    t.equal((await cli('gdbmutil', 'count', text)).stdout, `${records.size}\n`);
    const binary = join(scratch, 'binary.dump');
    await run('gdbm_dump', '--format=binary', original, binary);
    t.match(await cli('gdbmutil', 'count', binary), { code: 1, stderr: /only the text format is read/ });
  });

  await t.test('an INDEX.gdbm and a damaged file are refused', async (t) => {
    const index = join(scratch, 'INDEX.gdbm');
    await createGdbm(index, new Map([['http://h/1', Buffer.from('800000000')]]));
    t.match(await cli('gdbmutil', 'count', index), {
      code: 1,
      stderr: /none of its 1 records is a SOIF object/,
    });
    const damaged = join(scratch, 'damaged.gdbm');
    writeFileSync(damaged, readFileSync(original).subarray(0, 5000));
    t.match(await cli('gdbmutil', 'count', damaged), { code: 1, stderr: /cannot be read by gdbm_dump/ });
    t.match(await cli('expiredb', original), { code: 1, stderr: /but an original GDBM database/ });
  });

  await t.test('G-115: folddb publishes an original data directory, gatherd serves it', async (t) => {
    const data = join(scratch, 'data');
    mkdirSync(data);
    const before = readFileSync(original);
    writeFileSync(join(data, 'PRODUCTION.gdbm'), before);
    const folded = await cli('folddb', '--keep-expired', '--json', data);
    t.equal(folded.code, 0, folded.stderr);
    t.match(JSON.parse(folded.stdout), { mkindex: { objects: records.size }, rmbinary: { changed: 1 } });
    t.ok(readFileSync(join(data, 'PRODUCTION.gdbm')).equals(before), 'the original is unchanged');
    const templates = gunzipSync(readFileSync(join(data, 'All-Templates.gz'))).toString('latin1');
    t.equal(templates.match(/^@FILE \{ /gm)?.length, records.size);
    const gatherd = new CliProcess(['gatherd', '-d', data, '0']);
    t.teardown(() => gatherd.kill('SIGKILL'));
    const [, port = ''] = await gatherd.output(/^ready gatherd=127\.0\.0\.1:(\d+)$/m);
    const { stdout } = await run(process.execPath, ...programArgs('gather', '127.0.0.1', port));
    t.ok(stdout === templates, 'GATHERD-10.2: gatherd sends the content of All-Templates.gz');
    gatherd.kill('SIGTERM');
    t.equal((await gatherd.finished).code, 0);
  });

  await t.test('GATHERD-10.1, 10.5: gatherd serves the directory, and a new database in it', async (t) => {
    const data = join(scratch, 'bare');
    mkdirSync(data);
    const before = readFileSync(original);
    writeFileSync(join(data, 'PRODUCTION.gdbm'), before);
    const gatherd = new CliProcess(['gatherd', '-d', data, '0']);
    t.teardown(() => gatherd.kill('SIGKILL'));
    const [, port = ''] = await gatherd.output(/^ready gatherd=127\.0\.0\.1:(\d+)$/m);
    const gather = async () =>
      (await run(process.execPath, ...programArgs('gather', '127.0.0.1', port))).stdout;
    t.equal((await gather()).match(/^@FILE \{ /gm)?.length, records.size);
    t.ok(readFileSync(join(data, 'PRODUCTION.gdbm')).equals(before), 'the original is unchanged');
    const next = new Map([...records].slice(0, 10));
    next.set('http://h/new', object('http://h/new', 'added later'));
    await createGdbm(join(data, 'next.gdbm'), next);
    renameSync(join(data, 'next.gdbm'), join(data, 'PRODUCTION.gdbm'));
    let served = await gather();
    while (!served.includes('added later')) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      served = await gather();
    }
    t.equal(served.match(/^@FILE \{ /gm)?.length, next.size);
    gatherd.kill('SIGTERM');
    t.equal((await gatherd.finished).code, 0);
  });

  await t.test('GATHERD-10.1: the compressed copy replaces a damaged database', async (t) => {
    const data = join(scratch, 'copy');
    mkdirSync(data);
    writeFileSync(join(data, 'PRODUCTION.gdbm'), readFileSync(original).subarray(0, 5000));
    writeFileSync(join(data, 'All-Templates.gz'), gzipSync(object('http://h/1', 'of the copy')));
    const gatherd = new CliProcess(['gatherd', '-d', data, '0']);
    t.teardown(() => gatherd.kill('SIGKILL'));
    const [, port = ''] = await gatherd.output(/^ready gatherd=127\.0\.0\.1:(\d+)$/m);
    t.match((await run(process.execPath, ...programArgs('gather', '127.0.0.1', port))).stdout, /of the copy/);
    gatherd.kill('SIGTERM');
    t.match(
      (await gatherd.finished).stderr,
      /cannot be read by gdbm_dump: .*serving All-Templates\.gz instead/,
    );
  });
});

/** Arguments of node for a `harvest` command, whose output is then read as bytes. */
function programArgs(...args: readonly string[]): string[] {
  return [PROGRAM, ...args];
}
