// The options for a Registry whose constants are not those of this kit (REG-8, REG-14).
import { defined } from '../../../protocols/defined.js';
import type { RegistryFormat, RegistryReading } from '../../../protocols/registry/index.js';

export interface FormatOptions {
  readonly reading?: RegistryReading;
  readonly magic?: number;
  readonly recordMagic?: number;
  readonly valid?: number;
  readonly deleted?: number;
}

export function formatOf({
  reading,
  magic,
  recordMagic,
  valid,
  deleted,
}: FormatOptions): Partial<RegistryFormat> {
  return defined({ reading, fileMagic: magic, recordMagic, validFlag: valid, deletedFlag: deleted });
}
