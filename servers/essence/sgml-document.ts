import { readFile } from 'node:fs/promises';
import type { EssenceContext } from './context.js';
import { SourceDocument } from './document.js';
import { summarizeHtml } from './html/walk.js';
import { summarizeSgml } from './sgml/summarize.js';
import { parseExtractionTable } from './sgml/table.js';
import type { SgmlType } from './sgml/types.js';

/** What `SGML.sum` of the original got on its command line (E-81). */
export interface TableCall {
  /** The document type, e.g. `HTML`. */
  readonly documentType: string;
  /** `-t`: a file with another extraction table. */
  readonly table?: string | undefined;
  /** `-d`: a file with another SGML declaration. */
  readonly declaration?: string | undefined;
  /** E-85: whether the messages of the parser are among the warnings. */
  readonly syntaxCheck: boolean;
}

/**
 * Summarizes one document by an extraction table (E-80 to E-96), without keywords and bookkeeping. HTML is read
 * as browsers do (E-104).
 *
 * @returns the attributes, and messages about the document
 * @throws ConfigError if the table is wrong; the error of the file system if it cannot be read
 */
export async function summarizeByTable(
  document: { readonly url: string; readonly body: Uint8Array },
  { documentType, table, declaration, syntaxCheck }: TableCall,
  context: EssenceContext,
): Promise<{
  readonly attributes: readonly (readonly [string, string])[];
  readonly warnings: readonly string[];
}> {
  const isHtml = documentType.toLowerCase() === 'html';
  const source = new SourceDocument(
    { ...document, lastModificationTime: 0, updateTime: 0 },
    context.settings,
    isHtml,
  );
  const own = table === undefined ? undefined : parseExtractionTable(await readFile(table, 'utf8'), table);
  if (isHtml) {
    const { attributes } = summarizeHtml(source, own ?? context.htmlTable);
    return { attributes, warnings: source.warnings };
  }
  const { sgml, programs } = context;
  const types = new Map<string, SgmlType>(sgml?.types);
  const known = types.get(documentType.toLowerCase());
  const chosen = own === undefined ? known : { ...known, table: own };
  if (chosen !== undefined)
    types.set(documentType.toLowerCase(), {
      ...chosen,
      ...(declaration === undefined ? {} : { declaration }),
    });
  const { attributes } = await summarizeSgml(
    source,
    documentType,
    { ...sgml, types },
    { syntaxCheck, openSp: programs?.settings },
  );
  return { attributes, warnings: source.warnings };
}
