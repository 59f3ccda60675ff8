/** Types that are made from a source of the same name (E-27). */
const MADE: ReadonlySet<string> = new Set(['Object', 'Binary', 'Dvi', 'PostScript']);
/** The sources. */
const SOURCES: ReadonlySet<string> = new Set(['C', 'TeX', 'LaTeX']);

/**
 * E-27: leaves out what was made from a source that is there too: `main.o` beside `main.c`, `paper.ps` and `paper.dvi`
 * beside `paper.tex`, in the same directory or archive.
 */
export function withoutRedundant<T extends { readonly name: string; readonly type: string }>(
  files: readonly T[],
): T[] {
  const sources = new Set(files.filter(({ type }) => SOURCES.has(type)).map(({ name }) => stem(name)));
  return files.filter(({ name, type }) => !MADE.has(type) || !sources.has(stem(name)));
}

function stem(name: string): string {
  return name.replace(/\.[^./]*$/, '');
}
