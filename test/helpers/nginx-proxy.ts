// nginx in front of the pages, as examples/proxies/nginx.conf says.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Teardown } from './temporary-directory.js';

/** The folder with the examples of proxies. */
export const PROXY_EXAMPLES = join(
  dirname(fileURLToPath(import.meta.resolve('#package.json'))),
  'examples/proxies',
);
/** The name that the examples serve. */
export const PUBLIC_NAME = 'search.example.org';

/** What the example is adapted to. */
export interface NginxProxyOptions {
  /** For its configuration and its temporary files. */
  readonly directory: string;
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  /** Ports of the search page and of the pages of links. */
  readonly web: number;
  readonly references: number;
  /** Whether these speak TLS. */
  readonly tls?: boolean;
}

/** Starts nginx, until the test ends; SIGHUP makes it read its certificate again. */
export function startNginxProxy(t: Teardown, options: NginxProxyOptions): ChildProcess {
  const { directory, port, tls = false } = options;
  mkdirSync(join(directory, 'tmp'));
  const example = readFileSync(join(PROXY_EXAMPLES, 'nginx.conf'), 'utf8')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/search.example.org.pem', options.certificate)
    .replace('/etc/ssl/search.example.org.key', options.key)
    .replace('127.0.0.1:8080', `127.0.0.1:${options.web}`)
    .replace('127.0.0.1:3324', `127.0.0.1:${options.references}`)
    .replaceAll('proxy_pass http:', tls ? 'proxy_pass https:' : 'proxy_pass http:');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${directory}/tmp/${name};`)
    .join(' ');
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; user root; worker_processes 1; pid ${directory}/nginx.pid; error_log ${directory}/nginx.log warn;
events { worker_connections 512; }
http { include /etc/nginx/mime.types; access_log off; ${temporary}
${example} }
`,
  );
  const child = spawn('nginx', ['-c', join(directory, 'nginx.conf'), '-p', directory], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  t.teardown(async () => {
    child.kill('SIGTERM');
    await closed;
  });
  return child;
}
