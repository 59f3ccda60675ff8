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

/** `<TAG:ATT> target`: the destination of the value of a tag's attribute. */
export interface ValueMapping {
  readonly attribute: string;
  readonly target: string;
  /**
   * - `name`: the target is an attribute of the object
   * - `indirect` (`$NAME`): the target is the tag's attribute whose value is the name
   * - `missing` (`?name`): the target gets the value only if nothing else gives it one
   * - `parent`: the value is part of the enclosing element's text
   */
  readonly kind: 'name' | 'indirect' | 'missing' | 'parent';
  /** Number of the line: of several `?name` with a value, the first line of the table counts. */
  readonly rank: number;
}

/** All lines of the table for one tag. */
export interface TagMapping {
  readonly conditional: readonly { readonly when: Condition; readonly content: ContentMapping }[];
  readonly content?: ContentMapping;
  /** Without a condition. */
  readonly values: readonly ValueMapping[];
  /**
   * With a condition, by its attribute and its value in lower case: a page has many META tags, and the table
   * many lines for them.
   */
  readonly valuesWhen: ReadonlyMap<string, ReadonlyMap<string, readonly ValueMapping[]>>;
}

/**
 * A compiled SGML extraction table: lower-case tag name to its mappings (E-88). `*` is the document element if
 * no other line names it.
 */
export type ExtractionTable = ReadonlyMap<string, TagMapping>;

interface MutableMapping {
  conditional: { when: Condition; content: ContentMapping }[];
  content?: ContentMapping;
  values: ValueMapping[];
  valuesWhen: Map<string, Map<string, ValueMapping[]>>;
}

const LINE =
  /^<\s*([A-Za-z][A-Za-z0-9._-]*|\*)\s*(?:,\s*([A-Za-z][\w.:-]*?)\s*=\s*("[^"]*"|'[^']*'|[^:>]*?)\s*)?(?::\s*([A-Za-z][\w.-]*)\s*)?>\s+(\S.*)$/s;

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
    const mapping = table.get(tag) ?? { conditional: [], values: [], valuesWhen: new Map() };
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
      if (!/^[$?]?[A-Za-z0-9._-]+$/.test(target))
        throw new ConfigError(file, index + 1, target, 'not an attribute name (E-69)');
      if (/^[$?]/.test(target) && found[4] === undefined) {
        const sign = target.slice(0, 1);
        throw new ConfigError(
          file,
          index + 1,
          target,
          `${sign}NAME is for the value of an attribute, <TAG:ATT>`,
        );
      }
    }
    if (found[4] !== undefined) addValues(mapping, found[4].toLowerCase(), when, targets, index);
    else addContent(mapping, when, targets);
  });
  return table;
}

function addValues(
  mapping: MutableMapping,
  attribute: string,
  when: Condition | undefined,
  targets: readonly string[],
  rank: number,
): void {
  const values = when === undefined ? mapping.values : conditionalValues(mapping, when);
  for (const target of targets) {
    if (target.startsWith('$'))
      values.push({ attribute, target: target.slice(1).toLowerCase(), kind: 'indirect', rank });
    else if (target.startsWith('?'))
      values.push({ attribute, target: target.slice(1), kind: 'missing', rank });
    else values.push({ attribute, target, kind: target === 'parent' ? 'parent' : 'name', rank });
  }
}

function conditionalValues({ valuesWhen }: MutableMapping, { attribute, value }: Condition): ValueMapping[] {
  const byValue = valuesWhen.get(attribute) ?? new Map<string, ValueMapping[]>();
  valuesWhen.set(attribute, byValue);
  const values = byValue.get(value) ?? [];
  byValue.set(value, values);
  return values;
}

/** Yields the lists of value mappings that apply to a tag with these attributes (E-89, E-94). */
export function* valueMappings(
  mapping: TagMapping,
  attributes: Readonly<Record<string, string>>,
): Generator<readonly ValueMapping[]> {
  yield mapping.values;
  for (const [attribute, byValue] of mapping.valuesWhen) {
    const value = attributes[attribute];
    const found = value === undefined ? undefined : byValue.get(value.trim().toLowerCase());
    if (found !== undefined) yield found;
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
function matchesCondition(when: Condition, attributes: Readonly<Record<string, string>>): boolean {
  return attributes[when.attribute]?.trim().toLowerCase() === when.value;
}
