// The table of document types: everything that Essence knows of a type, except how its reader works.
// Recognition, unnesting, the choice of the worker and of the summarizer read it. `summarizers/README.md` says
// how to add a type.

import { words } from '../word-tables.js';
import { type DocumentType, lazy } from './document-type.js';

const TEXT = { form: 'text', inThread: true } as const;
const READ_WHOLE = { inThread: true, isWhole: true } as const;
const WHOLE_TEXT = { ...TEXT, isWhole: true } as const;
const SOURCE = { ...WHOLE_TEXT, isSource: true } as const;

/** A language of `summarizers/source/languages.ts`. */
const program = (type: string): DocumentType => ({
  ...SOURCE,
  summarize: lazy(async () => {
    const { summarizeProgram } = await import('../summarizers/source/program.js');
    return (document) => summarizeProgram(document, type);
  }),
});

/** A language whose programs begin with a line that says what runs them. */
const script = (type: string, name: string, beginning: RegExp): DocumentType => ({
  ...program(type),
  content: `^${name}`,
  beginnings: [[beginning, `${name} text executable`]],
});

/** A vocabulary of `summarizers/xml/vocabularies.ts`: its public identifier, namespace or document element. */
const vocabulary = (type: string, mime: string, beginning: RegExp): DocumentType => ({
  ...TEXT,
  isVocabulary: true,
  mime,
  content: `^${type}`,
  beginnings: [[beginning, `${type} document text`]],
  summarize: lazy(async () => {
    const { summarizeXmlDocument } = await import('../summarizers/xml/xml-document.js');
    return (document) => summarizeXmlDocument(document, type);
  }),
});

const unreadArchive = (type: 'ARJ' | 'LHa' | 'Zoo'): DocumentType => ({
  summarize: lazy(async () => (await import('../summarizers/small-formats.js')).unreadArchive(type)),
});

const FULL_TEXT = lazy(async () => (await import('../summarizers/text.js')).summarizeFullText);
const RFC: DocumentType = {
  ...TEXT,
  summarize: lazy(async () => (await import('../summarizers/small-formats.js')).summarizeRfc),
};
const MEDIA = lazy(async () => (await import('../summarizers/media/audio.js')).summarizeMedia);
const OFFICE = lazy(async () => (await import('../summarizers/office/office.js')).summarizeOffice);
const SHELL_SCRIPT = lazy(async () => (await import('../summarizers/source-code.js')).summarizeShellScript);

/** Fields of a message (RFC 5322), with their further lines, up to the one that follows in a pattern. */
const HEADER = String.raw`(?:(?:[!-9;-~]{1,80}:|[ \t]).*\r?\n){0,200}?`;
/** Fields of which a mail has one besides From. */
const MAIL_FIELD = '(?:To|Cc|Subject|Date|Message-I[dD]|Reply-To|In-Reply-To)';

/** MIME types with the same beginning. */
const mimesOf = (start: string, ends: string): string =>
  words(ends)
    .map((end) => start + end)
    .join(' ');

/** By name, in the order of {@link DocumentType.signatures} and {@link DocumentType.beginnings}. */
const ROWS: Readonly<Record<string, DocumentType>> = {
  Pdf: {
    mime: 'application/pdf',
    signatures: [[0, '%PDF-', 'PDF document']],
    form: 'binary',
    summarize: lazy(async () => (await import('../summarizers/pdf/pdf.js')).summarizePdf),
  },
  PostScript: {
    mime: 'application/postscript',
    signatures: [[0, '%!', 'PostScript document text']],
    summarize: lazy(
      async () => (await import('../summarizers/postscript/postscript.js')).summarizePostScript,
    ),
  },
  GNUCompressed: {
    mime: 'application/gzip application/x-gzip',
    signatures: [[0, '\x1f\x8b', 'gzip compressed data']],
    nested: ['gzip'],
  },
  GNUCompressedTar: { nested: ['gzip'] },
  Compressed: {
    mime: 'application/x-compress',
    signatures: [[0, '\x1f\x9d', "compress'd data"]],
    nested: ['compress'],
  },
  CompressedTar: { nested: ['compress'] },
  Bzip2Compressed: {
    mime: 'application/x-bzip2 application/x-xz application/zstd',
    signatures: [
      [0, 'BZh', 'bzip2 compressed data'],
      [0, '\xfd7zXZ\0', 'XZ compressed data'],
      [0, '\x28\xb5\x2f\xfd', 'Zstandard compressed data'],
    ],
    nested: ['bzip2', 'xz', 'zstd'],
  },
  Bzip2CompressedTar: { nested: ['bzip2', 'xz', 'zstd'] },
  PCCompressed: {
    mime: 'application/zip',
    signatures: [[0, 'PK\x03\x04', 'Zip archive data']],
    nested: ['zip'],
  },
  LHa: { ...unreadArchive('LHa'), signatures: [[2, '-lh', 'LHa archive data']] },
  Tar: { mime: 'application/x-tar', signatures: [[257, 'ustar', 'POSIX tar archive']], nested: ['tar'] },
  DebianPackage: { signatures: [[0, '!<arch>\ndebian', 'Debian binary package']], nested: ['ar'] },
  Archive: {
    signatures: [[0, '!<arch>\n', 'current ar archive']],
    form: 'binary',
    summarize: lazy(async () => (await import('../summarizers/binaries.js')).summarizeArchive),
  },
  CpioArchive: {
    signatures: [
      [0, '070701', 'ASCII cpio archive (SVR4)'],
      [0, '070702', 'ASCII cpio archive (SVR4 with CRC)'],
      [0, '070707', 'ASCII cpio archive (pre-SVR4)'],
      [0, '\xc7\x71', 'cpio archive'],
      [0, '\x71\xc7', 'cpio archive, byte-swapped'],
    ],
    nested: ['cpio'],
  },
  ARJ: { ...unreadArchive('ARJ'), signatures: [[0, '\x60\xea', 'ARJ archive data']] },
  Zoo: { ...unreadArchive('Zoo'), signatures: [[0, 'ZOO ', 'Zoo archive data']] },
  MacCompressed: {
    signatures: [
      [0, 'SIT!', 'StuffIt archive'],
      [0, 'StuffIt (c)', 'StuffIt archive'],
      [0, '(This file must be converted with BinHex', 'BinHex binary text'],
    ],
    nested: ['BinHex'],
  },
  WordPerfect: {
    signatures: [[0, '\xffWPC', 'WordPerfect document']],
    summarize: lazy(async () => (await import('../summarizers/office/word-perfect.js')).summarizeWordPerfect),
  },
  RTF: {
    mime: 'application/rtf text/rtf',
    signatures: [[0, '{\\rtf', 'Rich Text Format data']],
    summarize: lazy(async () => (await import('../summarizers/rtf/rtf.js')).summarizeRtf),
  },
  Dvi: {
    mime: 'application/x-dvi',
    signatures: [[0, '\xf7\x02', 'TeX DVI file']],
    form: 'binary',
    summarize: lazy(async () => (await import('../summarizers/dvi/dvi.js')).summarizeDvi),
  },
  Image: {
    mime: 'image/*',
    signatures: [
      [0, 'GIF8', 'GIF image data'],
      [0, '\x89PNG\r\n\x1a\n', 'PNG image data'],
      [0, '\xff\xd8\xff', 'JPEG image data'],
      [0, 'II*\0', 'TIFF image data'],
      [0, 'MM\0*', 'TIFF image data'],
      [8, 'WEBP', 'Web/P image data'],
      [0, 'icns', 'Mac OS X icon image'],
      [4, 'ftypavif', 'ISO Media, AVIF image'],
      [4, 'ftypheic', 'ISO Media, HEIF image'],
      [4, 'ftypmif1', 'ISO Media, HEIF image'],
    ],
    summarize: lazy(async () => (await import('../summarizers/media/image.js')).summarizeImage),
  },
  Audio: {
    mime: 'audio/*',
    signatures: [
      [8, 'WAVE', 'WAVE audio'],
      [0, 'OggS', 'Ogg audio'],
      [0, 'fLaC', 'FLAC audio'],
      [0, 'ID3', 'MPEG audio, ID3 tag'],
      [0, '.snd', 'Sun/NeXT audio data'],
      [4, 'ftypM4A', 'ISO Media, MPEG-4 audio'],
      [4, 'ftypM4B', 'ISO Media, MPEG-4 audio'],
    ],
    form: 'binary',
    summarize: MEDIA,
  },
  Video: {
    mime: 'video/*',
    signatures: [
      [8, 'AVI ', 'AVI'],
      [0, '\x1a\x45\xdf\xa3', 'Matroska data'],
      [4, 'ftyp', 'ISO Media, QuickTime'],
      [4, 'moov', 'ISO Media, QuickTime'],
    ],
    form: 'binary',
    summarize: MEDIA,
  },
  GDBM: { signatures: [[0, '\x13\x57\x9a\xce', 'GNU dbm database']], form: 'binary' },
  Object: {
    form: 'binary',
    summarize: lazy(async () => (await import('../summarizers/binaries.js')).summarizeObject),
  },
  Word: {
    mime: 'application/msword',
    form: 'binary',
    summarize: lazy(async () => (await import('../summarizers/office/word.js')).summarizeWord),
  },
  Excel: {
    mime: 'application/vnd.ms-excel',
    form: 'binary',
    summarize: lazy(async () => (await import('../summarizers/office/excel.js')).summarizeExcel),
  },
  PowerPoint: {
    mime: 'application/vnd.ms-powerpoint',
    form: 'binary',
    summarize: lazy(async () => (await import('../summarizers/office/power-point.js')).summarizePowerPoint),
  },
  OfficeOpenXML: {
    mime: mimesOf(
      'application/vnd.openxmlformats-officedocument.',
      'wordprocessingml.document wordprocessingml.template spreadsheetml.sheet presentationml.presentation presentationml.slideshow',
    ),
    summarize: OFFICE,
  },
  EPUB: {
    mime: 'application/epub+zip',
    summarize: lazy(async () => (await import('../summarizers/office/epub.js')).summarizeEpub),
  },
  ShellArchive: {
    beginnings: [[/^(?:#!.{0,80}\n|: .{0,80}\n)?# ?This is (?:a )?shell archive/im, 'shell archive text']],
    nested: ['shar'],
  },
  Perl: {
    ...SOURCE,
    mime: 'text/x-perl application/x-perl',
    beginnings: [[/^#![^\n]*\bperl/, 'Perl script text executable']],
    summarize: lazy(async () => (await import('../summarizers/source-code.js')).summarizePerl),
  },
  Awk: { ...SOURCE, beginnings: [[/^#![^\n]*\b[gmn]?awk\b/, 'awk script text']], summarize: SHELL_SCRIPT },
  Tcl: {
    ...SOURCE,
    beginnings: [[/^#![^\n]*\b(?:tclsh|wish|expect)/, 'Tcl script text']],
    summarize: SHELL_SCRIPT,
  },
  ShellScript: {
    ...SOURCE,
    mime: 'application/x-sh application/x-shellscript',
    beginnings: [[/^#![^\n]*\b(?:ba|da|k|c|tc|z)?sh\b/, 'shell script text']],
    summarize: lazy(async () => (await import('../summarizers/source-code.js')).summarizeShell),
  },
  Makefile: {
    ...WHOLE_TEXT,
    mime: 'text/x-makefile',
    beginnings: [[/^#![^\n]*\bmake\b/, 'makefile script text']],
    summarize: lazy(async () => (await import('../summarizers/source-code.js')).summarizeMakefile),
  },
  Python: {
    ...script('Python', 'Python script', /^#![^\n]*\bpython/),
    mime: 'text/x-python',
    suffixes: 'py pyi pyw',
  },
  Ruby: {
    ...script('Ruby', 'Ruby script', /^#![^\n]*\bruby/),
    mime: 'text/x-ruby application/x-ruby',
    suffixes: 'rb rake gemspec',
  },
  JavaScript: {
    ...script('JavaScript', 'Node.js script', /^#![^\n]*\bnode\b/),
    mime: 'text/javascript application/javascript application/x-javascript',
    suffixes: 'js cjs mjs jsx',
  },
  PHP: {
    ...script('PHP', 'PHP script', /^(?:#![^\n]*\bphp|<\?php\s)/),
    mime: 'application/x-httpd-php-source text/x-php',
    suffixes: 'php php3 php4 php5 php6 php7 php8 phtml',
  },
  Java: { ...program('Java'), mime: 'text/x-java text/x-java-source', suffixes: 'java' },
  Go: { ...program('Go'), mime: 'text/x-go', suffixes: 'go' },
  Rust: { ...program('Rust'), mime: 'text/x-rust text/rust', suffixes: 'rs' },
  TypeScript: {
    ...program('TypeScript'),
    mime: 'application/typescript text/typescript',
    suffixes: 'ts cts mts tsx',
  },
  CSharp: { ...program('CSharp'), mime: 'text/x-csharp', suffixes: 'cs' },
  Kotlin: { ...program('Kotlin'), mime: 'text/x-kotlin', suffixes: 'kt kts' },
  Swift: { ...program('Swift'), mime: 'text/x-swift', suffixes: 'swift' },
  SQL: { ...program('SQL'), mime: 'application/sql text/x-sql', suffixes: 'sql' },
  C: {
    ...SOURCE,
    mime: 'text/x-c text/x-csrc text/x-c++src',
    summarize: lazy(async () => (await import('../summarizers/source-code.js')).summarizeC),
  },
  CHeader: {
    ...SOURCE,
    mime: 'text/x-chdr',
    summarize: lazy(async () => (await import('../summarizers/source-code.js')).summarizeCHeader),
  },
  OtherCode: {
    ...SOURCE,
    mime: 'text/css',
    beginnings: [[/^#!/, 'script text']],
    summarize: lazy(async () => (await import('../summarizers/source-code.js')).summarizeOtherCode),
  },
  HTML: {
    ...TEXT,
    mime: 'text/html application/xhtml+xml',
    beginnings: [
      [
        /^\s{0,80}(?:<\?xml[^>]{0,200}>\s{0,80})?(?:<!--.{0,600}?-->\s{0,80}){0,3}<(?:!doctype\s+html|html|head|body|title)\b/is,
        'HTML document text',
      ],
    ],
    summarize: lazy(async () => (await import('../html/walk.js')).summarizePage),
  },
  Jupyter: {
    mime: 'application/x-ipynb+json',
    content: 'Jupyter notebook',
    beginnings: [[/^\s{0,80}\{\s{0,80}"(?:cells|nbformat|worksheets)"\s{0,80}:/, 'Jupyter notebook text']],
    form: 'text',
    summarize: lazy(async () => (await import('../summarizers/markup/markdown.js')).summarizeJupyter),
  },
  // Vocabularies of XML by public identifier, namespace or document element.
  DocBook: vocabulary(
    'DocBook',
    'application/docbook+xml',
    /^\s{0,80}<[?!a-z][\s\S]{0,3000}?(?:\/\/DTD (?:Simplified )?DocBook |\sxmlns=["']http:\/\/docbook\.org\/ns\/docbook["'])/i,
  ),
  JATS: vocabulary(
    'JATS',
    'application/jats+xml',
    /^\s{0,80}<[?!a-z][\s\S]{0,3000}?(?:\/\/DTD (?:JATS|NLM|Journal (?:Publishing|Archiving)|Article Authoring)[ (]|<article\s[^<>]{0,800}\barticle-type=)/i,
  ),
  FB2: vocabulary(
    'FB2',
    'application/x-fictionbook+xml application/x-fictionbook',
    /^\s{0,80}<(?:[?!][\s\S]{0,3000}?<)?FictionBook[\s>]/,
  ),
  TEI: vocabulary(
    'TEI',
    'application/tei+xml',
    /^\s{0,80}<[?!a-z][\s\S]{0,3000}?(?:\sxmlns=["']http:\/\/www\.tei-c\.org\/ns\/1\.0["']|<(?:TEI\.2|teiCorpus(?:\.2)?)[\s>]|\/\/DTD TEI )/i,
  ),
  OpenDocument: {
    mime: mimesOf(
      'application/vnd.oasis.opendocument.',
      'text text-template spreadsheet presentation graphics',
    ),
    beginnings: [
      [
        /^\s{0,80}<\?xml\b[\s\S]{0,200}?<office:document\s[\s\S]{0,3900}?urn:oasis:names:tc:opendocument:xmlns:office:/,
        'OpenDocument in one XML file',
      ],
    ],
    summarize: OFFICE,
  },
  /** Summarized by the tables of `sgml/` (E-80). */
  SGML: {
    mime: 'text/xml application/xml text/sgml application/rss+xml application/atom+xml',
    beginnings: [
      [/^\s{0,80}<\?xml\b/i, 'XML document text'],
      [/^\s{0,80}<!doctype\s/i, 'SGML document text'],
    ],
  },
  WaisSource: {
    ...READ_WHOLE,
    beginnings: [[/^\s{0,80}\(:source\s/, 'WAIS source text']],
    summarize: lazy(async () => (await import('../summarizers/small-formats.js')).summarizeWaisSource),
  },
  Font: {
    mime: 'font/*',
    signatures: [
      [0, '%!PS-AdobeFont', 'PostScript Type 1 font text'],
      [0, '%!FontType1', 'PostScript Type 1 font text'],
      [6, '%!PS-AdobeFont', 'PostScript Type 1 font'],
      [6, '%!FontType1', 'PostScript Type 1 font'],
      [0, 'wOFF', 'Web Open Font Format'],
      [0, 'wOF2', 'Web Open Font Format 2'],
      [0, 'OTTO', 'OpenType Font data'],
    ],
    beginnings: [[/^STARTFONT /, 'X11 BDF font text']],
    summarize: lazy(async () => (await import('../summarizers/media/font.js')).summarizeFont),
  },
  Uuencoded: { beginnings: [[/^begin [0-7]{3,4} \S/m, 'uuencoded text']], nested: ['uuencode'] },
  ManPage: {
    mime: 'application/x-troff-man',
    beginnings: [
      [/^(?:\.\\".*\n|'\\".*\n|\.\s*\n){0,40}\.(?:TH|Dd) /, 'manual page, troff or preprocessor input text'],
    ],
    form: 'text',
    summarize: lazy(async () => (await import('../summarizers/man-page.js')).summarizeManPage),
  },
  Troff: {
    mime: 'application/x-troff text/troff',
    beginnings: [[/^(?:\.\\"|'\\"|\.[A-Z]{2}\s)/, 'troff or preprocessor input text']],
    summarize: lazy(async () => (await import('../summarizers/troff/troff.js')).summarizeTroff),
  },
  Texinfo: {
    beginnings: [
      [/^\s{0,80}(?:%[^\n]{0,200}\n\s{0,80}){0,5}\\input\s{1,8}texinfo(?![A-Za-z])/, 'Texinfo source text'],
    ],
    summarize: lazy(async () => (await import('../summarizers/texinfo.js')).summarizeTexinfo),
  },
  TeX: {
    mime: 'application/x-tex text/x-tex',
    beginnings: [[/^\s{0,80}\\input\s|^%[^\n]*(?:\b|e)TeX\b/, 'TeX document text']],
    summarize: lazy(async () => (await import('../summarizers/tex/tex.js')).summarizeTex),
  },
  LaTeX: {
    mime: 'application/x-latex',
    summarize: lazy(async () => (await import('../summarizers/tex/tex.js')).summarizeLatex),
  },
  Bibliographic: {
    ...READ_WHOLE,
    beginnings: [[/^@[a-zA-Z]{3,20}\s?\{\s?[\w:.-]{1,80},\s*$/m, 'BibTeX text']],
    summarize: lazy(async () => (await import('../summarizers/bibliography.js')).summarizeBibliographic),
  },
  ReferBibliographic: {
    ...READ_WHOLE,
    summarize: lazy(async () => (await import('../summarizers/bibliography.js')).summarizeRefer),
  },
  Mail: {
    mime: 'message/rfc822',
    beginnings: [
      [/^(?:From \S+ .{10,}|Return-Path: |Received: )/, 'mail text'],
      [new RegExp(`^(?!Path: |${HEADER}Newsgroups:)(?=${HEADER}From:)${HEADER}${MAIL_FIELD}:`), 'mail text'],
    ],
    summarize: lazy(async () => (await import('../summarizers/mail.js')).summarizeMail),
  },
  News: {
    mime: 'message/news',
    beginnings: [
      [/^Path: [^\n!]*![^\n]*\n/, 'news text'],
      [new RegExp(`^(?=${HEADER}From:)${HEADER}Newsgroups:`), 'news text'],
    ],
    summarize: lazy(async () => (await import('../summarizers/mail.js')).summarizeNews),
  },
  Patch: {
    mime: 'text/x-diff',
    ...READ_WHOLE,
    beginnings: [[/^(?:diff |Index: |--- [^\n]+\n\+\+\+ |\*\*\* [^\n]+\n--- )/, 'diff output text']],
    summarize: lazy(async () => (await import('../summarizers/revisions.js')).summarizePatch),
  },
  Binary: {
    signatures: [[0, 'MZ', 'DOS executable']],
    summarize: lazy(async () => (await import('../summarizers/binaries.js')).summarizeBinary),
  },
  // Recognized by their names only.
  Text: {
    ...WHOLE_TEXT,
    summarize: lazy(async () => (await import('../summarizers/text.js')).summarizeText),
  },
  README: { ...WHOLE_TEXT, summarize: FULL_TEXT },
  FAQ: { ...WHOLE_TEXT, summarize: FULL_TEXT },
  FullText: { ...WHOLE_TEXT, summarize: FULL_TEXT },
  RFC,
  FYI: RFC,
  'Internet-Draft': RFC,
  Markdown: {
    ...TEXT,
    mime: 'text/markdown text/x-markdown',
    summarize: lazy(async () => (await import('../summarizers/markup/markdown.js')).summarizeMarkdown),
  },
  ReStructuredText: {
    ...TEXT,
    mime: 'text/x-rst text/prs.fallenstein.rst',
    summarize: lazy(
      async () => (await import('../summarizers/markup/restructured-text.js')).summarizeReStructuredText,
    ),
  },
  AsciiDoc: {
    ...TEXT,
    mime: 'text/asciidoc text/x-asciidoc',
    summarize: lazy(async () => (await import('../summarizers/markup/asciidoc.js')).summarizeAsciiDoc),
  },
  Org: {
    ...TEXT,
    mime: 'text/org text/x-org',
    summarize: lazy(async () => (await import('../summarizers/markup/org.js')).summarizeOrg),
  },
  RCS: {
    isWhole: true,
    summarize: lazy(async () => (await import('../summarizers/revisions.js')).summarizeRcs),
  },
  SCCS: {
    isWhole: true,
    summarize: lazy(async () => (await import('../summarizers/revisions.js')).summarizeSccs),
  },
  Framemaker: {
    summarize: lazy(async () => (await import('../summarizers/small-formats.js')).summarizeFramemaker),
  },
  LSM: {
    isWhole: true,
    nested: [],
    summarize: lazy(async () => (await import('../summarizers/small-formats.js')).summarizeLsm),
  },
  IAFA: { nested: [] },
  PCIndex: { nested: [] },
  Netfind: { nested: [] },
  Exploder: { nested: [] },
  SymbolicLink: {
    inThread: true,
    summarize: lazy(async () => (await import('../summarizers/small-formats.js')).summarizeSymbolicLink),
  },
  Data: { mime: 'application/json' },
  Unrecognized: {
    inThread: true,
    summarize: lazy(async () => (await import('../summarizers/text.js')).summarizeFile),
  },
};

/** E-60: the types that Essence knows, by name. The user's rule files may name others. */
export const TYPES: ReadonlyMap<string, DocumentType> = new Map(Object.entries(ROWS));

/** Returns the names of the types that a test is true for. */
export function typesWith(test: (type: DocumentType) => boolean): ReadonlySet<string> {
  return new Set([...TYPES].flatMap(([name, type]) => (test(type) ? [name] : [])));
}

/** E-40, E-43, E-44, E-46: the types that are unpacked, not summarized. */
export const NESTED_TYPES = typesWith(({ nested }) => nested !== undefined);

const BY_MIME: ReadonlyMap<string, string> = new Map(
  [...TYPES].flatMap(([name, { mime = '' }]) => words(mime).map((written) => [written, name] as const)),
);

/**
 * Returns the type of a MIME type without parameters; undefined if unknown. `text/plain` and
 * `application/octet-stream` are not in the table, because servers send them for unknown content (E-15).
 */
export function typeByMime(mime: string): string | undefined {
  const name = mime.trim().toLowerCase();
  return BY_MIME.get(name) ?? BY_MIME.get(name.replace(/\/.*$/s, '/*'));
}
