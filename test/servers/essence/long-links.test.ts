// CRAWL-22.13: the links of documents that are too long to be summarized: texts, PDF files, office documents.
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import {
  type LargePage,
  outlinksOfLargePage,
  outlinksOfPackage,
} from '../../../servers/essence/outlinks/large-page.js';
import { PdfLinkReader } from '../../../servers/essence/outlinks/pdf-links.js';
import { scanText, TextReader } from '../../../servers/essence/outlinks/text-links.js';
import { type ArchiveMember, zip } from '../../helpers/archives.js';
import { assertProperty } from '../../helpers/property.js';
import { usedMemory } from '../../helpers/used-memory.js';
import { summarize } from './helpers.js';

const MIB = 1024 * 1024;

/** Cuts after each of these lengths, again and again. */
function* cut<T extends string | Uint8Array>(whole: T, lengths: readonly number[]): Generator<T> {
  for (let at = 0, i = 0; at < whole.length; i++) {
    const end = at + lengths[i % lengths.length]!;
    yield whole.slice(at, end) as T;
    at = end;
  }
}
const LENGTHS = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 20 });

// Texts.

const TEXTS = {
  text: 'See http://a.test/one, (ftp://b.test/two) <https://c.test/three>; "HTTP://D.test/4". http://e.test/(x) http:/no https://',
  markdown:
    'A [link](/one.html "title"), [that][x], <http://b.test/two>, ![p](p.png)\n[x]: ../three.html\n[no]: word\nhttp://c.test/4.',
  asciidoc:
    'link:one.html[x] xref:two.adoc[] image::three.png[] include::four.adoc[] http://b.test/five[x] link: no',
  tex: '\\input{one} \\include{dir/two.tex}\\input three % \\input{\\jobname} \\url{http://b.test/four} \\inputs{/} \\input{../no}',
  org: '[[file:one.org][x]] [[http://b.test/two][y]] [[three.png]] [[#no]] https://c.test/four',
} as const;
const FOUND: Readonly<Record<keyof typeof TEXTS, readonly string[]>> = {
  text: [
    'http://a.test/one',
    'ftp://b.test/two',
    'https://c.test/three',
    'HTTP://D.test/4',
    'http://e.test/(x)',
  ],
  markdown: ['/one.html', 'http://b.test/two', 'p.png', '../three.html', 'http://c.test/4'],
  asciidoc: ['one.html', 'two.adoc', 'three.png', 'four.adoc', 'http://b.test/five'],
  tex: ['one.tex', 'dir/two.tex', 'three.tex', 'http://b.test/four'],
  org: ['one.org', 'http://b.test/two', 'three.png', 'https://c.test/four'],
};
const KINDS = ['text', 'markdown', 'asciidoc', 'org', 'tex'] as const;

t.test('CRAWL-22.13 a text has the same references in pieces of any size', async (t) => {
  for (const kind of KINDS) {
    const found: string[] = [];
    scanText(kind, TEXTS[kind], (reference) => found.push(reference));
    t.same(found, FOUND[kind], kind);
  }
  const part = fc.oneof(
    fc.constantFrom(
      ...KINDS.map((kind) => TEXTS[kind]),
      'http://',
      'http://x.test/',
      '](',
      '[[file:',
      '\\input{',
      'link:',
    ),
    fc.integer({ min: 1, max: 20_000 }).map((length) => 'a/'.repeat(length)),
    fc.string({ maxLength: 200 }),
  );
  assertProperty(
    fc.property(
      fc.constantFrom(...KINDS),
      fc.array(part, { maxLength: 12 }),
      LENGTHS,
      (kind, parts, lengths) => {
        const text = parts.join('');
        const [whole, pieces]: [string[], string[]] = [[], []];
        scanText(kind, text, (reference) => whole.push(reference));
        const reader = new TextReader(kind, (reference) => pieces.push(reference));
        for (const piece of cut(text, lengths)) reader.write(piece);
        reader.end();
        return JSON.stringify(whole) === JSON.stringify(pieces);
      },
    ),
  );
});

// PDF files.

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const action = (url: string) => `<< /Type /Annot /Rect [0 0 1 1] /A << /S /URI /URI ${url} >> >>`;
const objectStream = (content: string, dictionary = '/Filter /FlateDecode', pack = deflateSync) =>
  Buffer.concat([
    latin1(`7 0 obj\n<< /Type /ObjStm /N 1 /First 4 ${dictionary} >>\nstream\r\n`),
    pack(latin1(content)),
    latin1('\nendstream\nendobj\n'),
  ]);

/** Objects, and the URLs of their links. */
const OBJECTS: readonly (readonly [objects: Uint8Array, urls: readonly string[]])[] = [
  [latin1(`1 0 obj\n${action('(http://a.test/1)')}\nendobj\n`), ['http://a.test/1']],
  [latin1('2 0 obj<</S/URI/URI(http://a.test/\\(2\\)\\057x)>>endobj\n'), ['http://a.test/(2)/x']],
  [latin1('3 0 obj<</S /URI /URI <68 7474703A2F2F612E746573742F33>>>endobj\n'), ['http://a.test/3']],
  [latin1('4 0 obj<</S/URI/#55RI(http://a.test/4(x)\\\n5)>>endobj\n'), ['http://a.test/4(x)5']],
  [latin1('5 0 obj<</S/URI/URI 6 0 R>>endobj 6 0 obj(http://a.test/5)endobj\n'), ['http://a.test/5']],
  [
    latin1('8 0 obj<</S/URI % /URI (no)\r /URI(\xfe\xff\0h\0t\0t\0p\0:\0/\0/\0a\0/\0\x36)>>endobj\n'),
    ['http://a/6'],
  ],
  [latin1('9 0 obj<</Title(stream\n/URI \\(no\\))/URI(http://a.test/7)>>endobj\n'), ['http://a.test/7']],
  [
    Buffer.concat([
      latin1('10 0 obj<</Length 40/Filter/DCTDecode>>stream\n'),
      latin1('/URI (http://no.test/) '),
      latin1('\nendstream endobj\n'),
    ]),
    [],
  ],
  [objectStream(`1 0 ${action('(http://a.test/8)')}`), ['http://a.test/8']],
  [objectStream('1 0 (http://a.test/9)', '/Filter[/FlateDecode]'), ['http://a.test/9']],
  [
    objectStream(action('(http://a.test/10)'), '', (bytes) => bytes as Buffer<ArrayBuffer>),
    ['http://a.test/10'],
  ],
];

async function pdfLinks(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) {
  const urls: string[] = [];
  const reader = new PdfLinkReader((url) => urls.push(url));
  for await (const piece of pieces) await reader.write(piece);
  await reader.end();
  return { urls, isComplete: reader.isComplete };
}

t.test('CRAWL-22.13 a PDF file has the same links in pieces of any size', async (t) => {
  for (const [objects, urls] of OBJECTS)
    t.same(
      await pdfLinks([objects]),
      { urls, isComplete: true },
      latin1(String(objects)).toString().slice(0, 60),
    );
  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .constantFrom('stream\r', 'endobj', '(', '<<', '/URI', '%', 'xref\n0 1\n', '<68', 'stream\n', 'obj')
      .map(latin1),
  );
  const part = fc.oneof(fc.constantFrom(...OBJECTS.map(([objects]) => objects)), junk);
  await assertProperty(
    fc.asyncProperty(fc.array(part, { maxLength: 15 }), LENGTHS, async (parts, lengths) => {
      const file = Buffer.concat(parts);
      const [whole, pieces] = [await pdfLinks([file]), await pdfLinks(cut(file, lengths))];
      return JSON.stringify(whole) === JSON.stringify(pieces);
    }),
  );
});

t.test('relative references of a PDF file have the base that its catalog names', async (t) => {
  const file = latin1(
    `1 0 obj<</URI(sub/x.html)>>endobj 2 0 obj<</Type/Catalog/URI<</Base(http://b.test/dir/)>>>>endobj\n`,
  );
  t.same((await pdfLinks([file])).urls, ['http://b.test/dir/sub/x.html']);
});

t.test('a PDF file whose links cannot all be read is said to be so', async (t) => {
  const cases: Readonly<Record<string, Uint8Array>> = {
    encrypted: latin1('1 0 obj<</URI(\x01\x02)>>endobj trailer<</Encrypt 5 0 R>>'),
    predictor: objectStream('x', '/Filter/FlateDecode/DecodeParms<</Predictor 12>>'),
    'another filter': objectStream('x', '/Filter/LZWDecode'),
    'two filters': objectStream('x', '/Filter[/ASCIIHexDecode/FlateDecode]'),
    damaged: objectStream('x', undefined, () => Buffer.alloc(500, 0xff)),
    'a bomb': objectStream('', undefined, () => deflateSync(Buffer.alloc(64 * MIB))),
  };
  const link = latin1(`1 0 obj ${action('(http://a.test/last)')} endobj`);
  for (const [name, bytes] of Object.entries(cases)) {
    const { urls, isComplete } = await pdfLinks([bytes, link]);
    t.notOk(isComplete, name);
    t.same(urls, ['http://a.test/last'], `${name}: the links after it are found`);
  }
});

t.test('a file of bombs is unpacked up to a limit', async (t) => {
  const bomb = (url: string, size: number) =>
    objectStream('', undefined, () =>
      deflateSync(Buffer.concat([latin1(action(`(http://a.test/${url})`)), Buffer.alloc(size * MIB)])),
    );
  const large = bomb('large', 40);
  const bombs = [bomb('first', 20), bomb('second', 20), ...Array.from({ length: 400 }, () => large)];
  const { urls, isComplete } = await pdfLinks(bombs);
  t.same(urls, ['http://a.test/first']);
  t.notOk(isComplete);
});

// Office documents.

const RELATIONSHIPS = (target: string, more = '') =>
  latin1(
    `<Relationships><Relationship Id="r1" Type="http://s/officeDocument/2006/relationships/hyperlink" Target="${target}" TargetMode="External"/>` +
      `<Relationship Id="r2" Type="http://s/image" Target="media/a.png"/>${more}</Relationships>`,
  );
const TYPES = ['[Content_Types].xml', latin1('<Types/>')] as const;
const DOCX: readonly ArchiveMember[] = [
  TYPES,
  ['word/_rels/document.xml.rels', RELATIONSHIPS('http://a.test/rel?a=1&amp;b=2')],
  [
    'word/document.xml',
    latin1(
      '<w:document><w:p><w:hyperlink r:id="r1"><w:r><w:t>x</w:t></w:r></w:hyperlink><w:fldSimple w:instr=\' HYPERLINK "http://a.test/simple" \'/>' +
        '<w:r><w:fldChar w:fldCharType="begin"/><w:instrText> HYPERLINK "http://a.test/</w:instrText><w:instrText>field" </w:instrText>' +
        '<w:fldChar w:fldCharType="end"/></w:r></w:p></w:document>',
    ),
  ],
];
const PACKAGES: Readonly<
  Record<string, readonly [members: readonly ArchiveMember[], urls: readonly string[]]>
> = {
  'report.docx': [DOCX, ['http://a.test/field', 'http://a.test/rel?a=1&b=2', 'http://a.test/simple']],
  'table.xlsx': [
    [
      TYPES,
      ['xl/worksheets/_rels/sheet1.xml.rels', RELATIONSHIPS('https://a.test/cell')],
      ['xl/workbook.xml', latin1('<workbook/>')],
    ],
    ['https://a.test/cell'],
  ],
  'talk.pptx': [
    [
      TYPES,
      ['ppt/slides/_rels/slide1.xml.rels', RELATIONSHIPS('https://a.test/slide')],
      ['ppt/presentation.xml', latin1('<p/>')],
    ],
    ['https://a.test/slide'],
  ],
  'text.odt': [
    [
      [
        'content.xml',
        latin1(
          '<office:document-content><text:a xlink:href="http://a.test/odt">x</text:a><draw:a xlink:href="/rel.html"/></office:document-content>',
        ),
      ],
    ],
    ['http://a.test/odt', 'http://page.test/rel.html'],
  ],
  'book.epub': [
    [
      ['META-INF/container.xml', latin1('<container/>')],
      [
        'OEBPS/one.xhtml',
        latin1('<html><body><a href="two.xhtml">x</a><a href="http://a.test/book">y</a></body></html>'),
      ],
    ],
    ['http://a.test/book'],
  ],
  'files.zip': [[['page.html', latin1('<a href="http://a.test/">x</a>')]], []],
};

t.test('CRAWL-22.13 an office document has the same links wherever its bytes are', async (t) => {
  for (const [name, [members, urls]] of Object.entries(PACKAGES)) {
    const bytes = zip(members);
    const page = { url: `http://page.test/${name}`, maxLinks: 100 };
    const ranges = {
      length: bytes.length,
      async *pieces(start: number, end: number) {
        const shared = new Uint8Array(7);
        for (let at = start; at < end; at += 7) {
          const piece = bytes.subarray(at, Math.min(end, at + 7));
          shared.set(piece);
          yield shared.subarray(0, piece.length);
        }
      },
    };
    for (const source of [bytes, ranges]) {
      const { links, isComplete } = await outlinksOfPackage(page, source);
      t.same(links.map(({ url }) => url).sort(), urls, name);
      t.ok(isComplete, name);
    }
    const cutBytes = bytes.subarray(0, bytes.length - 30);
    t.same(
      await outlinksOfPackage(page, cutBytes),
      { links: [], dropped: 0, isComplete: false },
      `${name}, cut`,
    );
  }
});

t.test('CRAWL-11.2 a summarized office document has the links that a long one has', async (t) => {
  for (const [name, [members, urls]] of Object.entries(PACKAGES)) {
    if (name === 'files.zip') continue;
    const [url, body] = [`http://page.test/${name}`, zip(members)];
    const { links } = await summarize(url, body, {}, { outlinks: { via: '', form: 'canonical' } });
    t.same(links.map(({ url }) => url).sort(), urls, name);
    t.same((await summarize(url, body)).links, [], `${name}: without a request for all references`);
  }
});

t.test('a part that unpacks to too much is left out', async (t) => {
  const bytes = zip([...DOCX, ['word/footnotes.xml', Buffer.alloc(40 * MIB, ' ')]]);
  const { links, isComplete } = await outlinksOfPackage({ url: 'http://page.test/x', maxLinks: 100 }, bytes);
  t.equal(links.length, 3);
  t.notOk(isComplete);
});

// Memory.

/** Pieces of these bytes, up to a length, then the end. */
async function* filled(filler: Uint8Array, length: number, end: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; at += filler.length) {
    yield filler;
    // As a file, which is read with breaks.
    if (at % (32 * filler.length) === 0) await new Promise(setImmediate);
  }
  yield end;
}

t.test('CRAWL-22.13 the memory for the links of 500 MB is that for 50 MB', async (t) => {
  const text = latin1(`${'a line of a long text without links, and a word:\n'.repeat(1300)}http:/no\n`);
  const picture = Buffer.concat([
    latin1('5 0 obj<</Length 60000>>stream\n'),
    Buffer.alloc(60_000, 0xa7),
    latin1('\nendstream endobj\n'),
  ]);
  const objects = Buffer.concat([
    picture,
    objectStream(action('(http://a.test/x)').repeat(200)),
    latin1(action('(http://a.test/y)')),
  ]);
  const page: Omit<LargePage, 'format' | 'pieces'> = {
    ...{ url: 'http://page.test/x', beginning: text, charset: 'utf-8', ignoreRobots: false, maxLinks: 1000 },
  };
  for (const [format, filler, end] of [
    ['text', text, latin1('http://a.test/last')],
    ['markdown', text, latin1('[x](http://a.test/last)')],
    ['pdf', objects, latin1(`1 0 obj${action('(http://a.test/last)')}endobj`)],
  ] as const) {
    const growth: number[] = [];
    for (const length of [50e6, 500e6]) {
      const before = await usedMemory();
      let most = 0;
      const pieces = async function* () {
        let count = 0;
        for await (const piece of filled(filler, length, end)) {
          yield piece;
          if (++count % 1000 === 0) most = Math.max(most, (await usedMemory()) - before);
        }
      };
      const { links, isComplete } = await outlinksOfLargePage({ ...page, format, pieces: pieces() });
      t.equal(links.at(-1)?.url, 'http://a.test/last', format);
      t.ok(isComplete, format);
      growth.push(most);
    }
    t.ok(growth[1]! < growth[0]! + 8 * MIB, `${format}: ${growth.join(' and ')} bytes`);
  }
});
