// The notes on settings, beside the schema: what `harvest crawl order` prints of them, and their names in an
// order.xml.
import { z } from 'zod';

/** Description of a setting in addition to its schema. */
export interface SettingNote {
  readonly text: string;
  readonly unit?: string;
  /** The rule that defines it. */
  readonly rule: string;
  /** Its name in an order of the 1.x line (CRAWL-6.1, 6.4, 19.2), whose value it takes as it is. */
  readonly original?: string | undefined;
}

/** The notes of all settings by schema. */
export const settingNotes = z.registry<SettingNote>();

/** Registers a note for a schema and returns the schema. */
export function withNote<T extends z.ZodType>(
  schema: T,
  rule: string,
  text: string,
  more: Pick<SettingNote, 'unit' | 'original'> = {},
): T {
  settingNotes.add(schema, { text, rule, ...more });
  return schema;
}

/** Returns the settings of a shape by their names in an order of the 1.x line. */
export function byOriginalName<S extends z.core.$ZodShape>(shape: S): ReadonlyMap<string, keyof S & string> {
  return new Map(
    Object.entries(shape).flatMap(([name, schema]) => {
      const { original } = settingNotes.get(schema) ?? {};
      return original === undefined ? [] : [[original, name] as const];
    }),
  );
}
