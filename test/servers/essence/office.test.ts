// The binary formats of Word, Excel and WordPerfect.

import t from 'tap';
import { EXCEL_FILE, WORD_FILE } from './fixtures/office-files.js';
import { summaryOf } from './fixtures/summary-of.js';
import { latin1 } from './unnest-fixtures.js';

t.test('Word (6.2) yields properties and text of a file that LibreOffice wrote', async (t) => {
  const { all, summary, warnings } = await summaryOf('Word', WORD_FILE);
  t.same(warnings, []);
  t.equal(all.Title, 'Fixture Übersicht');
  t.equal(all.Author, 'A. Writer');
  const text = summary.text ?? '';
  for (let n = 1; n <= 12; n++) t.ok(text.includes(`in paragraph number ${n}, written for the reader`));
  for (const phrase of [
    'First Chapter',
    'Second Chapter',
    'cell5a',
    'Wert3 öäü',
    'bullet two',
    'Grüße aus Zürich',
    '€uro',
  ]) {
    t.ok(text.includes(phrase), phrase);
  }
  t.ok(text.includes('Кириллица тоже здесь, а также ελληνικά γράμματα.'));
});

t.test('Excel (6.2) yields sheet names and strings of a file that LibreOffice wrote', async (t) => {
  const { all, summary, warnings } = await summaryOf('Excel', EXCEL_FILE);
  t.same(warnings, []);
  t.equal(all.Headings, 'sheet');
  const strings = (summary.text ?? '').split('\n');
  t.same(strings.slice(0, 7), [
    'name',
    'place',
    'note',
    'amount',
    'person1',
    'Zürich 1',
    'remark “1” ελληνικά',
  ]);
  t.ok(strings.includes('remark “39” ελληνικά'), 'the last row is included');
});

t.test('Word and Excel: a truncated file yields its readable part and a warning', async (t) => {
  let warned = 0;
  for (const [type, file] of [
    ['Word', WORD_FILE],
    ['Excel', EXCEL_FILE],
  ] as const) {
    for (let size = 0; size < file.length; size += 1500) {
      const { warnings } = await summaryOf(type, file.subarray(0, size));
      warned += Math.min(1, warnings.length);
    }
  }
  t.ok(warned > 5, `${warned} files with a warning`);
});

/** Makes the header of a document: product and file type, version, encryption, and the offset of the text. */
function wordPerfect(text: string, fileType: number, version: number, key = '\0\0'): Uint8Array {
  const codes = String.fromCharCode(fileType, version);
  return latin1(`\xffWPC\x10\0\0\0\x01${codes}\0${key}\0\0${text}`);
}

t.test('WordPerfect (6.2) 4, 5, 6 and Macintosh yield the text between the codes', async (t) => {
  const textIn = async (bytes: Uint8Array) => (await summaryOf('WordPerfect', bytes)).summary.text;
  // Set 1, 31 is an a with diaeresis; set 8, 0 a capital Alpha; set 10, 1 a small Cyrillic a; set 4, 32 a quotation mark.
  const letters = '\xc0\x1f\x01\xc0 \xc0\x00\x08\xc0 \xc0\x01\x0a\xc0 \xc0\x20\x04\xc0';
  t.equal(await textIn(wordPerfect(`one\x0d${letters}\x0atwo\x93three`, 0x0a, 0)), 'one ä Α а “\ntwo three');
  t.equal(
    await textIn(wordPerfect('\xd1\x00\x04\x00hid\xd1one', 0x0a, 0)),
    'one',
    'version 5: a group that states its size',
  );
  const six = `one\x80\xf0\x1f\x01\xf0\x01\x20\xccnext\xd0\x00\x06\x00hi\x84`;
  t.equal(await textIn(wordPerfect(six, 0x0a, 2)), 'one äåß\nnext\n-');
  const macintosh = 'S\xc0\x8a\x01\x1f\xc0n\xc3\x01\x02\xc3e\xdc\x00\x00\x02hi\xc1\x01\x01\xc1x\x0d';
  t.equal(await textIn(wordPerfect(macintosh, 0x2c, 3)), 'Säne\n\tx\n');
  t.equal(
    await textIn(latin1('Old\x0dtext\xc3\x00+(\xc3 and\xa9more\x0a')),
    'Old text and-more\n',
    'version 4',
  );
  t.equal(await textIn(latin1('a plain text\n')), 'a plain text\n');
  for (const encrypted of [wordPerfect('secret', 0x0a, 0, '\x12\x34'), latin1('\xfe\xffaa secret')]) {
    const { summary, warnings } = await summaryOf('WordPerfect', encrypted);
    t.equal(summary.text, '');
    t.match(warnings[0], /encrypted/);
  }
});
