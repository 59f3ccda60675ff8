import { bufferOf, latin } from '../bytes.js';
import { isChance } from '../charset/chance.js';
import { decodeAs } from '../charset/decoders.js';
import { isBinary, wideCharset } from '../charset/marks.js';
import type { Signature } from './document-type.js';
import { TYPES } from './types.js';

/** Bytes of a document that are examined. */
const WINDOW_BYTES = 4096;

const SIGNATURES = inOrder([...TYPES.values()].flatMap(({ signatures = [] }) => signatures));
const BEGINNINGS = [...TYPES.values()].flatMap(({ beginnings = [] }) => beginnings);

/** Puts each signature before those that are its beginning: `%!PS-AdobeFont` before `%!`. */
function inOrder(signatures: readonly Signature[]): Signature[] {
  const ordered: Signature[] = [];
  for (const signature of signatures) {
    const [offset, bytes] = signature;
    const shorter = ordered.findIndex(([at, start]) => at === offset && bytes.startsWith(start));
    ordered.splice(shorter < 0 ? ordered.length : shorter, 0, signature);
  }
  return ordered;
}

/** Describes the first bytes as file(1) does, for bycontent.cf (E-16). Returns `empty` for no bytes. */
export function describeContent(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'empty';
  const head = latin(bytes, 0, WINDOW_BYTES);
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
  if (isBinary(bytes) || isChance(bytes)) return 'data';
  const wide = wideCharset(bytes);
  const text =
    wide === undefined
      ? head.replace(/^\xef\xbb\xbf/, '')
      : decodeAs(bytes.subarray(0, WINDOW_BYTES), wide).replace(/^\ufeff/, '');
  // Only a source whose first line is a comment or a command: other texts may quote LaTeX.
  if (/^\s{0,80}[%\\]/.test(text) && isLatexSource(bytes)) return 'LaTeX document text';
  for (const [pattern, description] of BEGINNINGS) if (pattern.test(text)) return description;
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
  const window = bufferOf(bytes, COMPOUND_WINDOW_BYTES);
  const tail = Buffer.from(bytes.subarray(-COMPOUND_WINDOW_BYTES));
  const hasStream = (name: string) =>
    window.includes(name, 0, 'utf16le') || tail.includes(name, 0, 'utf16le');
  if (hasStream('WordDocument')) return 'Microsoft Word document';
  if (hasStream('Workbook') || hasStream('Book')) return 'Microsoft Excel worksheet';
  if (hasStream('PowerPoint Document')) return 'Microsoft PowerPoint document';
  return 'Composite Document File data';
}

/**
 * Whether a text has a request of troff at the beginning of a line. The suffixes of its documents are also
 * those of versions and programs.
 */
export function hasRequests(bytes: Uint8Array): boolean {
  const head = latin(bytes, 0, WINDOW_BYTES);
  return /^[.'][ \t]{0,8}(?:\\["#]|[A-Za-z]{1,3}(?![A-Za-z]))/m.test(head);
}

/** Whether a text begins with a comment or a command of TeX. */
export function beginsAsTex(bytes: Uint8Array): boolean {
  return /^\s{0,80}[%\\]/.test(latin(bytes, 0, 100));
}

// The header of a tar archive's member: recognition needs its checksum, unnesting its sizes too.

/** Bytes of a header; a member's content is padded to a multiple of it. */
export const TAR_BLOCK_BYTES = 512;

/** Whether the bytes begin with a member's header, by the checksum that V7, POSIX and GNU tar share. */
export function isTarHead(head: Uint8Array): boolean {
  if (head.length < TAR_BLOCK_BYTES || head[0] === 0) return false;
  let sum = 8 * 0x20;
  let signed = sum;
  for (let i = 0; i < TAR_BLOCK_BYTES; i++) {
    if (i >= 148 && i < 156) continue;
    sum += head[i]!;
    signed += (head[i]! << 24) >> 24;
  }
  const recorded = parseOctal(head.subarray(148, 156));
  return recorded === sum || recorded === signed;
}

/** Parses the first octal digits of a field; 0 if it has none. */
export function parseOctal(field: Uint8Array): number {
  const found = /[0-7]+/.exec(latin(field));
  return found === null ? 0 : Number.parseInt(found[0], 8);
}

// Recognizes LaTeX by the commands that begin its documents, packages and chapters, wherever they stand before
// the body.

/** Bytes in which the commands are looked for: comments, licenses and definitions may precede them. */
export const LATEX_WINDOW_BYTES = 256 * 1024;

/**
 * At the start of a line, so that comments do not count; conditionals may precede them on the line, definitions
 * may not.
 */
const DOCUMENT =
  /^[ \t]{0,80}(?:\\[^\n%]{0,120})?(?<!\\(?:[egx]?def|let)[ \t]{0,4})(?:\\document(?:class|style)\s{0,20}[[{]|\\begin[ \t]?\{document\})/m;
/**
 * Packages and classes under other names than `.sty` and `.cls`, and documents whose class is in an included
 * file.
 */
const PACKAGE =
  /^[ \t]{0,80}\\(?:usepackage|RequirePackage|NeedsTeXFormat|Provides(?:Package|Class|File))\s{0,20}[[{]/m;
/** Chapters that another file includes: environments that only LaTeX has. */
const ENVIRONMENT =
  /^[ \t]{0,80}\\begin[ \t]?\{(?:abstract|itemize|enumerate|description|quote|quotation|center|figure|table|tabular|tabbing|equation|eqnarray|align|theorem|proof|thebibliography|minipage)\*?\}/m;

/**
 * Whether a TeX source is LaTeX. A source of Texinfo may have it in its examples. @param bytes the source or
 * its beginning
 */
export function isLatexSource(bytes: Uint8Array): boolean {
  const text = latin(bytes, 0, LATEX_WINDOW_BYTES);
  if (/^[ \t]{0,80}\\input\s{1,8}texinfo(?![A-Za-z])/m.test(text.slice(0, 4096))) return false;
  return DOCUMENT.test(text) || PACKAGE.test(text) || ENVIRONMENT.test(text);
}
