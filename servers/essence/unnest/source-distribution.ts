import type { EmbeddedSummary, Summary } from '../document.js';
import { typesWith } from '../recognition/types.js';

const SOURCE_TYPES = typesWith(({ isSource }) => isSource === true);
const MARKUP_TYPES: ReadonlySet<string> = new Set(['Markdown', 'ReStructuredText', 'AsciiDoc', 'Org']);
/** Types of archives that contain distributions. */
const ARCHIVE_TYPES: ReadonlySet<string> = new Set(
  'Tar CompressedTar GNUCompressedTar Bzip2CompressedTar Compressed GNUCompressed Bzip2Compressed PCCompressed ShellArchive'.split(
    ' ',
  ),
);

/** Type of such an archive. If the stop list contains it, the archive keeps its components as `Embed<n>`. */
export const SOURCE_DISTRIBUTION = 'SourceDistribution';

/** Whether the archive has a README or Makefile and at least one source file (E-58). */
export function isSourceDistribution(type: string, components: readonly EmbeddedSummary[]): boolean {
  return (
    ARCHIVE_TYPES.has(type) &&
    components.some((component) => isReadme(component) || component.type === 'Makefile') &&
    components.some((component) => SOURCE_TYPES.has(component.type))
  );
}

/** `README`, and `README.md` whose type is that of its markup. */
function isReadme({ type, name }: EmbeddedSummary): boolean {
  return type === 'README' || (MARKUP_TYPES.has(type) && /(?:^|\/)readme\.\w+$/i.test(name));
}

/**
 * Returns one summary of all components (E-58): the README's full text, the comments of Makefiles and sources,
 * the manual pages, and the names of the files as `Contents`.
 */
export function summarizeDistribution(components: readonly EmbeddedSummary[]): Summary {
  const attributes: (readonly [string, string])[] = [];
  let description: string | undefined;
  for (const component of components) {
    const { type, summary } = component;
    if (isReadme(component)) {
      attributes.push(...summary.attributes);
      description ??= summary.description;
    } else if (type === 'ManPage') {
      attributes.push(...summary.attributes);
    } else if (type === 'Makefile' || SOURCE_TYPES.has(type)) {
      attributes.push(...summary.attributes.filter(([name]) => name === 'Description'));
    }
  }
  attributes.push(['Contents', components.map(({ name }) => name).join('\n')]);
  return { attributes, description };
}

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
