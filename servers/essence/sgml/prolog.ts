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
  /** A declaration that only a complete SGML parser understands (`<!SGML`, `<!LINKTYPE`, a second document type). */
  readonly isForeign: boolean;
}

/** Limits: entities of one document, and characters of one entity. */
const MAX_ENTITIES = 1000;
const MAX_ENTITY = 4096;

const BLANKS = /[\s\ufeff]*/y;
const NAME = /\s+([A-Za-z_][\w.:-]*)/y;
const ENTITY = /<!ENTITY\s+([A-Za-z_][\w.-]*)\s+(?:[CSP]DATA\s+|PI\s+)?(?:"([^"]*)"|'([^']*)')\s*>/y;

/** Reads the prolog of an SGML or XML document in linear time. Never fails: the document begins at the first thing that is not part of a prolog. */
export function readProlog(text: string): Prolog {
  const entities = new Map<string, string>();
  let documentType: string | undefined;
  let isXml = false;
  let at = 0;
  for (;;) {
    at = after(BLANKS, text, at);
    if (text.startsWith('<!--', at)) {
      at = indexAfter(text, '-->', at + 4);
    } else if (text.startsWith('<?', at)) {
      const isDeclaration = /^<\?xml\s/i.test(text.slice(at, at + 6));
      isXml ||= isDeclaration;
      at = indexAfter(text, isDeclaration ? '?>' : '>', at + 2);
    } else if (/^<!DOCTYPE\s/i.test(text.slice(at, at + 10)) && documentType === undefined) {
      NAME.lastIndex = at + 9;
      documentType = NAME.exec(text)?.[1] ?? '';
      at = readDeclaration(text, at + 9, entities);
    } else {
      const isForeign = text.startsWith('<!', at) && !text.startsWith('<![', at);
      return {
        ...(documentType === undefined || documentType === '' ? {} : { documentType }),
        entities,
        end: at,
        isXml,
        isForeign,
      };
    }
  }
}

/** Skips the rest of a document type declaration with its quoted texts, comments and internal subset. Returns the index after its `>`. */
function readDeclaration(text: string, from: number, entities: Map<string, string>): number {
  let inSubset = false;
  for (let at = from; at < text.length; ) {
    const character = text[at]!;
    if (character === '"' || character === "'") at = indexAfter(text, character, at + 1);
    else if (text.startsWith('<!--', at)) at = indexAfter(text, '-->', at + 4);
    else if (text.startsWith('<?', at)) at = indexAfter(text, '>', at + 2);
    else if (inSubset && text.startsWith('<!', at)) at = readMarkup(text, at, entities);
    else if (character === '[') {
      inSubset = true;
      at++;
    } else if (character === ']') {
      inSubset = false;
      at++;
    } else if (character === '>' && !inSubset) return at + 1;
    else at++;
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
  let at = from + 2;
  while (at < text.length && text[at] !== '>') {
    const character = text[at]!;
    at = character === '"' || character === "'" ? indexAfter(text, character, at + 1) : at + 1;
  }
  return at + 1;
}

/** Returns the index after the next occurrence of `what`; the text's length if there is none. */
export function indexAfter(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at < 0 ? text.length : at + what.length;
}

function after(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from;
  expression.exec(text);
  return Math.max(from, expression.lastIndex);
}
