/** The part of a document before its document element. */
export interface Prolog {
  /** Name of the document type, as written; undefined without a `<!DOCTYPE` (E-84). */
  readonly documentType?: string;
  /** The internal entities that the document declares: name to text. */
  readonly entities: ReadonlyMap<string, string>;
  /** Index of the first character after the prolog. */
  readonly end: number;
  /** The document has an XML declaration. */
  readonly isXml: boolean;
  /**
   * A declaration that only a complete SGML parser understands (`<!SGML`, `<!LINKTYPE`, a second document
   * type).
   */
  readonly isForeign: boolean;
}

/** Maximum number of entities of one document, and maximum length of one entity in characters. */
const MAX_ENTITIES = 1000;
const MAX_ENTITY = 4096;

const BLANKS = /[\s\ufeff]*/y;
const NAME = /\s+([A-Za-z_][\w.:-]*)/y;
const ENTITY = /<!ENTITY\s+([A-Za-z_][\w.-]*)\s+(?:[CSP]DATA\s+|PI\s+)?(?:"([^"]*)"|'([^']*)')\s*>/y;

/**
 * Reads the prolog of an SGML or XML document in linear time. Never fails: the document begins where the prolog
 * cannot continue.
 */
export function readProlog(text: string): Prolog {
  const entities = new Map<string, string>();
  let documentType: string | undefined;
  let isXml = false;
  let index = 0;
  for (;;) {
    index = skip(BLANKS, text, index);
    if (text.startsWith('<!--', index)) {
      index = indexAfter(text, '-->', index + 4);
    } else if (text.startsWith('<?', index)) {
      const isDeclaration = /^<\?xml\s/i.test(text.slice(index, index + 6));
      isXml ||= isDeclaration;
      index = indexAfter(text, isDeclaration ? '?>' : '>', index + 2);
    } else if (/^<!DOCTYPE\s/i.test(text.slice(index, index + 10)) && documentType === undefined) {
      NAME.lastIndex = index + 9;
      documentType = NAME.exec(text)?.[1] ?? '';
      index = readDeclaration(text, index + 9, entities);
    } else {
      const isForeign = text.startsWith('<!', index) && !text.startsWith('<![', index);
      return {
        ...(documentType === undefined || documentType === '' ? {} : { documentType }),
        entities,
        end: index,
        isXml,
        isForeign,
      };
    }
  }
}

/**
 * Skips the rest of a document type declaration with its quoted texts, comments and internal subset. Returns
 * the index after its `>`.
 */
function readDeclaration(text: string, from: number, entities: Map<string, string>): number {
  let inSubset = false;
  for (let index = from; index < text.length; ) {
    const character = text[index]!;
    if (character === '"' || character === "'") index = indexAfter(text, character, index + 1);
    else if (text.startsWith('<!--', index)) index = indexAfter(text, '-->', index + 4);
    else if (text.startsWith('<?', index)) index = indexAfter(text, '>', index + 2);
    else if (inSubset && text.startsWith('<!', index)) index = readMarkup(text, index, entities);
    else if (character === '[') {
      inSubset = true;
      index++;
    } else if (character === ']') {
      inSubset = false;
      index++;
    } else if (character === '>' && !inSubset) return index + 1;
    else index++;
  }
  return text.length;
}

/** Reads one declaration of the internal subset; all but entities with a text are skipped. */
function readMarkup(text: string, from: number, entities: Map<string, string>): number {
  ENTITY.lastIndex = from;
  const found = ENTITY.exec(text);
  if (found !== null) {
    const value = found[2] ?? found[3] ?? '';
    // In SGML and in XML the first declaration of an entity is binding.
    if (!entities.has(found[1]!) && entities.size < MAX_ENTITIES && value.length <= MAX_ENTITY)
      entities.set(found[1]!, value);
    return ENTITY.lastIndex;
  }
  let index = from + 2;
  while (index < text.length && text[index] !== '>') {
    const character = text[index]!;
    index = character === '"' || character === "'" ? indexAfter(text, character, index + 1) : index + 1;
  }
  return index + 1;
}

/** Returns the index after the next occurrence of `what`; the text's length if it does not occur. */
export function indexAfter(text: string, what: string, from: number): number {
  const index = text.indexOf(what, from);
  return index < 0 ? text.length : index + what.length;
}

/** Returns the index after the sticky expression's match at `from`; `from` if it does not match. */
function skip(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from;
  expression.exec(text);
  return Math.max(from, expression.lastIndex);
}
