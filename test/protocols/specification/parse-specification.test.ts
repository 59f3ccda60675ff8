// Specification documents: rules, evidence, sources, grammar, and what breaks the format.
import t from 'tap';
import {
  basisOf,
  citationsIn,
  documentOf,
  parseSpecification,
  restsOnChoice,
  sentenceOf,
  withoutLinks,
} from '../../../protocols/specification/index.js';

const DOCUMENT = `# Knots

## Sources

| source | basis | what it is |
| --- | --- | --- |
| knots.c | client | a library |

## 1. Lines

#### <a id="SAMPLE-1.1"></a>SAMPLE-1.1

*MUST · client: knots.c · choice: shorter*

A \`line\` ends in **LF**, e.g. \`a*\`. *Two* follow
[elsewhere](#x).

\`\`\`abnf
line = *CHAR LF
# comment of the shell, not a heading
\`\`\`

## 2. Rest

#### <a id="SAMPLE-2.10a"></a>SAMPLE-2.10a

*NOTE · seed: knots.c*

Last one
`;

t.test('rules have level, evidence, section and text', async (t) => {
  const { title, rules, sources, grammar, problems } = parseSpecification(DOCUMENT);
  t.equal(title, 'Knots');
  t.same(problems, []);
  t.same(sources, [{ name: 'knots.c', basis: 'client', description: 'a library' }]);
  t.same(
    rules.map(({ id, level, section, line }) => [id, level, section, line]),
    [
      ['SAMPLE-1.1', 'MUST', '1. Lines', 11],
      ['SAMPLE-2.10a', 'NOTE', '2. Rest', 25],
    ],
  );
  const [first, last] = rules;
  if (first === undefined || last === undefined) return;
  t.same(first.evidence, [
    { basis: 'client', source: 'knots.c' },
    { basis: 'choice', source: 'shorter' },
  ]);
  t.equal(basisOf(first), 'client');
  t.ok(restsOnChoice(first));
  t.equal(basisOf(last), 'seed');
  t.notOk(restsOnChoice(last));
  t.equal(sentenceOf(first), 'A line ends in LF, e.g. a*.');
  t.equal(sentenceOf(last), 'Last one');
  t.match(first.text, /# comment of the shell/);
  t.same(grammar, [{ text: 'line = *CHAR LF\n# comment of the shell, not a heading\n', line: 19 }]);
});

const head = DOCUMENT.slice(0, DOCUMENT.indexOf('## 1.'));
const rule = (meta: string, text = 'Text.') =>
  `${head}## 1. A\n\n#### <a id="SAMPLE-1"></a>SAMPLE-1\n\n${meta}\n\n${text}\n`;

for (const [name, document, message] of [
  ['a rule without level', rule('A text.'), /must be \*LEVEL/],
  ['an unknown level', rule('*SHALL · seed: x*'), /SHALL is not one of/],
  ['an unknown basis', rule('*MUST · rumor: x*'), /"rumor: x" is not BASIS/],
  ['no source', rule('*MUST · seed*'), /"seed" is not BASIS/],
  ['a stronger basis after a weaker one', rule('*MUST · choice: x · seed: y*'), /after what is weaker/],
  ['a rule without text', rule('*MUST · seed: x*', ''), /has no text/],
  [
    'two rules of one number',
    rule('*MUST · seed: x*') + rule('*MUST · seed: x*').slice(head.length),
    /twice/,
  ],
  [
    'words beside the number',
    rule('*MUST · seed: x*').replace('>SAMPLE-1\n', '>SAMPLE-1 x\n'),
    /number alone/,
  ],
  ['an anchor that is no number', `${head}#### <a id="x"></a>x\n`, /not that of a rule/],
  ['a block without end', `${head}\`\`\`abnf\na = b\n`, /has no end/],
  ['no sources', '# A\n', /no table/],
  ['no title', head.replace('# Knots', 'Knots'), /no title/],
] as const)
  t.test(`${name} is named with its line`, async (t) => {
    const { problems } = parseSpecification(document);
    t.equal(problems.length, 1);
    t.match(problems[0]?.message, message);
    t.ok((problems[0]?.line ?? 0) > 0);
  });

t.test('a prefix leads to its document', async (t) => {
  t.equal(documentOf('BP-3')?.folder, 'protocols/bulk');
  t.equal(documentOf('RFC-1'), undefined);
});

t.test('citations name single rules, lists and ranges', async (t) => {
  t.same(citationsIn('SOIF-2.2, 7.1 and BRK-7.4 to 7.6'), [
    'SOIF-2.2',
    'SOIF-7.1',
    'BRK-7.4',
    'BRK-7.5',
    'BRK-7.6',
  ]);
  t.same(citationsIn('R-24 to R-26, C-01; BRK-7.4, 8'), ['R-24', 'R-25', 'R-26', 'C-01', 'BRK-7.4']);
  t.same(citationsIn('UTF-8, ISO-8859-1, P-256-GCM, /SOIF-4\\.4/, XS-1'), []);
});

t.test('links become their texts, but not in code', async (t) => {
  const text =
    'As [SOIF](../soif/README.md) says ([SOIF-2.3] to [SOIF-2.5]), `[BT-1]` and\n```abnf\nx = "[](y)"\n```\n[x].';
  t.equal(
    withoutLinks(text),
    'As SOIF says (SOIF-2.3 to SOIF-2.5), `[BT-1]` and\n```abnf\nx = "[](y)"\n```\n[x].',
  );
  t.equal(sentenceOf({ text }), 'As SOIF says (SOIF-2.3 to SOIF-2.5), [BT-1] and abnf x = "[](y)" [x].');
});
