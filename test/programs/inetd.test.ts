// in.gatherd on the descriptors that inetd or a shell passes, and the debug flags of gatherd.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { cli } from '../helpers/cli.js';
import { ANSWER, BIG, createDataDirectory, SESSION, shell, startProgram } from './gatherd-support.js';

// Each test starts processes, which takes long on a busy machine.
/** Runs in.gatherd on one end of a connection like inetd: descriptors 0, 1 and 2 are the socket. */
async function throughInetd(
  t: Test,
  words: readonly string[],
  send: string,
  address: { readonly path: string } | { readonly port: number },
): Promise<{ received: string; code: number | null }> {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
  server.listen(address);
  await once(server, 'listening');
  const target =
    'path' in address ? address : { port: (server.address() as AddressInfo).port, host: '127.0.0.1' };
  const accepted = once(server, 'connection');
  const client = connect(target);
  client.end(send);
  const [socket] = (await accepted) as [Socket];
  const child = startProgram(t, words, [socket, socket, socket]);
  const ended = once(child, 'exit');
  socket.destroy();
  server.close();
  let received = '';
  client.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  // A program that ends without reading resets the connection.
  client.on('error', () => {});
  await new Promise((resolve) => client.once('close', resolve));
  const [code] = await ended;
  return { received, code };
}

t.test('GATHERD-11.2 in.gatherd on a TCP socket, with access rules', async (t) => {
  const path = await createDataDirectory(t);
  const words = ['in.gatherd', '--hostname', 'g.example', '-dir', path];
  await writeFile(join(path, 'gatherd.cf'), 'Allow 127.0.0.1\nDeny all\n');
  t.same(await throughInetd(t, words, SESSION, { port: 0 }), { received: ANSWER, code: 0 }, 'GATHERD-9.5');
  await writeFile(join(path, 'gatherd.cf'), 'Deny 127.0.0.1\n');
  t.same(await throughInetd(t, words, SESSION, { port: 0 }), { received: '999 - Access denied\n', code: 0 });
  const log = await readFile(join(path, 'gatherd.log'), 'utf8');
  t.match(log, '127.0.0.1: connection: allowed', 'GATHERD-12.2 the log is in the file');
  t.match(log, '127.0.0.1: connection: denied');
  const wrong = await throughInetd(t, [...words, '--nonsense'], SESSION, { port: 0 });
  t.same(wrong, { received: '', code: 2 }, 'no error message goes to the peer');
});

t.test('GATHERD-11.2 in.gatherd on a Unix socket: no address, so only "all" matches', async (t) => {
  const path = await createDataDirectory(t);
  const words = ['in.gatherd', '--hostname', 'g.example', '-dir', path, '-log', 'inetd.log'];
  const socket = { path: join(path, 'socket') };
  await writeFile(join(path, 'gatherd.cf'), 'Allow 127.0.0.1 localhost 0.0.0.0/0 ::/0\nDeny all\n');
  t.same(await throughInetd(t, words, SESSION, socket), { received: '999 - Access denied\n', code: 0 });
  await writeFile(join(path, 'gatherd.cf'), 'Deny 127.0.0.1 localhost\nAllow all\nDeny all\n');
  t.same(await throughInetd(t, words, SESSION, socket), { received: ANSWER, code: 0 });
  t.match(await readFile(join(path, 'inetd.log'), 'utf8'), ': -: connection: denied');
});

t.test('GATHERD-11.2 in.gatherd on pipes and on files', async (t) => {
  const path = await createDataDirectory(t);
  const words = ['in.gatherd', '--hostname', 'g.example', '-dir', path];
  await writeFile(join(path, 'session'), SESSION);
  const pipes = await shell(`printf '${SESSION.replaceAll('\n', '\\n')}' | "$@" | cat`, words);
  t.same([pipes.stdout, pipes.stderr], [ANSWER, '']);
  const files = await shell(`"$@" < '${path}/session' > '${path}/answer'`, words);
  t.same([files.code, files.stdout, files.stderr], [0, '', '']);
  t.equal(await readFile(join(path, 'answer'), 'latin1'), ANSWER);
  const noReader = await shell('"$@" < /dev/null | true; exit 0', words);
  t.same([noReader.code, noReader.stderr], [0, ''], 'a closed output is not an error');
  const help = await shell('"$@" --help | head -1', ['in.gatherd']);
  t.same([help.stdout, help.stderr], ['Usage: harvest in.gatherd [options]\n', '']);
});

t.test('GATHERD-12.3 the limits hold on pipes: no command, and a reader that stops', async (t) => {
  const path = await createDataDirectory(t, BIG.slice(0, 40));
  const [input, output] = [join(path, 'in'), join(path, 'out')];
  await promisify(execFile)('mkfifo', [input, output]);
  for (const [send, reason] of [
    ['HELLO me\n', /end of session: no command in time/],
    ['SEND-UPDATE 0\n', /end of session: peer accepted no data for 400 ms/],
  ] as const) {
    // Opened for both directions, so that opening does not wait for the other side.
    const [to, from] = [await open(input, 'r+'), await open(output, 'r+')];
    await to.write(send);
    const words = ['in.gatherd', '-dir', path, '--timeout', '0.4'];
    const { code } = await shell(`exec "$@" < '${input}' > '${output}'`, words);
    t.equal(code, 0, send);
    t.match(await readFile(join(path, 'gatherd.log'), 'utf8'), reason);
    await to.close();
    await from.close();
  }
});

t.test('GATHERD-11.2 in.gatherd ends at SIGTERM while it waits for its peer', async (t) => {
  const path = await createDataDirectory(t);
  const child = startProgram(t, ['in.gatherd', '-dir', path], ['pipe', 'pipe', 'inherit']);
  const ended = once(child, 'exit');
  const [greeting] = await once(child.stdout ?? child, 'data');
  t.match(String(greeting), /^000 - HELLO /);
  child.kill('SIGTERM');
  t.same(await ended, [0, null]);
});

t.test('GATHERD-12.5 debug flags of gatherd: -D, $HARVEST_DEBUG, the messages of each level', async (t) => {
  const path = await createDataDirectory(t);
  await writeFile(join(path, 'session'), 'SET compression\nSEND-UPDATE 100\nQUIT\n');
  const readDebugLog = async (environment: string, ...flags: readonly string[]): Promise<string> => {
    const line = `HARVEST_DEBUG='${environment}' "$@" < '${path}/session' > /dev/null`;
    const result = await shell(line, ['in.gatherd', '-log', 'debug.log', '-dir', path, ...flags]);
    t.equal(result.code, 0, result.stderr);
    const log = join(path, 'debug.log');
    const text = await readFile(log, 'utf8');
    await rm(log);
    return text;
  };
  t.notMatch(await readDebugLog('-D70,9 nonsense'), /\[69,/);
  const one = await readDebugLog('', '-D69,1');
  t.match(one, /: \[69,1\] transfer: -, since 100, compressed, 2 objects, \d+ bytes, \d+ ms\n/);
  t.notMatch(one, /\[69,[59]\]/);
  const five = await readDebugLog('-D69,5');
  t.match(five, /\[69,5\] session begins: -.*\[69,1\].*\[69,5\] session ends: -/s);
  t.notMatch(five, /\[69,9\]/);
  t.match(
    await readDebugLog('-D69,1', '-D69'),
    '[69,9] -: received 37 bytes: "SET compression\\nSEND-UPDATE 100\\nQUIT\\n"',
  );
  const wrong = await cli('gatherd', '-D69,10', '-d', path, '0');
  t.same([wrong.code, wrong.stdout], [2, '']);
});
