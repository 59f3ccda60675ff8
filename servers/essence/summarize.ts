import { createHash } from 'node:crypto';
import { assembleObject } from './assemble.js';
import type { EssenceContext } from './context.js';
import {
  type DraftPiece,
  type EmbeddedSummary,
  type Reading,
  SourceDocument,
  type Summary,
} from './document.js';
import type { EssenceInput, EssenceOutput } from './model.js';
import { isRejected, type Recognition, recognize } from './recognition/recognize.js';
import { NESTED_TYPES } from './recognition/types.js';
import { applyPostRulesToBytes } from './rules/apply.js';
import { joinHyphenated, summarizeExtracted } from './summarizers/extracted.js';
import { summarizeUnrecognized } from './summarizers/text.js';
import { asFullText, type FullSummary, linksOf, summaryOf } from './summary-of.js';
import { type Components, componentsOf, isNested } from './unnest/components.js';
import { unnesterOf } from './unnest/explode.js';
import { FORMATS, MESSAGE_TYPES } from './unnest/formats.js';
import {
  isSourceDistribution,
  SOURCE_DISTRIBUTION,
  summarizeDistribution,
  withoutRedundant,
} from './unnest/source-distribution.js';

/**
 * The core of Essence (E-1, E-3): type, selection, unnesting, summary, keywords, bookkeeping, rules. It never
 * throws because of a document's content; a document that cannot be summarized is rejected with a warning.
 *
 * @param recognition - its type, if the caller has determined it.
 * @param reading - its time, and the receiver of its parts. Default: no limit, and no receiver
 */
export async function summarizeDocument(
  input: EssenceInput,
  context: EssenceContext,
  recognition: Recognition = recognize(input, context.rules, { access: context.settings.access }),
  reading?: Reading,
): Promise<EssenceOutput> {
  const { settings, rules } = context;
  const md5 = settings.access ? createHash('md5').update(input.body).digest('hex') : '';
  const { type, isHtml } = recognition;
  const document = new SourceDocument(input, settings, isHtml, reading);
  const rejected = (links: EssenceOutput['links'], more: Partial<EssenceOutput> = {}): EssenceOutput => ({
    type,
    rejected: true,
    md5,
    links,
    ...leftOutLinksOf(document),
    warnings: document.warnings,
    ...more,
  });
  // E-25: the links of a document that is not indexed are still followed.
  if (isRejected(type, rules)) return rejected(linksOf(document) ?? []);
  const parts = await unpackComponents(input, type, document, context);
  if (parts !== undefined && isExploder(type)) {
    if (document.unfinished !== undefined) document.warn(unfinishedText(type, document.unfinished));
    return rejected([], { exploded: parts.exploded });
  }
  const summary = withName(await ownSummary(document, type, parts, context), document, type, parts);
  if (summary.noindex) {
    document.warn('the page requests not to be indexed (META robots)');
    return rejected(summary.links ?? []);
  }
  const isDistribution =
    parts !== undefined &&
    isSourceDistribution(type, parts.embedded) &&
    !isRejected(SOURCE_DISTRIBUTION, rules);
  const soif = isDistribution
    ? assembleObject(input, SOURCE_DISTRIBUTION, md5, document, summarizeDistribution(parts.embedded), [])
    : assembleObject(input, type, md5, document, summary, [
        ...(summary.embedded ?? []),
        ...(parts?.embedded ?? []),
      ]);
  const output: EssenceOutput = {
    type: isDistribution ? SOURCE_DISTRIBUTION : type,
    rejected: false,
    soif,
    md5,
    links: summary.links ?? [],
    ...leftOutLinksOf(document),
    charset: document.charset,
    ...(parts === undefined || parts.exploded.length === 0 ? {} : { exploded: parts.exploded }),
    warnings: document.warnings,
  };
  return context.postRules === undefined ? output : await applyRules(output, soif, input, document, context);
}

function leftOutLinksOf({
  malformedLinks,
  droppedLinks,
}: SourceDocument): Pick<EssenceOutput, 'malformedLinks' | 'droppedLinks'> {
  return {
    ...(malformedLinks.length === 0 ? {} : { malformedLinks }),
    ...(droppedLinks === 0 ? {} : { droppedLinks }),
  };
}

/**
 * Says that a document was not read to its end, if its time was not enough for it. If nothing of it was read,
 * its name is its summary.
 */
function withName(
  summary: FullSummary,
  document: SourceDocument,
  type: string,
  parts: Components | undefined,
): FullSummary {
  if (document.unfinished === undefined) return summary;
  const nothing = isEmpty(summary) && (parts?.embedded ?? []).length === 0;
  document.warn(unfinishedText(type, document.unfinished, nothing));
  return nothing ? { ...summary, ...summarizeUnrecognized(document) } : summary;
}

function unfinishedText(type: string, reason: string, isByName = false): string {
  const what = isByName ? 'is summarized by its name' : 'is not read to its end';
  return `the ${type} document ${what} (E-45): ${reason}`;
}

/**
 * The summary of a document that was not read to its end, because it needs more memory or time than a reader
 * has (E-45): the part that was read, else its name; with type, size and checksum, and a warning.
 *
 * @param reason - a clause for the warning.
 * @param pieces - the parts that were read
 */
export async function summarizeDraft(
  input: EssenceInput,
  context: EssenceContext,
  reason: string,
  pieces: readonly DraftPiece[] = [],
): Promise<EssenceOutput> {
  const { settings, rules } = context;
  const md5 = settings.access ? createHash('md5').update(input.body).digest('hex') : '';
  const { type, isHtml } = recognize(input, rules, { access: settings.access });
  const document = new SourceDocument(input, settings, isHtml);
  const draft = summaryOfDraft(pieces);
  document.warn(unfinishedText(type, reason, draft === undefined));
  const common = { type, md5, links: [], warnings: document.warnings };
  if (isRejected(type, rules) || (NESTED_TYPES.has(type) && isExploder(type)))
    return { ...common, rejected: true };
  const summary =
    draft === undefined ? summarizeUnrecognized(document) : asFullText(draft, settings.fullText);
  const { embedded = [] } = summary;
  const components = settings.grouping ? withoutRedundant(embedded) : embedded;
  const soif = assembleObject(input, type, md5, document, summary, components);
  const output: EssenceOutput = { ...common, rejected: false, soif };
  return context.postRules === undefined ? output : applyRules(output, soif, input, document, context);
}

/** Unpacks a nested document; undefined if it is not one, or must not be read. */
async function unpackComponents(
  input: EssenceInput,
  type: string,
  document: SourceDocument,
  context: EssenceContext,
): Promise<Components | undefined> {
  if (context.settings.typeOnly) return undefined;
  if (!context.settings.access || !isNested(type, input.body)) {
    const explodes = unnesterOf(type, context) !== undefined;
    if (!explodes || !context.settings.access) return undefined;
  }
  return componentsOf(input, type, document, context);
}

/** Whether documents of this type are streams of objects and do not become objects themselves (E-46). */
function isExploder(type: string): boolean {
  return !FORMATS.has(type) && !MESSAGE_TYPES.has(type);
}

/** E-53: the summary of a nested document is empty if it has components; a message is always summarized. */
async function ownSummary(
  document: SourceDocument,
  type: string,
  parts: Components | undefined,
  context: EssenceContext,
): Promise<FullSummary> {
  if (parts === undefined || MESSAGE_TYPES.has(type)) return summaryOf(document, type, context);
  const alone: Summary = parts.embedded.length === 0 ? summarizeUnrecognized(document) : { attributes: [] };
  return { ...alone, noindex: false };
}

/** E-136: applies the rules to the whole object; they may delete it or change its URL. */
async function applyRules(
  output: EssenceOutput,
  soif: Uint8Array,
  input: EssenceInput,
  document: SourceDocument,
  { postRules, programs }: EssenceContext,
): Promise<EssenceOutput> {
  if (postRules === undefined) return output;
  const result = await applyPostRulesToBytes(soif, postRules, {
    programs: programs?.settings ?? { directories: [], path: '' },
  });
  for (const message of result.warnings) document.warn(message);
  const { soif: _before, ...before } = output;
  const rest = result.applied.length === 0 ? before : { ...before, rules: result.applied };
  if (result.soif === undefined) {
    document.warn('a post-summarizing rule deletes it (E-128)');
    return { ...rest, rejected: true };
  }
  return { ...rest, soif: result.soif, ...(result.url === input.url ? {} : { url: result.url }) };
}

// What was read of a document so far. The reader sends it piece by piece, so that it is kept if the reader does
// not come to the end (E-45).

/** Returns the summary of the pieces; undefined if they say nothing. */
function summaryOfDraft(pieces: readonly DraftPiece[]): Summary | undefined {
  const embedded: EmbeddedSummary[] = [];
  let open: DraftPiece[] = [];
  for (const piece of pieces) {
    if (piece.components !== undefined) {
      embedded.push(...piece.components);
      open = [];
    } else if (piece.part !== undefined) open.push(piece);
  }
  const [last] = open;
  const unfinished = summaryOfPieces(open);
  if (last?.part !== undefined && unfinished !== undefined)
    embedded.push({ ...last.part, summary: unfinished });
  const own = summaryOfPieces(pieces.filter(({ part }) => part === undefined));
  if (embedded.length === 0) return own;
  return { attributes: [], ...own, embedded };
}

function summaryOfPieces(pieces: readonly DraftPiece[]): Summary | undefined {
  const attributes = pieces.flatMap((piece) => piece.attributes ?? []);
  const texts = pieces.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const summary = summarizeExtracted({ attributes, text: joinHyphenated(texts.join('\n\n')) });
  return isEmpty(summary) ? undefined : summary;
}

/** Whether a summary has no value. */
function isEmpty({ attributes, embedded = [] }: Summary): boolean {
  return embedded.length === 0 && attributes.every(([, value]) => value.trim() === '');
}
