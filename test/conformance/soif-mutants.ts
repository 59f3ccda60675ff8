// A correct stream, and what may be wrong or different in it.
import { about, type Mutant, type Variant } from './mutant.js';
import { OBJECT_DEFECTS } from './object-defects.js';
import { mapObjects, sectionsOf, soifOf } from './soif-text.js';

/** Changes a stream in Latin-1. */
export type StreamChange = (stream: string) => string;
type SoifMutant = Mutant<StreamChange>;

/** An object with these attributes, in their order. */
function object(url: string, attributes: readonly (readonly [string, string])[]): string {
  const lines = attributes.map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
  return `@FILE { ${url}\n${lines.join('')}}\n`;
}

const BOOKKEEPING: readonly (readonly [string, string])[] = [
  ['Time-to-Live', '2419200'],
  ['Last-Modification-Time', '1735600000'],
  ['Refresh-Rate', '604800'],
  ['Gatherer-Name', 'Example'],
  ['Gatherer-Host', 'g.example'],
  ['Gatherer-Version', '1.8'],
  ['Update-Time', '1735689600'],
];

/** A stream of gatherd with objects in every section; every case applies to it. */
export const SOIF_STREAM = soifOf({
  delete: [object('http://a.example/gone', BOOKKEEPING)],
  refresh: [object('http://a.example/old', BOOKKEEPING)],
  update: [
    object('http://a.example/1', [
      ...BOOKKEEPING,
      ['MD5', 'd41d8cd98f00b204e9800998ecf8427e'],
      ['Title', 'plain'],
      ['Keywords', 'one\ntwo\n'],
    ]),
    object('http://a.example/2?a=b', [
      ...BOOKKEEPING,
      ['Body', 'na\xc3\xafve }\n@FILE { x\n'],
      ['Embed<1>-Type', 'GIF'],
    ]),
  ],
});

const first = '@FILE { http://a.example/1\n';
/** Changes the first updated object. */
const inFirst =
  (edit: (text: string) => string): StreamChange =>
  (stream) =>
    mapObjects(stream, (text) => (text.startsWith(first) ? edit(text) : text));
const adding = (attribute: string) => inFirst((text) => text.replace('\n', `\n${attribute}`));
const replacing = (pattern: RegExp | string, text: string) => inFirst((all) => all.replace(pattern, text));
const reordered =
  (order: readonly number[]): StreamChange =>
  (stream) => {
    const sections = sectionsOf(stream);
    return order.map((i) => sections[i] ?? '').join('');
  };

function mutant(name: string, rule: string, change: StreamChange, fails: readonly string[]): SoifMutant {
  return { name, rule, change, fails };
}

/** The case about each mechanical defect of an object. */
const CASES: readonly (readonly [RegExp, string])[] = [
  [/has no type/, 'names'],
  [/size too|two tabs|line end after its last value/, 'sizes'],
  [/CR LF/, 'line-ends'],
  [/has no URL|blank after its URL/, 'url'],
];

function caseOf(defect: string): string {
  return CASES.find(([pattern]) => pattern.test(defect))?.[1] ?? 'layout';
}

const TIMES = ['Time-to-Live', 'Last-Modification-Time', 'Refresh-Rate', 'Update-Time'] as const;

export const SOIF_MUTANTS: readonly SoifMutant[] = [
  ...OBJECT_DEFECTS.map(([name, rule, edit]) =>
    mutant(`an object ${name}`, rule, inFirst(edit), [caseOf(name)]),
  ),
  ...(
    [
      [[0, 2, 1], 'UPDATE before REFRESH'],
      [[1, 0, 2], 'REFRESH first'],
      [[1, 2, 0], 'DELETE last'],
      [[2, 0, 1], 'UPDATE first'],
      [[2, 1, 0], 'the sections reversed'],
      [[1, 2], 'no DELETE'],
      [[0, 2], 'no REFRESH'],
      [[0, 1], 'no UPDATE'],
      [[0, 0, 1, 2], 'DELETE twice'],
      [[0, 1, 2, 2], 'UPDATE twice'],
    ] as const
  ).map(([order, name]) => mutant(name, 'SOIF-8.1', reordered(order), ['wrappers'])),
  ...['DELETE', 'REFRESH', 'UPDATE'].flatMap((word) => [
    ...about('SOIF-8.8', ['wrappers'], mutant, {
      [`${word} in lower case`]: (s) => s.replace(`@${word}`, `@${word.toLowerCase()}`),
      [`a blank after ${word} {`]: (s) => s.replace(`@${word} {\n`, `@${word} { \n`),
      [`no blank in ${word} {`]: (s) => s.replace(`@${word} {\n`, `@${word}{\n`),
      [`two blanks in ${word} {`]: (s) => s.replace(`@${word} {\n`, `@${word}  {\n`),
      [`an object on the line of ${word}`]: (s) => s.replace(`@${word} {\n`, `@${word} { `),
    }),
    ...about('SOIF-8.8', ['line-ends'], mutant, {
      [`CR LF after ${word}`]: (s) => s.replace(`@${word} {\n`, `@${word} {\r\n`),
    }),
  ]),
  mutant('the last section is not closed', 'SOIF-8.8', (s) => s.slice(0, -2), ['wrappers']),
  mutant('a brace too many', 'SOIF-8.8', (s) => `${s}}\n`, ['wrappers']),
  mutant('the last line end is missing', 'SOIF-8.8', (s) => s.slice(0, -1), ['layout']),
  mutant('an empty line at the end', 'SOIF-8.8', (s) => `${s}\n`, ['layout']),
  ...about('SOIF-8.1', ['wrappers'], mutant, {
    'an object outside of the sections': (s) => `${s}${object('http://a.example/3', BOOKKEEPING)}`,
    'a section within another': (s) => s.replace('}\n@REFRESH', '@REFRESH'),
  }),
  ...about('SOIF-2.2', ['layout'], mutant, {
    'text between objects': (s) => s.replace('@FILE { http://a.example/2', 'and\n@FILE { http://a.example/2'),
    'an empty line between objects': (s) =>
      s.replace('@FILE { http://a.example/2', '\n@FILE { http://a.example/2'),
    'the stream ends after a value': (s) => s.slice(0, s.indexOf('Title')),
  }),
  ...about('SOIF-2.3', ['sizes', 'tolerant-reader'], mutant, {
    'the stream ends within a value': (s) => s.slice(0, s.indexOf('plain') + 2),
    'a size larger than the stream': replacing('Title{5}', 'Title{99999}'),
  }),
  ...about('SOIF-2.2', ['layout', 'tolerant-reader'], mutant, {
    'the stream ends within a name': (s) => s.slice(0, s.indexOf('Title') + 2),
    'a size that is no number': replacing('Title{5}', 'Title{x}'),
  }),
  mutant('a name with a blank', 'SOIF-2.8', replacing('Title{', 'My Title{'), ['names']),
  mutant('a name with a slash', 'SOIF-2.8', replacing('Title{', 'Ti/tle{'), ['names']),
  mutant('a name with a colon', 'SOIF-2.8', replacing('Title{', 'Ti:tle{'), ['names']),
  mutant('a name with a byte above 127', 'SOIF-2.8', replacing('Title{', 'T\xeftle{'), ['names']),
  mutant('an empty name', 'SOIF-2.8', replacing('Title{', '{'), ['names']),
  mutant('a type with an underscore', 'SOIF-2.8', replacing('@FILE', '@MY_FILE'), ['names']),
  mutant('a type with a full stop', 'SOIF-2.8', replacing('@FILE', '@MY.FILE'), ['names']),
  mutant('a URL with a blank', 'SOIF-2.9', replacing('/1\n', '/1 2\n'), ['url']),
  mutant('a URL with a tab', 'SOIF-2.9', replacing('/1\n', '/1\t2\n'), ['url']),
  mutant('a URL that begins with a brace', 'SOIF-2.9', replacing('{ http', '{ {http'), ['url']),
  mutant('a URL with a byte above 127', 'SOIF-2.9', replacing('/1\n', '/\xe4\n'), ['url-encoding']),
  mutant('a URL with braces', 'SOIF-2.9', replacing('/1\n', '/{1}\n'), ['url-encoding']),
  mutant('a URL with a control character', 'SOIF-2.9', replacing('/1\n', '/\x01\n'), ['url-encoding']),
  mutant('a URL with DEL', 'SOIF-2.9', replacing('/1\n', '/\x7f\n'), ['url-encoding']),
  mutant('an empty value', 'SOIF-3.2', adding('Author{0}:\t\n'), ['empty-values']),
  mutant('a name twice', 'SOIF-5.2', adding('Title{1}:\tx\n'), ['duplicates']),
  mutant('a name twice in other capitals', 'SOIF-2.11', adding('TITLE{1}:\tx\n'), ['duplicates']),
  ...TIMES.flatMap((name) =>
    (
      [
        ['a plus', '+1735689600'],
        ['a minus', '-1'],
        ['a zero before it', '01735689600'],
        ['a blank before it', ' 1735689600'],
        ['a line end', '1735689600\n'],
        ['a point', '1735689600.5'],
        ['an exponent', '1e9'],
        ['letters', 'yesterday'],
      ] as const
    ).map(([what, value]) =>
      mutant(
        `${name} with ${what}`,
        'SOIF-6.1',
        replacing(new RegExp(`${name}\\{\\d+\\}:\\t\\d+`), `${name}{${value.length}}:\t${value}`),
        ['times'],
      ),
    ),
  ),
  mutant('MD5 in capitals', 'SOIF-6.4', replacing(/d41d8\w+/, 'D41D8CD98F00B204E9800998ECF8427E'), ['md5']),
  mutant('MD5 with a digit too few', 'SOIF-6.4', replacing(/MD5\{32\}:\td/, 'MD5{31}:\t'), ['md5']),
  mutant('MD5 with a digit too many', 'SOIF-6.4', replacing(/MD5\{32\}:\t/, 'MD5{33}:\t0'), ['md5']),
  mutant('MD5 with a letter g', 'SOIF-6.4', replacing('d41d8', 'g41d8'), ['md5']),
  mutant('MD5 with a line end', 'SOIF-6.4', replacing(/MD5\{32\}:\t(\w+)\n/, 'MD5{33}:\t$1\n\n'), ['md5']),
  ...['Gatherer-Name', 'Gatherer-Host', 'Gatherer-Version', 'Update-Time'].map((name) =>
    mutant(`no ${name}`, 'SOIF-6.5', replacing(new RegExp(`${name}\\{.*\\n`), ''), ['required-attributes']),
  ),
  ...about('SOIF-6.5', ['required-attributes'], mutant, {
    'no Update-Time of a refreshed object': (s) => s.replace(/(\/old\n(?:.*\n)*?)Update-Time\{.*\n/, '$1'),
  }),
  mutant('a value in Latin-1', 'SOIF-7.4', replacing('plain', 'pl\xe4in'), ['utf-8']),
  mutant('a value with UTF-8 cut off', 'SOIF-7.4', replacing('plain', 'plai\xc3'), ['utf-8']),
  mutant('a value with an overlong form', 'SOIF-7.4', replacing('plain', 'pla\xc0\x80'), ['utf-8']),
  mutant('a value with a surrogate', 'SOIF-7.4', replacing('plain', 'pl\xed\xa0\x80'), ['utf-8']),
  ...about('SOIF-4.7', ['final-newlines'], mutant, {
    'lines without a last LF': replacing('Keywords{8}:\tone\ntwo\n\n', 'Keywords{7}:\tone\ntwo\n'),
  }),
  mutant('a size of another attribute', 'SOIF-2.3', replacing('Title{5}', 'Title{50}'), ['sizes']),
  ...about('SOIF-2.5', ['layout', 'tolerant-reader'], mutant, {
    'no tab after a name': replacing('Title{5}:\t', 'Title{5}:'),
  }),
];

function variant(
  name: string,
  rule: string,
  change: StreamChange,
  ...skips: readonly string[]
): Variant<StreamChange> {
  return { name, rule, change, skips };
}

export const SOIF_VARIANTS: readonly Variant<StreamChange>[] = [
  variant('a deleted object has only its URL', 'SOIF-8.4', (s) => s.replace(/(\/gone\n)(?:.*\n)*?\}/, '$1}')),
  variant(
    'attributes in another order',
    'SOIF-3.3',
    replacing(/(Gatherer-Name.*\n)(Gatherer-Host.*\n)/, '$2$1'),
  ),
  variant('names in lower case', 'SOIF-2.11', (s) =>
    s.replaceAll('Gatherer-', 'gatherer-').replaceAll('Update-Time', 'update-time'),
  ),
  variant('names in upper case', 'SOIF-2.11', (s) =>
    s.replaceAll('Gatherer-Name', 'GATHERER-NAME').replaceAll('Title', 'TITLE'),
  ),
  variant('another type', 'SOIF-2.8', replacing('@FILE', '@DOCUMENT-1')),
  variant('the type of a section', 'SOIF-8.10', replacing('@FILE', '@UPDATE')),
  variant('a type in lower case', 'SOIF-2.11', replacing('@FILE', '@file')),
  variant('the URL -', 'SOIF-2.10', replacing('{ http://a.example/1\n', '{ -\n')),
  variant('a URL with an at sign', 'SOIF-2.9', replacing('/1\n', '/@1\n')),
  variant('a value with NUL and braces', 'SOIF-1.2', replacing('plain', '}\0{@}')),
  variant('a value that looks like an end', 'SOIF-1.2', replacing('Title{5}:\tplain', 'Title{4}:\t}\n}\n')),
  variant(
    'a value that ends in two line ends',
    'SOIF-2.4',
    replacing('Keywords{8}:\tone\ntwo\n', 'Keywords{9}:\tone\ntwo\n\n'),
  ),
  variant(
    'a value of one line with its line end',
    'SOIF-2.4',
    replacing('Title{5}:\tplain', 'Title{6}:\tplain\n'),
  ),
  variant(
    'a value with CR LF',
    'SOIF-1.2',
    replacing('Keywords{8}:\tone\ntwo\n', 'Keywords{10}:\tone\r\ntwo\r\n'),
  ),
  variant('a time of 0', 'SOIF-6.1', replacing(/Refresh-Rate\{6\}:\t604800/, 'Refresh-Rate{1}:\t0')),
  variant('names with all characters', 'SOIF-2.8', adding('A_b.c-<1>{1}:\tx\n')),
  variant('no MD5', 'SOIF-6.4', replacing(/MD5\{.*\n/, ''), 'md5'),
  variant(
    'empty DELETE and REFRESH',
    'GATHERD-4.4',
    (s) => `@DELETE {\n}\n@REFRESH {\n}\n${sectionsOf(s)[2]}`,
  ),
];
