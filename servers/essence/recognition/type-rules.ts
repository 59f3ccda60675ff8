import { ConfigError, ProtocolError } from '../../../protocols/errors.js';
import {
  compileNode,
  compilePattern,
  type EreNode,
  listSpellings,
  type Pattern,
  parseEre,
  parseUrlEre,
} from '../../../protocols/patterns/index.js';
import { unescapeUnreserved } from '../../../protocols/urls/index.js';

/** E-13: spellings of one type in the sources; the first one is written. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['tex', 'TeX'],
  ['latex', 'LaTeX'],
]);

/** Returns the spelling of a type's name that objects use (E-13). */
export function typeName(name: string): string {
  return SPELLINGS.get(name.toLowerCase()) ?? name;
}

/** The rule that matched: its type, file and line. */
export interface RuleOrigin {
  readonly type: string;
  readonly file: string;
  /** 1-based; 0 for rules without a file. */
  readonly line: number;
}

/** A line of a rule file. */
export interface RuleLine {
  readonly type: string;
  readonly expression: string;
  readonly line?: number;
}

interface Rule {
  readonly pattern: Pattern;
  /** Position in the file: the first match wins (E-8). */
  readonly rank: number;
}

/**
 * The rules of byname.cf, byurl.cf or bycontent.cf. Most patterns of a name table are lists of suffixes; these
 * are expanded into a map, so that a name costs one or two lookups and only the few real expressions are run.
 */
export class TypeRules {
  readonly #rules: readonly Rule[];
  readonly #origins: readonly RuleOrigin[];
  readonly #whole: ReadonlyMap<string, number>;
  readonly #endings: ReadonlyMap<string, number>;
  /** Maximum number of dots in an expanded suffix. */
  readonly #dots: number;

  constructor(lines: readonly RuleLine[], file = '', parse: (expression: string) => EreNode = parseEre) {
    const rules: Rule[] = [];
    const whole = new Map<string, number>();
    const endings = new Map<string, number>();
    let dots = 0;
    lines.forEach(({ expression }, rank) => {
      const node = parse(expression);
      const spelling = listSpellings(node);
      if (spelling?.match === 'whole') {
        for (const name of spelling.strings) if (!whole.has(name)) whole.set(name, rank);
      } else if (spelling?.strings.every((ending) => ending.startsWith('.'))) {
        for (const ending of spelling.strings) {
          if (!endings.has(ending)) endings.set(ending, rank);
          dots = Math.max(dots, ending.split('.').length - 1);
        }
      } else {
        rules.push({ pattern: compileNode(node), rank });
      }
    });
    this.#rules = rules;
    this.#origins = lines.map(({ type, line = 0 }) => ({ type, file, line }));
    this.#whole = whole;
    this.#endings = endings;
    this.#dots = dots;
  }

  /** Returns the type of the first rule that matches (E-8). */
  match(subject: string): string | undefined {
    return this.find(subject)?.type;
  }

  /** Returns the first rule that matches (E-8). */
  find(subject: string): RuleOrigin | undefined {
    let best = this.#whole.get(subject) ?? Number.POSITIVE_INFINITY;
    for (let dot = subject.lastIndexOf('.'), n = 0; dot >= 0 && n < this.#dots; n++) {
      const rank = this.#endings.get(subject.slice(dot));
      if (rank !== undefined && rank < best) best = rank;
      dot = dot === 0 ? -1 : subject.lastIndexOf('.', dot - 1);
    }
    for (const rule of this.#rules) {
      if (rule.rank > best) break;
      if (rule.pattern.test(subject)) return this.#origins[rule.rank];
    }
    return this.#origins[best];
  }
}

/** The rules of byurl.cf. */
class UrlRules extends TypeRules {
  override find(subject: string): RuleOrigin | undefined {
    return super.find(unescapeUnreserved(subject));
  }
}

/**
 * Yields the lines of a file without comments and empty ones, with their numbers. `#` begins a comment only at
 * the start of a line, because patterns contain it.
 */
export function* significantLines(
  text: string,
): Generator<{ readonly line: number; readonly content: string }> {
  let line = 0;
  for (const raw of text.split('\n')) {
    line++;
    const content = raw.trim();
    if (content !== '' && !content.startsWith('#')) yield { line, content };
  }
}

/**
 * Parses lines `Type expression` (E-7). A line `*` stands for the built-in rules of all types that the file
 * does not name.
 *
 * @throws ConfigError for a line without an expression or with an invalid one
 */
export function parseTypeRules(text: string, file: string, builtIn: readonly RuleLine[] = []): TypeRules {
  return new TypeRules(readRules(text, file, builtIn), file);
}

/**
 * Parses byurl.cf, whose expressions see unreserved characters without escapes, as those of filters do (E-10,
 * G-48). @throws ConfigError as {@link parseTypeRules}
 */
export function parseUrlRules(text: string, file: string): TypeRules {
  return new UrlRules(readRules(text, file, []), file, parseUrlEre);
}

function readRules(text: string, file: string, builtIn: readonly RuleLine[]): RuleLine[] {
  const significant = [...significantLines(text)];
  const named = new Set(significant.map(({ content }) => typeName(content.replace(/\s.*$/s, ''))));
  const lines: RuleLine[] = [];
  for (const { line, content } of significant) {
    if (content === '*') {
      for (const rule of builtIn) if (!named.has(rule.type)) lines.push({ ...rule, line });
      continue;
    }
    const found = /^(\S+)\s+(.+)$/s.exec(content);
    if (found === null) throw new ConfigError(file, line, content, 'a regular expression is missing (E-7)');
    compileExpression(found[2]!, file, line, found[1]!);
    lines.push({ type: typeName(found[1]!), expression: found[2]!, line });
  }
  return lines;
}

/** Parses a list of type names, one per line (E-19, E-22). An empty list is legal (E-24). */
export function parseTypeList(text: string, file: string): ReadonlySet<string> {
  const types = new Set<string>();
  for (const { line, content } of significantLines(text)) {
    if (/\s/.test(content))
      throw new ConfigError(file, line, content, 'one type name per line is expected (E-19)');
    types.add(typeName(content));
  }
  return types;
}

/** A line of quick-sum.cf. */
export interface QuickRule {
  readonly attribute: string;
  readonly pattern: Pattern;
}

/** Parses lines `Type Attribute expression` (E-64) into a map by type. */
export function parseQuickRules(text: string, file: string): ReadonlyMap<string, readonly QuickRule[]> {
  const rules = new Map<string, QuickRule[]>();
  for (const { line, content } of significantLines(text)) {
    const found = /^(\S+)\s+(\S+)\s+(.+)$/s.exec(content);
    if (found === null)
      throw new ConfigError(file, line, content, 'type, attribute and expression are expected (E-64)');
    const [, type, attribute, expression] = found;
    if (!/^[A-Za-z0-9._-]+$/.test(attribute!)) {
      throw new ConfigError(file, line, attribute!, 'not an attribute name (E-69)');
    }
    const pattern = compileExpression(expression!, file, line, type!);
    const name = typeName(type!);
    rules.set(name, [...(rules.get(name) ?? []), { attribute: attribute!, pattern }]);
  }
  return rules;
}

/** Compiles an expression of a file. @throws ConfigError naming `variable`, or the expression itself */
export function compileExpression(
  expression: string,
  file: string,
  line: number,
  variable = expression,
  compile: (expression: string) => Pattern = compilePattern,
): Pattern {
  try {
    return compile(expression);
  } catch (error) {
    if (error instanceof ProtocolError)
      throw new ConfigError(file, line, variable, `the expression ${error.message}`);
    throw error;
  }
}
