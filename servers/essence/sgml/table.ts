import { ConfigError } from '../../../protocols/errors.js';

/** Where the content of an element goes (E-91). */
export interface ContentMapping {
  /** Attributes that get a line with the content. */
  readonly targets: readonly string[];
  /** The content is dropped, with the values of the tag's attributes when a condition chose this mapping. */
  readonly ignore: boolean;
  /** The content goes to the enclosing element as well. */
  readonly parent: boolean;
}

interface Condition {
  readonly attribute: string;
  /** Lower case (E-94). */
  readonly value: string;
}

/** `<TAG:ATT> target`: a name, or with `indirect` the tag's attribute that holds the name (`$NAME`). */
export interface ValueMapping {
  readonly when?: Condition;
  readonly attribute: string;
  readonly target: string;
  readonly indirect: boolean;
}

/** All lines of the table about one tag. */
export interface TagMapping {
  readonly conditional: readonly { readonly when: Condition; readonly content: ContentMapping }[];
  readonly content?: ContentMapping;
  readonly values: readonly ValueMapping[];
}

/**
 * A compiled SGML extraction table: lower-case tag name to its mappings (E-88). `*` stands for the document element,
 * whatever it is called, where no other line names it.
 */
export type ExtractionTable = ReadonlyMap<string, TagMapping>;

interface MutableMapping {
  conditional: { when: Condition; content: ContentMapping }[];
  content?: ContentMapping;
  values: ValueMapping[];
}

const LINE =
  /^<\s*([A-Za-z][A-Za-z0-9._-]*|\*)\s*(?:,\s*([A-Za-z][\w.:-]*?)\s*=\s*("[^"]*"|'[^']*'|[^:>]*?)\s*)?(?::\s*([A-Za-z][\w.-]*)\s*)?>\s+(\S.*)$/;

/** E-88, E-89. Lines of one tag add up. The same language for HTML, XML and SGML. @throws ConfigError for a line that is none of the four forms. */
export function parseExtractionTable(text: string, file: string): ExtractionTable {
  const table = new Map<string, MutableMapping>();
  text.split('\n').forEach((raw, index) => {
    const words = raw.trim();
    if (words === '' || words.startsWith('#')) return;
    const found = LINE.exec(words);
    if (found === null)
      throw new ConfigError(
        file,
        index + 1,
        words,
        'expected <TAG>, <TAG,ATT=x> or <TAG:ATT> and attributes (E-88)',
      );
    const tag = found[1]!.toLowerCase();
    const mapping = table.get(tag) ?? { conditional: [], values: [] };
    table.set(tag, mapping);
    const when =
      found[2] === undefined
        ? undefined
        : {
            attribute: found[2].toLowerCase(),
            value: found[3]!.replace(/^(["'])(.*)\1$/, '$2').toLowerCase(),
          };
    const targets = found[5]!.split(',').map((target) => target.trim());
    for (const target of targets) {
      if (!/^\$?[A-Za-z0-9._-]+$/.test(target))
        throw new ConfigError(file, index + 1, target, 'not an attribute name (E-69)');
    }
    if (found[4] !== undefined) addValues(mapping, found[4].toLowerCase(), when, targets);
    else addContent(mapping, when, targets);
  });
  return table;
}

function addValues(
  mapping: MutableMapping,
  attribute: string,
  when: Condition | undefined,
  targets: readonly string[],
): void {
  for (const target of targets) {
    const indirect = target.startsWith('$');
    mapping.values.push({
      ...(when === undefined ? {} : { when }),
      attribute,
      target: indirect ? target.slice(1).toLowerCase() : target,
      indirect,
    });
  }
}

function addContent(mapping: MutableMapping, when: Condition | undefined, targets: readonly string[]): void {
  const before = when === undefined ? mapping.content : undefined;
  const content: ContentMapping = {
    targets: [
      ...(before?.targets ?? []),
      ...targets.filter((target) => target !== 'ignore' && target !== 'parent'),
    ],
    ignore: targets.includes('ignore'),
    parent: targets.includes('parent') || before?.parent === true,
  };
  if (when === undefined) mapping.content = content;
  else mapping.conditional.push({ when, content });
}

/** The mapping of this element's content: the first condition that holds, else the plain line (E-89). */
export function contentMapping(
  mapping: TagMapping,
  attributes: Readonly<Record<string, string>>,
): ContentMapping | undefined {
  return conditionalMapping(mapping, attributes) ?? mapping.content;
}

/** The first `<TAG,ATT=x>` mapping whose condition holds. */
export function conditionalMapping(
  mapping: TagMapping,
  attributes: Readonly<Record<string, string>>,
): ContentMapping | undefined {
  for (const { when, content } of mapping.conditional) if (holds(when, attributes)) return content;
  return undefined;
}

/** E-94: values are compared without case. */
export function holds(when: Condition, attributes: Readonly<Record<string, string>>): boolean {
  return attributes[when.attribute]?.trim().toLowerCase() === when.value;
}
