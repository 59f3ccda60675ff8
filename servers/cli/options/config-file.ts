// Reads the file of `--config`.
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, type Option } from 'commander';
import { z } from 'zod';
import { messageOf, UsageError } from '../../../protocols/errors.js';

const valueSchema = z.union([z.string(), z.number(), z.boolean()]);
const fileSchema = z.record(z.string(), z.union([valueSchema, z.array(z.string())]));

/** The name of the key whose list stands for the command's arguments. */
const ARGUMENTS = 'arguments';

/**
 * Sets the options of a command that the file names and the command line does not.
 *
 * @throws UsageError if the file cannot be read, or has something that the command has not
 */
export function applyConfigFile(command: Command, file: string): void {
  for (const [key, value] of Object.entries(readOptions(file))) applyOption(command, file, key, value);
}

function readOptions(file: string): z.infer<typeof fileSchema> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new UsageError(`${file}: cannot be read: ${messageOf(cause)}`, { cause });
  }
  const parsed = fileSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  throw new UsageError(
    `${file}: ${at}must be an object with the names of options, and texts, numbers, true or false as values`,
  );
}

function applyOption(
  command: Command,
  file: string,
  key: string,
  value: z.infer<typeof valueSchema> | string[],
): void {
  if (key === ARGUMENTS && Array.isArray(value)) {
    // Commander hands `processedArgs` to the action; the first argument of these commands is a list.
    if (command.args.length === 0) command.processedArgs[0] = value;
    return;
  }
  const option = command.options.find(({ long }) => long === `--${key}` && key !== 'config');
  if (option === undefined || Array.isArray(value))
    throw new UsageError(`${file}: ${key}: the command has no such option`);
  const name = option.attributeName();
  if (!['default', undefined].includes(command.getOptionValueSource(name))) return;
  if (option.isBoolean() !== (typeof value === 'boolean'))
    throw new UsageError(`${file}: ${key}: must be ${option.isBoolean() ? 'true or false' : 'a value'}`);
  command.setOptionValueWithSource(name, parse(option, file, key, value), 'config');
}

function parse(option: Option, file: string, key: string, value: z.infer<typeof valueSchema>): unknown {
  if (typeof value === 'boolean' || option.parseArg === undefined) return value;
  try {
    return option.parseArg(String(value), undefined);
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    throw new UsageError(`${file}: ${key}: ${cause.message}`, { cause });
  }
}
