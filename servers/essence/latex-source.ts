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
  const { buffer, byteOffset, byteLength } = bytes;
  const text = Buffer.from(buffer, byteOffset, Math.min(byteLength, LATEX_WINDOW_BYTES)).toString('latin1');
  if (/^[ \t]{0,80}\\input\s{1,8}texinfo(?![A-Za-z])/m.test(text.slice(0, 4096))) return false;
  return DOCUMENT.test(text) || PACKAGE.test(text) || ENVIRONMENT.test(text);
}
