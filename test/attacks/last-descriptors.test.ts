// Descriptors run out in a program that runs: what opens files is told so, and each client of each server gets an
// answer; later it goes on.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ANY_PORTS, CliProcess } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { CRASH, withoutPrlimit } from '../helpers/prlimit.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 40;
/** Descriptors of the program. */
const LIMIT = 4096;

const skip = withoutPrlimit;
const root = await temporaryDirectory(t);

async function openCount(program: CliProcess): Promise<number> {
  return (await readdir(`/proc/${program.child.pid}/fd`)).length;
}

/** Lowers the limit of a running program so that so many descriptors are free below it. */
async function leaveFree(program: CliProcess, free: number): Promise<void> {
  const open = new Set(await readdir(`/proc/${program.child.pid}/fd`));
  let limit = 0;
  for (let left = free; left > 0 || open.has(String(limit)); limit++) if (!open.has(String(limit))) left--;
  setLimit(program, limit);
}

function setLimit(program: CliProcess, limit: number): void {
  execFileSync('prlimit', ['--pid', String(program.child.pid), `--nofile=${limit}:`]);
}

/** Sends a request and resolves with all that comes back, or with the error of the connection. */
function ask(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', (error) => resolve(error.message)).on('close', () => resolve(text));
  });
}

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const REQUESTS = [
  ['gatherd', 'HELLO me\nQUIT\n', /^000 - HELLO/, /^(?:000|098|999 - Bye)/],
  ['broker', '#USER #desc #END document\n', /120 - file:/, /^200 - HARVEST Broker/],
  ['web', GET, /^HTTP\/1.1 200/, /^HTTP\/1.1 (?:200|503)/],
  // A client whose request is still on the way is refused in SSTP.
  ['refererd', GET, /^HTTP\/1.1 200/, /^(?:HTTP\/1.1 200|(?:HTTP\/1.1|SSTP\/1.0) 503)/],
  ['monitor', GET.replace('/', '/metrics'), /^HTTP\/1.1 200/, /^HTTP\/1.1 (?:200|503)/],
] as const;

/** Starts `harvest run` with all its servers, and waits until each answers. */
async function startAll(t: Test, name: string, every: string, variables: Record<string, string> = {}) {
  const data = join(root, name);
  const site = await writeDocuments(join(root, `${name}-documents`), DOCUMENTS);
  const monitorPort = await freePort();
  const words = ['run', '--every', every, '--low-disk', '0', '--data', data, ...ANY_PORTS];
  const program = new CliProcess([...words, '--monitor', String(monitorPort), site], variables, [
    'prlimit',
    `--nofile=${LIMIT}`,
  ]);
  t.teardown(() => program.kill('SIGKILL'));
  const [address = ''] = await program.output(/^ready gatherd=.*\nready refererd=.*$/m);
  const portOf = (server: string): number =>
    server === 'monitor' ? monitorPort : Number(new RegExp(`${server}=\\S*?:(\\d+)`).exec(address)?.[1]);
  const recovered = async (): Promise<void> => {
    for (const [server, request, healthy] of REQUESTS)
      await waitUntil(async () => healthy.test(await ask(portOf(server), request)));
  };
  await recovered();
  return { program, data, site, portOf, recovered };
}

t.test('descriptors run out while servers run: they answer, say it, and go on', { skip }, async (t) => {
  const { program, data, portOf, recovered } = await startAll(t, 'late', '1h');
  await program.output(/The next round begins/, 'stderr');
  await leaveFree(program, 2);
  for (const [name, request, , pressed] of REQUESTS)
    t.match(await ask(portOf(name), request), pressed, `${name} answers`);
  setLimit(program, LIMIT);
  await recovered();
  const figures = await ask(portOf('monitor'), GET.replace('/', '/metrics'));
  for (const name of ['gatherd', 'broker', 'web', 'refererd'])
    t.match(figures, `harvest_${name}_refused_connections_total{reason="descriptors"}`);
  t.notMatch(await readFile(join(data, 'gatherer', 'gatherd.log'), 'utf8'), /connection: denied/);
  t.notMatch(program.stderr, CRASH);
  program.kill('SIGTERM');
  t.equal((await program.finished).code, 0, program.stderr);
});

t.test('descriptors run out while documents are gathered: a later round has them', { skip }, async (t) => {
  const { program, site, portOf, recovered } = await startAll(t, 'rounds', '1s');
  await writeFile(join(site, 'late.html'), '<title>late</title>lateness');
  const said = /too many open files: this process may have [\s\S]*Raise the limit: "ulimit -n/;
  // What becomes free is taken, too, such as the reserve.
  await waitUntil(async () => {
    if (program.child.exitCode !== null) throw new Error(`the program ended: ${program.stderr}`);
    await leaveFree(program, 0);
    return said.test(program.stderr);
  });
  setLimit(program, LIMIT);
  const query = '#USER #desc #END lateness\n';
  await waitUntil(async () => /120 - file:.*late/.test(await ask(portOf('broker'), query)));
  await recovered();
  t.match(await ask(portOf('broker'), query), /120 - file:.*late/, 'gathered, collected, found');
  t.notMatch(program.stderr, CRASH);
  program.kill('SIGTERM');
  t.equal((await program.finished).code, 0, program.stderr);
});

/** Clients of each server at once. */
const CLIENTS = 50;

/** A module that opens files until none can be opened, and closes them at the next signal. */
const FILE_OPENER = `
import { closeSync, openSync } from 'node:fs';
let opened = [];
process.on('SIGUSR2', () => {
  if (opened.length > 0) {
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
    process.stderr.write('files are closed\\n');
    return;
  }
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'));
  } catch (error) {
    process.stderr.write('files met ' + error.code + ' at ' + opened.length + '\\n');
  }
});
`;

t.test('files take every descriptor that they can get: clients still get an answer', { skip }, async (t) => {
  const opener = join(root, 'opener.mjs');
  await writeFile(opener, FILE_OPENER);
  const { program, data, portOf, recovered } = await startAll(t, 'files', '1h', {
    NODE_OPTIONS: `--import=${opener}`,
  });
  await program.output(/The next round begins/, 'stderr');
  for (const round of [1, 2]) {
    program.kill('SIGUSR2');
    await program.output(new RegExp(`^(?:files met EMFILE[^]*){${round}}`, 'm'), 'stderr');
    // The reserve is free.
    await waitUntil(async () => (await openCount(program)) < LIMIT - 8);
    for (const [name, request, , pressed] of REQUESTS) {
      const answers = await Promise.all(Array.from({ length: CLIENTS }, () => ask(portOf(name), request)));
      // A connection that is closed at once may reset a client whose request is on the way.
      const answered = answers.filter((text) => !/ECONNRESET/.test(text));
      t.same(
        answered.filter((text) => !pressed.test(text)),
        [],
        `round ${round}: the clients of ${name} have an answer`,
      );
      t.ok(answered.length >= CLIENTS / 2, `round ${round}: ${answered.length} of ${CLIENTS} were not reset`);
    }
    program.kill('SIGUSR2');
    await program.output(new RegExp(`^(?:files are closed[^]*){${round}}`, 'm'), 'stderr');
    await recovered();
  }
  t.match(await readFile(join(data, 'gatherer', 'gatherd.log'), 'utf8'), /Raise the limit: "ulimit -n/);
  t.notMatch(program.stderr, CRASH);
  program.kill('SIGTERM');
  t.equal((await program.finished).code, 0, program.stderr);
});
