// The ABNF of a specification as a program: whether it derives a sentence, and random sentences of it. apg-js reads the
// grammar; its own parser takes the first alternative that fits, while ABNF means any, so the matcher here follows all.
import apg, { type Opcode } from 'apg-js';
import type { GrammarBlock } from '../../../protocols/specification/index.js';
import type { Random } from '../../helpers/random.js';

const { apgApi, apgLib } = apg;
const { ALT, CAT, REP, RNM, TRG, TBS, TLS } = apgLib.ids;

/** RFC 5234, B.1. */
const CORE = `ALPHA = %x41-5A / %x61-7A
BIT = "0" / "1"
CHAR = %x01-7F
CR = %x0D
CRLF = CR LF
CTL = %x00-1F / %x7F
DIGIT = %x30-39
DQUOTE = %x22
HEXDIG = DIGIT / "A" / "B" / "C" / "D" / "E" / "F"
HTAB = %x09
LF = %x0A
OCTET = %x00-FF
SP = %x20
VCHAR = %x21-7E
WSP = SP / HTAB
`;

interface GrammarRule {
  readonly name: string;
  readonly opcodes: readonly Opcode[];
}

/** A grammar that apg-js has read. */
export class Grammar {
  readonly #rules: readonly GrammarRule[];
  readonly #indexes: ReadonlyMap<string, number>;
  /** For each rule, the least number of rules within each other that a sentence of it needs. */
  readonly #depths: number[];

  /** @throws Error with line and reason, lines of the document */
  constructor(blocks: readonly GrammarBlock[]) {
    const lines: { readonly text: string; readonly line: number }[] = blocks.flatMap(({ text, line }) =>
      text
        .trimEnd()
        .split('\n')
        .map((one, index) => ({ text: one, line: line + index })),
    );
    const own = lines.map(({ text }) => text).join('\n');
    const defined = new Set(
      [...own.matchAll(/^([A-Za-z][\w-]*)\s*=/gm)].map(([, name = '']) => name.toUpperCase()),
    );
    const core = CORE.trimEnd()
      .split('\n')
      .filter((line) => !defined.has(line.slice(0, line.indexOf(' '))));
    const api = new apgApi(`${own}\n${core.join('\n')}\n`.replaceAll('\n', '\r\n'));
    try {
      api.generate();
    } catch (error) {
      const found = api.errors.map(({ line, msg }) => `line ${lines[line]?.line ?? '?'}: ${msg}`);
      throw new Error(found.join('; ') || String(error));
    }
    this.#rules = api.rules;
    this.#indexes = new Map(api.rules.map(({ name }, index) => [name.toLowerCase(), index]));
    this.#depths = this.#computeDepths();
  }

  /** Names of the rules of the document, without those of RFC 5234. */
  get names(): string[] {
    return this.#rules.map(({ name }) => name);
  }

  /** Whether the rule derives the whole sentence. */
  derives(rule: string, sentence: Uint8Array): boolean {
    return new Matcher(this.#rules, sentence).ends(this.#indexOf(rule), 0).has(sentence.length);
  }

  /** A random sentence of the rule. Below a depth of 12 it takes the shortest way out. */
  sentence(rule: string, random: Random): Uint8Array {
    const out: number[] = [];
    this.#emit(this.#indexOf(rule), 0, 0, random, out);
    return Uint8Array.from(out);
  }

  #indexOf(rule: string): number {
    const index = this.#indexes.get(rule.toLowerCase());
    if (index === undefined) throw new Error(`no rule ${rule}`);
    return index;
  }

  #emit(rule: number, at: number, depth: number, random: Random, out: number[]): void {
    const opcode = this.#opcode(rule, at);
    switch (opcode.type) {
      case ALT: {
        const children = opcode.children ?? [];
        const short = depth > 12;
        const least = Math.min(...children.map((child) => this.#depthOf(rule, child)));
        const possible = short ? children.filter((child) => this.#depthOf(rule, child) === least) : children;
        this.#emit(rule, possible[random.below(possible.length)] ?? 0, depth, random, out);
        break;
      }
      case CAT:
        for (const child of opcode.children ?? []) this.#emit(rule, child, depth, random, out);
        break;
      case REP: {
        const { min = 0, max = Number.POSITIVE_INFINITY } = opcode;
        const more = depth > 12 ? 0 : random.below(Math.min(max - min, 3) + 1);
        for (let i = 0; i < min + more; i++) this.#emit(rule, at + 1, depth, random, out);
        break;
      }
      case RNM:
        this.#emit(opcode.index ?? 0, 0, depth + 1, random, out);
        break;
      case TRG: {
        const { min = 0, max = 0 } = opcode;
        // Letters and digits meet in the sentences more often than chance would have them.
        const low = Math.max(min, 0x61);
        const high = Math.min(max, 0x64);
        out.push(
          low <= high && random.below(2) === 0
            ? low + random.below(high - low + 1)
            : min + random.below(max - min + 1),
        );
        break;
      }
      case TBS:
        out.push(...(opcode.string ?? []));
        break;
      case TLS:
        for (const code of opcode.string ?? [])
          out.push(code >= 0x61 && code <= 0x7a && random.below(2) === 0 ? code - 32 : code);
        break;
      default:
        throw new Error(`operator ${opcode.type} is not ABNF`);
    }
  }

  #opcode(rule: number, at: number): Opcode {
    const opcode = this.#rules[rule]?.opcodes[at];
    if (opcode === undefined) throw new Error('the grammar is damaged');
    return opcode;
  }

  #computeDepths(): number[] {
    const depths = this.#rules.map(() => Number.POSITIVE_INFINITY);
    for (let changed = true; changed; ) {
      changed = false;
      for (const rule of this.#rules.keys()) {
        const depth = this.#depthIn(rule, 0, depths);
        if (depth < (depths[rule] ?? 0)) {
          depths[rule] = depth;
          changed = true;
        }
      }
    }
    return depths;
  }

  #depthOf(rule: number, at: number): number {
    return this.#depthIn(rule, at, this.#depths);
  }

  #depthIn(rule: number, at: number, depths: readonly number[]): number {
    const { type, children = [], index = 0, min = 0 } = this.#opcode(rule, at);
    if (type === ALT) return Math.min(...children.map((child) => this.#depthIn(rule, child, depths)));
    if (type === CAT) return Math.max(0, ...children.map((child) => this.#depthIn(rule, child, depths)));
    if (type === REP) return min === 0 ? 0 : this.#depthIn(rule, at + 1, depths);
    return type === RNM ? 1 + (depths[index] ?? Number.POSITIVE_INFINITY) : 0;
  }
}

/** Finds where the derivations of a rule can end, all of them. */
class Matcher {
  readonly #rules: readonly GrammarRule[];
  readonly #sentence: Uint8Array;
  readonly #known = new Map<string, Set<number>>();

  constructor(rules: readonly GrammarRule[], sentence: Uint8Array) {
    this.#rules = rules;
    this.#sentence = sentence;
  }

  ends(rule: number, start: number): Set<number> {
    const key = `${rule}@${start}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      // A rule that begins with itself derives nothing more than its other alternatives.
      this.#known.set(key, new Set());
      known = this.#match(rule, 0, start);
      this.#known.set(key, known);
    }
    return known;
  }

  #match(rule: number, at: number, start: number): Set<number> {
    const {
      type,
      children = [],
      index = 0,
      min = 0,
      max = 0,
      string = [],
    } = this.#rules[rule]?.opcodes[at] ?? {
      type: -1,
    };
    const sentence = this.#sentence;
    switch (type) {
      case ALT:
        return new Set(children.flatMap((child) => [...this.#match(rule, child, start)]));
      case CAT: {
        let ends = new Set([start]);
        for (const child of children) ends = this.#from(ends, rule, child);
        return ends;
      }
      case REP:
        return this.#repeat(rule, at + 1, start, min, max);
      case RNM:
        return this.ends(index, start);
      case TRG: {
        const byte = sentence[start];
        return byte !== undefined && byte >= min && byte <= max ? new Set([start + 1]) : new Set();
      }
      case TBS:
        return string.every((code, i) => sentence[start + i] === code)
          ? new Set([start + string.length])
          : new Set();
      case TLS:
        return string.every((code, i) => lowerCase(sentence[start + i]) === code)
          ? new Set([start + string.length])
          : new Set();
      default:
        throw new Error(`operator ${type} is not ABNF`);
    }
  }

  #repeat(rule: number, at: number, start: number, min: number, max: number): Set<number> {
    const all = new Set<number>(min === 0 ? [start] : []);
    let ends = new Set([start]);
    for (let count = 1; count <= max && ends.size > 0; count++) {
      ends = this.#from(ends, rule, at);
      // What was reached before leads to nothing new.
      if (count > min) for (const end of ends) if (all.has(end)) ends.delete(end);
      if (count >= min) for (const end of ends) all.add(end);
    }
    return all;
  }

  #from(starts: ReadonlySet<number>, rule: number, at: number): Set<number> {
    const ends = new Set<number>();
    for (const start of starts) for (const end of this.#match(rule, at, start)) ends.add(end);
    return ends;
  }
}

function lowerCase(byte: number | undefined): number | undefined {
  return byte !== undefined && byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;
}

/** Changes a sentence in one to three places: bytes go, come, change, double, change places. */
export function mutate(sentence: Uint8Array, random: Random): Uint8Array {
  let bytes = [...sentence];
  for (let change = 1 + random.below(3); change > 0; change--) {
    const at = random.below(bytes.length + 1);
    const other =
      random.below(2) === 0 ? random.below(256) : (INTERESTING[random.below(INTERESTING.length)] ?? 0);
    switch (random.below(5)) {
      case 0:
        bytes.splice(at, 1);
        break;
      case 1:
        bytes.splice(at, 0, other);
        break;
      case 2:
        bytes.splice(at, 1, other);
        break;
      case 3:
        bytes.splice(at, 0, ...bytes.slice(at, at + 1 + random.below(4)));
        break;
      default:
        bytes = [...bytes.slice(at), ...bytes.slice(0, at)];
    }
  }
  return Uint8Array.from(bytes);
}

const INTERESTING = [...Buffer.from('\0\t\n\v\f\r "#()+-/09:<>@AZ[\\]_az{|}~\x7f\x80\xa0\xff', 'latin1')];
