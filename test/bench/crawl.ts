// Bench `crawl`: pages a second of the Gatherer with politeness off, everything summarized and stored, beside the plainest
// crawl loop that stores nothing, over one site on loopback. Each run is a process of its own, so both start cold; each
// measures itself from the first request to the last page.
//   npm run bench -- crawl [--site DIRECTORY] [--url URL] [--runs N] [--connections N]
// Without --url the site is a directory of HTML (Debian's postgresql-doc-15 when it is there, else the documents of
// node_modules), served by nginx when that is installed, else by a small server of Node in its own process.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, print, writeResult } from './harness.js';

const DEBIAN_DOCUMENTS = '/usr/share/doc/postgresql-doc-15/html';

interface Outcome {
  readonly pages: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      site: { type: 'string' },
      url: { type: 'string' },
      runs: { type: 'string', default: '5' },
      connections: { type: 'string', default: '16' },
    },
  });
  // Measured on a disk, the same crawl varies by a factor: the outputs go to memory where the system offers it.
  const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'harvest-bench-'));
  const directory =
    values.site ?? (existsSync(DEBIAN_DOCUMENTS) ? DEBIAN_DOCUMENTS : resolve('node_modules'));
  const site =
    values.url === undefined ? await serve(directory, scratch) : { url: values.url, close: () => undefined };
  try {
    await measure(site.url, scratch, Number(values.runs), values.connections);
  } finally {
    site.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measure(url: string, scratch: string, runs: number, connections: string): Promise<void> {
  const plain: Outcome[] = [];
  const full: Outcome[] = [];
  for (let round = 0; round < runs; round++) {
    const runPlain = () => plain.push(child('plain-crawl.js', [url, connections]));
    const runFull = () =>
      full.push(child('full-crawl.js', [url, join(scratch, `data-${round}`), connections]));
    for (const each of round % 2 === 0 ? [runPlain, runFull] : [runFull, runPlain]) each();
  }
  const rate = (outcomes: readonly Outcome[]): number =>
    median(outcomes.map(({ pages, seconds }) => pages / seconds));
  const ours = rate(full);
  const rival = rate(plain);
  const ratio = median(
    full.map(({ pages, seconds }, i) => pages / seconds / (plain[i]!.pages / plain[i]!.seconds)),
  );
  print(
    `crawl: ${full[0]?.pages} pages of ${url}, ${connections} connections, median of ${runs} runs, in turns`,
  );
  print(`  Gatherer, summarized and stored   ${ours.toFixed(0)} pages/s   (${full[0]?.pages} pages)`);
  print(`  plain loop, nothing stored        ${rival.toFixed(0)} pages/s   (${plain[0]?.pages} pages)`);
  print(`  ratio ${ratio.toFixed(2)}`);
  await writeResult('crawl', { url, connections, runs, ratio, ours, rival, full, plain });
}

function child(script: string, args: readonly string[]): Outcome {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const output = execFileSync(process.execPath, [file, ...args], { encoding: 'utf8' });
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Outcome;
}

async function serve(directory: string, scratch: string): Promise<{ url: string; close: () => void }> {
  const port = await freePort();
  const server = hasNginx() ? startNginx(directory, scratch, port) : startNode(directory, port);
  const url = `http://127.0.0.1:${port}/${existsSync(join(directory, 'index.html')) ? 'index.html' : ''}`;
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return { url, close: () => server.kill() };
    await new Promise((wait) => setTimeout(wait, 50));
  }
  server.kill();
  throw new Error('the site did not come up');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function hasNginx(): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'nginx')));
}

function startNginx(directory: string, scratch: string, port: number): ChildProcess {
  const home = join(scratch, 'nginx');
  mkdirSync(join(home, 'tmp'), { recursive: true });
  chmodSync(scratch, 0o755);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${home}/tmp/${name};`,
  );
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; master_process off; pid ${home}/pid; error_log ${home}/error.log warn; events { worker_connections 512; }
http { include /etc/nginx/mime.types; access_log off; sendfile on; keepalive_requests 1000000; charset utf-8; ${paths.join(' ')}
server { listen 127.0.0.1:${port}; root ${directory}; autoindex on; index index.html; } }\n`,
  );
  return spawn('nginx', ['-c', join(home, 'nginx.conf'), '-p', home], { stdio: 'ignore' });
}

function startNode(directory: string, port: number): ChildProcess {
  const file = fileURLToPath(new URL('file-server.js', import.meta.url));
  return spawn(process.execPath, [file, directory, String(port)], { stdio: 'ignore' });
}
