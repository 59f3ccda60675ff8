import { ConfigError } from '../../../protocols/errors.js';

/** The destination of an element's content (E-91). */
export interface ContentMapping {
  /** Attributes to which the content is added as a line. */
  readonly targets: readonly string[];
  /** The content is dropped; if the mapping has a condition, the values of the tag's attributes too. */
  readonly ignore: boolean;
  /** The content is also part of the enclosing element's. */
  readonly parent: boolean;
}

interface Condition {
  readonly attribute: string;
  /** Lower case (E-94). */
  readonly value: string;
}

/** `<TAG:ATT> target`: a name, or with `indirect` the tag's attribute whose value is the name (`$NAME`). */
interface ValueMapping {
  readonly when?: Condition;
  readonly attribute: string;
  readonly target: string;
  readonly indirect: boolean;
}

/** All lines of the table for one tag. */
export interface TagMapping {
  readonly conditional: readonly { readonly when: Condition; readonly content: ContentMapping }[];
  readonly content?: ContentMapping;
  readonly values: readonly ValueMapping[];
}

/**
 * A compiled SGML extraction table: lower-case tag name to its mappings (E-88). `*` is the document element if no other line names it.
 */
export type ExtractionTable = ReadonlyMap<string, TagMapping>;

interface MutableMapping {
  conditional: { when: Condition; content: ContentMapping }[];
  content?: ContentMapping;
  values: ValueMapping[];
}

const LINE =
  /^<\s*([A-Za-z][A-Za-z0-9._-]*|\*)\s*(?:,\s*([A-Za-z][\w.:-]*?)\s*=\s*("[^"]*"|'[^']*'|[^:>]*?)\s*)?(?::\s*([A-Za-z][\w.-]*)\s*)?>\s+(\S.*)$/;

/**
 * Parses a table (E-88, E-89), which has the same language for HTML, XML and SGML. Lines of one tag add up.
 *
 * @throws ConfigError for a line that has none of the four forms
 */
export function parseExtractionTable(text: string, file: string): ExtractionTable {
  const table = new Map<string, MutableMapping>();
  text.split('\n').forEach((raw, index) => {
    const content = raw.trim();
    if (content === '' || content.startsWith('#')) return;
    const found = LINE.exec(content);
    if (found === null)
      throw new ConfigError(
        file,
        index + 1,
        content,
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

/** Returns the first `<TAG,ATT=x>` mapping whose condition is true (E-89). */
export function conditionalMapping(
  mapping: TagMapping,
  attributes: Readonly<Record<string, string>>,
): ContentMapping | undefined {
  for (const { when, content } of mapping.conditional) if (matchesCondition(when, attributes)) return content;
  return undefined;
}

/** E-94: the comparison of values ignores case. */
export function matchesCondition(when: Condition, attributes: Readonly<Record<string, string>>): boolean {
  return attributes[when.attribute]?.trim().toLowerCase() === when.value;
}
