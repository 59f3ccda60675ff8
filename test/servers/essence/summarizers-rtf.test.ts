// The summarizer of RTF: characters and their fallbacks, code pages, fields, tables, information, hidden text.

import t from 'tap';
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

t.test('RTF: fields, tables, lists, pictures, hidden and deleted text', async (t) => {
  const { all } = await summaryOf(
    'RTF',
    `{\\rtf1{\\field{\\*\\fldinst{HYPERLINK "http://a.test/1"}}{\\fldrslt one}}
{\\field{\\*\\fldinst HYPERLINK \\\\l "place"}{\\fldrslt two}}{\\field{\\*\\fldinst HYPERLINK \\\\o "a tip" "http://a.test/3" }{\\fldrslt three}}
{\\field{\\*\\fldinst HYPERLINK http://a.test/4 \\\\t "_blank"}{\\fldrslt four}}{\\field{\\*\\fldinst {PAGEREF a}}{\\fldrslt 5}}}`,
  );
  t.equal(all['url-references'], 'http://a.test/1\nhttp://a.test/3\nhttp://a.test/4');
  t.equal(
    await bodyOf(
      'a\\nestcell b\\nestcell{\\*\\nesttableprops\\trowd\\nestrow}{\\nonesttables\\par}\\cell c\\cell\\row d',
    ),
    'a\tb\t\tc\nd',
  );
  t.equal(
    await bodyOf('{\\listtext\\pard 1.\\tab}First\\par{\\pntext\\bullet\\tab}Second'),
    '1.\tFirst\n•\tSecond',
  );
  t.equal(
    await bodyOf(
      'a{\\pict\\pngblip 89504e47}b{\\object{\\*\\objdata 0102}{\\result{\\pict 00}}}c{\\*\\shppict{\\pict 00}}',
    ),
    'abc',
  );
  t.equal(await bodyOf('seen{\\v hidden}{\\deleted old} \\v gone\\v0 again{\\xe entry}'), 'seen again');
});

t.test('RTF: the information group; headings by the level of their style', async (t) => {
  const { all } = await summaryOf(
    'RTF',
    `{\\rtf1\\ansi{\\stylesheet{\\s1\\outlinelevel0 \\'dcberschrift 1;}{\\s2 Text;}}
{\\info{\\upr{\\title ?}{\\*\\ud{\\title \\u26085 ?\\u26412 ?}}}{\\author A. Author}{\\subject S}{\\keywords one, two}{\\*\\company C}{\\doccomm D}}
\\pard\\s1 Eins\\par\\pard\\s2 Words{\\*\\other{\\title no}}\\par}`,
  );
  t.same(all, {
    Title: '日本',
    Author: 'A. Author',
    Subject: 'S',
    keywords: 'one, two',
    headings: 'Eins',
    body: 'Eins\nWords\n',
  });
});
