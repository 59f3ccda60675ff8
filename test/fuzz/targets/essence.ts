// Essence: whole documents of every format, from recognition to the object, in the process of the target.
import { execFileSync } from 'node:child_process';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { decodeSoif } from '../../../protocols/soif/index.js';
import {
  compileEssence,
  type EssenceOptions,
  type EssenceOutput,
  EssencePool,
  headerOutlinks,
  readEssenceSources,
} from '../../../servers/essence/index.js';
import { outlinksOf } from '../../../servers/essence/outlinks/outlinks.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { type ArchiveMember, ar, cpio, mail, shar, uuencode, zip } from '../../helpers/archives.js';
import type { Random } from '../../helpers/random.js';
import { EXCEL_FILE, WORD_FILE } from '../../servers/essence/fixtures/office-files.js';
import { powerPointFile } from '../../servers/essence/fixtures/power-point-files.js';
import { IDENTITY, inputOf } from '../../servers/essence/helpers.js';
import { binhex, lzw, tar } from '../../servers/essence/unnest-fixtures.js';
import { damaged, markup, pdf, postscript } from '../generators/documents.js';
import { gzipMember } from '../generators/gzip.js';
import { assert, bytesOf, type FuzzTarget, randomOf, wordsIn } from '../target.js';

/** A hostile program ends at the first look at the clock. */
const maxProgramMs = 100;
/** Without the stop list, which would reject pictures, sound and programs before they are read. */
const sources = { ...(await readEssenceSources({})), stoplist: { file: 'stoplist.cf', text: '' } };
const contextOf = (options: Partial<EssenceOptions>) =>
  compileEssence({ ...IDENTITY, keywords: false, description: false, ...options }, sources);

const plain = contextOf({
  maxProgramMs,
  unnest: { timeLimitMs: 2000, maxUnpackedBytes: 16 << 20, ratioFloorBytes: 1 << 20 },
});
const full = contextOf({
  maxProgramMs,
  fullText: true,
  mainText: true,
  code: true,
  linkText: true,
  keywords: true,
  description: true,
  language: true,
});

/** A document of that name is summarized without an exception, and its object is exact SOIF. */
export function reader(name: string, target: Omit<FuzzTarget, 'run'>): FuzzTarget {
  return {
    linear: false,
    ...target,
    // The Gatherer reads most formats in processes of their own, which may die: the document is then summarized
    // by its name.
    confirm: async (input) => {
      await using pool = await EssencePool.create({ ...IDENTITY, workers: 1, timeLimitMs: 10_000 });
      checkOutput(await pool.summarize(inputOf(`http://a.test/${name}`, new Uint8Array(input))));
    },
    run: async (input) => {
      const context = randomOf(input).once(8) ? full : plain;
      const output = await summarizeDocument(
        inputOf(`http://a.test/${name}`, new Uint8Array(input)),
        context,
      );
      checkOutput(output);
    },
  };
}

function checkOutput(output: EssenceOutput): void {
  assert(output.rejected === (output.soif === undefined), 'an object or a rejection');
  if (output.soif !== undefined) decodeSoif(output.soif, { mode: 'strict' });
  for (const { soif } of output.exploded ?? []) decodeSoif(soif, { mode: 'strict' });
}

/** A target whose inputs are words of the format, as {@link wordsIn} reads them. */
export const textReader = (name: string, text: string, more: readonly string[] = []): FuzzTarget => {
  const tokens = [...wordsIn(text), ...more];
  const generate = (random: Random) => markup(random, tokens);
  return reader(name, { seeds: [tokens.join('\n')], tokens, generate, linear: true });
};

const LETTER = bytesOf('a letter\n');
const memberOf = (random: Random): ArchiveMember => [
  random.pick(['a.txt', 'dir/b.html', '../c', 'd.tar', 'e.gz', '/f', 'README']),
  random.once(3) ? damaged(random, random.pick(INNER)(random)) : random.bytes(random.below(60)),
];
const INNER: readonly ((random: Random) => Uint8Array)[] = [
  gzipMember,
  () => LETTER,
  (random) => tar([['x.txt', random.bytes(9)]]),
  (random) => zip([['y.txt', random.bytes(9)]]),
];
const archive =
  (pack: (files: readonly ArchiveMember[]) => Uint8Array) =>
  (random: Random): Uint8Array =>
    damaged(random, new Uint8Array(pack(random.list(3, () => memberOf(random)))));

export const essencePdf = reader('x.pdf', { generate: pdf, maxBytes: 4096 });
export const essencePostscript = reader('x.ps', { generate: postscript, maxBytes: 2048, linear: true });
const OUTLINK_TYPES = wordsIn(
  'text/html|text/css|text/javascript|application/json|image/svg+xml|application/rss+xml',
);

/**
 * CRAWL-11.2: the references of a page, style sheet, script, or JSON are absolute URLs, and so are those of a
 * Link header.
 */
export const outlinks: FuzzTarget = {
  seeds: ['<img srcset="a 1x, b 2x" style="background:url(c)">', 'x = "a/b.js"', '{"icons": [{"src": "a"}]}'],
  tokens: [
    ...wordsIn('<a href="|<img src=|srcset="|<style>|</style>|<script>|</script>|<base href="http://b/">'),
    ...wordsIn('url(|@import "|image-set(|/*|*/|\\|"|\'|`|{"|":|[|]|<!--[if x]>|<![endif]-->'),
    ...wordsIn('javascript:|data:|//|http://c.test/|<link rel=icon href=|\\u0022'),
    '<meta http-equiv=refresh content="0;url=',
    ...wordsIn('<x>; rel="|>; |,|<iframe srcdoc="|&lt;|<?xml-stylesheet href="|xlink:href="|data-src="'),
  ],
  linear: true,
  run: (input) => {
    const text = Buffer.from(input).toString('latin1');
    const contentType = randomOf(input).pick(OUTLINK_TYPES);
    const source = { url: 'http://a/d/x', via: 'http://b/', contentType, isHtml: false, text: () => text };
    const found = [
      ...(outlinksOf(source, [], 1000)?.links ?? []),
      ...headerOutlinks({ link: text, refresh: text, 'content-location': text }, source.url, 1000),
    ];
    assert(found.length <= 2000, 'at most as many as wanted');
    for (const { url } of found)
      assert(/^(?:https?|ftp|gopher|news|nntp):/.test(url), 'absolute, and no file');
  },
};

export const essenceHtml = textReader(
  'x.html',
  '<html>|<title>|</title>|<a href="x?y#z">|</a>|<img src=a alt="b">|' +
    '<meta name="keywords" content="a,b">|<meta name=robots content=noindex>|<base href="http://b/">|' +
    '<!--|-->|<![CDATA[|]]>|<script>|</script>|<h1>|</h1>|<p>|&amp;|&#x41;|&#999999999;|&nbsp|' +
    '<frame src=f>|<table><tr><td>|<style>|<textarea>|<|>|"|\'|text|<!DOCTYPE html>|' +
    '<meta charset="utf-16">|<meta http-equiv="refresh" content="0;url=x">|<br/>|</|<plaintext>',
);
export const essenceSgml = textReader(
  'x.sgml',
  '<!DOCTYPE book PUBLIC "-//x//DTD" [|<!ENTITY a "b">|<!ENTITY a "&a;&a;">|<!ENTITY % p "q">|%p;|' +
    '<!ELEMENT a (b)>|]>|<book>|<title>|</title>|</>|<para/text/|&a;|&#65;|<![IGNORE[|<![CDATA[|]]>|' +
    '<?pi>|<!-- c -->|<?xml version="1.0"?>|text|<a b=c>',
);
export const essenceTex = textReader(
  'x.tex',
  '\\documentclass{article}¦\\title{A}¦\\author{B \\and C}¦\\begin{abstract}¦\\end{abstract}¦' +
    '\\begin{document}¦\\section{x}¦\\def\\a{\\b}¦\\def\\b#1{#1\\a}¦\\newcommand{\\c}[2]{#1#2}¦\\a¦' +
    '\\b{x}¦\\c{1}{2}¦{¦}¦$¦$$¦%¦\\%¦\\verb|x|¦\\input{f}¦\\cite{k}¦\\begin{verbatim}¦' +
    '\\end{verbatim}¦\\ifx\\a\\b¦\\fi¦\\else¦~¦\\\'e¦\\"{o}¦\\item¦\\footnote{x}¦&¦\\\\¦#¦^¦_',
);
export const essenceTexinfo = textReader(
  'x.texi',
  '@settitle T|@chapter C|@node N, M, P, U|@macro a{x}|\\x\\|@end macro|@a{b}|@code{x}|@xref{N}|' +
    '@include f|@ifinfo|@end ifinfo|@iftex|@end iftex|@set v 1|@value{v}|@ifset v|@end ifset|' +
    '@c comment|@@|@{|@}|@bye|@menu|@end menu|@table @code|@item|@end table|{|}|@verbatim|' +
    '@end verbatim|text|@copying|@end copying',
);
export const essenceTroff = textReader(
  'x.ms',
  '.TL|.AU|.AB|.AE|.NH|.PP|.de XX|..|.XX|.ds a b|.ds a \\*a\\*a|\\*a|\\*(ab|.nr x 1|\\nx|\\fB|\\fP|' +
    '\\s+2|.if n x|.ie t \\{|\\}|.el|.so f|.ig|.TS|.TE|.EQ|.EN|.PS|.PE|\\(em|\\"c|\\|\'br|.TH X 1|' +
    ".SH NAME|text|\\h'1i'|.while 1 x|.als XX YY|.tm x|\\n(.x",
);
export const essenceManPage = textReader(
  'x.1',
  '.TH X 1|.SH NAME|x \\- does y|.SH DESCRIPTION|.B a|.de Y|..|.Y|.Dd 1|.Dt X 1|.Os|.Sh NAME|.Nm x|' +
    '.Nd y|.if t|\\fB|\\-|text|.\\"',
);
export const essenceRtf = textReader(
  'x.rtf',
  '{\\rtf1\\ansi|\\ansicpg1252|{\\fonttbl{\\f0\\fcharset204 A;}}|{\\info{\\title T}{\\author A}}|' +
    "\\par|\\'e9|\\u8364?|\\uc2|\\bin5 |{\\*\\x|}|{|\\{|\\pict|text|\\tab|\\~|\\f0|\\deff0|\\u-1 |" +
    '\\pard\\plain',
);
export const essenceMail = reader('x.eml', {
  generate: archive(mail),
  tokens: wordsIn(
    'Content-Type: multipart/mixed; boundary=x\n|--x\n|--x--\n|=?utf-8?q?a?=|Received: x\n|From: a@b\n|\n\n|' +
      'Content-Transfer-Encoding: quoted-printable\n',
  ),
  seeds: ['From: a@b\nSubject: s\nDate: Thu, 1 Jan 1998 00:00:00 GMT\n\nbody\n'],
});
export const essenceNews = reader('x.article', {
  tokens: ['Newsgroups: a.b\n', 'Message-ID: <x@y>\n', 'Path: x\n'],
  seeds: ['Path: x\nNewsgroups: a\nSubject: s\nFrom: a\nMessage-ID: <a@b>\n\nbody\n-- \nsig\n'],
});

const XML = wordsIn(
  '<?xml version="1.0"?>|<w:document>|<w:p>|<w:t>|text|</w:t>|</w:p>|</w:document>|<text:p>|' +
    '</text:p>|<office:body>|<dc:title>|</dc:title>|&amp;|<!DOCTYPE a [<!ENTITY a "b">]>|&a;|<t>|' +
    '</t>|<c t="s"><v>0</v></c>|<sst>|<a:t>|<si>|<c><f>A1</f><v>1</v></c>|' +
    '<sheet name="a" r:id="r1"/>|<p:sldId r:id="r1"/>|<p:ph type="title"/>|' +
    '<Relationship Id="r1" Type="x/slide" Target="slides/slide1.xml"/>|' +
    '<Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/>|' +
    '<w:pStyle w:val="Heading1"/>|<w:fldChar w:fldCharType="begin"/>|' +
    '<w:instrText>HYPERLINK "x"</w:instrText>|<w:fldChar w:fldCharType="end"/>|' +
    '<w:style w:styleId="a"><w:basedOn w:val="a"/></w:style>|<text:h>|<text:tracked-changes>|' +
    '<table:table-cell table:formula="of:=[.A1]">',
);
const office =
  (names: readonly string[]) =>
  (random: Random): Uint8Array =>
    damaged(random, new Uint8Array(zip(names.map((name): ArchiveMember => [name, markup(random, XML)]))));
export const essenceOfficeXml = reader('x.docx', {
  generate: office(
    (
      '[Content_Types].xml docProps/core.xml word/document.xml xl/sharedStrings.xml ' +
      'xl/worksheets/sheet1.xml ppt/slides/slide1.xml word/styles.xml xl/workbook.xml ' +
      'xl/_rels/workbook.xml.rels ppt/presentation.xml ppt/_rels/presentation.xml.rels'
    ).split(' '),
  ),
  maxBytes: 4096,
});
const BOOK = wordsIn(
  '<rootfile full-path="a.opf"/>|<dc:title>t</dc:title>|<dc:description>&lt;p></dc:description>|' +
    '<item id="a" href="a.xhtml"/>|<itemref idref="a"/>|<reference type="cover" href="a.xhtml"/>|' +
    '<enc:CipherReference URI="a.xhtml"/>|<body>|<h1>|</h1>|<p>|<pre>|<a href="http://a.test/">|' +
    '&nbsp;|words',
);
export const essenceEpub = reader('x.epub', {
  generate: (random) =>
    damaged(
      random,
      new Uint8Array(
        zip(
          ['mimetype', 'META-INF/container.xml', 'META-INF/encryption.xml', 'a.opf', 'a.xhtml'].map(
            (name): ArchiveMember => [name, markup(random, BOOK)],
          ),
        ),
      ),
    ),
  maxBytes: 4096,
});
export const essenceOpendocument = reader('x.odt', {
  generate: office(['mimetype', 'meta.xml', 'content.xml']),
  maxBytes: 4096,
});
export const essenceWord = reader('x.doc', {
  seeds: [new Uint8Array(WORD_FILE)],
  maxBytes: 32 << 10,
  generate: (random) => damaged(random, new Uint8Array(WORD_FILE)),
});
export const essencePowerPoint = reader('x.ppt', {
  seeds: [powerPointFile()],
  maxBytes: 32 << 10,
  generate: (random) => damaged(random, powerPointFile()),
});
export const essenceExcel = reader('x.xls', {
  seeds: [new Uint8Array(EXCEL_FILE)],
  maxBytes: 32 << 10,
  generate: (random) => damaged(random, new Uint8Array(EXCEL_FILE)),
});
export const essenceWordperfect = reader('x.wpd', {
  seeds: ['\xffWPC\x10\0\0\0\x01\x0a\0\0\0\0\0\0text\xc1\0\0\0\xc1 more\x0a'],
});

export const essenceDvi = reader('x.dvi', {
  // Preamble, one page with a font, characters, moves and pushes, postamble.
  seeds: [
    '\xf7\x02\x01\x83\x92\xc0\x1c\x3b\x00\x00\x00\x00\x03\xe8\x02hi\x8b' +
      '\0'.repeat(40) +
      '\xff\xff\xff\xff\xf3\x01\0\0\0\0\0\x0a\0\0\0\x0a\0\0\0\x05cmr10\xacHello\x90\x00\x05\x8dworld\x8e\x8c\xf8',
  ],
});
export const essenceImage = reader('x.png', {
  seeds: [
    '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x09tEXtTitle\0abc\0\0\0\0',
    'GIF89a\x01\0\x01\0\0\0\0!\xfe\x03abc\0;',
    '\xff\xd8\xff\xe1\0\x20Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x0e\0\x02\0\0\0\x04abc\0\0\0\0\0\xff\xfe\0\x05abc\xff\xc0\0\x0b\x08\0\x01\0\x01\x01\x01\x11\0\xff\xd9',
    'II*\0\x08\0\0\0\x01\0\x0e\x01\x02\0\x04\0\0\0abc\0\0\0\0\0',
    'P6\n# c\n1 1\n255\nabc',
    'BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0',
    '<svg xmlns="http://www.w3.org/2000/svg"><title>x</title></svg>',
    'RIFF\x10\0\0\0WEBPVP8X\x0a\0\0\0',
  ],
});
export const essenceAudio = reader('x.mp3', {
  seeds: [
    'ID3\x03\0\0\0\0\0\x20TIT2\0\0\0\x05\0\0\0abcdTPE1\0\0\0\x04\0\0\0abc',
    'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\0\x10\0\0\0\x20\0\0\x02\0\x10\0LIST\x0c\0\0\0INFOINAM\x02\0\0\0ab',
    '.snd\0\0\0\x20\0\0\0\0\0\0\0\x01\0\0\x1f@\0\0\0\x01comment\0',
    'FORM\0\0\0\x20AIFFNAME\0\0\0\x04abcdANNO\0\0\0\x02ab',
    'fLaC\x84\0\0\x10\x02\0\0\0ab\x01\0\0\0\x07\0\0\0TITLE=x',
    'OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x1e\x03vorbis',
    'MThd\0\0\0\x06\0\x01\0\x01\0\x60MTrk\0\0\0\x08\0\xff\x03\x04abcd',
    `${'\0'.repeat(40)}TAGtitle`,
  ],
});
export const essenceFont = reader('x.ttf', {
  seeds: [
    '\0\x01\0\0\0\x01\0\x10\0\0\0\0name\0\0\0\0\0\0\0\x1c\0\0\0\x18\0\0\0\x01\0\x12\0\x03\0\x01\x04\x09\0\x01\0\x04\0\0\0a\0b',
    '%!PS-AdobeFont-1.0: X\n/FullName (F) readonly def\n',
    'StartFontMetrics 2.0\nFontName X\nNotice y\n',
    'STARTFONT 2.1\nFONT x\n',
  ],
});

export const essenceTar = reader('x.tar', { generate: archive(tar), maxBytes: 8192 });
export const essenceZip = reader('x.zip', {
  generate: archive(zip),
  maxBytes: 4096,
  tokens: ['PK\x03\x04', 'PK\x01\x02', 'PK\x05\x06', 'PK\x06\x06'],
});
export const essenceCpio = reader('x.cpio', {
  generate: archive(cpio),
  tokens: ['070701', '070707', '\xc7\x71', 'TRAILER!!!'],
});
export const essenceAr = reader('x.deb', {
  generate: archive(ar),
  tokens: ['!<arch>\n', '`\n', '//', '#1/9'],
});
export const essenceGzip = reader('x.gz', { generate: gzipMember });
export const essenceLzw = reader('x.Z', {
  seeds: [new Uint8Array(lzw(bytesOf('text text text text text text')))],
  generate: (random) =>
    damaged(random, new Uint8Array(lzw(random.bytes(random.below(300)), random.between(9, 16)))),
});
/** What a program of the system makes; nothing without it. */
function packed(program: string): Uint8Array[] {
  try {
    return [
      new Uint8Array(
        execFileSync(program, ['-c'], { input: 'text '.repeat(99), stdio: ['pipe', 'pipe', 'ignore'] }),
      ),
    ];
  } catch {
    return [];
  }
}
export const essenceBzip2 = reader('x.bz2', { seeds: ['BZh91AY&SY', ...packed('bzip2')] });
export const essenceXz = reader('x.xz', {
  seeds: [
    '\xfd7zXZ\0\0\x04',
    ...packed('xz'),
    '(\xb5/\xfd\x04\0\x29\0\0hello\x1f\x2a\x3b\x4c',
    ...packed('zstd'),
    '(\xb5/\xfd\x60\0\0',
  ],
});
export const essenceEncoded = reader('x.uu', {
  generate: archive(uuencode),
  tokens: ['begin 644 x\n', 'end\n', '`\n'],
});
export const essenceShar = reader('x.shar', {
  generate: archive(shar),
  tokens: ["sed 's/^X//' > 'a' << 'E'\n", '#!/bin/sh\n', 'cat > x <<\\E\n'],
});
export const essenceBinhex = reader('x.hqx', {
  seeds: [binhex('a.txt', 5, bytesOf('hello'))],
  generate: (random) =>
    damaged(random, bytesOf(binhex('a', random.below(40), random.bytes(random.below(40))))),
});
export const essenceSource = textReader(
  'x.c',
  '/*|*/|//|"|\'|#include <x.h>|#define A B|int main(void) {|}|static|foo(|)|;|\\|\n|struct x {|' + 'text',
);
export const essenceSmall = textReader(
  'x.bib',
  '@article{k,|title = {A {B}},|author = "C",|}|@string{x = "y"}|@comment{|%|{|"|#|=|,|@|text|' +
    'head 1.1;|@@|desc|%A x|%T y',
);
export const essenceAny: FuzzTarget = reader('noname', {
  seeds: [
    'Return-Path: x\n',
    'From a@b\n',
    '%!PS\n',
    '%PDF-1.0\n',
    '<html>',
    '#!/bin/sh\n',
    '.TH',
    '\\documentstyle',
    '\x7fELF',
    '\x1f\x8b',
    '@FILE {',
    'head\t1.1;\naccess;\n',
    '*** a\n--- b\n',
    'h',
    new Uint8Array(deflateRawSync(LETTER)),
    new Uint8Array(gzipSync(tar([['a', 'b']]))),
  ],
});
