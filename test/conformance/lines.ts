// Defects of a status line that are made mechanically.

/** A defect in the form of a status line; its number stays the same. */
export interface LineDefect {
  readonly name: string;
  /** Changes a line with its LF. */
  readonly edit: (line: string) => string;
}

const bare = (line: string) => line.replace(/\r?\n$/, '');

/** Lines that are not `NNN - text` with LF alone. */
export const FORM_DEFECTS: readonly LineDefect[] = [
  { name: 'ends in CR LF', edit: (line) => `${bare(line)}\r\n` },
  { name: 'has no hyphen', edit: (line) => line.replace(' - ', ' ') },
  { name: 'has no blank before the hyphen', edit: (line) => line.replace(' - ', '- ') },
  { name: 'has no blank after the hyphen', edit: (line) => line.replace(' - ', ' -') },
  { name: 'has two blanks before the hyphen', edit: (line) => line.replace(' - ', '  - ') },
  { name: 'has a tab before the hyphen', edit: (line) => line.replace(' - ', '\t- ') },
  { name: 'has a colon for the hyphen', edit: (line) => line.replace(' - ', ': ') },
];

/** Lines whose number cannot be read. */
export const NUMBER_DEFECTS: readonly LineDefect[] = [
  { name: 'has a number of two digits', edit: (line) => line.slice(1) },
  { name: 'has a number of four digits', edit: (line) => `0${line}` },
  { name: 'has a sign before its number', edit: (line) => `+${line.slice(1)}` },
  { name: 'begins with a blank', edit: (line) => ` ${line}` },
];

/** Returns the line with another number. */
export function withCode(line: string, code: string): string {
  return code + line.slice(3);
}
