import { createHash } from 'node:crypto';
import {
  encodeSoif,
  endLastLine,
  isAttributeName,
  SoifObject,
  type SoifValue,
  urlOfText,
  urlProblem,
} from '../../../protocols/soif/index.js';
import { bookkeeping } from '../assemble.js';
import type { EssenceContext } from '../context.js';
import type { SourceDocument } from '../document.js';
import { explodeByModule, isModule } from '../external/modules.js';
import { explodeByProgram } from '../external/programs.js';
import type { EssenceInput, ExplodedObject } from '../model.js';
import { applyPostRules } from '../rules/apply.js';
import { CONVERTERS, type FoundObject } from './converters.js';
import { FORMATS, MESSAGE_TYPES } from './formats.js';

/** E-47: the type of an Exploder's objects in rules. */
const SOIF_STREAM = 'SOIFStream';

/**
 * Returns the objects of a document of an Exploder type (E-46), by the user's `TypeName.unnest` or
 * `TypeName.unnest.mjs`, or the built-in converter. They keep their URLs; missing bookkeeping attributes are
 * added (E-47).
 */
export async function explode(
  input: EssenceInput,
  type: string,
  document: SourceDocument,
  context: EssenceContext,
): Promise<ExplodedObject[]> {
  const limit = context.settings.unnest.maxComponents;
  const found: SoifObject[] = [];
  let unusable = 0;
  for await (const object of objectsIn(input, type, document, context)) {
    if (found.length === limit) {
      document.warn(`only the first ${limit} objects are used (E-45)`);
      break;
    }
    if (document.isOutOfTime()) break;
    const problem = urlProblem(object.urlBytes, object.type);
    if (problem === undefined) found.push(object);
    else {
      unusable++;
      document.warn(`${problem} (SOIF-2.9): the object is left out`);
    }
  }
  const exploded: ExplodedObject[] = [];
  for (const object of found) {
    const complete = withBookkeeping(object, input, context);
    const result = await applyRules(complete, document, context);
    if (result !== undefined) exploded.push({ url: result.url, soif: encodeSoif(result) });
  }
  if (exploded.length === 0) {
    const reason = whyNone(type, found.length, unusable, context);
    if (reason !== undefined) document.warn(reason);
  }
  return exploded;
}

/** Why a document has no objects; undefined if a program says it. */
function whyNone(
  type: string,
  deleted: number,
  unusable: number,
  context: EssenceContext,
): string | undefined {
  if (deleted > 0) {
    const objects = deleted === 1 ? 'the only object' : `all ${deleted} objects`;
    return `post-summarizing rules delete ${objects} of this ${type} document (E-128)`;
  }
  if (unusable > 0) return `no object of this ${type} document has a usable URL (SOIF-2.9)`;
  const isByProgram = unnesterOf(type, context) !== undefined;
  return isByProgram ? undefined : `there is no object in this ${type} document (E-46)`;
}

/**
 * Returns the user's program or module `TypeName.unnest`: that of the machine only for a type that Essence does
 * not unpack itself (E-46, E-61).
 */
export function unnesterOf(type: string, { programs }: EssenceContext): string | undefined {
  const { unnesters, installed } = programs?.found ?? {};
  const isOwn = CONVERTERS.has(type) || FORMATS.has(type) || MESSAGE_TYPES.has(type);
  return unnesters?.[type] ?? (isOwn ? undefined : installed?.unnesters[type]);
}

async function* objectsIn(
  input: EssenceInput,
  type: string,
  document: SourceDocument,
  context: EssenceContext,
): AsyncIterable<SoifObject> {
  const { programs } = context;
  const program = unnesterOf(type, context);
  if (isModule(program)) {
    for await (const object of explodeByModule(document, program)) yield soifOf(object);
    return;
  }
  if (programs !== undefined && program !== undefined) {
    yield* await explodeByProgram(document, program, programs.settings);
    return;
  }
  yield* convertDocument(type, document.text, input.url);
}

/**
 * Converts a document by a built-in converter (E-48 to E-51).
 *
 * @param type one of {@link CONVERTERS}
 * @param url of the document
 */
export function* convertDocument(
  type: string,
  text: string,
  url: string,
): Generator<SoifObject, void, undefined> {
  for (const object of CONVERTERS.get(type)?.(text, url) ?? []) yield soifOf(object);
}

function soifOf({ url, template = 'FILE', attributes }: FoundObject): SoifObject {
  const legal = attributes.flatMap(([name, value]) =>
    isAttributeName(name) && value !== '' ? [[name, endLastLine(value)] as const] : [],
  );
  // SOIF-2.9: a URL contains no white space, but URLs in documents of 1995 do.
  return SoifObject.of(template, urlOfText(url.replace(/\s/g, encodeURIComponent)), legal);
}

/**
 * E-47: adds the missing bookkeeping attributes; MD5 only with the option (G-111), over all of the object's
 * attributes.
 */
function withBookkeeping(object: SoifObject, input: EssenceInput, context: EssenceContext): SoifObject {
  const { settings } = context;
  const missing: (readonly [string, SoifValue])[] = bookkeeping(
    { ...input, type: SOIF_STREAM },
    settings,
  ).filter(([name]) => object.get(name) === undefined);
  if (settings.fakeMd5s && object.get('MD5') === undefined) {
    missing.push(['MD5', createHash('md5').update(encodeSoif(object)).digest('hex')]);
  }
  return object.with(missing);
}

async function applyRules(
  object: SoifObject,
  document: SourceDocument,
  { postRules, programs }: EssenceContext,
): Promise<SoifObject | undefined> {
  if (postRules === undefined) return object;
  const settings = programs?.settings ?? { directories: [], path: '' };
  const result = await applyPostRules(object, postRules, { programs: settings, type: SOIF_STREAM });
  for (const message of result.warnings) document.warn(message);
  return result.object;
}
