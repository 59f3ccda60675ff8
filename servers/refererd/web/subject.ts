// Finds the document and the site that a query names.
import { KitError } from '../../../protocols/errors.js';
import { MAX_U32 } from '../../../protocols/sstp/index.js';
import { canonicalDocumentUrl, formatServerName, serverNameOf } from '../../../protocols/urls/index.js';
import type { References, ServerRecord, UrlRecord } from '../../../storage/references/contract.js';
import type { ReferencesReader } from '../../../storage/references/reader.js';

/** The document and the site that a query names. */
export interface Subject {
  /** u32; undefined if no document is known. */
  readonly id: number | undefined;
  readonly document: UrlRecord | undefined;
  readonly server: ServerRecord | undefined;
}

/**
 * Finds the document and the site of an ID, a URL or a server name; undefined if neither is known.
 */
export function findSubject(references: References, text: string): Subject | undefined {
  if (/^\d{1,10}$/.test(text)) {
    const id = Number(text);
    if (id < 1 || id > MAX_U32 || !references.knows(id)) return undefined;
    const document = references.document(id);
    return { id, document, server: document && references.server(document.serverId) };
  }
  try {
    const name = serverNameOf(text);
    const server = references.serverByName(formatServerName(name));
    const document = references.documentByUrl(
      canonicalDocumentUrl(text.includes('://') ? text : `http://${text}`),
    );
    if (document === undefined && server === undefined) return undefined;
    return { id: document?.id, document, server };
  } catch (error) {
    // Not a URL.
    if (error instanceof KitError) return undefined;
    throw error;
  }
}

/** Choices of a random document: the first that has links is taken, else the last. */
const ATTEMPTS = 20;

/**
 * Returns the URL of a random document, preferably one with links, or its number if the URL is not known;
 * undefined without documents.
 */
export function randomSubject(references: ReferencesReader): string | undefined {
  const { documentIds } = references;
  const ids = documentIds.length > 0 ? documentIds : references.keys('refs');
  let id: number | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    id = ids[Math.floor(Math.random() * ids.length)];
    if (id === undefined) return undefined;
    if ((references.links('hubs', id) ?? references.links('refs', id)) !== undefined) break;
  }
  return id === undefined ? undefined : (references.document(id)?.url ?? String(id));
}
