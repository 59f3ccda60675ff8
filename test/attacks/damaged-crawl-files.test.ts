// Journals, WARC files, seen filters and saved states of a crawl that the disk has changed:
// `harvest store check` names them, and an opening neither cuts off what is sound nor hides what is lost.
import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { saveComponents, takeComponents } from '../../servers/crawler/component-state.js';
import { readJournal } from '../../servers/crawler/journal/journal-reader.js';
import { JournalWriter } from '../../servers/crawler/journal/journal-writer.js';
import { newRecordId } from '../../servers/crawler/warc/new-record.js';
import { WarcFiles } from '../../servers/crawler/warc/warc-files.js';
import { openSeenFilter } from '../../storage/seen/index.js';
import { cli } from '../helpers/cli.js';
import { Random } from '../helpers/random.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const RECORDS = 6;
const PIECES = 8;
const random = new Random(7);

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 0x41;
  writeFileSync(path, bytes);
}

async function makeWarc(directory: string, compress: boolean) {
  await using files = await WarcFiles.open({ directory, host: 'h', compression: compress ? 'gzip' : 'none' });
  const positions = [];
  for (let i = 0; i < RECORDS; i++) {
    const block = Buffer.from(random.bytes(3000));
    const record = { type: 'resource', id: newRecordId(), date: i, contentType: 'text/plain' } as const;
    const fields = [['WARC-Target-URI', `http://a.test/${i}`]] as const;
    positions.push(...(await files.write([{ ...record, fields, block: [block] }])));
  }
  return positions;
}

for (const compress of [true, false]) {
  t.test(`a damaged record of a WARC file, ${compress ? 'compressed' : 'plain'}`, async (t) => {
    const directory = await temporaryDirectory(t);
    const warc = join(directory, 'warc');
    const positions = await makeWarc(warc, compress);
    const [name = ''] = readdirSync(warc);
    const path = join(warc, name);
    const size = statSync(path).size;
    t.match(await cli('store', 'check', directory), { code: 0, stdout: /warc(\.gz)?: sound/ });
    const { offset = 0, length = 0 } = positions[2] ?? {};
    // A checksum covers the whole of a compressed record, and nothing the block of a plain one.
    flip(path, compress ? offset + Math.floor(length / 2) : offset + 2);
    const says = new RegExp(`DAMAGED.*\\n  the record at offset ${offset} is damaged`);
    t.match(await cli('store', 'check', directory), { code: 1, stdout: says });
    renameSync(path, `${path}.open`);
    await using again = await WarcFiles.open({
      directory: warc,
      host: 'h',
      compression: compress ? 'gzip' : 'none',
    });
    t.same(again.recovered, [{ file: name, bytes: size, cut: 0, damaged: [offset] }]);
    t.equal(statSync(path).size, size, 'the records after the damaged one are kept');
    truncateSync(path, size - 5);
    t.match(await cli('store', 'check', directory), { code: 1, stdout: /is incomplete or damaged/ });
  });
}

t.test('a journal that the disk has changed is kept as a copy', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'recover.gz');
  // Without its end, as a killed process leaves it.
  const journal = await JournalWriter.open(path);
  for (let i = 0; i < PIECES; i++) {
    for (let n = 0; n < 30; n++)
      journal.write({
        tag: 'F+',
        url: `http://${random.below(1e9)}.test/`,
        pathFromSeed: 'L',
        via: '',
      });
    await journal.file.flush();
  }
  const torn = readFileSync(path);
  await journal.close();
  writeFileSync(path, torn);
  t.match(await cli('store', 'check', directory), { code: 0, stdout: /recover\.gz: sound/ });
  // A member that a killed process left open has no checksum yet: a single bit may only change a URL.
  const damaged = Buffer.from(torn);
  damaged.fill(0xff, Math.floor(torn.length / 2), Math.floor(torn.length / 2) + 64);
  writeFileSync(path, damaged);
  t.match(await cli('store', 'check', directory), { code: 1, stdout: /recover\.gz: DAMAGED/ });
  await using again = await JournalWriter.open(path);
  t.ok(again.cutBytes > 0);
  t.same(readFileSync(again.damagedCopy ?? ''), damaged);
  await again.close();
  let events = 0;
  for await (const { tag } of readJournal(path)) if (tag === 'F+') events++;
  t.ok(events >= 30, `${events} events before the damage are read`);

  writeFileSync(path, torn.subarray(0, torn.length - 7));
  await using cut = await JournalWriter.open(path);
  t.ok(cut.cutBytes > 0);
  t.equal(cut.damagedCopy, undefined, 'a crash is not damage');
});

t.test('a damaged seen filter is found by `harvest store check`', async (t) => {
  for (const kind of ['disk-merge', 'memory-set'] as const) {
    const directory = await temporaryDirectory(t);
    const place = join(directory, 'seen', kind);
    {
      await using filter = await openSeenFilter({
        kind,
        directory: place,
        ...(kind === 'disk-merge' && { pendingKeys: 50 }),
      });
      for (let i = 0; i < 20; i++) {
        await filter.add([`http://a.test/${i}`, `http://b.test/${i}`, `http://c.test/${i}`]);
        await filter.commit();
      }
    }
    t.match(await cli('store', 'check', directory), { code: 0, stdout: /: sound/ });
    const before = readdirSync(place).sort();
    const name = before.find((file) => /run-|seen\.log/.test(file)) ?? '';
    flip(join(place, name), 40);
    t.match(await cli('store', 'check', directory), { code: 1, stdout: new RegExp(`DAMAGED.*\\n.*${name}`) });
    t.same(readdirSync(place).sort(), before, 'a check changes nothing');
    if (kind !== 'memory-set') continue;
    truncateSync(join(place, name), 0);
    t.match(await cli('store', 'check', directory), {
      code: 1,
      stdout: /DAMAGED.*\n.*seen\.log has lost its content/,
    });
  }
});

t.test('an emptied log that a manifest names is damage', async (t) => {
  const directory = await temporaryDirectory(t);
  {
    await using filter = await openSeenFilter({ kind: 'disk-merge', directory });
    await filter.add(['http://a.test/']);
  }
  const log = readdirSync(directory).find((file) => file.startsWith('log-')) ?? '';
  truncateSync(join(directory, log), 0);
  await t.rejects(openSeenFilter({ kind: 'disk-merge', directory }), {
    code: 'ERR_STORAGE',
    message: /log-1 is damaged: it has lost its content/,
  });
});

t.test('the saved state of a crawl has a checksum', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'restored.json');
  const state = { statistics: { mimeTypes: [1, 2, 3] }, servers: 'x'.repeat(50) };
  await saveComponents(directory, state);
  const sound = readFileSync(file);
  t.same(await takeComponents(directory), state);
  for (let at = 0; at < sound.length; at += 3) {
    writeFileSync(file, sound);
    flip(file, at);
    await t.rejects(takeComponents(directory), { message: /restored\.json is damaged/ }, `byte ${at}`);
  }
  writeFileSync(file, JSON.stringify(state));
  t.same(await takeComponents(directory), state, 'that of an earlier version has none');
  await mkdir(file);
  await t.rejects(takeComponents(directory), {
    message: /restored\.json cannot be read: .*not a regular file/,
  });
  rmSync(file, { recursive: true });
});

t.test('a file of a store that cannot be read is a problem, not the end of the check', async (t) => {
  const directory = await temporaryDirectory(t);
  for (const name of ['a', 'b']) {
    await using _filter = await openSeenFilter({ kind: 'level', directory: join(directory, name) });
    await _filter.add(['http://a.test/']);
  }
  const seal = join(directory, 'a', 'SEAL');
  rmSync(seal, { force: true });
  await cp(join(directory, 'b'), seal, { recursive: true });
  t.match(await cli('store', 'check', directory), {
    code: 1,
    stdout: /SEAL: it cannot be read: .*not a regular file[\s\S]*b: sound/,
  });
});
