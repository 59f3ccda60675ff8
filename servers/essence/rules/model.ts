import type { Pattern } from '../../../protocols/patterns/index.js';
import { type SoifObject, textOfUrl } from '../../../protocols/soif/index.js';
import { unescapeUnreserved } from '../../../protocols/urls/index.js';

/** A test of one attribute (E-123). */
export interface Test {
  readonly kind: 'test';
  /** As written; compared without case (E-126). `url` is the object's URL. */
  readonly attribute: string;
  /** `!=` and `!~`. */
  readonly negated: boolean;
  /**
   * The exact value, or a pattern that must match a part of it. For `url` without escapes of unreserved
   * characters.
   */
  readonly data: string | Pattern;
}

/** A condition as a tree (E-124). */
export type Condition =
  | Test
  | { readonly kind: 'all' | 'any'; readonly parts: readonly [Condition, ...Condition[]] };

/** A program with its arguments, as words (E-135). */
export type Command = readonly [program: string, ...rest: string[]];

/** The four instructions (E-128), each with its line in the file. */
export type Instruction =
  | { readonly kind: 'set'; readonly line: number; readonly attribute: string; readonly value: string }
  | { readonly kind: 'filter'; readonly line: number; readonly attribute: string; readonly command: Command }
  | {
      readonly kind: 'exchange';
      readonly line: number;
      readonly attributes: readonly string[];
      readonly command: Command;
    }
  | { readonly kind: 'delete'; readonly line: number };

/** A condition and its instructions. */
export interface PostRule {
  readonly line: number;
  readonly condition: Condition;
  readonly instructions: readonly Instruction[];
}

/** A rules file (E-121): rules in file order. */
export interface PostRules {
  readonly file: string;
  readonly rules: readonly PostRule[];
}

/**
 * Whether a condition holds for an object. For a missing attribute `==` and `~` are false, `!=` and `!~` true;
 * a value is compared without its final newline (E-127). Takes time linear in the values.
 *
 * @param type the value of `type` in place of the object's attribute: `SOIFStream` for an Exploder's output
 *   (E-47)
 */
export function conditionHolds(condition: Condition, object: SoifObject, type?: string): boolean {
  switch (condition.kind) {
    case 'all':
      return condition.parts.every((part) => conditionHolds(part, object, type));
    case 'any':
      return condition.parts.some((part) => conditionHolds(part, object, type));
    case 'test': {
      const value = attributeText(object, condition.attribute, type)?.replace(/\n$/, '');
      if (value === undefined) return condition.negated;
      const { data } = condition;
      return (typeof data === 'string' ? value === data : data.test(value)) !== condition.negated;
    }
  }
}

/** Whether a condition is about the object's URL (E-126): names of attributes ignore case. */
export function isUrl(attribute: string): boolean {
  return attribute.toLowerCase() === 'url';
}

/** E-126: names of attributes ignore case; `url` is the object's URL, without escapes of unreserved characters. */
function attributeText(object: SoifObject, attribute: string, type: string | undefined): string | undefined {
  if (isUrl(attribute)) return unescapeUnreserved(textOfUrl(object.url));
  const name = attribute.toLowerCase();
  if (name === 'type' && type !== undefined) return type;
  return object.text(name);
}
