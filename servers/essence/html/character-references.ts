import { Tokenizer } from 'htmlparser2';

/** The replacement of a reference, and its length in the source; 0 if the `&` is a plain character. */
interface Reference {
  readonly characters: string;
  readonly length: number;
}

/** Caches of references; those longer than `MAX_KEY_LENGTH` are looked up each time. */
const TEXT_CACHE = new Map<string, Reference>();
const VALUE_CACHE = new Map<string, Reference>();
const MAX_CACHED = 2048;
/** V8 copies strings up to this length; a longer substring would keep the whole page in memory. */
const MAX_KEY_LENGTH = 12;

/**
 * Returns the text of `source` from `start` to `end` with its character references replaced as the HTML
 * standard requires: names with and without semicolon, numbers, the old Windows numbers. htmlparser2's
 * tokenizer recognizes the references.
 *
 * @param first - index of the first `&`, not before `start`; -1 or beyond `end` if the page has no more
 * @param inValue - in the value of an attribute, `&copy=` is not a reference
 * @param isText - returns true for an `&` that is not replaced
 */
export function decodeReferences(
  source: string,
  start: number,
  end: number,
  first: number,
  inValue: boolean,
  isText?: (index: number) => boolean,
): string {
  let decoded = '';
  let from = start;
  for (let index = first; index >= 0 && index < end; ) {
    const { characters, length } =
      isText?.(index) === true ? NO_REFERENCE : referenceAt(source, index, inValue);
    if (length > 0) {
      decoded += source.slice(from, index) + characters;
      from = index + length;
    }
    index = source.indexOf('&', index + Math.max(1, length));
  }
  return from === start ? source.slice(start, end) : decoded + source.slice(from, end);
}

const NO_REFERENCE: Reference = { characters: '', length: 0 };

/** A reference is determined by its letters, digits and `#`, and by the next character. */
function referenceAt(source: string, index: number, inValue: boolean): Reference {
  let end = index + 1;
  while (end < source.length && isNamePart(source.charCodeAt(end))) end++;
  if (end === index + 1) return NO_REFERENCE;
  const key = source.slice(index, end + 1);
  const cache = inValue ? VALUE_CACHE : TEXT_CACHE;
  let reference = cache.get(key);
  if (reference === undefined) {
    reference = inValue ? readInValue(key) : readInText(key);
    if (key.length <= MAX_KEY_LENGTH && cache.size < MAX_CACHED) cache.set(key, reference);
  }
  return reference;
}

function isNamePart(c: number): boolean {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x5a) || c === 0x23;
}

const noop = () => undefined;

/** Callbacks of the tokenizer that are not needed. */
const SILENT = {
  onattribdata: noop,
  onattribentity: noop,
  onattribend: noop,
  onattribname: noop,
  oncdata: noop,
  onclosetag: noop,
  oncomment: noop,
  ondeclaration: noop,
  onend: noop,
  onopentagend: noop,
  onopentagname: noop,
  onprocessinginstruction: noop,
  onselfclosingtag: noop,
  ontext: noop,
  ontextentity: noop,
};

function readInText(key: string): Reference {
  let characters = '';
  let length = 0;
  const tokenizer = new Tokenizer(
    {},
    {
      ...SILENT,
      ontextentity: (code: number, end: number) => {
        characters += String.fromCodePoint(code);
        length = end;
      },
    },
  );
  tokenizer.write(key);
  tokenizer.end();
  return { characters, length };
}

const BEFORE_VALUE = '<a b="';

function readInValue(key: string): Reference {
  let characters = '';
  let rest = 0;
  const tokenizer = new Tokenizer(
    {},
    {
      ...SILENT,
      onattribentity: (code: number) => {
        characters += String.fromCodePoint(code);
      },
      onattribdata: (start: number) => {
        rest = start - BEFORE_VALUE.length;
      },
    },
  );
  // The end of the value makes the tokenizer report where the rest of the value begins.
  tokenizer.write(`${BEFORE_VALUE}${key.endsWith('"') ? key : `${key}"`}>`);
  return { characters, length: characters === '' ? 0 : rest };
}
