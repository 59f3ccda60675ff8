// Starts third-party servers for the duration of a test.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { waitUntil } from './wait-until.js';

/** Lets a server listen on loopback. @returns the port that the system chose */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Finds a port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Creates a directory that is removed after the test. */
export function scratchDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'harvest-fetch-peers-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Starts a daemon in the foreground and waits until its port accepts connections. The daemon is killed after
 * the test.
 */
export async function startDaemon(
  t: Test,
  port: number,
  command: string,
  args: readonly string[],
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  t.teardown(() => {
    // Kills the whole process group: some daemons start a process for each connection.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  await waitUntil(() => {
    if (child.exitCode !== null) throw new Error(`${command} did not start`);
    return acceptsConnections(port);
  });
  return child;
}

async function acceptsConnections(port: number): Promise<boolean> {
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
