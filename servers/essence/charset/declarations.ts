// What a document says of its character set.
import { decodeLatin } from './decoders.js';

/**
 * Bytes that are searched for an XML declaration or a META element: those of the HTML standard, and more for
 * pages with long heads.
 */
const MARKUP_WINDOW_BYTES = 4096;
/**
 * Bytes that are searched for a declaration of a source: the start, and the end with the variables of Emacs and
 * vi.
 */
const SOURCE_WINDOW_BYTES = 4096;
const END_WINDOW_BYTES = 1024;

/** The encoding of an XML declaration at the start of the document. */
export function xmlEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== 0x3c || bytes[1] !== 0x3f) return undefined;
  const head = decodeLatin(bytes.subarray(0, MARKUP_WINDOW_BYTES));
  return narrow(/^<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head)?.[1]);
}

/** The charset of a META element near the start. */
export function metaCharset(bytes: Uint8Array): string | undefined {
  const head = decodeLatin(bytes.subarray(0, MARKUP_WINDOW_BYTES));
  return narrow(/<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head)?.[1]);
}

/** UTF-16 is wrong in a declaration that was readable as ASCII. */
function narrow(label: string | undefined): string | undefined {
  const name = label?.toLowerCase();
  return name?.startsWith('utf-16') === true ? 'utf-8' : name;
}

/** Declarations anywhere in the start of a source. */
const IN_HEAD: readonly RegExp[] = [
  /^[^%\n]{0,200}\\(?:usepackage|RequirePackage)\s*\[([\w, -]{1,60})\]\s*\{(?:inputenc|inputenx|selinput)\}/m,
  /^[^%\n]{0,200}\\inputencoding\s*\{([\w-]{1,40})\}/m,
  /^%\s*!\s*TEX\s+encoding\s*=\s*([\w-]{1,40})/im,
  /^@documentencoding\s+([\w-]{1,40})/m,
  /^=encoding\s+([\w-]{1,40})/m,
  /^@charset\s+["']([\w-]{1,40})["']/m,
  /^"Content-Type: text\/plain; charset=([\w-]{1,40})\\n"/im,
];
/** PEP 263, Emacs, Ruby: in one of the first two lines. */
const IN_FIRST_LINES = /^(?:[^\n]{0,300}\n)?[^\n]{0,300}?coding[:=]\s*["']?([\w.-]{1,40})/i;
/** Variables of Emacs, and a mode line of vi. */
const IN_END = /(?:^|[\s;#%*])(?:coding:|vim?:[^\n]{0,80}\b(?:fenc|fileencoding)=)\s*([\w.-]{1,40})/gi;

/**
 * The name by which a source declares its character set for TeX, Texinfo, gettext, an editor or an interpreter;
 * undefined if it does not.
 */
export function sourceCharset(bytes: Uint8Array): string | undefined {
  const head = decodeLatin(bytes.subarray(0, SOURCE_WINDOW_BYTES));
  const first = IN_FIRST_LINES.exec(head)?.[1];
  if (first !== undefined) return first;
  for (const pattern of IN_HEAD) {
    const found = pattern.exec(head)?.[1];
    // Options of a package: the last one is in use.
    if (found !== undefined) return found.split(',').at(-1)?.trim();
  }
  const end = decodeLatin(bytes.subarray(-END_WINDOW_BYTES));
  return [...end.matchAll(IN_END)].at(-1)?.[1];
}
