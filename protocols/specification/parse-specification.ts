// Reads a specification document: Markdown in which each rule is a heading with an anchor, a line of level and evidence,
// and a text.
import {
  BASES,
  type Basis,
  type Evidence,
  type GrammarBlock,
  RULE_LEVELS,
  type Rule,
  type RuleLevel,
  type Source,
  type Specification,
  type SpecificationProblem,
} from './rule.js';

const RULE_HEADING = /^#### <a id="([A-Z]+-[0-9]+(?:\.[0-9]+)*[a-z]?)"><\/a>(.*)$/;
const HEADING = /^(#{1,6}) (.*)$/;
const FENCE = /^(`{3,}|~{3,})\s*(\w*)/;
const META = /^\*([A-Z]+) · (.+)\*$/;

/** A rule while its text is read. */
interface OpenRule {
  readonly id: string;
  readonly section: string;
  readonly line: number;
  readonly lines: string[];
}

/**
 * Reads a document.
 * @returns the document, and what breaks its format; a rule without level and evidence is left out
 */
export function parseSpecification(
  markdown: string,
): Specification & { readonly problems: readonly SpecificationProblem[] } {
  const reader = new SpecificationReader();
  const lines = markdown.split(/\r?\n/);
  for (const [index, line] of lines.entries()) reader.push(line, index + 1);
  return reader.end(lines.length);
}

class SpecificationReader {
  #title = '';
  #section = '';
  readonly #sources: Source[] = [];
  readonly #rules = new Map<string, Rule>();
  readonly #grammar: GrammarBlock[] = [];
  readonly #problems: SpecificationProblem[] = [];
  #rule: OpenRule | undefined;
  /** The fenced block that is being read. */
  #block:
    | { readonly fence: string; readonly language: string; readonly line: number; text: string }
    | undefined;

  push(line: string, number: number): void {
    if (this.#readBlock(line, number)) {
      this.#rule?.lines.push(line);
      return;
    }
    const heading = HEADING.exec(line);
    if (heading !== null) this.#startHeading(line, heading, number);
    else if (this.#rule !== undefined) this.#rule.lines.push(line);
    else if (this.#section === 'Sources') this.#readSource(line);
  }

  end(number: number): Specification & { readonly problems: readonly SpecificationProblem[] } {
    this.#endRule();
    if (this.#block !== undefined) this.#complain(this.#block.line, 'this block has no end');
    if (this.#title === '') this.#complain(1, 'the document has no title');
    if (this.#sources.length === 0) this.#complain(number, 'the section Sources has no table');
    return {
      title: this.#title,
      sources: this.#sources,
      rules: [...this.#rules.values()],
      grammar: this.#grammar,
      problems: this.#problems,
    };
  }

  /** Reads a line of a fenced block. @returns whether it belongs to one */
  #readBlock(line: string, number: number): boolean {
    const block = this.#block;
    if (block === undefined) {
      const opening = FENCE.exec(line);
      if (opening === null) return false;
      const [, fence = '', language = ''] = opening;
      this.#block = { fence, language, line: number + 1, text: '' };
      return true;
    }
    if (line.trimEnd() === block.fence) {
      if (block.language === 'abnf') this.#grammar.push({ text: block.text, line: block.line });
      this.#block = undefined;
    } else block.text += `${line}\n`;
    return true;
  }

  #startHeading(line: string, [, marks = '', text = '']: RegExpExecArray, number: number): void {
    this.#endRule();
    const rule = RULE_HEADING.exec(line);
    if (rule !== null) {
      const [, id = '', label] = rule;
      if (label !== id) this.#complain(number, `the heading of ${id} must be its number alone`);
      this.#rule = { id, section: this.#section, line: number, lines: [] };
    } else if (line.includes('<a id='))
      this.#complain(number, 'this heading has an anchor but is not that of a rule');
    else if (marks === '#') this.#title = text;
    else if (marks !== '####') this.#section = text;
  }

  #endRule(): void {
    const rule = this.#rule;
    if (rule === undefined) return;
    this.#rule = undefined;
    const { id, section, line } = rule;
    if (this.#rules.has(id)) this.#complain(line, `${id} is defined twice`);
    const start = rule.lines.findIndex((text) => text !== '');
    const meta = META.exec(rule.lines[start] ?? '');
    if (meta === null) {
      this.#complain(line, `${id}: the line below must be *LEVEL · BASIS: source*`);
      return;
    }
    const [, level = '', evidence = ''] = meta;
    const text = rule.lines
      .slice(start + 1)
      .join('\n')
      .trim();
    if (text === '') this.#complain(line, `${id} has no text`);
    this.#rules.set(id, {
      id,
      level: this.#readLevel(level, id, line),
      evidence: this.#readEvidence(evidence, id, line),
      section,
      text,
      line,
    });
  }

  #readLevel(name: string, id: string, line: number): RuleLevel {
    const level = RULE_LEVELS.find((one) => one === name);
    if (level === undefined) this.#complain(line, `${id}: ${name} is not one of ${RULE_LEVELS.join(', ')}`);
    return level ?? 'NOTE';
  }

  #readEvidence(text: string, id: string, line: number): Evidence[] {
    const found: Evidence[] = [];
    for (const part of text.split(' · ')) {
      const [, name = '', source = ''] = /^([a-z]+): (.+)$/.exec(part) ?? [];
      const basis = BASES.find((one) => one === name);
      if (basis === undefined)
        this.#complain(line, `${id}: "${part}" is not BASIS: source, with one of ${BASES.join(', ')}`);
      else {
        if (found.some((one) => rank(one.basis) > rank(basis)))
          this.#complain(line, `${id}: ${basis} stands after what is weaker`);
        found.push({ basis, source });
      }
    }
    return found;
  }

  /** Reads a row of the table of sources. */
  #readSource(line: string): void {
    const [, name, basis, description] = /^\| (.+?) \| (.+?) \| (.+?) \|$/.exec(line) ?? [];
    if (name === undefined || basis === undefined || description === undefined) return;
    if (name === 'source' || /^-+$/.test(name)) return;
    this.#sources.push({ name, basis, description });
  }

  #complain(line: number, message: string): void {
    this.#problems.push({ line, message });
  }
}

function rank(basis: Basis): number {
  return BASES.indexOf(basis);
}
