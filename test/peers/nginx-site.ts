// Gathers a real site, the HTML documentation of Debian's postgresql-doc-15 served by nginx, and reads its
// export and queries its Broker with other programs: nc, gzip, and clients in the style of the 1990s. Prints
// TAP. Needs nginx, perl, nc, gzip and the documentation; the runner installs them.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { waitUntil } from '../helpers/wait-until.js';
import { words } from '../helpers/words.js';
import { CLIENTS, type Ran, run } from './clients/run.js';

const DOCUMENTS = process.env.PEER_DOCUMENTS ?? '/usr/share/doc/postgresql-doc-15/html';

function shell(script: string): Promise<Ran> {
  return run('bash', ['-c', script]);
}

/** Serves the documentation by nginx. */
async function startNginx(scratch: string, port: number): Promise<ChildProcess> {
  const config = join(scratch, 'nginx.conf');
  mkdirSync(join(scratch, 'tmp'));
  chmodSync(scratch, 0o755);
  writeFileSync(
    config,
    `daemon off; master_process off; worker_processes 1; pid ${scratch}/nginx.pid; error_log ${scratch}/error.log warn;
events { worker_connections 512; }
http { include /etc/nginx/mime.types; access_log off; keepalive_requests 1000000; charset utf-8;
  client_body_temp_path ${scratch}/tmp/b; proxy_temp_path ${scratch}/tmp/p; fastcgi_temp_path ${scratch}/tmp/f;
  uwsgi_temp_path ${scratch}/tmp/u; scgi_temp_path ${scratch}/tmp/s;
  server { listen 127.0.0.1:${port}; root ${DOCUMENTS}; index index.html; } }
`,
  );
  const child = spawn('nginx', ['-c', config, '-p', scratch], { stdio: 'ignore' });
  await waitUntil(() => {
    if (child.exitCode !== null) throw new Error('nginx did not start');
    return fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.ok,
      () => false,
    );
  });
  return child;
}

t.test('a real site by nginx', { skip: existsSync(DOCUMENTS) ? false : `no ${DOCUMENTS}` }, async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), 'harvest-peers-'));
  const port = await freePort();
  const nginx = await startNginx(scratch, port);
  t.teardown(() => {
    nginx.kill('SIGKILL');
    rmSync(scratch, { recursive: true, force: true });
  });
  const site = `http://127.0.0.1:${port}`;
  const files = readdirSync(DOCUMENTS).filter((name) => name.endsWith('.html'));
  const args = words`run ${site}/index.html --delay 0 --urls 100000 --connections 4 --data ${scratch}/data`;
  const ports = ['gatherd', 'broker', 'web', 'references'].flatMap((name) => [`--${name}-port`, '0']);
  const kit = new CliProcess([...args, ...ports]);
  t.teardown(() => kit.kill('SIGKILL'));
  const [, gatherd = '', broker = ''] = await kit.output(
    /^ready gatherd=127\.0\.0\.1:(\d+) broker=127\.0\.0\.1:(\d+) /m,
  );
  t.comment(kit.stderr.trim().split('\n').slice(-3).join(' | '));

  await t.test('nc: the uncompressed export contains every page once', async (t) => {
    const { stdout } = await shell(
      `printf 'HELLO nc\\nSEND-UPDATE 0\\nQUIT\\n' | nc -w 10 127.0.0.1 ${gatherd}`,
    );
    const urls = [...stdout.toString('latin1').matchAll(/^@FILE \{ (\S+)$/gm)].map((match) => match[1] ?? '');
    const pages = urls.filter((url) => url.endsWith('.html'));
    t.equal(new Set(urls).size, urls.length, 'no URL is repeated');
    t.ok(pages.length >= files.length - 5, `${pages.length} pages of ${files.length} files`);
    const reader = await run('perl', [join(CLIENTS, 'soif-lines.pl')], { input: stdout });
    t.match(
      reader.stdout.toString(),
      new RegExp(`^objects ${urls.length} attributes \\d+$`, 'm'),
      'SOIF-8.8: a line-based reader reads every object',
    );
  });

  await t.test('nc and gzip: the compressed export is one gzip member between status lines', async (t) => {
    const script = `printf 'HELLO nc\\nSET compression\\nSEND-UPDATE 0\\nQUIT\\n' | nc -w 10 127.0.0.1 ${gatherd} | tail -n +5 | gzip -dc 2>/dev/null | md5sum`;
    const plain = `printf 'HELLO nc\\nSEND-UPDATE 0\\nQUIT\\n' | nc -w 10 127.0.0.1 ${gatherd} | tail -n +4 | head -n -2 | md5sum`;
    t.equal(
      (await shell(script)).stdout.toString(),
      (await shell(plain)).stdout.toString(),
      'GATHERD-6.2, 6.3',
    );
  });

  await t.test('a collector of 1998 reads gatherd and broker', async (t) => {
    const collected = (
      await run('perl', [join(CLIENTS, 'centroid.pl'), '127.0.0.1', gatherd])
    ).stdout.toString();
    t.match(collected, /^bad 0$/m, 'GATHERD-7.3, SOIF-4.8');
    t.ok(Number(/^records (\d+)$/m.exec(collected)?.[1]) >= files.length - 5);
    const answer = (
      await run('perl', [join(CLIENTS, 'centroid.pl'), '127.0.0.1', broker, '"serializable"'])
    ).stdout.toString();
    t.match(answer, /^bad 0$/m, 'BRK-4.2 to 4.4');
    t.ok(Number(/^records (\d+)$/m.exec(answer)?.[1]) > 3);
  });

  await t.test('the answers agree with grep over the exported objects', async (t) => {
    for (const word of ['serializable', 'tablespace', 'vacuum']) {
      const { stdout } = await shell(
        `printf '#USER #index case insensitive #index matchword #END ${word}\\r\\n' | nc -w 10 127.0.0.1 ${broker}`,
      );
      const found = [...stdout.toString().matchAll(/^120 - (\S+)$/gm)].map((match) => match[1] ?? '').sort();
      const exported = (
        await shell(`printf 'SEND-UPDATE 0\\nQUIT\\n' | nc -w 10 127.0.0.1 ${gatherd}`)
      ).stdout.toString();
      const expected = exported
        .split(/^(?=@FILE \{ )/m)
        .slice(1)
        .filter((object) => new RegExp(`(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`, 'iu').test(object))
        .map((object) => /^@FILE \{ (\S+)/.exec(object)?.[1] ?? '')
        .sort();
      t.same(found, expected, `${word}: ${expected.length} objects`);
    }
  });

  await t.test('a hundred concurrent clients', async (t) => {
    const queries = Array.from({ length: 100 }, () => exchange(Number(broker), '#USER #END vacuum\r\n'));
    const exports = Array.from({ length: 100 }, () =>
      exchange(Number(gatherd), 'SEND-UPDATE 9999999999\nQUIT\n'),
    );
    const answers = await Promise.all(queries);
    t.equal(new Set(answers).size, 1, 'all clients of the Broker get the same answer');
    t.match(answers[0], /^130 - object end$/m);
    t.equal(new Set(await Promise.all(exports)).size, 1);
  });

  kit.kill('SIGTERM');
  t.equal((await kit.finished).code, 0);
  const again = await cli(...args, ...ports, '--once');
  t.equal(again.code, 0, again.stderr);
  const summary = JSON.parse(again.stdout.trimEnd().split('\n').at(-1) ?? '{}') as {
    gathered: { summarized: number };
    exported: number;
  };
  t.equal(summary.gathered.summarized, 0, 'a second run summarizes nothing');
});

/** Sends a message and reads until the server closes. */
function exchange(port: number, send: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(send));
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.once('close', () => resolve(text)).once('error', reject);
  });
}
