// Mutants of a References Server that does not know one rule about requests, and reads them as such a server does.
import { accepting, lenient, reading, type SstpMutant } from './sstp-builders.js';

/** Changes the header lines, and not the start line. */
const headers = (pattern: RegExp, replacement: string) => (text: string) =>
  text.replace(
    /^([^\n]*\n)([\s\S]*)$/,
    (_, start: string, rest: string) => start + rest.replace(pattern, replacement),
  );

const CARRIAGE_RETURNS: readonly SstpMutant[] = [
  lenient(
    'a bare CR is dropped',
    'S-30',
    reading(/\r(?!\n)/g, ''),
    'cr-in-phrase',
    'cr-in-value',
    'cr-in-name',
    'cr-in-number',
    'cr-after-value',
    'cr-before-value',
    'cr-for-empty-line',
  ),
  lenient(
    'a bare CR is a blank',
    'S-30',
    reading(/\r(?!\n)/g, ' '),
    'cr-in-phrase',
    'cr-in-value',
    'cr-after-value',
    'cr-before-value',
  ),
  lenient('a bare CR is a line end', 'S-30', reading(/\r(?!\n)/g, '\r\n'), 'bare-cr', 'cr-for-line-end'),
  lenient('a bare CR is a part of a phrase', 'S-30', reading(/^(SSTP.*)\r(?!\n)/, '$1'), 'cr-in-phrase'),
  lenient(
    'a bare CR is a part of an unknown value',
    'S-30',
    reading(/^(X_\w+: .*)\r(?!\n)/gm, '$1'),
    'cr-in-value',
  ),
  lenient(
    'several CR before a LF are one',
    'S-30',
    reading(/\r+\n/g, '\r\n'),
    'cr-after-value',
    'cr-for-empty-line',
  ),
  lenient('a CR around a value is white space', 'S-31', reading(/:\r(?=\d)/g, ': '), 'cr-before-value'),
];

const FOLDED: readonly SstpMutant[] = [
  lenient(
    'a folded line continues the line before it',
    'S-32',
    reading(/\r?\n[ \t]+/g, ' '),
    'folded-unknown',
    'folded-tab',
    'folded-number',
    'folded-header',
    'folded-first',
    'folded-blank',
    'folded-bare-lf',
  ),
  lenient(
    'a folded line is skipped',
    'S-32',
    reading(/\r?\n[ \t][^\r\n]*/g, ''),
    'folded',
    'folded-unknown',
    'folded-tab',
    'folded-header',
    'folded-first',
    'folded-blank',
    'folded-bare-lf',
  ),
  lenient(
    'an indented header is a header',
    'S-32',
    reading(/\n[ \t]+(?=\S)/g, '\n'),
    'folded-header',
    'folded-first',
  ),
  lenient('a tab does not fold a line', 'S-32', reading(/\r\n\t.*/g, ''), 'folded-tab'),
  lenient(
    'a line after an unknown header continues it',
    'S-32',
    reading(/^(X_\w+:.*)\r?\n[ \t].*/gm, '$1'),
    'folded-unknown',
  ),
  lenient('a line of one blank is skipped', 'S-32', reading(/\n \r/g, ''), 'folded-blank'),
];

const HEADERS: readonly SstpMutant[] = [
  lenient(
    'blanks before a colon are dropped',
    'S-31',
    headers(/[ \t]+:/g, ':'),
    'blank-before-colon',
    'tab-before-colon',
  ),
  lenient('a hyphen is an underscore', 'S-32', headers(/^X-/gm, 'X_'), 'hyphen-in-name'),
  lenient(
    'headers of odd names are skipped',
    'S-32',
    headers(/^(?!HEADER_)X[^\w:][^:]*:.*\r\n|^X_[^\w:]:.*\r\n/gm, ''),
    'hyphen-in-name',
    'blank-in-name',
    'dot-in-name',
    'octet-in-name',
  ),
  lenient('names may have octets above 127', 'S-32', headers(/^X_\xe4/gm, 'X_a'), 'octet-in-name'),
  lenient('names may have dots', 'S-32', headers(/^X\./gm, 'X_'), 'dot-in-name'),
  lenient('names may have blanks', 'S-32', headers(/^X /gm, 'X_'), 'blank-in-name'),
  lenient(
    'lines without a colon are skipped',
    'S-32',
    headers(/^[^:\r\n]+\r\n/gm, ''),
    'no-colon',
    'word',
    'equals-sign',
  ),
  lenient('an equals sign is a colon', 'S-32', headers(/^(X_\w+)=/gm, '$1:'), 'equals-sign'),
  lenient(
    'control octets are dropped',
    'S-36',
    headers(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, ''),
    'nul-in-value',
    'control-in-value',
    'delete-in-value',
  ),
  lenient('a value ends at a NUL', 'S-36', headers(/\0[^\r\n]*/g, ''), 'nul-in-value'),
  lenient('an octet 7F is a letter', 'S-36', headers(/\x7f/g, 'x'), 'delete-in-value'),
  lenient('escape octets are letters', 'S-36', headers(/\x1b/g, 'x'), 'control-in-value'),
];

const START_LINES: readonly SstpMutant[] = [
  lenient(
    'white space before the code has any length',
    'S-28',
    reading(/^(SSTP\/1\.0)[ \t]+/, '$1 '),
    'two-spaces',
    'tab-before-code',
  ),
  lenient('a tab follows the code', 'S-28', reading(/^(SSTP\/1\.0 \d{3})\t/, '$1 '), 'tab-after-code'),
  lenient(
    'a code has any number of digits',
    'S-5',
    reading(/^(SSTP\/1\.0) 0*(\d\d) /, '$1 0$2 '),
    'two-digits',
    'four-digits',
  ),
  lenient(
    'letters follow the code',
    'S-28',
    reading(/^(SSTP\/1\.0 \d{3})(?=[A-Z])/, '$1 '),
    'code-and-letter',
  ),
  lenient('a code has a sign', 'S-5', reading(/^(SSTP\/1\.0) \+/, '$1 0'), 'sign-of-code'),
  lenient('a start line needs no code', 'S-28', reading(/^SSTP\/1\.0\r/, 'SSTP/1.0 081\r'), 'no-code'),
  lenient('a version needs no minor number', 'S-28', reading(/^SSTP\/1 /, 'SSTP/1.0 '), 'no-minor'),
  lenient('a version needs no number', 'S-28', reading(/^SSTP\/ /, 'SSTP/1.0 '), 'no-version'),
  lenient(
    'a version has any letters',
    'S-28',
    reading(/^sstp\//i, 'SSTP/'),
    'small-letters',
    'capital-and-small',
  ),
  lenient('blanks before a version are skipped', 'S-28', reading(/^[ \t]+/, ''), 'blank-first'),
  {
    name: 'empty lines before a request are skipped',
    rule: 'S-28',
    change: { request: reading(/^(?:\r?\n)+(?=SSTP)/, '') },
    fails: ['refuse/empty-line-first', 'persistence/empty-line'],
  },
  lenient('a NUL before a request is skipped', 'S-47', reading(/^\0+/, ''), 'nul-first'),
  accepting('a line of HTTP needs no version', 'S-47', /^GET \/stat\r\n/, ['refuse/http-without-version']),
];

export const SSTP_LENIENT_MUTANTS: readonly SstpMutant[] = [
  ...CARRIAGE_RETURNS,
  ...FOLDED,
  ...HEADERS,
  ...START_LINES,
];
