import type { SelectionRules } from './context.js';
import { fileNameOf } from './document.js';
import { describeContent, isBinary } from './magic.js';
import { typeByMime } from './mime-types.js';
import type { EssenceInput } from './model.js';
import type { RuleOrigin, TypeRules } from './type-rules.js';

/** Types that hold other files or objects and are unraveled, not summarized (E-40, E-43, E-44, E-46). */
export const NESTED_TYPES: ReadonlySet<string> = new Set(
  (
    'Uuencoded Tar ShellArchive Compressed CompressedTar GNUCompressed GNUCompressedTar Bzip2Compressed ' +
    'Bzip2CompressedTar MacCompressed PCCompressed DebianPackage CpioArchive Exploder LSM IAFA PCIndex Netfind'
  ).split(' '),
);

/** Summarized from their text: bytes that are none cannot be of these types, whatever the name says. */
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

/** One step of recognition, for people who ask why (`--explain`). */
export interface RecognitionStep {
  readonly how: 'url' | 'name' | 'declared' | 'content' | 'bytes';
  /** What was looked at: the URL, the file name, the MIME type, the description of the content. */
  readonly subject: string;
  /** What this step says; absent when it says nothing. */
  readonly type?: string;
  /** The line of a rule file that said so. */
  readonly rule?: RuleOrigin;
  /** Why a later step overruled an earlier one. */
  readonly note?: string;
}

/** What recognition may look at. */
interface Subject {
  readonly url: string;
  readonly name: string;
  readonly declared?: string;
  /** The document or its beginning; undefined when it must not be read (E-118). */
  readonly bytes: Uint8Array | undefined;
  readonly linkTarget?: string;
}

/**
 * E-3, E-6, E-15: URL, name, MIME type, content. What no rule names is `Unrecognized` (E-14).
 *
 * @param steps - is told every step taken.
 */
export function recognize(
  input: Pick<EssenceInput, 'url' | 'body' | 'contentType' | 'linkTarget'>,
  rules: SelectionRules,
  options: { readonly access?: boolean; readonly steps?: RecognitionStep[] } = {},
): Recognition {
  const { url, body, contentType, linkTarget } = input;
  const subject: Subject = {
    url,
    name: fileNameOf(url),
    bytes: options.access === false ? undefined : body,
    ...(contentType === undefined ? {} : { declared: contentType }),
    ...(linkTarget === undefined ? {} : { linkTarget }),
  };
  return recognizeSubject(subject, rules, options.steps ?? []);
}

/** E-10: the type of a component of a nested file, by its name and its first bytes. */
export function recognizeComponent(
  name: string,
  head: Uint8Array,
  rules: SelectionRules,
  steps: RecognitionStep[] = [],
): Recognition {
  return recognizeSubject({ url: '', name, bytes: head }, rules, steps);
}

function recognizeSubject(subject: Subject, rules: SelectionRules, steps: RecognitionStep[]): Recognition {
  const named =
    (subject.url === '' ? undefined : byRules('url', subject.url, rules.byUrl, steps)) ??
    (subject.name === '' ? undefined : byRules('name', subject.name, rules.byName, steps));
  const { bytes, declared, linkTarget } = subject;
  const mime = declared === undefined ? undefined : typeByMime(declared);
  if (declared !== undefined && named === undefined) {
    steps.push({ how: 'declared', subject: declared, ...(mime === undefined ? {} : { type: mime }) });
  }
  if (bytes === undefined) return { type: named ?? mime ?? 'Unrecognized', isHtml: false };
  let description: string | undefined;
  const content = () => {
    description ??=
      linkTarget === undefined
        ? (rules.magic?.describe(bytes) ?? describeContent(bytes))
        : `symbolic link to ${linkTarget}`;
    return description;
  };
  const told = refine(named ?? mime, mime, bytes, content, steps);
  const type = told ?? byContent(content(), rules, steps) ?? 'Unrecognized';
  const isHtml =
    type === 'HTML' ||
    (mime === 'HTML' && !isBinary(bytes)) ||
    (mime === undefined && content().startsWith('HTML'));
  return { type, isHtml };
}

function byRules(
  how: 'url' | 'name' | 'content',
  subject: string,
  table: TypeRules,
  steps: RecognitionStep[],
): string | undefined {
  const rule = table.find(subject);
  steps.push({ how, subject, ...(rule === undefined ? {} : { type: rule.type, rule }) });
  return rule?.type;
}

function byContent(description: string, rules: SelectionRules, steps: RecognitionStep[]): string | undefined {
  if (description !== 'empty') return byRules('content', description, rules.byContent, steps);
  steps.push({ how: 'content', subject: description });
  return undefined;
}

/** Where the bytes prove the name wrong, they win. */
function refine(
  type: string | undefined,
  mime: string | undefined,
  bytes: Uint8Array,
  content: () => string,
  steps: RecognitionStep[],
): string | undefined {
  if (type === undefined) return undefined;
  const overrule = (note: string, by?: string): string | undefined => {
    steps.push({ how: 'bytes', subject: content(), note, ...(by === undefined ? {} : { type: by }) });
    return by;
  };
  if (TEXT_TYPES.has(type)) {
    if (isBinary(bytes)) return overrule(`${type} is text, the bytes are not`);
    // `/faq` and `/wiki/Hello.c` are pages when both the server and the bytes say so.
    if (type !== 'HTML' && mime === 'HTML' && content().startsWith('HTML')) {
      return overrule('the server and the bytes say it is a page', 'HTML');
    }
  }
  if (type === 'TeX' && content().startsWith('LaTeX')) return overrule('TeX with a document class', 'LaTeX');
  return type;
}
