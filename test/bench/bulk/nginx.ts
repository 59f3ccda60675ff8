// Starts nginx as a file server, with which the benchmarks `bulk` and `gatherd` compare transfers.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../helpers/daemon.js';

const HOST = '127.0.0.1';
const MAX_ATTEMPTS = 100;
const PAUSE_MS = 50;

/**
 * Starts nginx with sendfile and one worker, as for large downloads. Returns its port.
 *
 * @param root the directory to serve
 * @param file a file below `root`; nginx is ready when it answers a request for this file
 * @param onStart receives the process, which the caller kills, before it is ready
 */
export async function startNginx(
  scratch: string,
  root: string,
  file: string,
  onStart: (child: ChildProcess) => void,
): Promise<number> {
  const port = await freePort();
  const home = join(scratch, 'nginx');
  await mkdir(home);
  const config = join(home, 'nginx.conf');
  await writeFile(
    config,
    `daemon off; master_process off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log warn;
events { worker_connections 1024; }
http { access_log off; sendfile on; tcp_nopush on; types {} default_type application/octet-stream;
  client_body_temp_path ${home}/b; proxy_temp_path ${home}/p; fastcgi_temp_path ${home}/f;
  uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s;
  server { listen ${HOST}:${port}; root ${root}; } }
`,
  );
  const child = spawn('nginx', ['-c', config, '-p', home], { stdio: 'ignore' });
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure = new Error(`nginx is required for the comparison: ${error.message}`);
  });
  onStart(child);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (failure !== undefined) throw failure;
    const reply = await fetch(`http://${HOST}:${port}/${file}`, { method: 'HEAD' }).catch(() => undefined);
    if (reply?.ok === true) return port;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error('nginx did not start');
}
