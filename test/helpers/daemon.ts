import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A directory readable by all users that is removed after the test. */
export function scratch(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'harvest-fetch-peers-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a daemon in the foreground and waits until its port answers; it ends with the test. */
export async function daemon(
  t: Test,
  port: number,
  command: string,
  args: readonly string[],
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  t.teardown(() => {
    // With the processes that it started for its connections.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  for (let tries = 0; tries < 2400 && child.exitCode === null; tries++) {
    if (await answers(port)) return child;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${command} did not start`);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
    });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
