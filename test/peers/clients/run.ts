import { execFile } from 'node:child_process';

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
      ...(cwd === undefined ? {} : { cwd }),
    } as const;
    const child = execFile(command, args, settings, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code: Number.isNaN(code) ? 127 : code, stdout, stderr: stderr.toString('latin1') });
    });
    // A program that does not read its whole input closes the pipe.
    child.stdin?.on('error', () => {}).end(input);
  });
}
