// The notes on settings that `harvest crawl order` prints, beside the schema.
import { z } from 'zod';

/** Description of a setting in addition to its schema, for `describe.ts`. */
export interface SettingNote {
  readonly text: string;
  /** Empty for a setting without a unit. */
  readonly unit: string;
  /** The rule that defines it. */
  readonly rule: string;
}

/** The notes of all settings by schema. */
export const settingNotes = z.registry<SettingNote>();

/** Registers a note for a schema and returns the schema. */
export function withNote<T extends z.ZodType>(schema: T, rule: string, text: string, unit = ''): T {
  settingNotes.add(schema, { text, unit, rule });
  return schema;
}
