// Defects of values, names and objects that are made mechanically, for all servers that relay the fixture.
import { attributesIn, withAttributes } from './soif-text.js';

/** A defect of a value. */
export interface ValueDefect {
  readonly name: string;
  /** Changes a value, whose characters are bytes; undefined: it is lost. */
  readonly edit: (value: string) => string | undefined;
  /** The objects below `values/` in which it is seen at least. */
  readonly seenIn: readonly string[];
}

const utf8 = (value: string) => Buffer.from(value, 'latin1').toString('utf8');
const bytesOf = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const replaced = (pattern: RegExp, replacement: string) => (value: string) =>
  value.replace(pattern, replacement);
const cutAt = (pattern: RegExp) => (value: string) =>
  value.slice(0, pattern.exec(value)?.index ?? value.length);
const lines = (edit: (lines: readonly string[]) => readonly string[]) => (value: string) =>
  edit(value.split('\n')).join('\n');

type Row = readonly [name: string, edit: ValueDefect['edit'], ...seenIn: readonly string[]];

const BYTES: readonly Row[] = [
  ['are cut at a NUL', cutAt(/\0/), 'nul', 'every-byte'],
  ['lose their NULs', replaced(/\0/g, ''), 'nul', 'every-byte'],
  ['have blanks for NULs', replaced(/\0/g, ' '), 'nul', 'every-byte'],
  ['lose NULs at their ends', replaced(/\0+$/, ''), 'nul'],
  [
    'have a question mark for each byte above 127',
    replaced(/[\x80-\xff]/g, '?'),
    'utf-8',
    'latin-1',
    'every-byte',
  ],
  ['lose bytes above 127', replaced(/[\x80-\xff]/g, ''), 'utf-8', 'latin-1', 'every-byte'],
  [
    'have seven bits',
    (value) => value.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) & 127)),
    'utf-8',
    'latin-1',
    'every-byte',
  ],
  ['are written as UTF-8 although they are bytes', bytesOf, 'utf-8', 'latin-1', 'every-byte'],
  ['are read as UTF-8', (value) => bytesOf(utf8(value)), 'latin-1', 'every-byte'],
  [
    'are read as UTF-8 and written as Latin-1',
    (value) => Buffer.from(utf8(value), 'latin1').toString('latin1'),
    'utf-8',
  ],
  ['are normalized', (value) => (isUtf8(value) ? bytesOf(utf8(value).normalize('NFD')) : value), 'utf-8'],
  ['lose characters of four bytes', replaced(/[\xf0-\xf7][\x80-\xbf]{3}/g, ''), 'utf-8'],
  ['have hyphens for dashes', replaced(/\xe2\x80\x93/g, '-'), 'utf-8'],
  ['have blanks for bytes A0', replaced(/\xa0/g, ' '), 'latin-1', 'every-byte'],
  ['are cut at a byte FF', cutAt(/\xff/), 'latin-1'],
  ['lose the controls of Latin-1', replaced(/[\x80-\x9f]/g, ''), 'utf-8', 'every-byte'],
  ['lose control bytes', replaced(/[\x01-\x08\x0b\x0c\x0e-\x1f]/g, ''), 'every-byte'],
  ['lose bytes 127', replaced(/\x7f/g, ''), 'every-byte'],
  ['are cut at a byte 1A', cutAt(/\x1a/), 'every-byte'],
  ['lose escape characters', replaced(/\x1b/g, ''), 'every-byte'],
  ['have line ends for form feeds', replaced(/\f/g, '\n'), 'every-byte'],
  ['lose their first byte', (value) => value.slice(1), 'utf-8', 'long', 'near'],
  ['lose their last byte', (value) => value.slice(0, -1), 'utf-8', 'long', 'near'],
  ['have a NUL after them', (value) => `${value}\0`, 'utf-8', 'long', 'near'],
  ['are doubled', (value) => value + value, 'lines', 'near'],
  ['have one byte changed', (value) => value.replace('x', 'y'), 'lines', 'marks'],
];

const LINES: readonly Row[] = [
  ['are cut to one line', cutAt(/\n/), 'lines', 'status-lines', 'soif'],
  ['are cut to two lines', cutAt(/(?<=\n.*)\n/), 'lines', 'status-lines'],
  ['have LF for CR LF', replaced(/\r\n/g, '\n'), 'cr-lf'],
  ['lose their CRs', replaced(/\r/g, ''), 'cr-lf', 'every-byte'],
  ['have LF for CR', replaced(/\r(?!\n)/g, '\n'), 'cr-lf', 'every-byte'],
  ['have CR LF for LF', replaced(/(?<!\r)\n/g, '\r\n'), 'lines', 'every-byte'],
  ['have CR LF at their ends', replaced(/(?<!\r)\n$/, '\r\n'), 'lines'],
  ['lose the line end at their ends', replaced(/\n$/, ''), 'lines', 'cr-lf', 'near'],
  ['get a line end', replaced(/(?<!\n)$/, '\n'), 'utf-8', 'nul', 'near'],
  ['lose empty lines', replaced(/\n\n+/g, '\n'), 'lines', 'soif'],
  ['have one line', replaced(/\n/g, ' '), 'lines', 'cr-lf', 'soif'],
  ['have their lines joined', replaced(/\n/g, ''), 'lines', 'soif'],
  ['lose their last line', lines((all) => (all.length > 1 ? all.slice(0, -1) : all)), 'lines', 'soif'],
  ['lose their first line', lines((all) => (all.length > 1 ? all.slice(1) : all)), 'lines', 'soif'],
  ['have their lines sorted', lines((all) => all.toSorted()), 'lines'],
  ['have their lines reversed', lines((all) => all.toReversed()), 'lines'],
  ['have each line once', lines((all) => [...new Set(all)]), 'lines', 'soif'],
  ['have indented lines', replaced(/\n(?=.)/g, '\n '), 'lines'],
  ['lose blanks at the ends of lines', replaced(/[ \t]+(?=\n|$)/g, ''), 'blanks'],
  ['are cut at 499', cutAt(/^499 - /m), 'status-lines'],
  ['are cut at 130', cutAt(/^130 - /m), 'status-lines'],
  ['lose lines that look like status lines', replaced(/^\d{3} - .*\n?/gm, ''), 'status-lines'],
  ['have a blank before status lines', replaced(/^(?=\d{3} - )/gm, ' '), 'status-lines'],
  ['are cut at a brace', cutAt(/\}/), 'soif'],
  ['are cut at a line with a brace', cutAt(/^\}$/m), 'soif'],
  ['are cut at an at sign', cutAt(/@/), 'soif'],
  ['lose lines that look like groups', replaced(/^@\w+ \{\n/gm, ''), 'soif'],
  ['have a backslash before braces', replaced(/[{}]/g, '\\$&'), 'soif', 'marks'],
  ['lose sizes in braces', replaced(/\{\d+\}/g, ''), 'soif'],
];

const BLANKS: readonly Row[] = [
  ['are trimmed', (value) => value.trim(), 'blanks', 'near', 'lines'],
  ['lose blanks at their begin', replaced(/^[ \t]+/, ''), 'blanks'],
  ['lose blanks at their end', replaced(/[ \t]+$/, ''), 'blanks', 'near'],
  ['lose one blank at their begin', replaced(/^ /, ''), 'blanks'],
  ['lose one blank at their end', replaced(/ $/, ''), 'blanks', 'near'],
  ['have blanks for tabs', replaced(/\t/g, ' '), 'blanks', 'soif'],
  ['have eight blanks for tabs', replaced(/\t/g, '        '), 'blanks'],
  ['have one blank for several', replaced(/ {2,}/g, ' '), 'blanks', 'near'],
  ['have one blank for white space', replaced(/\s+/g, ' '), 'blanks', 'lines', 'near'],
  ['have no blanks', replaced(/ /g, ''), 'blanks', 'utf-8', 'near'],
  ['are lost if they are blank', (value) => (value.trim() === '' ? undefined : value), 'empty'],
  ['are lost if they are a line end', (value) => (value === '\n' ? undefined : value), 'empty'],
  ['are a word if they are empty', (value) => (value === '' ? 'none' : value), 'empty'],
];

const MARKS: readonly Row[] = [
  ['have percent signs decoded', (value) => value.replaceAll('%25', '%'), 'marks'],
  ['have percent signs encoded', (value) => value.replaceAll('%', '%25'), 'marks', 'every-byte'],
  ['have entities decoded', replaced(/&amp;/g, '&'), 'marks'],
  ['have entities encoded', replaced(/</g, '&lt;'), 'marks', 'every-byte'],
  ['lose their tags', replaced(/<\/?\w+>/g, ''), 'marks'],
  ['lose double quotes', replaced(/"/g, ''), 'marks', 'every-byte'],
  ['lose single quotes', replaced(/'/g, ''), 'marks', 'every-byte'],
  ['have double quotes doubled', replaced(/"/g, '""'), 'marks'],
  ['have backslashes doubled', replaced(/\\/g, '\\\\'), 'marks', 'every-byte'],
  ['have one backslash for two', replaced(/\\\\/g, '\\'), 'marks'],
  ['lose backslashes', replaced(/\\/g, ''), 'marks', 'every-byte'],
  ['have escapes read', replaced(/\\n/g, '\n'), 'marks'],
  ['have variables expanded', replaced(/\$HOME/g, '/root'), 'marks'],
  ['are cut at a number sign', cutAt(/#/), 'marks', 'every-byte'],
  ['have a blank for a plus', replaced(/\+/g, ' '), 'marks', 'every-byte'],
  ['have percent signs for tildes', replaced(/~/g, '%7e'), 'marks', 'every-byte'],
  ['are cut at a semicolon', cutAt(/;/), 'marks', 'every-byte'],
  ['lose stars', replaced(/\*/g, ''), 'marks', 'every-byte'],
  ['are in small letters', (value) => value.replace(/[A-Z]/g, (one) => one.toLowerCase()), 'utf-8', 'near'],
  ['are in capitals', (value) => value.replace(/[a-z]/g, (one) => one.toUpperCase()), 'lines', 'near'],
  ['begin with a capital', (value) => value.replace(/^[a-z]/, (one) => one.toUpperCase()), 'near', 'nul'],
];

const SIZES: readonly Row[] = [
  ...[80, 255, 256, 512, 1023, 1024, 4095, 4096, 8191, 8192].map(
    (size): Row => [`are cut to ${size} bytes`, (value) => value.slice(0, size), 'long'],
  ),
  ...[32_767, 32_768, 65_535, 65_536].map(
    (size): Row => [`are cut to ${size} bytes`, (value) => value.slice(0, size), 'long'],
  ),
  ['have sizes of 16 bits', (value) => value.slice(0, value.length % 65_536), 'long'],
  [
    'are lost if they are longer than 65535 bytes',
    (value) => (value.length > 65_535 ? undefined : value),
    'long',
  ],
  ['have long lines wrapped', (value) => value.replace(/(.{1000})(?=.)/g, '$1\n'), 'long'],
  ['have long lines cut', (value) => value.replace(/(.{4096}).+/g, '$1'), 'long'],
  [
    'have a block of 4096 bytes twice',
    (value) => (value.length > 8192 ? value.slice(0, 8192) + value.slice(4096) : value),
    'long',
  ],
  [
    'lack a block of 4096 bytes',
    (value) => (value.length > 8192 ? value.slice(0, 4096) + value.slice(8192) : value),
    'long',
  ],
];

function isUtf8(value: string): boolean {
  return bytesOf(utf8(value)) === value;
}

/** Defects of values. */
export const VALUE_DEFECTS: readonly ValueDefect[] = [...BYTES, ...LINES, ...BLANKS, ...MARKS, ...SIZES].map(
  ([name, edit, ...seenIn]) => ({ name, edit, seenIn }),
);

/** A defect of the attributes of an object. */
export interface ObjectDefect {
  readonly name: string;
  /** Changes the text of an object. */
  readonly edit: (object: string) => string;
  /** The objects below `values/` in which it is seen at least; `others`: in objects elsewhere. */
  readonly seenIn: readonly string[];
}

const renamed = (edit: (name: string) => string) => (object: string) =>
  withAttributes(
    object,
    attributesIn(object).map(([name, value]) => [edit(name), value] as const),
  );
const attributes =
  (edit: (all: readonly (readonly [string, string])[]) => readonly (readonly [string, string])[]) =>
  (object: string) =>
    withAttributes(object, edit(attributesIn(object)));
const without = (lost: string) => attributes((all) => all.filter(([name]) => name !== lost));

/** Defects of names and attributes. */
export const ATTRIBUTE_DEFECTS: readonly ObjectDefect[] = [
  ...(
    [
      ['names have underlines for hyphens', renamed((name) => name.replaceAll('-', '_')), 'names', 'others'],
      ['names lose their hyphens', renamed((name) => name.replaceAll('-', '')), 'names', 'others'],
      ['names lose angle brackets', renamed((name) => name.replace(/[<>]/g, '')), 'names'],
      [
        'names have parentheses for angle brackets',
        renamed((name) => name.replace(/<(\d)>/, '($1)')),
        'names',
      ],
      ['names are cut to 31 bytes', renamed((name) => name.slice(0, 31)), 'names'],
      ['names are cut to 32 bytes', renamed((name) => name.slice(0, 32)), 'names'],
      ['names lose digits at their ends', renamed((name) => name.replace(/-\d+$/, '')), 'names'],
      ['names lose what follows a dot', renamed((name) => name.replace(/\..*/, '')), 'names'],
      ['names have hyphens for underlines', renamed((name) => name.replaceAll('_', '-')), 'names'],
      ['the second embedded object is the first', renamed((name) => name.replace('<2>', '<1>')), 'names'],
      [
        'embedded objects count from 0',
        renamed((name) => name.replace(/<(\d)>/, (_, n) => `<${n - 1}>`)),
        'names',
      ],
      ['names begin with X-', renamed((name) => (name === 'Title' ? 'X-Title' : name)), 'names', 'others'],
      ['Keywords is renamed', renamed((name) => (name === 'Keywords' ? 'Keyword' : name)), 'lines'],
      [
        'Description is renamed',
        renamed((name) => (name === 'Description' ? 'Abstract' : name)),
        'lines',
        'others',
      ],
      ['MD5 is renamed', renamed((name) => (name === 'MD5' ? 'Digest' : name)), 'others'],
      ...['Title', 'Description', 'Type', 'MD5', 'Refresh-Rate', 'Time-to-Live'].map(
        (name) => [`${name} is lost`, without(name), 'utf-8', 'others'] as const,
      ),
      ['Keywords is lost', without('Keywords'), 'lines', 'soif', 'long'],
      ['a name of one letter is lost', without('x'), 'names'],
      ['a name that is not in small letters only is lost', without('MiXeD-CaSe'), 'names'],
      [
        'embedded attributes are lost',
        attributes((all) => all.filter(([name]) => !name.includes('<'))),
        'names',
      ],
      ['the last attribute is lost', attributes((all) => all.slice(0, -1)), 'lines', 'names', 'others'],
      ['attributes after the twelfth are lost', attributes((all) => all.slice(0, 12)), 'names'],
      ['attributes after the sixteenth are lost', attributes((all) => all.slice(0, 16)), 'names'],
      [
        'the last attribute comes twice',
        attributes((all) => [...all, ...all.slice(-1)]),
        'lines',
        'names',
        'others',
      ],
      [
        'Title comes twice',
        attributes((all) => all.flatMap((one) => (one[0] === 'Title' ? [one, one] : [one]))),
        'lines',
      ],
      ['Title comes a second time, empty', attributes((all) => [...all, ['Title', '']]), 'lines', 'others'],
      ['values stand one attribute too early', attributes(shifted), 'names', 'others'],
      [
        'Title and Description change places',
        attributes((all) => all.map(([name, value]) => [exchanged(name), value] as const)),
        'lines',
        'others',
      ],
    ] as readonly (readonly [string, (object: string) => string, ...string[]])[]
  ).map(([name, edit, ...seenIn]) => ({ name, edit, seenIn })),
];

function shifted(all: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return all.map(([name], at) => [name, all[(at + 1) % all.length]?.[1] ?? ''] as const);
}

function exchanged(name: string): string {
  if (name === 'Title') return 'Description';
  return name === 'Description' ? 'Title' : name;
}

/** Names of an object by which a server may take it for another one. */
export const CONFUSIONS: Readonly<Record<string, (url: string) => string>> = {
  'without case': (url) => url.toLowerCase(),
  'with the host in any case and the path without case': (url) =>
    url.replace(/^([^/]*\/\/[^/]*)(.*)/, (_, host, path) => host + path.toUpperCase()),
  'without fragments': (url) => url.replace(/#.*/, ''),
  'without queries': (url) => url.replace(/\?.*/, ''),
  'with percent signs decoded once': (url) => url.replace(/%2f/gi, '/').replace(/%7e/gi, '~'),
  'with percent signs in capitals': (url) => url.replace(/%[0-9a-f]{2}/gi, (one) => one.toUpperCase()),
  'with encoded tildes': (url) => url.replaceAll('~', '%7e'),
  'with percent signs encoded': (url) => url.replaceAll('%25', '%'),
  'without the usual port': (url) => url.replace(':80/', '/'),
  'without a dot after the host': (url) => url.replace('./', '/'),
  'without a slash at the end': (url) => url.replace(/\/$/, ''),
  'without the scheme': (url) => url.replace(/^\w+:\/\//, ''),
  'with http for https': (url) => url.replace(/^https:/, 'http:'),
  'by the first 25 letters': (url) => url.slice(0, 25),
  'by the first 32 letters': (url) => url.slice(0, 32),
};
