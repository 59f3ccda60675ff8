import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt, ConfigError, messageOf, throwConfigErrors } from '../../../protocols/errors.js';
import type { SgmlCommand } from '../external/find.js';
import { isFile, namesIn } from '../files.js';
import { typeName } from '../recognition/type-rules.js';
import { type ExtractionTable, parseExtractionTable } from './table.js';

/** The files of one document type (E-82). Plain data, because it is posted to worker threads. */
interface SgmlTypeSource {
  /** Name of the table's file, for errors, and its text. */
  readonly file: string;
  readonly text: string;
  /** Absolute path of the SGML declaration. Default: that of OpenSP. */
  readonly declaration?: string | undefined;
}

/** All document types that have a table. Plain data. */
export interface SgmlSources {
  /** By name of the type, as in the file's name. */
  readonly types: Readonly<Record<string, SgmlTypeSource>>;
  /**
   * Absolute path of `sgmls-lib/catalog`, which lists the DTDs (E-82). Absent: documents are read without their
   * DTD.
   */
  readonly catalog?: string;
}

/** A compiled document type. */
export interface SgmlType {
  readonly table: ExtractionTable;
  readonly declaration?: string | undefined;
}

/** The compiled document types. */
export interface SgmlTypes {
  /** By lower-case name (E-94). */
  readonly types: ReadonlyMap<string, SgmlType>;
  readonly catalog?: string | undefined;
}

/** File names of tables, except those of the HTML summarizer. */
const TABLE = /^(?!HTML)([A-Za-z][\w-]*)\.sum\.tbl$/;

/**
 * Reads the tables `TypeName.sum.tbl`: from the Gatherer's `lib`, then from `sgmls-lib/TypeName/` (E-83), then
 * the shipped ones. A new document type needs a table (E-86), and optionally a declaration in
 * `sgmls-lib/TypeName/` and a line for its DTD in `sgmls-lib/catalog`.
 *
 * @param commands types whose script `TypeName.sum` calls `SGML.sum` (E-86 step 1, E-101)
 * @throws ConfigError if a table that a script names cannot be read
 */
export async function readSgmlSources(
  libDirectory: string | undefined,
  commands: Readonly<Record<string, SgmlCommand>> = {},
): Promise<SgmlSources> {
  const types: Record<string, SgmlTypeSource> = {};
  const add = async (
    name: string,
    file: string | URL,
    label: string,
    declaration?: string,
  ): Promise<void> => {
    const type = typeName(name);
    if (type in types) return;
    const text = await readFile(file, 'utf8');
    types[type] = { file: label, text, declaration };
  };
  const sgmls = libDirectory === undefined ? undefined : join(libDirectory, 'sgmls-lib');
  if (libDirectory !== undefined && sgmls !== undefined) {
    for (const name of await tablesIn(libDirectory)) {
      const file = join(libDirectory, `${name}.sum.tbl`);
      await add(name, file, file, await declarationOf(name, sgmls));
    }
    for (const name of await namesIn(sgmls)) {
      const file = join(sgmls, name, `${name}.sum.tbl`);
      if (TABLE.test(`${name}.sum.tbl`) && (await isFile(file)))
        await add(name, file, file, await declarationOf(name, sgmls));
    }
  }
  const shipped = new URL('.', import.meta.resolve('#essence-lib/byname.cf'));
  for (const name of await tablesIn(shipped)) {
    await add(name, new URL(`${name}.sum.tbl`, shipped), `${name}.sum.tbl`);
  }
  for (const [type, command] of Object.entries(commands)) await addCommand(types, type, command);
  const catalog = sgmls === undefined ? undefined : join(sgmls, 'catalog');
  return { types, ...(catalog !== undefined && (await isFile(catalog)) ? { catalog } : {}) };
}

async function addCommand(
  types: Record<string, SgmlTypeSource>,
  type: string,
  command: SgmlCommand,
): Promise<void> {
  const { table, documentType, declaration } = command;
  let source = types[typeName(documentType)];
  if (table !== undefined) {
    try {
      source = { file: table, text: await readFile(table, 'utf8') };
    } catch (cause) {
      const reason = messageOf(cause);
      throw new ConfigError(`${type}.sum`, 0, '-t', `the table cannot be read: ${reason} (E-81)`);
    }
  }
  if (source === undefined) return;
  types[type] = { ...source, declaration: declaration ?? source.declaration };
}

/** Compiles the tables. @throws ConfigError naming file and line, for all tables that are wrong */
export function compileSgmlTypes(sources: SgmlSources): SgmlTypes {
  const types = new Map<string, SgmlType>();
  const errors: ConfigError[] = [];
  for (const [name, { file, text, declaration }] of Object.entries(sources.types)) {
    const table = attempt(() => parseExtractionTable(text, file), undefined, errors);
    if (table !== undefined) types.set(name.toLowerCase(), { table, declaration });
  }
  throwConfigErrors(errors);
  return { types, catalog: sources.catalog };
}

/** E-82: `HTML/HTML.decl`. */
async function declarationOf(name: string, sgmls: string): Promise<string | undefined> {
  const file = join(sgmls, name, `${name}.decl`);
  return (await isFile(file)) ? file : undefined;
}

async function tablesIn(directory: string | URL): Promise<string[]> {
  return (await namesIn(directory)).flatMap((name) => TABLE.exec(name)?.[1] ?? []);
}
