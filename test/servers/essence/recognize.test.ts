// Recognition of types: its steps, the content of archives and office documents, links, and the options that
// skip access.
import t from 'tap';
import {
  createEssenceContext,
  isRejected,
  parseTypeRules,
  parseUrlRules,
  type RecognitionStep,
  recognize,
} from '../../../servers/essence/index.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { contentOf, contextOf, IDENTITY, inputOf, summarize } from './helpers.js';
import { latin1, tar } from './unnest-fixtures.js';

const { rules } = contextOf();

t.test('E-10 byurl.cf sees unreserved characters without escapes', async (t) => {
  const typeOf = (line: string, url: string) =>
    recognize(inputOf(url, ''), { ...rules, byUrl: parseUrlRules(`Home ${line}\n`, 'byurl.cf') }).type;
  for (const line of [
    '^http:.*/~ann/$',
    '^http:.*/%7eann/$',
    '^http:.*/%7Eann/$',
    '/~(ann|bob)/$',
    '^.*[.]~ann/$',
  ])
    t.equal(typeOf(line, `http://a.test/${line.includes('[.]') ? '.' : ''}%7eann/`), 'Home', line);
  t.equal(typeOf('^http://a.test/~$', 'http://a.test/%7e'), 'Home', 'a whole URL');
});

t.test('E-6, E-15 each step of recognition names the line that decides', async (t) => {
  const customRules = {
    ...rules,
    byUrl: parseUrlRules('# own\nHomeHTML ^http:.*/home$\n', 'lib/byurl.cf'),
    byName: parseTypeRules('\n\nTeX \\.tex$\nC \\.c$\n', 'lib/byname.cf'),
    byContent: parseTypeRules('Text text\n', 'lib/bycontent.cf'),
  };
  const stepsOf = (url: string, body: string | Uint8Array, contentType?: string) => {
    const steps: RecognitionStep[] = [];
    const input = inputOf(url, body, { contentType });
    return { type: recognize(input, customRules, { steps }).type, steps };
  };
  t.same(stepsOf('http://a.test/home', 'x'), {
    type: 'HomeHTML',
    steps: [
      {
        how: 'url',
        subject: 'http://a.test/home',
        type: 'HomeHTML',
        rule: { type: 'HomeHTML', file: 'lib/byurl.cf', line: 2 },
      },
    ],
  });
  const latex = stepsOf('ftp://a.test/p.tex', '\\documentclass{book}');
  t.equal(latex.type, 'LaTeX');
  t.same(
    latex.steps.map(({ how, type, rule }) => [how, type, rule?.line]),
    [
      ['url', undefined, undefined],
      ['name', 'TeX', 3],
      ['bytes', 'LaTeX', undefined],
    ],
  );
  const plain = stepsOf('ftp://a.test/p', 'words', 'application/octet-stream');
  t.equal(plain.type, 'Text');
  t.same(
    plain.steps.map(({ how, subject, type, rule }) => [how, subject, type, rule?.file]),
    [
      ['url', 'ftp://a.test/p', undefined, undefined],
      ['name', 'p', undefined, undefined],
      ['declared', 'application/octet-stream', undefined, undefined],
      ['content', 'text', 'Text', 'lib/bycontent.cf'],
    ],
  );
  t.equal(stepsOf('ftp://a.test/p.c', 'a\0b').steps[2]?.note, 'C is text, the bytes are not');
});

t.test('E-16 archives and office documents are recognized by their content', async (t) => {
  const zip = (name: string, content = '') =>
    latin1(`PK\x03\x04${'\0'.repeat(22)}${String.fromCharCode(name.length)}\0\0\0${name}${content}`);
  const ole = (stream: string) =>
    Buffer.concat([
      latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
      Buffer.alloc(1024),
      Buffer.from(stream, 'utf16le'),
    ]);
  const posix = tar([['a.txt', 'x']]);
  // A tar archive of Version 7 has no magic, and another checksum.
  const v7 = Uint8Array.from(posix);
  v7.fill(0, 257, 265);
  const sum = v7.subarray(0, 512).reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0);
  v7.set(latin1(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
  const expected: [body: Uint8Array, type: string][] = [
    [posix, 'Tar'],
    [v7, 'Tar'],
    [zip('a.txt'), 'PCCompressed'],
    [zip('mimetype', 'application/vnd.oasis.opendocument.text'), 'OpenDocument'],
    [
      latin1(
        '<?xml version="1.0"?>\n<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0">',
      ),
      'OpenDocument',
    ],
    [zip('mimetype', 'application/epub+zip'), 'EPUB'],
    [zip('[Content_Types].xml'), 'OfficeOpenXML'],
    [ole('WordDocument'), 'Word'],
    [ole('Workbook'), 'Excel'],
    [ole('PowerPoint Document'), 'PowerPoint'],
    [latin1('\xffWPC'), 'WordPerfect'],
    [latin1('!<arch>\ndebian-binary   '), 'DebianPackage'],
    [latin1('!<arch>\nx.o/'), 'Archive'],
    [latin1('070701'), 'CpioArchive'],
    [latin1('#!/bin/sh\n# This is a shell archive\n'), 'ShellArchive'],
    [latin1('begin 644 x\n'), 'Uuencoded'],
    [latin1('(This file must be converted with BinHex 4.0)'), 'MacCompressed'],
  ];
  for (const [body, type] of expected) t.equal(recognize(inputOf('ftp://a.test/x', body), rules).type, type);
});

t.test('E-16 a text in UTF-16 or UTF-32 is recognized by its characters', async (t) => {
  const page = '<!DOCTYPE html>\n<title>A page</title><p>Some words.';
  const expected: readonly (readonly [text: string, type: string])[] = [
    ['Some words, and more of them.\n', 'Text'],
    ['Немного слов, и ещё немного.\n', 'Text'],
    [page, 'HTML'],
    ['<?xml version="1.0"?>\n<a>b</a>', 'SGML'],
    ['#!/bin/sh\necho words\n', 'ShellScript'],
  ];
  for (const [text, type] of expected) {
    for (const mark of ['', '\ufeff']) {
      const little = Buffer.from(mark + text, 'utf16le');
      const bodies = { LE: little, BE: Buffer.from(little).swap16() };
      for (const [order, body] of Object.entries(bodies))
        t.equal(
          recognize(inputOf('ftp://a.test/x', body), rules).type,
          type,
          `${type} ${order} ${mark.length}`,
        );
    }
  }
  const named = inputOf('ftp://a.test/x.txt', Buffer.from('Some words.', 'utf16le'));
  t.equal(recognize(named, rules).type, 'Text', 'the name is not overruled');
  t.equal(
    recognize({ ...named, body: Buffer.from([0x41, 0, 0, 0, 7, 0, 0x90, 1, 2, 0, 0, 0]) }, rules).type,
    'Data',
    'other bytes with NUL are no text',
  );
});

t.test('E-6 a symbolic link has the type of its name, else SymbolicLink', async (t) => {
  const typeOf = (name: string) =>
    recognize(inputOf(`file://localhost/${name}`, '', { linkTarget: 'there' }), rules).type;
  t.equal(typeOf('link'), 'SymbolicLink');
  t.equal(typeOf('link.txt'), 'Text');
});

t.test(
  'E-14, E-76 of a file that is not read there is its name, and what the system says: owner and creation',
  async (t) => {
    const facts = { owner: 'ada', creationTime: 1_000_000_000 };
    const known = { Owner: 'ada\n', 'Creation-Date': '2001-09-09T01:46:40Z\n' };
    const contents = async (name: string, body: string, changes: object): Promise<object> =>
      contentOf(await summarize(`file://localhost/${name}`, body, {}, changes));
    t.same(await contents('thesis', '', facts), { Title: 'thesis\n', ...known });
    t.same(await contents('thesis', '', {}), { Title: 'thesis\n' }, 'nothing is guessed');
    const link = await contents('link', '', { ...facts, linkTarget: 'there' });
    t.match(link, { Title: 'link\n', ...known, References: 'there\n' });
    t.notMatch(
      await contents('x.txt', 'text\n', facts),
      { Owner: 'ada\n' },
      'a summary of its text says more',
    );
  },
);

t.test('E-26 the shipped stop list does not contain the new types', async (t) => {
  for (const type of ['DebianPackage', 'CpioArchive', 'SourceDistribution', 'LSM'])
    t.notOk(isRejected(type, rules));
});

t.test('E-80, E-86, E-141 a table of the lib directory and the language apply in the pipeline', async (t) => {
  const libDirectory = t.testdir({
    'byname.cf': 'FOO \\.foo$\n',
    'FOO.sum.tbl': '<NAME> title\n',
  });
  const context = await createEssenceContext({
    ...IDENTITY,
    keywords: false,
    description: false,
    libDirectory,
  });
  const output = await summarizeDocument(
    inputOf('ftp://a.test/x.foo', '<doc><name>The Foo</name></doc>'),
    context,
  );
  t.equal(output.type, 'FOO');
  t.same(contentOf(output), { title: 'The Foo\n' });
  const german =
    'Der Hund und die Katze sind nicht in dem Haus, weil sie mit den Kindern auf der Straße sind. '.repeat(5);
  t.equal(contentOf(await summarize('ftp://a.test/x.txt', german, { language: true })).Language, 'de\n');
});

t.test('E-6: a suffix that many formats share is decided by the content', (t) => {
  const typeOf = (name: string, body: string | Uint8Array) =>
    recognize(inputOf(`ftp://a.test/${name}`, body), rules).type;
  const binary = Buffer.from([1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
  for (const [name, body, type] of [
    // Of databases, libraries of programs and WAIS: also directories of fonts, macros of TeX, sources.
    ['compose.dir', '# files\niso8859-1/Compose: en_US\n', 'Text'],
    ['etexdefs.lib', "%% This is file `etexdefs.lib'\n\\input plain\n", 'Text'],
    ['libc.lib', '!<arch>\n/               0', 'Archive'],
    ['etex.src', '% This is \\eTeX\n\\catcode`\\{=1\n', 'TeX'],
    ['directory-of-servers.src', '(:source\n   :version 3\n   :ip-name "quake.think.com"\n)', 'WaisSource'],
    ['data.gdbm', binary, 'GDBM'],
    // Formats of bytes: a text of that name is another one.
    ['config.pdf', '@ Paper size\nh download.map\n', 'Text'],
    ['messages.pot', 'msgid ""\nmsgstr ""\n', 'Text'],
    ['letter.doc', 'Dear reader,\nthis is a text.\n', 'Text'],
    ['letter.doc', '{\\rtf1 Dear reader}', 'RTF'],
    ['page.xls', '<html><body><table>', 'HTML'],
    ['slides.ppt', binary, 'PowerPoint'],
    ['paper.pdf', '%PDF-1.4\n', 'Pdf'],
    // Sections of the manual and versions, macros and programs.
    ['GFDL-1.2', '\t\tGNU Free Documentation License\n\t\t  Version 1.2\n', 'Text'],
    ['ls.1', '.TH LS 1\n.SH NAME\n', 'ManPage'],
    ['ls.1', '\'\\" t\n.\\" a page\n.SH NAME\n', 'ManPage'],
    ['001_packages.t', '# Check packages.\n\nuse strict;\nuse Test::More;\n', 'Text'],
    ['001_packages.t', '#!/usr/bin/perl\nuse strict;\n', 'Perl'],
    ['paper.t', 'Some text\n.PP\nA paragraph\n', 'Troff'],
    ['main.mm', '#import <Foundation/Foundation.h>\nint main() {}\n', 'Text'],
    ['hyphen.cs', '% Czech hyphenation patterns\n\\patterns{\n', 'Text'],
    ['Program.cs', 'using System;\n', 'CSharp'],
    // Fonts.
    ['a.t1', '%!PS-AdobeFont-1.0: C059-BdIta\n', 'Font'],
    ['a', '%!FontType1-1.0: C059\n', 'Font'],
    ['a', '\x80\x01\x33\x0b\0\0%!PS-AdobeFont-1.0: C059\n', 'Font'],
    ['a.bdf', 'STARTFONT 2.1\n', 'Font'],
    ['russian.bdf', '% Cyrillic font definitions\n\\DeclareFontShape{}\n', 'Text'],
    ['a', Buffer.from([0, 1, 0, 0, 0, 18, 1, 0, 0, 4, 0, 32]), 'Font'],
    ['icon-theme.cache', Buffer.from([0, 1, 0, 0, 0, 0, 0, 12, 0, 0, 2, 8]), 'Data'],
    [
      'objects.inv',
      `# Sphinx inventory\n${String.fromCharCode(...Array.from({ length: 500 }, (_, i) => ((i * 97) % 255) + 1))}`,
      'Data',
    ],
    // Without a byte order mark, too.
    ['a', Buffer.from('A text in UTF-32.\n'.split('').flatMap((c) => [c.charCodeAt(0), 0, 0, 0])), 'Text'],
    ['a', Buffer.from('A text in UTF-32.\n'.split('').flatMap((c) => [0, 0, 0, c.charCodeAt(0)])), 'Text'],
  ] as const)
    t.equal(
      typeOf(name, typeof body === 'string' ? Buffer.from(body, 'latin1') : body),
      type,
      `${name}: ${String(body).slice(0, 30)}`,
    );
  t.equal(typeOf('paper.pdf', ''), 'Pdf', 'an empty file has the type of its name');
  t.end();
});
