import type { EssenceContext } from '../context.js';
import { fileNameOf, SourceDocument } from '../document.js';
import type { EssenceInput, ExplodedObject } from '../model.js';
import { NESTED_TYPES } from '../recognize.js';
import type { EmbeddedSummary, Summary } from '../summary.js';
import { summaryOf } from '../summary-of.js';
import { chunksOf } from './chunks.js';
import { CONVERTERS } from './converters/index.js';
import { explode } from './explode.js';
import { FORMATS, MESSAGE_TYPES } from './formats.js';
import { withoutRedundant } from './grouping.js';
import { UnnestMeter } from './limits.js';
import { hasParts } from './mime.js';
import { type Leaf, unnest } from './walk.js';

/** Warnings of one document's unnesting; an archive of ten thousand links needs no ten thousand sentences. */
const MAX_WARNINGS = 30;

/** What was found in a nested document. */
export interface Components {
  /** In archive order; their numbers are their places, from 1 (E-56). */
  readonly embedded: readonly EmbeddedSummary[];
  /** Objects of their own, from Exploders (E-47). */
  readonly exploded: readonly ExplodedObject[];
}

/** Whether there is something in this document to take out. */
export function isNested(type: string, body: Uint8Array): boolean {
  return NESTED_TYPES.has(type) || (MESSAGE_TYPES.has(type) && hasParts(body.subarray(0, 4096)));
}

/** Unravels a document and summarizes what is in it (E-42, E-52). Never throws for what the document holds. */
export async function componentsOf(
  input: EssenceInput,
  type: string,
  document: SourceDocument,
  context: EssenceContext,
): Promise<Components> {
  const { settings, rules } = context;
  const embedded: EmbeddedSummary[] = [];
  const exploded: ExplodedObject[] = [];
  let told = 0;
  let room = settings.maxObjectBytes;
  const warn = (message: string) => {
    told++;
    if (told <= MAX_WARNINGS) document.warn(message);
  };
  const isExploder = (name: string) =>
    CONVERTERS.has(name) || context.programs?.found.unnesters[name] !== undefined;
  if (isExploder(type)) return { embedded, exploded: await explode(input, type, document, context) };
  if (!FORMATS.has(type) && !MESSAGE_TYPES.has(type)) {
    // E-46: `Exploder` is predefined, its program is the user's.
    document.warn(`there is no reader and no program ${type}.unnest for the nested type ${type} (E-46)`);
    return { embedded, exploded };
  }
  await unnest(type, fileNameOf(input.url) || type, chunksOf(input.body), {
    rules,
    meter: new UnnestMeter(settings.unnest, input.body.length),
    warn,
    visit: async (leaf) => {
      const part = new SourceDocument(partInput(input, leaf), settings, leaf.isHtml);
      if (isExploder(leaf.type)) {
        exploded.push(...(await explode(partInput(input, leaf), leaf.type, part, context)));
      } else {
        // Once the object is full, only names, types and sums of further components are of use.
        const summary =
          room > 0
            ? await summaryOf(part, leaf.type, leaf.isHtml, context)
            : { attributes: [], noindex: false };
        if (summary.noindex) warn(`${leaf.path}: the page asks not to be indexed (META robots)`);
        else {
          const attributes = fitting(summary, room);
          for (const [name, value] of attributes) room -= name.length + value.length;
          embedded.push({
            name: leaf.path,
            type: leaf.type,
            ...(leaf.whole === undefined ? {} : { whole: leaf.whole }),
            summary: { ...summary, attributes },
          });
        }
      }
      for (const message of part.warnings) warn(`${leaf.path}: ${message}`);
    },
  });
  if (told > MAX_WARNINGS) document.warn(`${told - MAX_WARNINGS} more warnings about its components`);
  return { embedded: settings.grouping ? withoutRedundant(embedded) : embedded, exploded };
}

/**
 * A component as a document. Its URL stands where the component would be: a compressed page resolves its references as the
 * page itself, a member of an archive below the archive's name.
 */
function partInput(input: EssenceInput, leaf: Leaf): EssenceInput {
  const { contentType: _type, charset: _charset, ...rest } = input;
  const path = leaf.path.split('/').map(encodeURIComponent).join('/');
  const base = input.url.replace(/[?#].*$/, '');
  const isAlone = !leaf.path.includes('/') && fileNameOf(base).startsWith(leaf.path.replace(/\.tar$/, ''));
  return { ...rest, url: isAlone ? new URL(path, base).href : `${base}/${path}`, body: leaf.body };
}

/** As many attributes as there is room for, in bytes of UTF-16 halves: an estimate, since the object is measured at its end. */
function fitting(summary: Summary, room: number): Summary['attributes'] {
  let left = room;
  return summary.attributes.map(([name, value]) => {
    const cut = value.slice(0, Math.max(0, left));
    left -= name.length + cut.length;
    return [name, cut] as const;
  });
}
