// Runs the clients of this folder and other programs.
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the Perl clients. */
export const CLIENTS = join(
  dirname(fileURLToPath(import.meta.resolve('#package.json'))),
  'test',
  'peers',
  'clients',
);

/** The outcome of a program; `code` is 127 if it did not start. */
export interface Ran {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs another program to its end; `input` is its standard input. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly input?: Uint8Array; readonly cwd?: string } = {},
): Promise<Ran> {
  const { input = new Uint8Array(0), cwd } = options;
  return new Promise((resolve) => {
    const settings = {
      encoding: 'buffer',
      maxBuffer: 1 << 28,
      cwd,
    } as const;
    const child = execFile(command, args, settings, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code: Number.isNaN(code) ? 127 : code, stdout, stderr: stderr.toString('latin1') });
    });
    // A program that does not read its whole input closes the pipe.
    child.stdin?.on('error', () => {}).end(input);
  });
}
