import { canonicalUrl } from '../../../protocols/urls/index.js';
import type { EssenceContext } from '../context.js';
import { type EmbeddedSummary, fileNameOf, SourceDocument, type Summary } from '../document.js';
import type { EssenceInput, ExplodedObject } from '../model.js';
import { mayReadInThread } from '../recognition/trust.js';
import { NESTED_TYPES } from '../recognition/types.js';
import { summaryOf } from '../summary-of.js';
import { chunksOf } from './chunks.js';
import { CONVERTERS } from './converters.js';
import { explode, unnesterOf } from './explode.js';
import { FORMATS, MESSAGE_TYPES } from './formats.js';
import { UnnestMeter } from './meter.js';
import { hasParts } from './mime.js';
import { withoutRedundant } from './source-distribution.js';
import { type Leaf, unnest } from './walk.js';

/** Milliseconds after which components that were read are kept. */
const KEEP_MS = 50;
/** Maximum number of warnings of one document: an archive may have ten thousand links. */
const MAX_WARNINGS = 30;

/** The contents of a nested document. */
export interface Components {
  /** In archive order; the numbers of `Embed<n>` are their positions, from 1 (E-56). */
  readonly embedded: readonly EmbeddedSummary[];
  /** Objects from Exploders (E-47). */
  readonly exploded: readonly ExplodedObject[];
}

/** Whether a document of this type has components to extract. */
export function isNested(type: string, body: Uint8Array): boolean {
  return NESTED_TYPES.has(type) || (MESSAGE_TYPES.has(type) && hasParts(body.subarray(0, 4096)));
}

/**
 * Unpacks a document and summarizes its components (E-42, E-52). Never throws because of the document's
 * content.
 */
export async function componentsOf(
  input: EssenceInput,
  type: string,
  document: SourceDocument,
  context: EssenceContext,
): Promise<Components> {
  const { settings, rules } = context;
  const embedded: EmbeddedSummary[] = [];
  const exploded: ExplodedObject[] = [];
  let reported = 0;
  let remaining = settings.maxObjectBytes;
  const warn = (message: string) => {
    reported++;
    if (reported <= MAX_WARNINGS) document.warn(message);
  };
  const isExploder = (name: string) => CONVERTERS.has(name) || unnesterOf(name, context) !== undefined;
  if (isExploder(type)) return { embedded, exploded: await explode(input, type, document, context) };
  if (!FORMATS.has(type) && !MESSAGE_TYPES.has(type)) {
    // E-46: the type `Exploder` is predefined, but only the user can supply its program.
    document.warn(`there is no reader and no program ${type}.unnest for the nested type ${type} (E-46)`);
    return { embedded, exploded };
  }
  const time = document.time.within(settings.unnest.timeLimitMs);
  let finished: EmbeddedSummary[] = [];
  let keptAt = performance.now();
  const keepFinished = () => {
    if (finished.length > 0) document.keep({ components: finished });
    finished = [];
    keptAt = performance.now();
  };
  await unnest(type, fileNameOf(input.url) || type, chunksOf(input.body), {
    rules,
    meter: new UnnestMeter(settings.unnest, input.body.length, time),
    warn,
    visit: async (leaf) => {
      const { path: name, type, whole } = leaf;
      const part = new SourceDocument(partInput(input, leaf), settings, leaf.isHtml, {
        time,
        keep: (piece) => document.keep({ ...piece, part: { name, type } }),
      });
      // A message for each small text would cost more than reading it.
      const isAtOnce = mayReadInThread(leaf, leaf.body.length, context, part.url);
      if (!isAtOnce || performance.now() - keptAt > KEEP_MS) keepFinished();
      if (isExploder(leaf.type)) {
        exploded.push(...(await explode(partInput(input, leaf), leaf.type, part, context)));
      } else {
        // When the object is full, only names, types and checksums of further components are needed.
        const summary =
          remaining > 0 ? await summaryOf(part, leaf.type, context) : { attributes: [], noindex: false };
        if (summary.noindex) warn(`${leaf.path}: the page requests not to be indexed (META robots)`);
        else {
          const attributes = fitAttributes(summary, remaining);
          for (const [name, value] of attributes) remaining -= name.length + value.length;
          const component = { name, type, whole };
          embedded.push({ ...component, summary: { ...summary, attributes } });
          finished.push({ ...component, summary: draftOf(summary, attributes) });
        }
      }
      if (part.unfinished !== undefined) part.warn(`it is not read to its end (E-45): ${part.unfinished}`);
      for (const message of part.warnings) warn(`${leaf.path}: ${message}`);
    },
  });
  if (reported > MAX_WARNINGS) document.warn(`${reported - MAX_WARNINGS} more warnings about its components`);
  return { embedded: settings.grouping ? withoutRedundant(embedded) : embedded, exploded };
}

/** The part of a component's summary that is kept. */
function draftOf({ description }: Summary, attributes: Summary['attributes']): Summary {
  return { attributes, description };
}

/**
 * Returns a component as a document. The references of a compressed page resolve like those of the page itself;
 * those of an archive member resolve below the archive's URL.
 */
function partInput(input: EssenceInput, leaf: Leaf): EssenceInput {
  const { contentType: _type, charset: _charset, ...rest } = input;
  const path = leaf.path.split('/').map(encodeURIComponent).join('/');
  const base = input.url.replace(/[?#].*$/s, '');
  const isAlone = !leaf.path.includes('/') && fileNameOf(base).startsWith(leaf.path.replace(/\.tar$/, ''));
  return { ...rest, url: isAlone ? (canonicalUrl(path, base) ?? base) : `${base}/${path}`, body: leaf.body };
}

/**
 * Returns the attributes that fit, by an estimate of their bytes: the exact size is checked when the object is
 * encoded.
 */
function fitAttributes(summary: Summary, maxBytes: number): Summary['attributes'] {
  let remaining = maxBytes;
  return summary.attributes.map(([name, value]) => {
    const cut = value.slice(0, Math.max(0, remaining));
    remaining -= name.length + cut.length;
    return [name, cut] as const;
  });
}
