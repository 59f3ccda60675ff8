// The units of examples/systemd, checked by systemd-analyze, and the message that a server is ready. Prints
// TAP. Needs systemd and socat; the runner installs them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { CliProcess } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

const UNITS = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'examples/systemd');

t.test('the units are sound', async (t) => {
  const directory = await temporaryDirectory(t);
  cpSync(UNITS, directory, { recursive: true });
  for (const name of readdirSync(directory)) {
    // systemd-analyze looks for the program of a unit, and for its manual.
    const text = readFileSync(join(directory, name), 'utf8');
    writeFileSync(
      join(directory, name),
      text.replaceAll('/usr/bin/harvest', '/bin/true').replace(/^Documentation=.*$/m, ''),
    );
  }
  for (const name of readdirSync(directory)) {
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', join(directory, name)], {
      encoding: 'utf8',
    });
    t.same([status, stderr], [0, ''], name);
    if (!name.endsWith('.service')) continue;
    const security = spawnSync('systemd-analyze', ['security', '--offline=true', join(directory, name)], {
      encoding: 'utf8',
    });
    const [, level] = /exposure level for \S+: ([\d.]+)/.exec(security.stdout) ?? [];
    t.ok(Number(level) < 3, `${name}: exposure ${level}`);
  }
});

t.test('Type=notify: a server says that it is ready, when it is', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'notify');
  const socat = spawn('socat', ['-u', `UNIX-RECVFROM:${path},fork`, '-'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => socat.kill('SIGKILL'));
  let received = '';
  socat.stdout.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  await waitUntil(() => readdirSync(directory).includes('notify'));
  const server = new CliProcess(['gatherd', '-d', directory, '0'], { NOTIFY_SOCKET: path });
  const [, address = ''] = await server.output(/^ready gatherd=(\S+)$/m);
  await waitUntil(() => received.includes('STATUS='));
  t.match(received, /^READY=1$/m);
  t.match(received, `STATUS=serving on ${address}`);
  server.kill('SIGTERM');
  await once(server.child, 'close');
});
