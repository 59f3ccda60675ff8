import type { EssenceInput, SelectionRules } from './context.js';
import { fileNameOf } from './document.js';
import { describeContent, isBinary } from './magic.js';
import { typeByMime } from './mime-types.js';

/** Types that hold other files and are unravelled, not summarised (E-40, E-43, E-44). */
export const NESTED_TYPES: ReadonlySet<string> = new Set([
  'Uuencoded',
  'Tar',
  'ShellArchive',
  'Compressed',
  'CompressedTar',
  'GNUCompressed',
  'GNUCompressedTar',
  'Bzip2Compressed',
  'Bzip2CompressedTar',
  'MacCompressed',
  'PCCompressed',
  'Exploder',
]);

/** Summarised from their text: bytes that are none cannot be of these types, whatever the name says. */
const TEXT_TYPES: ReadonlySet<string> = new Set(
  'HTML Text README FAQ FullText RFC FYI Internet-Draft C CHeader Perl Awk Tcl ShellScript OtherCode Makefile ManPage'.split(
    ' ',
  ),
);

/**
 * The type that URL and file name tell, before anything is fetched (E-3, E-28): byurl.cf, then byname.cf (E-6).
 * Undefined when only the document itself can tell. Use it with {@link isRejected}.
 */
export function typeByUrl(url: string, rules: SelectionRules): string | undefined {
  return rules.byUrl.match(url) ?? rules.byName.match(fileNameOf(url));
}

/** Whether objects of this type are left out: not on the list of allowed ones, or on the stop list (E-21..E-23). */
export function isRejected(type: string, rules: SelectionRules): boolean {
  return rules.allowlist?.has(type) === false || rules.stoplist.has(type);
}

/** Whether a document of this type can hold links, so that it is worth fetching although it is not indexed (G-49). */
export function mayHoldLinks(type: string | undefined): boolean {
  return type === undefined || type === 'HTML' || type === 'HTTP-Query' || type === 'Directory';
}

/** What is known of a fetched document. */
export interface Recognition {
  readonly type: string;
  /** It is to be read for links, whatever its type is called (a query's answer, a page typed HomeHTML by the user). */
  readonly isHtml: boolean;
}

/** E-3, E-6, E-15: URL, name, MIME type, content. What no rule names is `Unrecognized` (E-14). */
export function recognize(input: EssenceInput, rules: SelectionRules): Recognition {
  const named = typeByUrl(input.url, rules);
  const mime = input.contentType === undefined ? undefined : typeByMime(input.contentType);
  let description: string | undefined;
  const content = () => {
    description ??= describeContent(input.body);
    return description;
  };
  const told = refine(named ?? mime, mime, input, content);
  const type = told ?? byContent(content(), rules) ?? 'Unrecognized';
  const isHtml =
    type === 'HTML' ||
    (mime === 'HTML' && !isBinary(input.body)) ||
    (mime === undefined && content().startsWith('HTML'));
  return { type, isHtml };
}

function byContent(description: string, rules: SelectionRules): string | undefined {
  return description === 'empty' ? undefined : rules.byContent.match(description);
}

/** Where the bytes prove the name wrong, they win. */
function refine(
  type: string | undefined,
  mime: string | undefined,
  input: EssenceInput,
  content: () => string,
): string | undefined {
  if (type === undefined) return undefined;
  if (TEXT_TYPES.has(type)) {
    if (isBinary(input.body)) return undefined;
    // `/faq` and `/wiki/Hello.c` are pages when both the server and the bytes say so.
    if (type !== 'HTML' && mime === 'HTML' && content().startsWith('HTML')) return 'HTML';
  }
  if (type === 'TeX' && content().startsWith('LaTeX')) return 'LaTeX';
  return type;
}
