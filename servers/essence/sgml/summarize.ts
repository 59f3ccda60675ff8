import { canonicalUrl, UrlResolver, withoutUserInfo } from '../../../protocols/urls/index.js';
import type { Summary } from '../document.js';
import type { ProgramSettings } from '../external/limits.js';
import { Extraction } from './extraction.js';
import type { ExtractionOptions } from './lines.js';
import { readEsis, runOpenSp } from './opensp.js';
import { type Prolog, readProlog } from './prolog.js';
import { readMarkupEvents } from './reader.js';
import { parseExtractionTable } from './table.js';
import type { SgmlType, SgmlTypes } from './types.js';

/** A document to be summarized. */
export interface SgmlDocument {
  readonly url: string;
  readonly text: string;
  readonly settings: {
    readonly rawReferences: boolean;
    readonly maxAttributeLength: number;
    readonly maxAttributes: number;
    readonly maxObjectBytes: number;
    /** Depth of open elements at which reading stops. */
    readonly maxHtmlDepth: number;
    /** E-117: the whole text instead of the table's attributes. */
    readonly fullText?: boolean;
  };
  warn(message: string): void;
  /** Whether the time for the document is over. Default: it has no limit. */
  readonly isOutOfTime?: (() => boolean) | undefined;
}

/** How SGML is parsed. */
export interface SgmlOptions {
  /**
   * Settings of `onsgmls`, which is used with a catalog of DTDs. Default: documents are read without their DTD.
   */
  readonly openSp?: ProgramSettings | undefined;
  /** E-85: the parser's messages become warnings. Default false. */
  readonly syntaxCheck?: boolean;
}

/** Name of the generic table. */
const GENERIC = 'sgml';

/** E-100: a table that extracts all text, for E-117. */
const FULL_TEXT = parseExtractionTable('<*> full-text\n<TITLE> title,parent\n', 'full text');

/** A type, and whether its table is the generic one. */
interface ChosenType extends SgmlType {
  readonly isGeneric: boolean;
}

/**
 * Summarizes an SGML or XML document by an extraction table (section 7): that of its essence type, of its
 * document type, or the generic one. `reader.ts` reads XML, and SGML without a catalog; OpenSP, if installed,
 * reads SGML with a catalog, because the DTD supplies omitted tags (E-87).
 *
 * @param type the essence type (`SGML`, `XML`, `FOO`)
 */
export async function summarizeSgml(
  document: SgmlDocument,
  type: string,
  types: SgmlTypes,
  options: SgmlOptions = {},
): Promise<Summary> {
  const prolog = readProlog(document.text);
  const chosen = chooseType(document, prolog, type, types);
  if (chosen === undefined) return { attributes: [] };
  const extraction = extractionFor(document, chosen);
  const { openSp } = options;
  if (openSp !== undefined && types.catalog !== undefined && !prolog.isXml) {
    const result = await runOpenSp(
      document.text,
      prolog,
      {
        documentType: isGeneric(type) ? (rootOf(document.text, prolog) ?? type) : type,
        catalog: types.catalog,
        declaration: chosen.declaration,
      },
      openSp,
    );
    if (options.syntaxCheck === true && result.messages.trim() !== '')
      document.warn(`onsgmls says: ${result.messages.trim()}`);
    if (result.failure === undefined) {
      readEsis(result.esis, extraction, document.settings.maxHtmlDepth);
      return { attributes: finish(extraction, chosen) };
    }
    document.warn(`read without its DTD: onsgmls: ${result.failure}`);
  }
  const { maxHtmlDepth } = document.settings;
  if (!readMarkupEvents(document.text, prolog, extraction, maxHtmlDepth, document.isOutOfTime))
    document.warn(`nested deeper than ${maxHtmlDepth} elements: the rest is not read`);
  return { attributes: finish(extraction, chosen) };
}

/**
 * The generic table cannot tell the document's title from those of sections: the first title is the document's,
 * all others become headings. Specific tables are left unchanged.
 */
function finish(extraction: Extraction, chosen: ChosenType): Summary['attributes'] {
  const attributes = extraction.finish();
  if (!chosen.isGeneric) return attributes;
  return attributes.flatMap(([name, value]) => {
    const [title = '', ...headings] = name === 'title' ? value.split('\n') : [value];
    if (headings.length === 0) return [[name, value]];
    return [
      [name, title],
      ['headings', headings.join('\n')],
    ];
  });
}

function extractionFor(document: SgmlDocument, type: SgmlType): Extraction {
  const { rawReferences, maxAttributeLength, maxAttributes, maxObjectBytes } = document.settings;
  const options: ExtractionOptions = { maxAttributeLength, maxAttributes, maxObjectBytes };
  if (rawReferences) return new Extraction(type.table, options);
  const resolver = new UrlResolver(document.url);
  const own = canonicalUrl(document.url);
  return new Extraction(type.table, {
    ...options,
    // A bare fragment, or one after this document's URL, refers to this document.
    resolve: (reference) => {
      const written = reference.trim();
      const found = written === '' || written.startsWith('#') ? undefined : resolver.resolve(written);
      const url = found === own && written.includes('#') ? undefined : found;
      // G-81: objects contain no logins, also not those that the document itself shows.
      return url === undefined ? undefined : withoutUserInfo(url);
    },
  });
}

function isGeneric(type: string): boolean {
  return type.toLowerCase() === GENERIC || type.toLowerCase() === 'xml';
}

/**
 * Chooses the table: that of a specific type; for SGML and XML that of the document type, else the generic one.
 */
function chooseType(
  { text, settings }: SgmlDocument,
  prolog: Prolog,
  type: string,
  types: SgmlTypes,
): ChosenType | undefined {
  const known = types.types;
  const named = isGeneric(type) ? (prolog.documentType ?? rootOf(text, prolog)) : type;
  const specific = named === undefined ? undefined : known.get(named.toLowerCase());
  const found = specific ?? known.get(type.toLowerCase()) ?? known.get(GENERIC);
  if (found === undefined) return undefined;
  const chosen = { ...found, isGeneric: specific === undefined || isGeneric(named ?? '') };
  return settings.fullText === true ? { ...chosen, table: FULL_TEXT, isGeneric: true } : chosen;
}

/** Returns the name of the document element, without its prefix. */
function rootOf(text: string, prolog: Prolog): string | undefined {
  return /^<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)/.exec(text.slice(prolog.end, prolog.end + 200))?.[1];
}
