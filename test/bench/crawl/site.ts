// Serves a directory of HTML as a site on loopback.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../helpers/daemon.js';

const DEBIAN_DOCUMENTS = '/usr/share/doc/postgresql-doc-15/html';

/** A running site. */
export interface BenchSite extends Disposable {
  /** The front page. */
  readonly url: string;
  /** Counts the answers so far by status; empty if the server writes no log. */
  countAnswers(): Readonly<Record<string, number>>;
}

/** Returns the directory of Debian's postgresql-doc-15 if installed, otherwise node_modules. */
export function defaultDirectory(): string {
  return existsSync(DEBIAN_DOCUMENTS) ? DEBIAN_DOCUMENTS : resolve('node_modules');
}

/** Whether a program is in PATH. */
export function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

/**
 * Serves the directory by nginx if installed, otherwise by `file-server.ts` in a separate process.
 *
 * @param accessLog whether nginx writes a line for each answer, which costs a little time
 */
export async function serve(directory: string, scratch: string, accessLog = false): Promise<BenchSite> {
  const port = await freePort();
  const log = join(scratch, 'access.log');
  const server = isInstalled('nginx')
    ? startNginx(directory, scratch, port, accessLog ? log : undefined)
    : startNode(directory, port);
  const url = `http://127.0.0.1:${port}/${existsSync(join(directory, 'index.html')) ? 'index.html' : ''}`;
  for (let tries = 0; tries < 100; tries++) {
    const reply = await fetch(url).catch(() => undefined);
    if (reply?.ok === true)
      return { url, countAnswers: () => countAnswersIn(log), [Symbol.dispose]: () => void server.kill() };
    await new Promise((wait) => setTimeout(wait, 50));
  }
  server.kill();
  throw new Error('the server of the site did not start');
}

/** Counts the lines of a log, each of which is a status. */
function countAnswersIn(log: string): Record<string, number> {
  const answers: Record<string, number> = {};
  if (!existsSync(log)) return answers;
  for (const status of readFileSync(log, 'latin1').split('\n')) {
    if (status !== '') answers[status] = (answers[status] ?? 0) + 1;
  }
  return answers;
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
