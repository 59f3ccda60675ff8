// The variables of a configuration file: one zod object gives their names, checks and documentation.
import { z } from 'zod';
import { ConfigError, throwConfigErrors } from '../errors.js';

/** One assignment of a file. */
export interface Assignment {
  readonly name: string;
  readonly value: string;
  readonly line: number;
}

/** One row of the documentation's table. */
export interface VariableRow {
  /** Name of the value in the parsed configuration. */
  readonly key: string;
  /** Name of the variable in the file. */
  readonly name: string;
  /** May occur more than once. */
  readonly many: boolean;
  /** The syntax of the value, in a word or two; empty when the schema does not have it. */
  readonly syntax: string;
  /** The default value; empty when there is no default. */
  readonly default: string;
  readonly description: string;
}

/**
 * The variables of one configuration file: a zod object whose fields have as metadata `title` (the variable's
 * name in the file), `description`, `many: true` if the variable may occur more than once, `syntax`, and
 * `shown`, a default that is not in the schema.
 */
export class VariableTable<Shape extends z.ZodRawShape> {
  readonly #schema: z.ZodObject<Shape>;
  readonly #keys = new Map<string, string>();
  readonly #many = new Set<string>();
  readonly #onDuplicate: 'error' | 'last';

  constructor(
    schema: z.ZodObject<Shape>,
    /**
     * The effect of a second value of a single variable: an error (G-24), or a warning and the last value
     * applies.
     */
    onDuplicate: 'error' | 'last',
  ) {
    this.#schema = schema;
    this.#onDuplicate = onDuplicate;
    for (const variable of this.describe()) {
      this.#keys.set(variable.name.toLowerCase(), variable.key);
      if (variable.many) this.#many.add(variable.key);
    }
  }

  /** The rows of the documentation's table. */
  describe(): VariableRow[] {
    return Object.entries(this.#schema.shape).map(([key, field]) => {
      const meta = metaOf(field);
      const metaText = (name: string): string | undefined => {
        const value = meta?.[name];
        return typeof value === 'string' ? value : undefined;
      };
      return {
        key,
        name: metaText('title') ?? key,
        many: meta?.many === true,
        syntax: metaText('syntax') ?? syntaxOf(field),
        default: metaText('shown') ?? defaultOf(field),
        description: metaText('description') ?? '',
      };
    });
  }

  /**
   * Checks the assignments of a file.
   * @throws ConfigError for the variables whose values cannot be used; several as one error
   */
  read(assignments: readonly Assignment[], file: string): VariableReading<z.output<z.ZodObject<Shape>>> {
    const warnings: ConfigError[] = [];
    const errors: ConfigError[] = [];
    const input: Record<string, string | string[]> = {};
    /** The lines of a variable's values. */
    const lines = new Map<string, number[]>();
    for (const { name, value, line } of assignments) {
      const key = this.#keys.get(name.toLowerCase());
      if (key === undefined) {
        warnings.push(new ConfigError(file, line, name, 'unknown variable'));
        continue;
      }
      if (value === '') continue;
      const earlier = lines.get(key)?.at(-1);
      lines.set(key, this.#many.has(key) ? [...(lines.get(key) ?? []), line] : [line]);
      if (this.#many.has(key)) {
        const list = input[key];
        if (Array.isArray(list)) list.push(value);
        else input[key] = [value];
        continue;
      }
      if (earlier !== undefined) {
        const problem = new ConfigError(file, line, name, `was already set in line ${earlier}`);
        if (this.#onDuplicate === 'error') errors.push(problem);
        else warnings.push(problem);
      }
      input[key] = value;
    }
    const result = this.#schema.safeParse(input);
    if (!result.success) errors.push(...this.#errorsOf(result.error.issues, lines, file));
    throwConfigErrors(errors);
    if (!result.success) throw new ConfigError(file, 0, '', 'cannot be used');
    return { values: result.data, assigned: new Set(lines.keys()), warnings };
  }

  #errorsOf(
    issues: readonly z.core.$ZodIssue[],
    lines: ReadonlyMap<string, readonly number[]>,
    file: string,
  ): ConfigError[] {
    return issues.map(({ path: [field, index], message }) => {
      const key = String(field ?? '');
      const name = this.describe().find((variable) => variable.key === key)?.name ?? key;
      const line = lines.get(key)?.[typeof index === 'number' ? index : 0] ?? 0;
      return new ConfigError(file, line, name, message);
    });
  }
}

export interface VariableReading<Values> {
  readonly values: Values;
  /** Keys of the variables that the file sets; the others have their defaults. */
  readonly assigned: ReadonlySet<string>;
  readonly warnings: ConfigError[];
}

/** The syntax of a field's inner type, without defaults and lists. */
function syntaxOf(field: unknown): string {
  let inner = field;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodOptional) inner = inner.unwrap();
  if (inner instanceof z.ZodArray) inner = inner.element;
  const syntax = metaOf(inner)?.syntax;
  return typeof syntax === 'string' ? syntax : '';
}

/** The schema's value for a missing variable, as it would be written in a file. */
function defaultOf(field: z.core.$ZodType): string {
  const { data } = z.safeParse(field, undefined);
  if (typeof data === 'boolean') return data ? 'yes' : 'no';
  return typeof data === 'number' || typeof data === 'string' ? String(data) : '';
}

function metaOf(field: unknown): Record<string, unknown> | undefined {
  if (typeof field !== 'object' || field === null || !('meta' in field)) return undefined;
  const meta: unknown = typeof field.meta === 'function' ? field.meta() : undefined;
  return typeof meta === 'object' && meta !== null ? { ...meta } : undefined;
}

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
