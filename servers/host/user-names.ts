// The names of the users of this machine.
import { readFile } from 'node:fs/promises';

/** Names by user number; read at the first question. */
let names: Promise<ReadonlyMap<number, string>> | undefined;

/** Returns the name of a user (/etc/passwd), or the number if it has none; undefined on systems without numbers. */
export async function userName(id: number): Promise<string | undefined> {
  if (process.getuid === undefined) return undefined;
  names ??= readFile('/etc/passwd', 'utf8').then(parseUserNames, () => new Map());
  return (await names).get(id) ?? String(id);
}

/** Parses a file in the form of /etc/passwd: of several names of one number the first counts. */
export function parseUserNames(text: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const line of text.split('\n')) {
    const [name = '', , id = ''] = line.split(':');
    if (name !== '' && /^\d{1,10}$/.test(id) && !found.has(Number(id))) found.set(Number(id), name);
  }
  return found;
}
