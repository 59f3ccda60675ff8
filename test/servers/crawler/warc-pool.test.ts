// Several WARC files at a time: which file a write goes to, their sizes, and what a killed writer leaves. The
// order key is CRAWL-19.2.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { WARCParser } from 'warcio';
import { type NewWarcRecord, newRecordId } from '../../../servers/crawler/warc/new-record.js';
import { WarcFiles } from '../../../servers/crawler/warc/warc-files.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

function record(text: string): NewWarcRecord {
  return {
    type: 'resource',
    id: newRecordId(),
    date: 0,
    contentType: 'text/plain',
    fields: [['WARC-Target-URI', 'gopher://example.org/0/a']],
    block: [Buffer.from(text)],
  };
}

/**
 * The texts of a file's records, after its warcinfo record. @throws Error if it has none, or one of another
 * file
 */
async function textsOf(path: string): Promise<string[]> {
  const texts: string[] = [];
  let first = true;
  for await (const read of new WARCParser([readFileSync(path)])) {
    const text = await read.contentText();
    if (first && !path.endsWith(`/${read.warcHeader('WARC-Filename')}`))
      throw new Error(`${path} begins with a ${read.warcType} record`);
    if (!first) texts.push(text);
    first = false;
  }
  return texts;
}

t.test('WARC 1.1, 4: as many files are open as writes run at a time, up to poolMaxActive', async (t) => {
  const directory = await temporaryDirectory(t);
  const files = await WarcFiles.open({ directory, poolMaxActive: 3 });
  const fileOf = async (text: string) => (await files.write([record(text)]))[0]?.file;
  const alone = [await fileOf('1'), await fileOf('2')];
  t.equal(new Set(alone).size, 1, 'one file is enough for one write after the other');
  const together = await Promise.all(['3', '4', '5', '6', '7', '8'].map(fileOf));
  t.same(together.slice(0, 3), together.slice(3), 'each file has two writes');
  t.equal(new Set(together).size, 3);
  t.equal(together[0], alone[0]);
  t.equal(await fileOf('9'), alone[0]);
  t.same(
    readdirSync(directory).sort(),
    [...new Set(together)].map((name) => `${name}.open`),
  );
  await files.roll();
  t.same(readdirSync(directory).sort(), [...new Set(together)], 'all files are finished');
  t.not(await fileOf('10'), alone[0], 'the next write begins a new one');
  await files.close();
  await t.rejects(files.roll(), { code: 'ERR_STATE' });
  t.equal(readdirSync(directory).length, 4);
});

t.test('every record is in one file once, in order, and each file ends by its size', async (t) => {
  const directory = await temporaryDirectory(t);
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      async (counts, poolMaxActive, compress) => {
        rmSync(directory, { recursive: true });
        const maxFileBytes = compress ? 1500 : 2500;
        const files = await WarcFiles.open({
          directory,
          compression: compress ? 'gzip' : 'none',
          maxFileBytes,
          poolMaxActive,
        });
        const groups = counts.map((count, i) =>
          Array.from({ length: count }, (_, k) => `${String(i).padStart(3, '0')}.${k}`),
        );
        const written = await Promise.all(groups.map((texts) => files.write(texts.map(record))));
        t.ok(readdirSync(directory).filter((name) => name.endsWith('.open')).length <= poolMaxActive);
        await files.close();
        const names = readdirSync(directory);
        const all: string[] = [];
        for (const name of names) {
          const texts = await textsOf(join(directory, name));
          t.same(texts, texts.toSorted());
          all.push(...texts);
          const last = written
            .flat()
            .filter(({ file }) => file === name)
            .at(-1);
          const before = written.findLast((group) => group[0]?.file === name)?.[0]?.offset ?? 0;
          t.ok(before < maxFileBytes, `${name} got nothing after ${before} of ${last?.offset} bytes`);
        }
        t.same(all.sort(), groups.flat());
        for (const group of written) t.equal(new Set(group.map(({ file }) => file)).size, 1);
      },
    ),
    { numRuns: 20 },
  );
});

t.test('a write that fails leaves the other files as they are', async (t) => {
  const directory = await temporaryDirectory(t);
  const files = await WarcFiles.open({ directory, poolMaxActive: 2 });
  const invalid = { ...record('invalid'), date: Number.NaN };
  const ends = await Promise.allSettled([
    files.write([record('1')]),
    files.write([record('2'), invalid]),
    files.write([record('3')]),
    files.write([record('4')]),
  ]);
  t.same(
    ends.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  await files.close();
  const texts: string[][] = [];
  for (const name of readdirSync(directory).sort()) texts.push(await textsOf(join(directory, name)));
  t.same(texts, [['1', '3'], ['4']]);
});

t.test('one file that cannot be finished does not keep the others open', async (t) => {
  const directory = await temporaryDirectory(t);
  const files = await WarcFiles.open({ directory, poolMaxActive: 2 });
  const [one, two] = await Promise.all([files.write([record('1')]), files.write([record('2')])]);
  // A directory is in the place of the finished file.
  const [first = '', second = ''] = [one[0]?.file, two[0]?.file];
  mkdirSync(join(directory, first));
  writeFileSync(join(directory, first, 'x'), '');
  await t.rejects(files.close(), { code: 'ERR_STORAGE' });
  t.same(await textsOf(join(directory, second)), ['2']);
  await files.close();
});

t.test('after kill -9 every acknowledged record is in a finished file', async (t) => {
  const directory = await temporaryDirectory(t);
  const warc = new URL('../../../servers/crawler/warc/', import.meta.url).href;
  const program = `
    import { writeSync } from 'node:fs';
    import { WarcFiles } from ${JSON.stringify(`${warc}warc-files.js`)};
    import { newRecordId } from ${JSON.stringify(`${warc}new-record.js`)};
    const files = await WarcFiles.open({ directory: process.argv[1], poolMaxActive: 4, maxFileBytes: 60_000 });
    const fields = [['WARC-Target-URI', 'http://example.org/']];
    const worker = async (name) => {
      for (let n = 0; ; n++) {
        const block = [Buffer.from(name + ' ' + n + ' ' + crypto.randomUUID().repeat(200))];
        await files.write([{ type: 'resource', id: newRecordId(), date: 0, contentType: 'a/b', fields, block }]);
        writeSync(1, name + ' ' + n + '\\n');
      }
    };
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(worker));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    output += chunk as string;
    if (output.split('\n').length > 300) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  const acknowledged = output.split('\n').slice(0, -1);
  const left = readdirSync(directory).filter((name) => name.endsWith('.open'));
  t.ok(left.length > 1, `${left.length} files were open`);
  t.ok(left.length <= 4);
  await using next = await WarcFiles.open({ directory, poolMaxActive: 4 });
  t.same(next.recovered.map(({ file }) => `${file}.open`).sort(), left.sort());
  const found: string[] = [];
  for (const name of readdirSync(directory))
    for (const text of await textsOf(join(directory, name))) found.push(text.split(' ', 2).join(' '));
  t.equal(new Set(found).size, found.length, 'no record is there twice');
  t.same(
    acknowledged.filter((name) => !found.includes(name)),
    [],
    'none is missing',
  );
});
