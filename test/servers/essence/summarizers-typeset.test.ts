// The summarizers of RTF (characters and their fallbacks, code pages), of TeX (names of included files) and of
// PostScript (limits).
import fc from 'fast-check';
import t from 'tap';
import { Inclusions } from '../../../servers/essence/summarizers/tex/commands.js';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';

const bodyOf = async (content: string): Promise<string | undefined> =>
  (await summaryOf('RTF', Buffer.from(`{\\rtf1\\ansi ${content}}`, 'latin1'))).all.body;

t.test('RTF: the fallback of a Unicode character is left out, text after it is not', async (t) => {
  for (const [content, text] of [
    ['\\u8364 ?x', '€x'],
    ["\\u8364\\'80x", '€x'],
    ['\\u-3913 ?x', '\uf0b7x'],
    ["{\\uc2\\u26085\\'93\\'fax}", '日x'],
    ['\\uc0\\u8364 x', '€x'],
    ['\\u8212\\emdash x', '—x'],
    ['\\u8364\\par next', '€\nnext'],
    ['{\\u8364 }next', '€next'],
    ['\\u55357 ?\\u56832 ?', '\u{1f600}'],
    ['no\\~break and non\\_breaking', 'no break and non-breaking'],
  ] as const)
    t.equal(await bodyOf(content), text, content);
});

t.test('RTF: bytes are of the code page of the font, of the default font, or of the document', async (t) => {
  const fonts = '{\\fonttbl{\\f0\\fcharset204 A;}{\\f1\\fcharset0 B;}{\\f2\\cpg1253 C;}}';
  for (const [content, text] of [
    [`\\ansicpg1252\\deff0${fonts}\\'cc\\'e8\\'f0`, 'Мир'],
    [`\\deff0${fonts}{\\f1 caf\\'e9} \\f1\\plain\\'cc\\'e8\\'f0`, 'café Мир'],
    [`\\deff1${fonts}{\\f2\\'e1\\'e2}`, 'αβ'],
    ["\\ansicpg1251\\'cc\\'e8\\'f0", 'Мир'],
    // Of DOS, OS/2 and the Macintosh.
    ["\\pc\\'8e\\'e1", 'Äß'],
    ["\\pca\\'9b\\'b5", 'øÁ'],
    ["\\ansicpg866\\'8c\\'a8\\'e0", 'Мир'],
    ["\\ansicpg852\\'86\\'a5", 'ćą'],
    ["\\ansicpg850\\'86\\'a5", 'åÑ'],
    ["\\ansicpg737\\'80", 'Α'],
    ["\\ansicpg865\\'9b", 'ø'],
    ["\\ansicpg10007\\'8c\\'e8\\'f0", 'Мир'],
    ["\\ansicpg10029\\'8d", 'ć'],
    ["\\ansicpg708\\'41", 'A'],
  ] as const)
    t.equal(await bodyOf(content), text, content);
});

t.test('a name that leaves the directory of the source is never included', (t) => {
  const part = fc.constantFrom(...'..¦.¦a¦b.tex¦¦ ¦~¦%2e%2e¦\\¦http:¦%00¦"¦|'.split('¦'));
  assertProperty(
    fc.property(
      fc.array(part, { maxLength: 6 }),
      fc.constantFrom('/', '//', '\\', ''),
      (parts, separator) => {
        const name = new Inclusions().add(parts.join(separator));
        if (name === undefined) return true;
        const url = new URL(name.split('/').map(encodeURIComponent).join('/'), 'http://a.test/d/main.tex');
        return url.host === 'a.test' && url.pathname.startsWith('/d/') && url.pathname.length > 3;
      },
    ),
  );
  t.end();
});

t.test('PostScript: a program above its limits is stopped with a warning and keeps its text', async (t) => {
  const head = '%!\n/Times-Roman findfont 10 scalefont setfont 72 72 moveto (seen) show\n';
  for (const [body, reason] of [
    ['{ } loop', /more than 20 ms of processor time/],
    ['0 0 1 { pop } for', /more than 20 ms of processor time/],
    ['/f { f } def f', /too deeply/],
    ['{ 1000000 array } loop', /too much memory/],
    ['{ 1 } loop', /stack overflow/],
    ['(never closed', /no end/],
    ['nosuchname', /undefined: nosuchname/],
  ] as const) {
    const { all, warnings } = await summaryOf('PostScript', head + body, { maxProgramMs: 20 });
    t.equal(all['Partial-Text'], 'seen', body);
    t.match(warnings[0], reason);
  }
});
