/**
 * The comments of a source, and the source with its comments replaced by blanks. Line numbers do not change.
 */
export interface Commented {
  readonly comments: readonly string[];
  readonly code: string;
}

/**
 * E-75: both kinds of C comments. Strings and character constants are blanked too, so that their braces do not
 * count.
 */
export function splitCComments(source: string): Commented {
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
export function splitHashComments(source: string): Commented {
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
export function splitSemicolonComments(source: string): Commented {
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
