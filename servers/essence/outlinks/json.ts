// References in JSON: linked data (JSON-LD), manifests of applications, import maps, answers of programs.
import type { ReferenceSink } from './hops.js';
import { isLikelyUrl } from './likely-url.js';
import { scanScript } from './script.js';

/** Names whose strings are documents that a page shows. */
const EMBEDDED =
  /^(?:src|srcset|image|images|imageurl|logo|icon|icons|photo|poster|thumbnail|thumbnailurl|contenturl|embedurl|screenshot|screenshots|background|audio|video|imports)$/i;
/** Names whose strings are pages. */
const LINKED =
  /^(?:url|urls|href|link|links|sameas|starturl|start_url|scope|mainentityofpage|discussionurl|downloadurl|item|relatedlink|target|page|homepage)$/i;
/** Names whose strings name a vocabulary. */
const VOCABULARY = /^@(?:context|type|vocab|base)$/;

/** Values that are examined: nested more deeply than the stack of calls allows, they are no danger. */
const MAX_VALUES = 1_000_000;

/** Calls back with each reference. Text that is not JSON is read as a script. */
export function scanJson(text: string, add: ReferenceSink): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    scanScript(text, (reference) => add(reference, 'X'));
    return;
  }
  const open: { value: unknown; name: string }[] = [{ value, name: '' }];
  for (let count = 0; count < MAX_VALUES; count++) {
    const next = open.pop();
    if (next === undefined) return;
    if (typeof next.value === 'string') addString(next.value.trim(), next.name, add);
    else if (Array.isArray(next.value)) {
      for (const item of next.value.toReversed()) open.push({ value: item, name: next.name });
    } else if (typeof next.value === 'object' && next.value !== null) {
      for (const [name, item] of Object.entries(next.value).toReversed())
        open.push({ value: item, name: nameWithin(next.name, name) });
    }
  }
}

/** The values of an import map, and the URL of an image that is an object, are named by what contains them. */
function nameWithin(outer: string, name: string): string {
  return /^imports$/i.test(outer) || (EMBEDDED.test(outer) && /^(?:@id|href|url)$/i.test(name))
    ? outer
    : name;
}

function addString(text: string, name: string, add: ReferenceSink): void {
  if (VOCABULARY.test(name) || text === '') return;
  if (EMBEDDED.test(name) || LINKED.test(name)) {
    if (!/[\s<>]/.test(text) && /[./?]/.test(text)) add(text, EMBEDDED.test(name) ? 'E' : 'L');
  } else if (isLikelyUrl(text) && /^(?:https?:)?\/\//i.test(text)) add(text, 'X');
}
