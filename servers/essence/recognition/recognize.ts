import { isChance } from '../charset/chance.js';
import { isBinary } from '../charset/marks.js';
import type { SelectionRules } from '../context.js';
import { fileNameOf } from '../document.js';
import type { EssenceInput } from '../model.js';
import { beginsAsTex, describeContent, hasRequests, isLatexSource } from './magic.js';
import type { RuleOrigin, TypeRules } from './type-rules.js';
import { TYPES, typeByMime } from './types.js';

/**
 * Recognizes the type by URL and file name, before anything is fetched (E-3, E-28): byurl.cf, then byname.cf
 * (E-6). Returns undefined if only the content of the document determines it. Use it with {@link isRejected}.
 */
export function typeByUrl(url: string, rules: SelectionRules): string | undefined {
  return rules.byUrl.match(url) ?? rules.byName.match(fileNameOf(url));
}

/** Whether documents of this type are rejected: not on the allow list, or on the stop list (E-21..E-23). */
export function isRejected(type: string, rules: SelectionRules): boolean {
  return rules.allowlist?.has(type) === false || rules.stoplist.has(type);
}

/** Whether a document of this type can contain links and is fetched although it is not indexed (G-49). */
export function mayContainLinks(type: string | undefined): boolean {
  return type === undefined || type === 'HTML' || type === 'HTTP-Query' || type === 'Directory';
}

/** The recognized type of a document. */
export interface Recognition {
  readonly type: string;
  /**
   * It is read for links, whatever the name of its type (a query's result, a page that the user calls
   * HomeHTML).
   */
  readonly isHtml: boolean;
}

/** One step of recognition, for `--explain`. */
export interface RecognitionStep {
  readonly how: 'url' | 'name' | 'declared' | 'content' | 'bytes';
  /** The examined URL, file name, MIME type or description of the content. */
  readonly subject: string;
  /** The type by this step; absent if the step has no result. */
  readonly type?: string | undefined;
  /** The line of the rule file that matched. */
  readonly rule?: RuleOrigin;
  /** Why this step overruled an earlier one. */
  readonly note?: string;
}

/** The input of recognition. */
interface Subject {
  readonly url: string;
  readonly name: string;
  readonly declared?: string | undefined;
  /** The document or its beginning; undefined if it must not be read (E-118). */
  readonly bytes: Uint8Array | undefined;
  readonly linkTarget?: string | undefined;
}

/**
 * Recognizes a type by URL, name, MIME type and content (E-3, E-6, E-15). The default is `Unrecognized` (E-14).
 *
 * @param steps - receives every step.
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
    declared: contentType,
    linkTarget,
  };
  return recognizeSubject(subject, rules, options.steps ?? []);
}

/** Recognizes the type of a component of a nested file by its name and its first bytes (E-10). */
export function recognizeComponent(name: string, head: Uint8Array, rules: SelectionRules): Recognition {
  return recognizeSubject({ url: '', name, bytes: head }, rules, []);
}

function recognizeSubject(subject: Subject, rules: SelectionRules, steps: RecognitionStep[]): Recognition {
  const named =
    (subject.url === '' ? undefined : byRules('url', subject.url, rules.byUrl, steps)) ??
    (subject.name === '' ? undefined : byRules('name', subject.name, rules.byName, steps));
  const { bytes, declared, linkTarget } = subject;
  const mime = declared === undefined ? undefined : typeByMime(declared);
  if (declared !== undefined && named === undefined) {
    steps.push({ how: 'declared', subject: declared, type: mime });
  }
  if (bytes === undefined) {
    const type = named ?? mime ?? 'Unrecognized';
    return { type, isHtml: type === 'HTML' || mime === 'HTML' };
  }
  let description: string | undefined;
  const content = () => {
    description ??=
      linkTarget === undefined
        ? (rules.magic?.describe(bytes) ?? describeContent(bytes))
        : `symbolic link to ${linkTarget}`;
    return description;
  };
  const refined = refine(named ?? mime, mime, bytes, content, steps);
  const type = refined ?? byContent(content(), rules, steps) ?? 'Unrecognized';
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

/** Bits by which a name says that a document is text. */
const NAMED_TEXT = 20;

/** Corrects a type by name that the bytes contradict. */
function refine(
  type: string | undefined,
  mime: string | undefined,
  bytes: Uint8Array,
  content: () => string,
  steps: RecognitionStep[],
): string | undefined {
  if (type === undefined) return undefined;
  const overrule = (note: string, by?: string): string | undefined => {
    steps.push({ how: 'bytes', subject: content(), note, type: by });
    return by;
  };
  const form = TYPES.get(type)?.form;
  if (form === 'text') {
    if (isBinary(bytes) || isChance(bytes, NAMED_TEXT)) return overrule(`${type} is text, the bytes are not`);
    // `/faq` and `/wiki/Hello.c` are pages if both the MIME type and the content are HTML.
    if (type !== 'HTML' && mime === 'HTML' && content().startsWith('HTML')) {
      return overrule('the server and the bytes say it is a page', 'HTML');
    }
  }
  if (type !== mime && form === 'binary' && isText(bytes))
    return overrule(`${type} is not text, the bytes are`);
  // These suffixes have other meanings, too.
  if ((type === 'Troff' || type === 'ManPage') && isText(bytes) && !hasRequests(bytes))
    return overrule(`${type} without a request`);
  if (type === 'CSharp' && beginsAsTex(bytes)) return overrule('the bytes are TeX');
  if (type === 'TeX' && isLatexSource(bytes)) return overrule('TeX with commands of LaTeX', 'LaTeX');
  if (type === 'SGML') {
    const vocabulary = /^(DocBook|JATS|FB2|TEI) /.exec(content())?.[1];
    if (vocabulary !== undefined) return overrule('SGML of a known vocabulary', vocabulary);
  }
  return type;
}

/** Whether there are bytes, and they are text without the signature of a format. */
function isText(bytes: Uint8Array): boolean {
  return bytes.length > 0 && !isBinary(bytes) && !isChance(bytes);
}
