// The part of a large object that is indexed.
import t from 'tap';
import { decodeSoif, encodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import { ColumnText } from '../../../storage/indexers/columns/column-text.js';
import { indexedPart } from '../../../storage/indexers/columns/indexed-part.js';

t.test('the longest values of a large object are cut between words; the others stay', async (t) => {
  const object = SoifObject.of('FILE', 'http://a.test/', [
    ['Body', 'word '.repeat(1000)],
    ['Letters', 'é'.repeat(3000)],
    ['Title', 'last'],
  ]);
  const bytes = encodeSoif(object);
  t.equal(indexedPart(bytes, bytes.length), bytes, 'an object within the limit is not copied');
  const cut = indexedPart(bytes, 2001);
  t.ok(cut.length <= 2001 && cut.length > 1900, `${cut.length} bytes of the object`);
  t.equal(indexedPart(cut, 2001), cut, 'it is not cut again');
  const part = decodeSoif(cut);
  t.equal(part.url, 'http://a.test/');
  t.equal(part.text('Title'), 'last');
  t.match(part.text('Body'), /^(word )*word ?$/);
  t.match(part.text('Letters'), /^é+$/, 'no character is cut');
  const [body, letters] = ['Body', 'Letters'].map((name) => part.get(name)!.length) as [number, number];
  t.ok(Math.abs(body - letters) < 10, `${body} and ${letters} bytes`);
});

t.test('the text of a column does not depend on the segments in which a long value is read', async (t) => {
  const pieces = ['one two, three.  ', 'é\n\nfour ', '. , ', 'five\t '];
  let text = '';
  for (let n = 0; text.length < 2_500_000; n++) text += pieces[(n * 7 + (n >> 3)) % 4] ?? '';
  const column = new ColumnText();
  column.add(Buffer.from(text));
  const expected: string[] = [];
  for (const phrase of text.split(/[,.\n]+/))
    expected.push(...phrase.split(/\s+/).filter((word) => word !== ''));
  const whole = column.take();
  const words = whole.split(/[^\p{L}]+/u).filter((word) => word !== '');
  t.equal(words.length, expected.length);
  const short = new ColumnText();
  short.add(Buffer.from(text.slice(0, 10_000)));
  t.ok(whole.startsWith(short.take().slice(0, 9000)));
});
