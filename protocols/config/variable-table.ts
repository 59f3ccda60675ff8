// Formats the variables of a configuration file for help texts and READMEs.
import type { VariableRow } from './variables.js';

const REPEATABLE = ' (may be repeated)';

/**
 * Formats the variables of a configuration file as plain text for `--help-variables`, in alphabetical order.
 * Each has a line `Name: syntax`, then, indented by two blanks, its meaning and its default.
 */
export function variablesText(rows: readonly VariableRow[]): string {
  return sortByName(rows)
    .map(({ name, syntax, many, description, default: value }) => {
      const head = `${name}: ${syntax}${many ? REPEATABLE : ''}`.trimEnd();
      return `${head}\n  ${description}\n  default: ${value === '' ? 'none' : value}\n`;
    })
    .join('');
}

/** Formats the variables as a Markdown table. */
export function variablesMarkdown(rows: readonly VariableRow[]): string {
  const lines = sortByName(rows).map(({ name, syntax, many, description, default: value }) => {
    const cells = [`\`${name}\``, `${syntax}${many ? REPEATABLE : ''}`, value === '' ? '' : `\`${value}\``];
    return `| ${[...cells, description].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  });
  return `| variable | value | default | meaning |\n| --- | --- | --- | --- |\n${lines.join('')}`;
}

function sortByName(rows: readonly VariableRow[]): readonly VariableRow[] {
  const key = ({ name }: VariableRow): string => name.toLowerCase();
  return [...rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}
