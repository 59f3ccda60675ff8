import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const DEBIAN_DOCUMENTS = '/usr/share/doc/postgresql-doc-15/html';

/** A directory of HTML as a site on loopback. */
export interface BenchSite {
  /** Where a crawl begins. */
  readonly url: string;
  /** Answers that were given so far, by status; empty when the server keeps no log. */
  answers(): Readonly<Record<string, number>>;
  close(): void;
}

/** Debian's postgresql-doc-15 when it is there, else the documents of node_modules. */
export function defaultDirectory(): string {
  return existsSync(DEBIAN_DOCUMENTS) ? DEBIAN_DOCUMENTS : resolve('node_modules');
}

/** Is the program in PATH? */
export function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

/**
 * Serves the directory by nginx when that is installed, else by a small server of Node in a process of its own.
 * @param accessLog whether nginx writes a line for each answer, which costs it a little
 */
export async function serve(directory: string, scratch: string, accessLog = false): Promise<BenchSite> {
  const port = await freePort();
  const log = join(scratch, 'access.log');
  const server = isInstalled('nginx')
    ? startNginx(directory, scratch, port, accessLog ? log : undefined)
    : startNode(directory, port);
  const url = `http://127.0.0.1:${port}/${existsSync(join(directory, 'index.html')) ? 'index.html' : ''}`;
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return { url, answers: () => answersOf(log), close: () => server.kill() };
    await new Promise((wait) => setTimeout(wait, 50));
  }
  server.kill();
  throw new Error('the site did not come up');
}

/** One status a line. */
function answersOf(log: string): Record<string, number> {
  const answers: Record<string, number> = {};
  if (!existsSync(log)) return answers;
  for (const status of readFileSync(log, 'latin1').split('\n')) {
    if (status !== '') answers[status] = (answers[status] ?? 0) + 1;
  }
  return answers;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function startNginx(
  directory: string,
  scratch: string,
  port: number,
  accessLog: string | undefined,
): ChildProcess {
  const home = join(scratch, 'nginx');
  mkdirSync(join(home, 'tmp'), { recursive: true });
  chmodSync(scratch, 0o755);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${home}/tmp/${name};`,
  );
  const log =
    accessLog === undefined
      ? 'access_log off;'
      : `log_format status $status; access_log ${accessLog} status;`;
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; master_process off; pid ${home}/pid; error_log ${home}/error.log warn; events { worker_connections 512; }
http { include /etc/nginx/mime.types; ${log} sendfile on; keepalive_requests 1000000; charset utf-8; ${paths.join(' ')}
server { listen 127.0.0.1:${port}; root ${directory}; autoindex on; index index.html; } }\n`,
  );
  return spawn('nginx', ['-c', join(home, 'nginx.conf'), '-p', home], { stdio: 'ignore' });
}

function startNode(directory: string, port: number): ChildProcess {
  const file = fileURLToPath(new URL('../file-server.js', import.meta.url));
  return spawn(process.execPath, [file, directory, String(port)], { stdio: 'ignore' });
}
