// Presentations of PowerPoint 97 to 2003.

import t from 'tap';
import { powerPointFile } from './fixtures/power-point-files.js';
import { summaryOf } from './fixtures/summary-of.js';

t.test(
  'PowerPoint: titles, slides in order with their notes, none that was replaced or deleted',
  async (t) => {
    const { all, summary, warnings } = await summaryOf('PowerPoint', powerPointFile());
    t.same(warnings, []);
    t.equal(all.Title, 'First slide');
    t.equal(all.Headings, 'First slide\nZweite Folie');
    t.equal(summary.text, 'First\nslide\na box\nsay this\n\nZweite Folie\nПривет\nworld\n\n');
  },
);

t.test('PowerPoint: cut and other files give a warning and no error', async (t) => {
  const file = powerPointFile();
  let warned = 0;
  for (let size = 0; size < file.length; size += 509) {
    const { warnings } = await summaryOf('PowerPoint', file.subarray(0, size));
    warned += Math.min(1, warnings.length);
  }
  t.ok(warned > 5, `${warned} files with a warning`);
  t.match((await summaryOf('PowerPoint', 'words')).warnings[0], /PowerPoint could not be read/);
});

t.test('E-45 PowerPoint: a file that refers to one slide many times is read a few times', async (t) => {
  const { summary, warnings } = await summaryOf('PowerPoint', powerPointFile(900));
  t.match(warnings[0], /too often \(E-45\)/);
  t.match(summary.text, /^First\nslide\na box\nsay this\n\nZweite Folie\n/);
});
