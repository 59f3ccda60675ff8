// The command line: names of links, help, and `harvest gatherer` from the configuration to the running gatherd.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { cli, type Finished, finishedOf, PROGRAM } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { tcpServer } from '../helpers/tcp-server.js';
import { exchange } from '../servers/gatherd/helpers.js';
import { createDataDirectory, startProgram } from './gatherd-support.js';

// About twenty programs are started in sequence, on a machine that may be busy.
t.test('a link with a program’s name runs that program, and help and errors have its name', async (t) => {
  const path = await createDataDirectory(t);
  const link = async (name: string): Promise<string> => {
    await symlink(PROGRAM, join(path, name));
    return join(path, name);
  };
  const run = (program: string, ...words: readonly string[]): Promise<Finished> =>
    finishedOf(startProgram(t, words, 'pipe', program));
  const names = ['gatherd', 'in.gatherd', 'Gatherer', 'gather.js'];
  for (const name of names) {
    const { code, stdout } = await run(await link(name), '--help');
    t.equal(code, 0);
    t.equal(stdout.split(' ', 2).join(' '), `Usage: ${name.replace('.js', '')}`);
  }
  const daemon = join(path, 'gatherd');
  const unknown = await run(daemon, '-x');
  t.same([unknown.code, unknown.stderr], [2, "gatherd: unknown option '-x'\n"]);
  const missing = await run(daemon, '-dir', join(path, 'none'));
  t.same([missing.code, missing.stderr], [1, `gatherd: ${join(path, 'none')}: no such directory\n`]);
  const busy = await run(daemon, '-dir', path, String(await tcpServer(t)));
  t.equal(busy.code, 1);
  t.match(
    busy.stderr,
    /^gatherd: cannot listen on \S+: .*; another port can be given\n$/m,
    'the name of the program appears once',
  );
  // A timeout that is too long for Node's timers would end every session immediately.
  const timeout = await run(daemon, '-dir', path, '--timeout', '2147484', '0');
  t.same([timeout.code, timeout.stdout], [2, ''], 'GATHERD-12.3');
  const absent = await run(join(path, 'gather.js'), '-info', '127.0.0.1', '1');
  t.equal(absent.code, 3);
  t.match(absent.stderr, /^gather: /);
  const other = await run(await link('whatever'), '--version');
  t.match(other.stdout, /^\d+\.\d+\.\d+\n$/, 'a link with any other name runs harvest');
});

t.test('harvest --help lists all commands by group; wrong names get suggestions', async (t) => {
  const { stdout } = await cli('--help');
  t.match(
    stdout,
    /Gatherers, Brokers and other servers:\n {2}run .* gatherd .*Clients:\n {2}query .* gather .*/s,
  );
  const help = await cli('help', 'gatherd');
  t.match(help.stdout, /^Usage: harvest gatherd \[options\] \[port\]\n/);
  const typo = await cli('gathered');
  t.equal(typo.code, 2);
  t.match(
    typo.stderr,
    /^harvest: unknown command 'gathered'; did you mean (?:npx harvest|node .*harvest\.js) gatherer or gatherd\?$/m,
  );
});

t.test('G-117, G-152 to G-154: Gatherer FILE gathers, publishes, starts gatherd and scripts', async (t) => {
  const path = join(await createDataDirectory(t, []), "it's here");
  const documents = join(path, 'documents');
  await mkdir(documents, { recursive: true });
  await writeFile(join(documents, 'a.txt'), 'wheat\n');
  const port = await freePort();
  const file = join(path, 'test.cf');
  const configuration = (lines: string): string =>
    `Gatherer-Name: Test\nGatherer-Host: g.example\nGatherer-Port: ${port}\n${lines}<LeafNodes>\nfile://localhost${encodeURI(documents)}/a.txt\n</LeafNodes>\n`;
  await writeFile(file, configuration('Gatherd-Inetd: yes\n'));
  const data = join(path, 'data');
  t.teardown(() => cli('kill-gatherd', '-d', data));

  const inetd = await cli('gatherer', '--json', file);
  t.equal(inetd.code, 0, inetd.stderr);
  const first = JSON.parse(inetd.stdout);
  t.same([first.generation, first.objects, first.gatherd], [1, 1, undefined], 'G-117 Gatherd-Inetd');
  t.same(first.scripts, ['RunGatherer', 'RunGatherd']);
  for (const name of ['RunGatherer', 'RunGatherd'])
    t.equal((await stat(join(path, name))).mode & 0o777, 0o755);
  t.match(await readFile(join(path, 'log.gatherer'), 'utf8'), 'a.txt Text 200', 'G-145');
  t.notOk(existsSync(join(data, 'gatherd.pid')));

  await writeFile(file, configuration('Debug-Options: -D62,1\n'));
  await writeFile(join(path, 'RunGatherd'), '#!/bin/sh\necho my own\n');
  const noDaemon = await cli('gatherer', '--no-daemon', '-force', file);
  t.match(noDaemon.stdout, /^Gathered: 0 summarized, 1 unchanged, .*\nPublished generation 2: 1 objects\n$/);
  t.match(
    await readFile(join(path, 'log.gatherer'), 'utf8'),
    /\[62,1\] .*a\.txt: unchanged, type Text/,
    'G-149',
  );
  t.equal(
    await readFile(join(path, 'RunGatherd'), 'utf8'),
    '#!/bin/sh\necho my own\n',
    "a user's file is kept",
  );
  await rm(join(path, 'RunGatherd'));

  const third = JSON.parse((await cli('gatherer', '--json', file)).stdout);
  t.same(third.scripts, ['RunGatherd']);
  t.match(third.gatherd, { address: `127.0.0.1:${port}`, started: true });
  t.match(
    await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'),
    /\nPartial-Text\{\d+\}:\twheat\n.*499 - Sent 1 objects\n/s,
  );
  t.match(await readFile(join(data, 'gatherd.log'), 'utf8'), `listening on 127.0.0.1:${port}`);

  const script = await promisify(execFile)('sh', [join(path, 'RunGatherer'), '--json'], { cwd: tmpdir() });
  const fourth = JSON.parse(script.stdout);
  t.same(fourth.gatherd, { ...third.gatherd, started: false }, 'G-117, G-153: the running gatherd is kept');
  t.equal(fourth.generation, 4);

  t.equal((await cli('kill-gatherd', '-d', data)).code, 0);
  const boot = await promisify(execFile)(join(path, 'RunGatherd'), ['--hostname', 'g.example'], {
    cwd: tmpdir(),
  });
  t.match(boot.stdout, new RegExp(`^ready gatherd=127\\.0\\.0\\.1:${port} pid=\\d+\\n$`), 'G-154');
  t.match(await exchange(t, port, 'QUIT\n'), '000 - HELLO 1.8 g.example\n');
  t.equal((await cli('kill-gatherd', '-d', data)).code, 0);

  // The script uses the database of the command line, so that a gathering by cron changes the database that is
  // served.
  const other = join(path, 'data 2');
  const elsewhere = await cli('gatherer', '--no-daemon', '--data', other, '--host', '127.0.0.2', file);
  t.equal(elsewhere.code, 0, elsewhere.stderr);
  const again = ` 'gatherer' '--data' '${other.replace("'", "'\\''")}' '--host' '127.0.0.2' "$@" 'test.cf'\n`;
  t.match(await readFile(join(path, 'RunGatherer'), 'utf8'), again, 'G-153');

  const directory = await cli('gatherer', path);
  t.equal(directory.code, 2);
  const none = await cli('gatherer', join(path, 'none.cf'));
  t.equal(none.code, 2);
});

t.test('commands document and return their exit statuses; errors name the option or file', async (t) => {
  const help = await cli('--help');
  t.equal(help.code, 0);
  for (const command of ['run', 'query', 'gather', 'gatherd', 'broker']) {
    const { code, stdout } = await cli(command, '--help');
    t.equal(code, 0, command);
    t.match(stdout, /Exit status|exit status|Exit code/i, `${command} documents its exit statuses`);
  }
  t.equal((await cli('run', '/no/such/root', '--once')).code, 2, 'a root that is missing is a usage error');
  t.equal((await cli('run', '--urls', 'many')).code, 2);
  t.equal((await cli('nonsense')).code, 2);
  const unlimited = await cli('run', '--urls', '0', 'http://127.0.0.1:1/');
  t.equal(unlimited.code, 2);
  t.match(unlimited.stderr, /--urls/, 'G-32: 0 is no valid number of URLs; the error names the option');
  const directory = t.testdir();
  const missing = await cli('broker', join(directory, 'broker.conf'));
  t.equal(missing.code, 2, 'BRK-6.1: a missing configuration file is a usage error');
  t.ok(missing.stderr.includes(join(directory, 'broker.conf')));
});
