/** Types of files generated from a source of the same name (E-27). */
const GENERATED: ReadonlySet<string> = new Set(['Object', 'Binary', 'Dvi', 'PostScript']);
/** Types of sources. */
const SOURCES: ReadonlySet<string> = new Set(['C', 'TeX', 'LaTeX']);

/**
 * E-27: removes the components whose source is in the same directory or archive: `main.o` with `main.c`,
 * `paper.ps` and `paper.dvi` with `paper.tex`.
 */
export function withoutRedundant<T extends { readonly name: string; readonly type: string }>(
  files: readonly T[],
): T[] {
  const sources = new Set(files.filter(({ type }) => SOURCES.has(type)).map(({ name }) => stem(name)));
  return files.filter(({ name, type }) => !GENERATED.has(type) || !sources.has(stem(name)));
}

function stem(name: string): string {
  return name.replace(/\.[^./]*$/, '');
}
