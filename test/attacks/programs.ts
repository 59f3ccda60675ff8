// Servers as processes of their own, whose memory and turns are not those of the test.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { CliProcess } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { publishFixture } from '../storage/references/fixture.js';

/** A server that runs. */
export interface Program {
  readonly port: number;
  /** Resident memory, megabytes; 0 without /proc. */
  residentMegabytes(): Promise<number>;
}

/** Starts a server until the test ends; the first group of `ready` is its port. */
export async function startProgram(t: Test, args: readonly string[], ready: RegExp): Promise<Program> {
  const server = new CliProcess(args);
  t.teardown(async () => {
    server.kill('SIGKILL');
    await server.finished;
  });
  const [, port] = await server.output(ready);
  return {
    port: Number(port),
    async residentMegabytes() {
      const status = await readFile(`/proc/${server.child.pid}/status`, 'latin1').catch(() => '');
      return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
    },
  };
}

/** Starts a Broker without objects. */
export async function startBroker(t: Test, ready: RegExp): Promise<Program> {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, 'admin'));
  const file = join(directory, 'admin', 'broker.conf');
  await writeFile(file, `Broker-Directory ${directory}\nBroker-Port 0\nBroker-Host localhost\n`);
  return startProgram(t, ['broker', file, '-nocol', '--web-port', '0'], ready);
}

/** Starts a references server; document 1 has this number of links, document 2 one. */
export async function startReferences(t: Test, links: number): Promise<Program> {
  const data = await temporaryDirectory(t);
  const documents = [
    { id: 1, url: 'http://many.example/' },
    { id: 2, url: 'http://few.example/' },
  ];
  const many = Array.from({ length: links }, (_, i): [number, number] => [1, 1_000_000 + i]);
  await publishFixture(data, documents, [...many, [2, 1]]);
  return startProgram(t, ['refererd', '--data', data, '--port', '0'], /^ready refererd=127\.0\.0\.1:(\d+)/m);
}
