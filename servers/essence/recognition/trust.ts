// Which documents a thread of the calling process may read. All others are read in a reader process, whose
// memory has a hard limit: a thread's limit counts its heap only, not its buffers and not the memory of native
// code.
import type { EssenceContext } from '../context.js';
import { isModule } from '../external/modules.js';
import { isRejected, type Recognition } from './recognize.js';
import { TYPES } from './types.js';

/** Bytes of a document that a thread reads. The memory of a reader of text is a small multiple of this. */
export const MAX_THREAD_DOCUMENT_BYTES = 1024 * 1024;

/**
 * Whether a thread of the calling process may read a document of this type (E-45).
 *
 * @param url - of the document: a page with rules of selectors.cf is read as a tree, which takes many times its
 *   memory
 */
export function mayReadInThread(
  { type, isHtml }: Recognition,
  bytes: number,
  { settings, rules, programs, selectors }: EssenceContext,
  url = '',
): boolean {
  if (bytes > MAX_THREAD_DOCUMENT_BYTES) return false;
  if (!settings.access) return true;
  // Not read, or only for its links.
  if (isRejected(type, rules)) return true;
  if (settings.rawText) return true;
  if (isHtml && selectors.has(url)) return false;
  // The user's program has limits of its own; the user's module has not.
  const { summarizers, unnesters } = programs?.found ?? {};
  if (isModule(summarizers?.[type]) || isModule(unnesters?.[type])) return false;
  if (summarizers?.[type] !== undefined) return true;
  return TYPES.get(type)?.inThread === true;
}
