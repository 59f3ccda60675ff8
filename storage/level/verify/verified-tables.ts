// Verifies each table once per process; tables are immutable and shared between generations.
import { fileIdentity, rememberVerified, wasVerified } from '../../files/file-identity.js';
import { openRegular } from '../../files/regular-file.js';
import { verifyTable } from './table-file.js';

export interface TableCheck {
  /** Expected size in bytes, from the MANIFEST. */
  readonly size: number;
  /** Read it even if this process has verified it before. */
  readonly always?: boolean;
}

/** Compares a table with its expected size and its checksums. Returns sentences about damage. @throws system errors, e.g. ENOENT */
export async function checkTable(path: string, { size, always = false }: TableCheck): Promise<string[]> {
  await using file = await openRegular(path);
  const identity = await fileIdentity(file);
  if (!always && wasVerified(identity)) return [];
  const bytes = await file.readFile();
  if (bytes.length !== size) return [`it has ${bytes.length} bytes instead of ${size}`];
  const problems = verifyTable(bytes);
  if (problems.length === 0) rememberVerified(identity);
  return problems;
}
