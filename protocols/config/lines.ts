// The lines and words of configuration files.
/** One logical line of a configuration file. */
export interface ConfigLine {
  /** Without its line end and trailing blanks. Leading blanks are kept, because column one can matter. */
  readonly text: string;
  /** 1-based number of its first physical line. */
  readonly line: number;
}

/**
 * Splits a configuration file into its logical lines, without comments (`#` as first non-blank, G-15, BRK-7.2)
 * and blank lines. Lines end with LF or CR LF; a byte-order mark is skipped.
 *
 * @param options.continuation G-16: a `\` at the end joins the next line, without a separator
 */
export function readLines(text: string, options: { readonly continuation?: boolean } = {}): ConfigLine[] {
  const lines: ConfigLine[] = [];
  let open: { parts: string[]; line: number } | undefined;
  let number = 0;
  for (const physical of text.replace(/^\ufeff/, '').split('\n')) {
    number += 1;
    const content = physical.trimEnd();
    if (open === undefined && /^\s*(?:#|$)/.test(content)) continue;
    const continued = options.continuation === true && content.endsWith('\\');
    open ??= { parts: [], line: number };
    open.parts.push(continued ? content.slice(0, -1) : content);
    if (continued) continue;
    lines.push({ text: open.parts.join('').trimEnd(), line: open.line });
    open = undefined;
  }
  if (open !== undefined) lines.push({ text: open.parts.join('').trimEnd(), line: open.line });
  return lines.filter((line) => line.text !== '');
}

/** Splits a line into its words, which blanks and tabs separate. */
export function wordsOf(text: string): string[] {
  return text.split(/[ \t]+/).filter((word) => word !== '');
}
