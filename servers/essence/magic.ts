import { decodeAs, wideCharset } from './charset/index.js';
import { isLatexSource } from './latex-source.js';
import { isTarHead } from './tar-head.js';

/** Bytes of a document that are examined. */
const WINDOW_BYTES = 4096;

/** Share of control characters above which bytes are not text. */
const MAX_CONTROL_SHARE = 0.3;
/** The same if as many bytes are beyond ASCII as in compressed data: texts in national character sets have no control characters. */
const MAX_CONTROL_SHARE_OF_MIXED = 0.05;
const MIXED_SHARE = 0.3;

/** Signatures: offset, bytes as a Latin-1 string, description. */
const SIGNATURES: readonly (readonly [offset: number, bytes: string, description: string])[] = [
  [0, '%PDF-', 'PDF document'],
  [0, '%!PS-AdobeFont', 'PostScript Type 1 font text'],
  [0, '%!FontType1', 'PostScript Type 1 font text'],
  [6, '%!PS-AdobeFont', 'PostScript Type 1 font'],
  [6, '%!FontType1', 'PostScript Type 1 font'],
  [0, '%!', 'PostScript document text'],
  [0, '\x1f\x8b', 'gzip compressed data'],
  [0, '\x1f\x9d', "compress'd data"],
  [0, 'BZh', 'bzip2 compressed data'],
  [0, '\xfd7zXZ\0', 'XZ compressed data'],
  [0, '\x28\xb5\x2f\xfd', 'Zstandard compressed data'],
  [0, 'PK\x03\x04', 'Zip archive data'],
  [2, '-lh', 'LHa archive data'],
  [257, 'ustar', 'POSIX tar archive'],
  [0, '!<arch>\ndebian', 'Debian binary package'],
  [0, '!<arch>\n', 'current ar archive'],
  [0, '070701', 'ASCII cpio archive (SVR4)'],
  [0, '070702', 'ASCII cpio archive (SVR4 with CRC)'],
  [0, '070707', 'ASCII cpio archive (pre-SVR4)'],
  [0, '\xc7\x71', 'cpio archive'],
  [0, '\x71\xc7', 'cpio archive, byte-swapped'],
  [0, '\x60\xea', 'ARJ archive data'],
  [0, 'ZOO ', 'Zoo archive data'],
  [0, 'SIT!', 'StuffIt archive'],
  [0, 'StuffIt (c)', 'StuffIt archive'],
  [0, '\xffWPC', 'WordPerfect document'],
  [0, '{\\rtf', 'Rich Text Format data'],
  [0, '\xf7\x02', 'TeX DVI file'],
  [0, 'GIF8', 'GIF image data'],
  [0, '\x89PNG\r\n\x1a\n', 'PNG image data'],
  [0, '\xff\xd8\xff', 'JPEG image data'],
  [0, 'II*\0', 'TIFF image data'],
  [0, 'MM\0*', 'TIFF image data'],
  [8, 'WEBP', 'Web/P image data'],
  [0, 'icns', 'Mac OS X icon image'],
  [8, 'WAVE', 'WAVE audio'],
  [8, 'AVI ', 'AVI'],
  [0, 'OggS', 'Ogg audio'],
  [0, 'fLaC', 'FLAC audio'],
  [0, 'ID3', 'MPEG audio, ID3 tag'],
  [0, '.snd', 'Sun/NeXT audio data'],
  [0, '\x1a\x45\xdf\xa3', 'Matroska data'],
  [4, 'ftypM4A', 'ISO Media, MPEG-4 audio'],
  [4, 'ftypM4B', 'ISO Media, MPEG-4 audio'],
  [4, 'ftypavif', 'ISO Media, AVIF image'],
  [4, 'ftypheic', 'ISO Media, HEIF image'],
  [4, 'ftypmif1', 'ISO Media, HEIF image'],
  [4, 'ftyp', 'ISO Media, QuickTime'],
  [4, 'moov', 'ISO Media, QuickTime'],
  [0, 'wOFF', 'Web Open Font Format'],
  [0, 'wOF2', 'Web Open Font Format 2'],
  [0, 'OTTO', 'OpenType Font data'],
  [0, '(This file must be converted with BinHex', 'BinHex binary text'],
  [0, '\x13\x57\x9a\xce', 'GNU dbm database'],
  [0, 'MZ', 'DOS executable'],
];

/** Texts that are recognized by their first lines, in this order. */
const TEXTS: readonly (readonly [pattern: RegExp, description: string])[] = [
  [/^(?:#!.{0,80}\n|: .{0,80}\n)?# ?This is (?:a )?shell archive/im, 'shell archive text'],
  [/^#![^\n]*\bperl/, 'Perl script text executable'],
  [/^#![^\n]*\b[gmn]?awk\b/, 'awk script text'],
  [/^#![^\n]*\b(?:tclsh|wish|expect)/, 'Tcl script text'],
  [/^#![^\n]*\b(?:ba|da|k|c|tc|z)?sh\b/, 'shell script text'],
  [/^#![^\n]*\bmake\b/, 'makefile script text'],
  [/^#![^\n]*\bpython/, 'Python script text executable'],
  [/^#![^\n]*\bruby/, 'Ruby script text executable'],
  [/^#![^\n]*\bnode\b/, 'Node.js script text executable'],
  [/^(?:#![^\n]*\bphp|<\?php\s)/, 'PHP script text executable'],
  [/^#!/, 'script text'],
  [
    /^\s{0,80}(?:<\?xml[^>]{0,200}>\s{0,80})?(?:<!--.{0,600}?-->\s{0,80}){0,3}<(?:!doctype\s+html|html|head|body|title)\b/is,
    'HTML document text',
  ],
  [/^\s{0,80}\{\s{0,80}"(?:cells|nbformat|worksheets)"\s{0,80}:/, 'Jupyter notebook text'],
  // Vocabularies of XML by public identifier, namespace or document element.
  [
    /^\s{0,80}<[?!a-z][\s\S]{0,3000}?(?:\/\/DTD (?:Simplified )?DocBook |\sxmlns=["']http:\/\/docbook\.org\/ns\/docbook["'])/i,
    'DocBook document text',
  ],
  [
    /^\s{0,80}<[?!a-z][\s\S]{0,3000}?(?:\/\/DTD (?:JATS|NLM|Journal (?:Publishing|Archiving)|Article Authoring)[ (]|<article\s[^<>]{0,800}\barticle-type=)/i,
    'JATS document text',
  ],
  [/^\s{0,80}<(?:[?!][\s\S]{0,3000}?<)?FictionBook[\s>]/, 'FB2 document text'],
  [
    /^\s{0,80}<[?!a-z][\s\S]{0,3000}?(?:\sxmlns=["']http:\/\/www\.tei-c\.org\/ns\/1\.0["']|<(?:TEI\.2|teiCorpus(?:\.2)?)[\s>]|\/\/DTD TEI )/i,
    'TEI document text',
  ],
  [
    /^\s{0,80}<\?xml\b[\s\S]{0,200}?<office:document\s[\s\S]{0,3900}?urn:oasis:names:tc:opendocument:xmlns:office:/,
    'OpenDocument in one XML file',
  ],
  [/^\s{0,80}<\?xml\b/i, 'XML document text'],
  [/^\s{0,80}<!doctype\s/i, 'SGML document text'],
  [/^\s{0,80}\(:source\s/, 'WAIS source text'],
  [/^STARTFONT /, 'X11 BDF font text'],
  [/^begin [0-7]{3,4} \S/m, 'uuencoded text'],
  [/^(?:\.\\".*\n|'\\".*\n|\.\s*\n){0,40}\.(?:TH|Dd) /, 'manual page, troff or preprocessor input text'],
  [/^(?:\.\\"|'\\"|\.[A-Z]{2}\s)/, 'troff or preprocessor input text'],
  [/^\s{0,80}(?:%[^\n]{0,200}\n\s{0,80}){0,5}\\input\s{1,8}texinfo(?![A-Za-z])/, 'Texinfo source text'],
  [/^\s{0,80}\\input\s|^%[^\n]*(?:\b|e)TeX\b/, 'TeX document text'],
  [/^@[a-zA-Z]{3,20}\s?\{\s?[\w:.-]{1,80},\s*$/m, 'BibTeX text'],
  [/^(?:From \S+ .{10,}|Return-Path: |Received: )/, 'mail text'],
  [/^Path: [^\n!]*![^\n]*\n/, 'news text'],
  [/^(?:diff |Index: |--- [^\n]+\n\+\+\+ |\*\*\* [^\n]+\n--- )/, 'diff output text'],
];

/** Describes the first bytes as file(1) does, for bycontent.cf (E-16). Returns `empty` for no bytes. */
export function describeContent(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'empty';
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, WINDOW_BYTES)).toString(
    'latin1',
  );
  for (const [offset, signature, description] of SIGNATURES) {
    if (head.startsWith(signature, offset)) {
      return signature === 'PK\x03\x04' ? describeZip(head) : description;
    }
  }
  // With the number of its tables, from 1 to 255: caches of icons begin almost like it.
  if (/^\0\x01\0\0\0[^\0]/.test(head)) return 'TrueType Font data';
  if (head.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return describeCompoundFile(bytes);
  if (head.startsWith('\x7fELF')) return head.charCodeAt(16) === 1 ? 'ELF relocatable' : 'ELF executable';
  // Archives of V7 have no signature; the checksum of their first header identifies them.
  if (isTarHead(bytes.subarray(0, WINDOW_BYTES))) return 'tar archive';
  if (isBinary(bytes)) return 'data';
  const wide = wideCharset(bytes);
  const text =
    wide === undefined
      ? head.replace(/^\xef\xbb\xbf/, '')
      : decodeAs(bytes.subarray(0, WINDOW_BYTES), wide).replace(/^\ufeff/, '');
  // Only a source whose first line is a comment or a command: other texts may quote LaTeX.
  if (/^\s{0,80}[%\\]/.test(text) && isLatexSource(bytes)) return 'LaTeX document text';
  for (const [pattern, description] of TEXTS) if (pattern.test(text)) return description;
  return 'text';
}

/** Describes a zip file by its first member: office documents are zip files with such a member. */
function describeZip(head: string): string {
  const nameLength = head.charCodeAt(26) | (head.charCodeAt(27) << 8);
  const name = head.slice(30, 30 + nameLength);
  const dataStart = 30 + nameLength + (head.charCodeAt(28) | (head.charCodeAt(29) << 8));
  const kind = /^application\/vnd\.oasis\.opendocument\.([\w-]+)/.exec(
    head.slice(30 + nameLength, 130 + nameLength),
  );
  if (name === 'mimetype' && head.startsWith('application/epub+zip', dataStart)) return 'EPUB document';
  if (name === 'mimetype' && kind !== null) return `OpenDocument ${kind[1]}`;
  if (name === '[Content_Types].xml' || name === '_rels/.rels' || /^(?:word|xl|ppt)\//.test(name))
    return 'Microsoft OOXML';
  return 'Zip archive data';
}

/** Bytes that are searched for the names of a compound file's streams. */
const COMPOUND_WINDOW_BYTES = 256 * 1024;

/** Describes an OLE compound file by the name of its main stream. */
function describeCompoundFile(bytes: Uint8Array): string {
  const window = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, COMPOUND_WINDOW_BYTES));
  const tail = Buffer.from(bytes.subarray(-COMPOUND_WINDOW_BYTES));
  const hasStream = (name: string) =>
    window.includes(name, 0, 'utf16le') || tail.includes(name, 0, 'utf16le');
  if (hasStream('WordDocument')) return 'Microsoft Word document';
  if (hasStream('Workbook') || hasStream('Book')) return 'Microsoft Excel worksheet';
  if (hasStream('PowerPoint Document')) return 'Microsoft PowerPoint document';
  return 'Composite Document File data';
}

/**
 * Whether a text has a request of troff at the beginning of a line. The suffixes of its documents are also those of versions and programs.
 */
export function hasRequests(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, WINDOW_BYTES)).toString(
    'latin1',
  );
  return /^[.'][ \t]{0,8}(?:\\["#]|[A-Za-z]{1,3}(?![A-Za-z]))/m.test(head);
}

/** Whether a text begins with a comment or a command of TeX. */
export function beginsAsTex(bytes: Uint8Array): boolean {
  return /^\s{0,80}[%\\]/.test(Buffer.from(bytes.subarray(0, 100)).toString('latin1'));
}

/** Whether the bytes contain NUL or too many control characters. UTF-16 and UTF-32, with or without a byte order mark, are text (E-77). */
export function isBinary(bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length, WINDOW_BYTES);
  let control = 0;
  let high = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]!;
    if (byte === 0) return wideCharset(bytes) === undefined;
    // Escape belongs to ISO-2022 text; tab to carriage return is layout.
    if (byte < 0x20 && (byte < 0x08 || byte > 0x0d) && byte !== 0x1b) control++;
    else if (byte >= 0x80) high++;
  }
  const share = high > length * MIXED_SHARE ? MAX_CONTROL_SHARE_OF_MIXED : MAX_CONTROL_SHARE;
  return control > length * share && wideCharset(bytes) === undefined;
}
