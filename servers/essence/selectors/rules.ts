import { ConfigError } from '../../../protocols/errors.js';
import { compileUrlPattern, type Pattern } from '../../../protocols/patterns/index.js';
import { compileExpression, significantLines } from '../recognition/type-rules.js';

/** A line of selectors.cf. */
export interface SelectorRule {
  /** Of the pages' URLs. */
  readonly pages: Pattern;
  readonly attribute: string;
  /** `!NAME`: the values replace those that the page has otherwise. */
  readonly replaces: boolean;
  readonly selector: string;
  /** The attribute of the elements, from `SELECTOR@ATT`; undefined for their text. */
  readonly of: string | undefined;
  /** The part of a value that is kept. */
  readonly part: Pattern | undefined;
  readonly file: string;
  readonly line: number;
}

/** The compiled selectors.cf. */
export class SelectorRules {
  readonly all: readonly SelectorRule[];

  constructor(rules: readonly SelectorRule[]) {
    this.all = rules;
  }

  /** The rules for a page, in the order of the file. */
  of(url: string): readonly SelectorRule[] {
    return this.all.filter(({ pages }) => pages.test(url));
  }

  /** Whether there are rules for a page. */
  has(url: string): boolean {
    return this.all.some(({ pages }) => pages.test(url));
  }
}

const ATTRIBUTE_OF = /^(.*\S)\s*@([A-Za-z_][\w:.-]*)$/;

/**
 * Parses lines `URL-expression attribute selector`, and after a tab an expression. White space separates the
 * first three; the selector may contain blanks. {@link checkSelectors} checks the selectors themselves.
 *
 * @throws ConfigError for a line with fewer fields, a wrong name or an invalid expression
 */
export function parseSelectorRules(text: string, file: string): SelectorRules {
  return new SelectorRules(
    Array.from(significantLines(text), ({ line, content }) => parseRule(content, file, line)),
  );
}

function parseRule(content: string, file: string, line: number): SelectorRule {
  const found = /^(\S+)\s+(\S+)\s+([^\t]+?)\s*(?:\t\s*(\S.*))?$/.exec(content);
  if (found === null)
    throw new ConfigError(
      file,
      line,
      content,
      'an expression for URLs, an attribute and a selector are expected',
    );
  const [, pages = '', name = '', written = '', part] = found;
  const attribute = name.replace(/^!/, '');
  if (!/^[A-Za-z0-9._-]+$/.test(attribute))
    throw new ConfigError(file, line, name, 'not an attribute name (E-69)');
  const withAttribute = ATTRIBUTE_OF.exec(written);
  return {
    pages: compileExpression(pages, file, line, pages, compileUrlPattern),
    attribute,
    replaces: name.startsWith('!'),
    selector: withAttribute?.[1] ?? written,
    of: withAttribute?.[2]?.toLowerCase(),
    part: part === undefined ? undefined : compileExpression(part, file, line),
    file,
    line,
  };
}
