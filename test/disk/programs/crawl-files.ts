// The files that a crawl writes beside its store: the recovery journal, which is rotated and opened again, and
// WARC files.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { JournalWriter } from '../../../servers/crawler/journal/journal-writer.js';
import { newRecordId } from '../../../servers/crawler/warc/new-record.js';
import { WarcFiles } from '../../../servers/crawler/warc/warc-files.js';
import { Random } from '../../helpers/random.js';
import { programArguments } from './acknowledge.js';

const STEPS = 18;
const random = new Random(1);
const { root, control } = programArguments();
const journals = join(root, 'journal');
await mkdir(journals);
for (const third of [0, 1, 2]) {
  await using journal = await JournalWriter.open(join(journals, 'recover.gz'));
  await using warc = await WarcFiles.open({
    directory: join(root, 'warc'),
    host: 'test',
    maxFileBytes: 20_000,
  });
  for (let k = (third * STEPS) / 3 + 1; k <= ((third + 1) * STEPS) / 3; k++) {
    for (let i = 0; i < 20; i++)
      journal.write({ tag: 'F+', url: `http://site.test/${k}/${i}`, pathFromSeed: 'L', via: '' });
    await journal.file.flush();
    control.mark(`journal ${k}`);
    if (k % 5 === 0) await journal.file.rotate(`cp${k}`);
    await warc.write([
      {
        type: 'resource',
        id: newRecordId(),
        date: k,
        contentType: 'text/plain',
        fields: [['WARC-Target-URI', `http://site.test/${k}`]],
        // Bytes that cannot be compressed are written in several blocks of the disk.
        block: [Buffer.from(random.bytes(5000))],
      },
    ]);
    control.mark(`warc ${k}`);
    if (k % 7 === 0) {
      await warc.roll();
      control.mark(`rolled ${k}`);
    }
  }
}
