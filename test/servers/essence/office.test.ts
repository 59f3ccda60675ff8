// Office documents and books of which a part is missing, or whose parts refer to each other without end.
import t from 'tap';
import { ZipMembers } from '../../../servers/essence/summarizers/office/zip-members.js';
import { zip } from '../../helpers/archives.js';
import { EXCEL_FILE, WORD_FILE } from './fixtures/office-files.js';
import { powerPointFile } from './fixtures/power-point-files.js';
import { summaryOf } from './fixtures/summary-of.js';
import { readFixture } from './read-fixture.js';

t.test('a truncated document yields its readable part and a warning', async (t) => {
  for (const [type, file, step, least] of [
    ['Word', WORD_FILE, 1500, 6],
    ['Excel', EXCEL_FILE, 1500, 1],
    ['PowerPoint', powerPointFile(), 509, 6],
    ['EPUB', await readFixture('epub/book.in'), 97, 20],
  ] as const) {
    let warned = 0;
    for (let size = 0; size < file.length; size += step)
      warned += Math.min(1, (await summaryOf(type, file.subarray(0, size))).warnings.length);
    t.ok(warned >= least, `${type}: ${warned} files with a warning`);
    if (type === 'EPUB') t.equal(warned, Math.ceil(file.length / step), 'every part of a book');
  }
});

t.test('PowerPoint: titles, slides in order with notes, none that was replaced or deleted', async (t) => {
  const { all, summary, warnings } = await summaryOf('PowerPoint', powerPointFile());
  t.same(warnings, []);
  t.equal(all.Title, 'First slide');
  t.equal(all.Headings, 'First slide\nZweite Folie');
  t.equal(summary.text, 'First\nslide\na box\nsay this\n\nZweite Folie\nПривет\nworld\n\n');
  t.match((await summaryOf('PowerPoint', 'words')).warnings[0], /PowerPoint could not be read/);
});

t.test('E-45 PowerPoint: a file that refers to one slide many times is read a few times', async (t) => {
  const { summary, warnings } = await summaryOf('PowerPoint', powerPointFile(900));
  t.match(warnings[0], /too often \(E-45\)/);
  t.match(summary.text, /^First\nslide\na box\nsay this\n\nZweite Folie\n/);
});

t.test('E-45 office documents: all members together are bounded', async (t) => {
  const archive = zip([
    ['a', Buffer.from('x'.repeat(60))],
    ['b', Buffer.from('y'.repeat(60))],
  ]);
  const members = await ZipMembers.open(archive, 100);
  let read = '';
  const write = (text: string) => {
    read += text;
    return true;
  };
  await members.read('a', write);
  await t.rejects(members.read('b', write), /unpacks to too much \(E-45\)/);
  t.equal(read, 'x'.repeat(60));
  members.close();
});
