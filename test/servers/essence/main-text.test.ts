// The main text of pages: its limit, and any markup.
import fc from 'fast-check';
import t from 'tap';
import { mainText } from '../../../servers/essence/html/main-text.js';
import { assertProperty } from '../../helpers/property.js';

const paragraph = (subject: string) =>
  `${subject} was opened in the presence of many guests, who had come from all parts of the country to see how it works and to ` +
  'hear what its builders have to say about the years of its construction.';

t.test('E-148 the length of the main text is limited', (t) => {
  const two = `<p>${paragraph('One')}</p><p>${paragraph('Two')}</p>`;
  t.equal(mainText(two, paragraph('One').length + 10), paragraph('One'));
  t.end();
});

t.test('any markup gives text without tags, and no exception', async (t) => {
  const piece = fc.constantFrom(
    ...(
      '<p>|</p>|<nav>|</nav>|<a>|</a>|<br>|<h1>|</h1>|<main>|</main>|word |<div class="nav">|</div>|' +
      '<hr hidden>|<svg>'
    ).split('|'),
  );
  assertProperty(
    fc.property(fc.array(piece), (pieces) => {
      t.notMatch(mainText(pieces.join('')), /[<>]/);
    }),
    { numRuns: 200 },
  );
});
