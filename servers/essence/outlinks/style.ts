// References in style sheets (CRAWL-11.2, ExtractorCSS): url(), src(), @import and the images of image-set().

/**
 * What matters of CSS: comments, strings, functions with their names, at-rules, and what ends them. A name is
 * tried at its start only.
 */
const TOKEN =
  /\/\*[\s\S]*?(?:\*\/|$)|"((?:[^"\\\n\r\f]|\\[\s\S])*)"?|'((?:[^'\\\n\r\f]|\\[\s\S])*)'?|@([\w-]+)|(?:(?<![\w-])([\w-]+)\(|[();{}])/g;
/** The rest of `url(` without quotes. */
const BARE_URL = /\s*((?:[^\s"'()\\]|\\[\s\S])+)\s*(?:\)|$)/y;
const ESCAPE = /\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|(\r\n|[\s\S]))/g;

/** Functions within whose parentheses strings are URLs. */
const URL_FUNCTIONS = new Set(['url', 'src', 'image-set', '-webkit-image-set', 'image', 'cross-fade']);

/** Deepest nesting of parentheses that is remembered. */
const MAX_DEPTH = 100;

/** Calls back with each reference of a style sheet, escapes resolved. Takes time in proportion to the text. */
export function scanStyle(text: string, add: (reference: string) => void): void {
  TOKEN.lastIndex = 0;
  const functions: string[] = [];
  let rule = '';
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token, double, single, atRule, name] = match;
    const quoted = double ?? single;
    if (quoted !== undefined) {
      const inFunction = URL_FUNCTIONS.has(functions.at(-1) ?? '');
      if (rule === 'namespace' || quoted === '') continue;
      if (inFunction || (rule === 'import' && functions.length === 0)) add(withoutEscapes(quoted));
    } else if (atRule !== undefined) rule = atRule.toLowerCase();
    else if (name !== undefined) {
      const called = name.toLowerCase();
      if (called === 'url') {
        BARE_URL.lastIndex = TOKEN.lastIndex;
        const bare = BARE_URL.exec(text)?.[1];
        if (bare !== undefined) {
          if (rule !== 'namespace') add(withoutEscapes(bare));
          TOKEN.lastIndex = BARE_URL.lastIndex;
          continue;
        }
      }
      if (functions.length < MAX_DEPTH) functions.push(called);
    } else if (token === '(') {
      if (functions.length < MAX_DEPTH) functions.push('');
    } else if (token === ')') functions.pop();
    else if (token === ';' || token === '{' || token === '}') {
      rule = '';
      functions.length = 0;
    }
  }
}

function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, code: string | undefined, other: string | undefined) => {
    if (code === undefined) return other === undefined || /[\n\r\f]/.test(other) ? '' : other;
    const point = Number.parseInt(code, 16);
    return point === 0 || point > 0x10ffff ? '�' : String.fromCodePoint(point);
  });
}
