// Tests the expressions of filters and configuration files: both engines, refused patterns, limits, and
// patterns that list strings.
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  compileNode,
  compilePattern,
  type EreNode,
  finiteLanguage,
  formatEre,
  isCheap,
  listSpellings,
  parseEre,
} from '../../../protocols/patterns/index.js';
import { assertProperty } from '../../helpers/property.js';

/** The test functions of both engines for an expression: first the backtracking one, then the linear one. */
function enginesFor(node: EreNode): ((subject: string) => boolean)[] {
  const native = new RegExp(formatEre(node, '(?:'), 'su');
  const linear = RE2JS.compile(formatEre(node), RE2JS.DOTALL);
  return [(subject) => native.test(subject), (subject) => linear.test(subject)];
}

t.test('G-43, E-9, E-144: expressions match alike on both engines', async (t) => {
  const rows: [pattern: string, subject: string, matches: boolean][] = [
    ['^[[:alpha:]_][[:alnum:]_]*$', 'a_9', true],
    ['^[[:alpha:]_][[:alnum:]_]*$', '9a', false],
    ['^[[:alpha:]]+$', 'a1', false],
    ['[^[:space:]]', ' \t', false],
    ['^[[:upper:]][[:lower:]][[:digit:]][[:xdigit:]][[:punct:]]$', 'Aa9f~', true],
    ['^[[:blank:]][[:cntrl:]][[:graph:]][[:print:]]$', '\t\x7f! ', true],
    ['b', 'abc', true],
    ['[]x]', ']', true],
    ['^[]x]+$', ']x]', true],
    ['[^]x]', ']', false],
    ['^[^]x]$', 'a', true],
    ['[a\\]', '\\', true],
    ['[a-c]', 'b', true],
    ['[a-]', '-', true],
    ['[-a]', '-', true],
    ['^[+--]$', ',', true],
    ['[[.a.]b]', 'a', true],
    ['^[[.a.]-[=c=]]$', 'b', true],
    ['[[.-.]x]', '-', true],
    ['[a[]', '[', true],
    ['\\<cat\\>', 'a cat.', true],
    ['\\<cat\\>', 'concat', false],
    ['\\bcat\\b', 'a cat.', true],
    ['\\Bcat', 'concat', true],
    ['\\Bcat', 'a cat', false],
    ['^\\w\\W\\s\\S$', '_- x', true],
    ['\\s', '\v', true],
    ['\\s', '\u00a0', false],
    ["\\`ab\\'", 'ab', true],
    ["\\`ab\\'", 'ab\n', false],
    ['a.b', 'a\nb', true],
    ['a$', 'a\nb', false],
    ['^b', 'a\nb', false],
    ['a{2}', 'aa', true],
    ['^a{2,3}$', 'aaa', true],
    ['^a{2,3}$', 'a', false],
    ['^a{,2}$', 'aaa', false],
    ['^a{1,}$', 'aaa', true],
    ['^(ab){2}{2}$', 'abababab', true],
    ['^a{0}b{1}$', 'b', true],
    ['a{', 'a{', true],
    ['a{,}', 'a{,}', true],
    ['{x}', '{x}', true],
    ['a{x}', 'a{x}', true],
    ['^a**$', 'aa', true],
    ['^a+?$', 'aa', true],
    ['^a+?$', '', true],
    ['^a?{2}$', 'aa', true],
    ['a$*b', 'ab', true],
    ['a\\>*b', 'ab', true],
    ['\\.gif$', 'x.gif', true],
    ['\\/', '/', true],
    ['a|^b', 'b', true],
    ['a|', 'x', true],
    ['()', 'x', true],
    ['(ab)+$', 'xabab', true],
    ['^(a|b)+c$', 'abac', true],
    ['~\\"', '~"', true],
    ['^#\\-,&\\&!%$', '#-,&&!%', true],
    ['caf\u00e9', 'caf\u00e9', true],
    ['^.$', '\u{1f600}', true],
    ['^[\u{1f600}-\u{1f610}]{2}$', '\u{1f601}\u{1f602}', true],
    ['^\\\u{1f600}+$', '\u{1f600}\u{1f600}', true],
    ['\u{1f600}', '\ud83d', false],
    ['^[^a]$', '\ud83d', true],
    ['', 'x', true],
    ['^.*$', '', true],
    ['^.*b$', 'ab', true],
    ['^.*b$', 'ba', false],
    ['^a.*$', 'ba', false],
    ['.*', '', true],
  ];
  for (const [pattern, subject, matches] of rows) {
    const label = `${pattern} on ${JSON.stringify(subject)}`;
    t.equal(compilePattern(pattern).test(subject), matches, label);
    t.equal(compilePattern(pattern).extract(subject) !== undefined, matches, `${label}, extracted`);
    for (const engine of enginesFor(parseEre(pattern)))
      t.equal(engine(subject), matches, `${label}, each engine`);
  }
  t.equal(compilePattern('\\B').test('a\u{1f600}a'), false, 'no match within a surrogate pair');
  t.equal(compilePattern('abc', { ignoreCase: true }).test('xABC'), true);
  t.equal(compilePattern('abc').test('xABC'), false, 'E-9');
});

t.test('G-43, E-144: a refused pattern is an error with the offset in the pattern', async (t) => {
  const rows: [pattern: string, offset: number][] = [
    ['*a', 0],
    ['+', 0],
    ['a|*', 2],
    ['(*)', 1],
    ['^*a', 1],
    ['x{2}|{2}', 5],
    ['x(?i)a', 1],
    ['a(?=b)', 1],
    ['a(?<!b)', 1],
    ['(a)\\1', 3],
    ['\\0', 0],
    ['a\\d', 1],
    ['\\pL', 0],
    ['[a', 0],
    ['x[a-', 1],
    ['[]', 0],
    ['x[[:alphax:]]', 2],
    ['[[:constructor:]]', 1],
    ['[a-[:digit:]]', 1],
    ['[b-a]', 1],
    ['[[.ab.]]', 1],
    ['x(a', 1],
    ['a)', 1],
    ['ab\\', 2],
    ['xa{2,1}', 2],
    ['a{1001}', 0],
    ['x(a{40}){40}', 1],
    ['(a{900}){1}'.repeat(20), 0],
    [`x${'('.repeat(101)}${')'.repeat(101)}`, 101],
    ['a\ud83d', 1],
    ['a'.repeat(5000), 4096],
  ];
  for (const [pattern, offset] of rows) {
    const expected = { code: 'ERR_PROTOCOL', protocol: 'config', rule: 'G-43', offset };
    t.throws(() => compilePattern(pattern), expected, pattern.slice(0, 40));
  }
  t.throws(() => compilePattern('*a'), { message: /write \.\*/ }, 'the message suggests .* for a shell glob');
});

t.test('RE2 compiles every pattern that the parser accepts, up to the limits', async (t) => {
  for (const pattern of [
    `${'('.repeat(100)}a${')'.repeat(100)}`,
    `${'(a|b'.repeat(100)}${')*'.repeat(100)}`,
    'a'.repeat(4096),
    'a|'.repeat(2048),
    '*'.repeat(4095).padStart(4096, 'a'),
    '{1}'.repeat(1000).padStart(3001, 'a'),
    '{2}?'.repeat(9).padStart(37, 'a'),
    'a{1000}'.repeat(10),
    '(a{0,10}){0,100}',
  ]) {
    for (const engine of enginesFor(parseEre(pattern))) engine('aab');
    t.ok(compilePattern(pattern), pattern.slice(0, 40));
  }
});

t.test('E-144: isCheap bounds the length of subjects for the backtracking engine', async (t) => {
  const rows: [pattern: string, longestCheap: number][] = [
    ['\\.(gif|jpe?g|png)$', 4096],
    ['^/my/cool/stuff/', 4096],
    ['^a.*b', 4096],
    ['a.*b', 512],
    ['a.*b.*c', 64],
    ['^(ab)*c', 4096],
    ['^(a+)+$', 0],
    ['^(a|aa)*b$', 0],
    ['(x*)*y', 0],
    [`${'(a|a)'.repeat(30)}b`, 0],
    [`${'a?'.repeat(30)}b`, 0],
    ['(a{0,9}){9}b', 0],
    ['\\B', 0],
    ['(\\B){0}a', 0],
  ];
  for (const [pattern, longest] of rows) {
    const node = parseEre(pattern);
    t.equal(
      [4096, 2048, 1024, 512, 256, 128, 64, 0].find((n) => n === 0 || isCheap(node, n)),
      longest,
      pattern,
    );
  }
});

t.test('E-144: no pattern takes more than linear time on long subjects', async (t) => {
  for (const pattern of [
    '^(a+)+$',
    '^(a|aa)*b$',
    '(x*)*y',
    `${'(a|a)'.repeat(30)}b`,
    'a.*b.*c.*d',
    'a*a*a*b',
  ]) {
    t.equal(compilePattern(pattern).test(`${'a'.repeat(20_000)}!`), false, pattern);
    t.equal(compilePattern(pattern).test(`${'a'.repeat(60)}!`), false, pattern);
  }
});

t.test('E-65: extract returns the first group, or the match, leftmost and longest', async (t) => {
  t.equal(compilePattern('^%A[ \t]+(.*)$').extract('%A A. S. Tanenbaum'), 'A. S. Tanenbaum');
  t.equal(compilePattern('^%A[ \t]+.*$').extract('%A A. S. Tanenbaum'), '%A A. S. Tanenbaum');
  t.equal(compilePattern('^%A').extract('%B'), undefined);
  t.equal(compilePattern('a(b)?').extract('xac'), 'a', 'a group that did not match');
  t.equal(compilePattern('a|ab|abc').extract('xabcabcd'), 'abc');
});

t.test('a pattern that matches a list of strings is spelled as that list', async (t) => {
  const rows: [pattern: string, expected: unknown][] = [
    ['^.*\\.(c|cc)$', { match: 'ending', strings: ['.c', '.cc'] }],
    ['\\.jpe?g$', { match: 'ending', strings: ['.jpg', '.jpeg'] }],
    ['^[mM]akefile$', { match: 'whole', strings: ['makefile', 'Makefile'] }],
    ['^a{0}b{1}$', { match: 'whole', strings: ['b'] }],
    ['^Makefile', undefined],
    ['^.*\\.[^c]$', undefined],
    ['^a*$', undefined],
    ['^[a-z][a-z][a-z]$', undefined],
    ['a\\>$', undefined],
  ];
  for (const [pattern, expected] of rows) t.same(listSpellings(parseEre(pattern)), expected, pattern);
  t.same(finiteLanguage(parseEre('(a|b)c?'), 4), ['a', 'ac', 'b', 'bc']);
  t.equal(finiteLanguage(parseEre('(a|b)c?'), 3), undefined);
});

const atom = fc.constantFrom(
  ...(
    'a|b|A|_| |.|\\.|[ab]|[^a]|[[:alpha:]]|[^[:space:]]|\\w|\\s|\\W|-|\u00e9|\u{1f600}|' +
    '[\u00e0-\u{1f600}]|\n'
  ).split('|'),
);
const anchor = fc.constantFrom('^', '$', '\\<', '\\>', '\\b', '\\B', '\\`', "\\'");
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '**', '+?', '{0}');
const { pattern: anyPattern } = fc.letrec<{ pattern: string; sequence: string; part: string }>((tie) => ({
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|')),
  sequence: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
  part: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(atom, quantifier).map(([what, times]) => what + times),
    anchor,
    fc.tuple(tie('pattern'), quantifier).map(([inner, times]) => `(${inner})${times}`),
  ),
}));
const anySubject = fc
  .array(fc.constantFrom(...'a|b|A|_| |.|-|\n|\v|\u00e9|\u{1f600}|\u017f|\ud83d|\ude00'.split('|')), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

t.test('property: both engines, the compiled and the spelled pattern agree', async () => {
  assertProperty(
    fc.property(anyPattern, fc.array(anySubject, { minLength: 1, maxLength: 5 }), (source, subjects) => {
      const node = parseEre(source);
      const [native, linear] = enginesFor(node);
      const compiled = compileNode(node);
      const spelling = listSpellings(node);
      for (const subject of subjects) {
        const expected = linear!(subject);
        if (compiled.test(subject) !== expected) return false;
        // Some generated patterns would keep the backtracking engine busy for minutes.
        if (isCheap(node, subject.length) && native!(subject) !== expected) return false;
        if ((compiled.extract(subject) !== undefined) !== expected) return false;
        const listed = spelling?.strings.some((one) =>
          spelling.match === 'whole' ? subject === one : subject.endsWith(one),
        );
        if (listed !== undefined && listed !== expected) return false;
      }
      return true;
    }),
    { numRuns: 3000 },
  );
});

t.test('property: any garbage compiles or throws a ProtocolError with an offset in the pattern', async () => {
  const piece = fc.oneof(
    fc.constantFrom(...'()[]{}*+?|^$.\\-,:=/01259abwdsB<>`\'"'),
    fc.constantFrom(...'[: :] [[:alpha:]] [. .] (? {2,3} {, \\ \u{1f600} \ud83d \0'.split(' ')),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  );
  const garbage = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(''));
  assertProperty(
    fc.property(garbage, garbage, (source, subject) => {
      try {
        const pattern = compilePattern(source);
        return pattern.test(subject) === (pattern.extract(subject) !== undefined);
      } catch (error) {
        return (
          error instanceof ProtocolError &&
          error.protocol === 'config' &&
          error.rule === 'G-43' &&
          error.offset <= source.length
        );
      }
    }),
    { numRuns: 5000 },
  );
});
