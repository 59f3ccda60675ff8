import type { VariableRow } from './variables.js';

const NAME_MANY = ' (may be repeated)';

/**
 * The variables of a configuration file as plain text: what `--help-variables` prints. Each is a line `Name: syntax`, then, two
 * blanks in, what it means and what holds without it; in alphabetical order.
 */
export function variablesText(rows: readonly VariableRow[]): string {
  return sorted(rows)
    .map(({ name, syntax, many, description, default: value }) => {
      const head = `${name}: ${syntax}${many ? NAME_MANY : ''}`.trimEnd();
      return `${head}\n  ${description}\n  default: ${value === '' ? 'none' : value}\n`;
    })
    .join('');
}

/** The same as a Markdown table, for a README. */
export function variablesMarkdown(rows: readonly VariableRow[]): string {
  const lines = sorted(rows).map(({ name, syntax, many, description, default: value }) => {
    const cells = [`\`${name}\``, `${syntax}${many ? NAME_MANY : ''}`, value === '' ? '' : `\`${value}\``];
    return `| ${[...cells, description].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  });
  return `| variable | value | default | meaning |\n| --- | --- | --- | --- |\n${lines.join('')}`;
}

function sorted(rows: readonly VariableRow[]): readonly VariableRow[] {
  const key = ({ name }: VariableRow): string => name.toLowerCase();
  return [...rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}
