import type { SourceDocument, Summary } from '../document.js';
import { boundedSource } from './extracted.js';

/**
 * Maximum number of procedure or target names of one document; a document with more is a table, not a program.
 */
const MAX_NAMES = 5000;

/** Words before `(` that are not names of procedures. */
const C_KEYWORDS = new Set(
  'if else for while do switch case return sizeof defined typeof alignof _Alignof __attribute__ __declspec __asm__ asm catch throw new delete decltype static_assert _Static_assert'.split(
    ' ',
  ),
);

/** C: procedure names, included files, comments. */
export function summarizeC(document: SourceDocument): Summary {
  return describeC(document, false);
}

/** CHeader: as C, including procedures that are only declared. */
export function summarizeCHeader(document: SourceDocument): Summary {
  return describeC(document, true);
}

function describeC(document: SourceDocument, declared: boolean): Summary {
  const text = boundedSource(document, 'program');
  const { comments, code } = splitCComments(text);
  const includes = matches(text, /^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]/gm);
  return summary(cProcedures(code, declared), includes, comments);
}

/**
 * Returns the names of the functions defined outside all braces: a name, a parameter list, optional K&R
 * declarations, a body. With `declared`, also returns the functions that are only declared.
 */
function cProcedures(code: string, declared: boolean): string[] {
  const names = new Set<string>();
  const token = /^[ \t]*#(?:[^\n\\]|\\[\s\S])*|[A-Za-z_~][\w:~]*|[{}();=]/gm;
  let depth = 0;
  let parentheses = 0;
  let word = '';
  let candidate = '';
  /** Whether the position is between `=` and `;`, where names are calls and not definitions. */
  let initializer = false;
  for (let found = token.exec(code); found !== null && names.size < MAX_NAMES; found = token.exec(code)) {
    const text = found[0];
    if (text === '(') {
      if (
        depth === 0 &&
        parentheses === 0 &&
        !initializer &&
        candidate === '' &&
        word !== '' &&
        !C_KEYWORDS.has(word)
      )
        candidate = word;
      parentheses++;
    } else if (text === ')') {
      parentheses = Math.max(0, parentheses - 1);
    } else if (text === '{') {
      if (depth === 0 && candidate !== '') names.add(candidate);
      // `extern "C" {` and namespaces enclose declarations, not code.
      const encloses =
        depth === 0 &&
        candidate === '' &&
        /(?:extern\s*""|namespace[^{};]*)\s*$/.test(code.slice(Math.max(0, found.index - 80), found.index));
      if (!encloses) depth++;
      initializer = false;
      candidate = '';
      word = '';
      parentheses = 0;
    } else if (text === '}') {
      depth = Math.max(0, depth - 1);
      candidate = '';
      word = '';
    } else if (text === ';' || text === '=') {
      if (parentheses > 0 || depth > 0) continue;
      initializer = text === '=';
      if (text === ';' && declared && candidate !== '') names.add(candidate);
      if (text === '=' || !isParameterDeclaration(code, found.index)) candidate = '';
      word = '';
    } else if (!text.trimStart().startsWith('#')) {
      word = text;
    }
  }
  return [...names];
}

/**
 * Whether the `;` at `index` ends a K&R parameter declaration: a body follows before anything else can begin.
 */
function isParameterDeclaration(code: string, index: number): boolean {
  return /^;(?:\s*[A-Za-z_][\w\s*,[\]]{0,200};){0,20}\s*\{/.test(code.slice(index, index + 600));
}

/** Perl: procedure names, comments and POD. */
export function summarizePerl(document: SourceDocument): Summary {
  const pod: string[] = [];
  const source = boundedSource(document, 'program').replace(
    /^=[a-zA-Z][\s\S]*?(?:^=cut\b[^\n]*\n?|$(?![\s\S]))/gm,
    (text) => {
      pod.push(cleanPod(text));
      return '\n';
    },
  );
  const { comments, code } = splitHashComments(source);
  return summary(matches(code, /^[ \t]*sub\s+([\w:']+)/gm), [], [...pod, ...comments]);
}

function cleanPod(text: string): string {
  return text
    .replace(/^=(?:pod|cut|over|back|begin|end|for|encoding)\b[^\n]*$/gm, '')
    .replace(/^=\w+[ \t]*/gm, '')
    .replace(/[A-Z]<([^<>\n]*)>/g, '$1')
    .replace(/\n{2,}/g, '\n')
    .trim();
}

/** ShellScript, Awk, Tcl: comments and names of functions. */
export function summarizeShellScript(document: SourceDocument): Summary {
  const { comments, code } = splitHashComments(boundedSource(document, 'program'));
  const names = matches(
    code,
    /^[ \t]*(?:function[ \t]+([\w:.-]+)|([A-Za-z_][\w.-]*)[ \t]*\([ \t]*\)|proc[ \t]+([\w:.-]+))/gm,
  );
  return summary(names, [], comments);
}

/** ShellScript: also the scripts that it reads. */
export function summarizeShell(document: SourceDocument): Summary {
  const { code } = splitHashComments(boundedSource(document, 'program'));
  const sourced = matches(code, /^[ \t]*(?:\.|source)[ \t]+["']?([^\s"';&|]{1,300})/gm);
  const { attributes } = summarizeShellScript(document);
  return { attributes: [...attributes, ['References', sourced.join('\n')]] };
}

/** Makefile: comments and target names. */
export function summarizeMakefile(document: SourceDocument): Summary {
  const { comments, code } = splitHashComments(boundedSource(document, 'program'));
  const targets = matches(code, /^([A-Za-z0-9_][^:=#\n\t]*)\t*::?(?![=:])/gm).flatMap((target) =>
    target.trim().split(/\s+/),
  );
  return summary([...new Set(targets)], [], comments);
}

/** Suffixes of OtherCode by the syntax of their comments. */
const HASH_STYLE = new Set(['py', 'rb']);
const SEMICOLON_STYLE = new Set(['el', 'lisp', 'cl', 'scm', 'asm', 's']);

/** OtherCode: comments by the language's syntax, names of functions if they are easy to recognize. */
export function summarizeOtherCode(document: SourceDocument): Summary {
  const suffix = document.fileName.split('.').pop()?.toLowerCase() ?? '';
  const text = boundedSource(document, 'program');
  let split: Commented;
  if (HASH_STYLE.has(suffix) || text.startsWith('#!')) split = splitHashComments(text);
  else if (SEMICOLON_STYLE.has(suffix)) split = splitSemicolonComments(text);
  else split = splitCComments(text);
  const names = matches(
    split.code,
    /^[ \t]*(?:export\s+|async\s+|pub\s+)*(?:function|func|fn|def|class|sub|procedure|\(defun|\(define)\s+\(?([A-Za-z_][\w-]*)/gim,
  );
  return summary(names, [], split.comments);
}

function matches(text: string, pattern: RegExp): string[] {
  const found = new Set<string>();
  for (const match of text.matchAll(pattern)) {
    const name = match.slice(1).find((group) => group !== undefined);
    if (name !== undefined) found.add(name);
    if (found.size >= MAX_NAMES) break;
  }
  return [...found];
}

function summary(
  keywords: readonly string[],
  references: readonly string[],
  comments: readonly string[],
): Summary {
  return {
    attributes: [
      ['Description', comments.join('\n')],
      ['References', references.join('\n')],
      ['Keywords', keywords.join('\n')],
    ],
  };
}

/**
 * The comments of a source, and the source with its comments replaced by blanks. Line numbers do not change.
 */
interface Commented {
  readonly comments: readonly string[];
  readonly code: string;
}

/**
 * E-75: both kinds of C comments. Strings and character constants are blanked too, so that their braces do not
 * count.
 */
function splitCComments(source: string): Commented {
  const comments: string[] = [];
  const code: string[] = [];
  const token =
    /\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))|\/\/[^\n]*|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/g;
  let last = 0;
  for (let found = token.exec(source); found !== null; found = token.exec(source)) {
    const text = found[0];
    const quoted = text[0] !== '/';
    code.push(source.slice(last, found.index), quoted ? '""' : ' ', '\n'.repeat(countNewlines(text)));
    if (!quoted) comments.push(cleanCComment(text));
    last = found.index + text.length;
  }
  code.push(source.slice(last));
  return { comments: comments.filter((comment) => comment !== ''), code: code.join('') };
}

function cleanCComment(text: string): string {
  const inner = text.startsWith('//') ? text.replace(/^\/+/, '') : text.slice(2).replace(/\*\/$/, '');
  return inner
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*\*+/, '')
        .replace(/[*=_-]{4,}/g, '')
        .trim(),
    )
    .filter((line) => line !== '')
    .join('\n');
}

function countNewlines(text: string): number {
  let count = 0;
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) count++;
  return count;
}

/** E-75: `#` at the start of a line or after white space, without `#!`. */
function splitHashComments(source: string): Commented {
  const comments: string[] = [];
  const code: string[] = [];
  source.split('\n').forEach((line, index) => {
    const start = line.startsWith('#') ? 0 : line.search(/\s#/);
    if (start < 0 || (index === 0 && line.startsWith('#!'))) {
      code.push(index === 0 && start === 0 ? '' : line);
      return;
    }
    const comment = line
      .slice(start)
      .replace(/^\s*#+/, '')
      .replace(/[#*=_-]{4,}/g, '')
      .trim();
    if (comment !== '') comments.push(comment);
    code.push(line.slice(0, start));
  });
  return { comments, code: code.join('\n') };
}

/** E-75: `;` comments of Lisp and many assemblers. */
function splitSemicolonComments(source: string): Commented {
  const comments: string[] = [];
  const code: string[] = [];
  for (const line of source.split('\n')) {
    const start = line.startsWith(';') ? 0 : line.search(/\s;/);
    if (start >= 0) {
      const comment = line
        .slice(start)
        .replace(/^\s*;+/, '')
        .trim();
      if (comment !== '') comments.push(comment);
    }
    code.push(start < 0 ? line : line.slice(0, start));
  }
  return { comments, code: code.join('\n') };
}
