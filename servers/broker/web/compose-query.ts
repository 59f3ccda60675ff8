// Composes a query from the fields of the advanced form.
/** Rows for attributes in the advanced form. */
export const ATTRIBUTE_ROWS = 3;

/** The select operators of the language (BRK-2.14, 2.17) with their labels. */
export const SELECT_OPERATORS = [
  { word: ':', text: 'contains' },
  { word: 'exact', text: 'is exactly' },
  { word: 'regexp', text: 'matches the pattern' },
  { word: 'less-than', text: 'is less than' },
  { word: 'greater-than', text: 'is greater than' },
] as const;

/**
 * Composes a query of the Broker's language (BRK-2) from the fields of the advanced form: `all`, `phrase`,
 * `any`, `none`, and `attribute1` `is1` `value1` up to 3. Everything is quoted, so that no word is read as an
 * operator (BRK-2.6), and grouped by parentheses, because operators group to the right (BRK-2.12). Returns ''
 * if every field is empty.
 */
export function composeQuery(fields: URLSearchParams): string {
  const field = (name: string) => (fields.get(name) ?? '').replace(/\s+/g, ' ').trim();
  const words = (name: string) => wordsAndPhrases(field(name)).map(quoted);
  const any = words('any');
  const parts = [
    ...words('all'),
    ...(field('phrase') === '' ? [] : [quoted(field('phrase').replaceAll('"', ''))]),
    ...(any.length > 1 ? [`(${any.join(' or ')})`] : any),
  ];
  for (let row = 1; row <= ATTRIBUTE_ROWS; row++) {
    const attribute = field(`attribute${row}`);
    const value = field(`value${row}`);
    if (attribute === '' || value === '') continue;
    const operator = SELECT_OPERATORS.find(({ word }) => word === field(`is${row}`))?.word ?? ':';
    parts.push(`${quotedName(attribute)} ${operator} ${quoted(value)}`);
  }
  const none = words('none').map((word) => `not ${word}`);
  return [...parts, ...none].join(' and ');
}

/** Splits a text into words at blanks; quoted text is one word. */
function wordsAndPhrases(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"?|[^\s"]+/g)]
    .map((match) => (match[1] ?? match[0]).trim())
    .filter((word) => word !== '');
}

function quotedName(name: string): string {
  return /^[A-Za-z][\w<>-]*$/.test(name) && !/^(?:and|or|not|except)$/i.test(name) ? name : quoted(name);
}

/**
 * Quotes a text. BRK-2.7: a backslash and the next character reach the engine, which reads that one literally;
 * a backslash before a quote or at the end has none, and stands for itself.
 */
export function quoted(text: string): string {
  return `"${text.replace(/\\[^"]|[\\"]/gs, (part) => (part.length > 1 ? part : `\\${part}`))}"`;
}
