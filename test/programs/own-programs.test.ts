// The example programs of examples/programs, which use the package as a library.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { page } from '../helpers/site.js';
import { waitUntil } from '../helpers/wait-until.js';
import { type GatheredSite, gatherSite, writeBroker } from './gathered-site.js';

const PROGRAMS = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'examples/programs');

interface Program extends AsyncDisposable {
  /** Ends it; returns its exit status. */
  stop(): Promise<unknown>;
}

/** Starts an example; waits until it is ready. */
async function start(name: string, args: readonly string[], variables = {}): Promise<Program> {
  const child = spawn(process.execPath, [join(PROGRAMS, name), ...args], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (text) => {
    output += text;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      output += text;
      if (/^ready/m.test(output)) resolve();
    });
    child.once('close', (code) => reject(new Error(`${name} ended (${code}): ${output}`)));
  });
  const stop = async (): Promise<unknown> => {
    const ended = child.exitCode === null ? once(child, 'close') : Promise.resolve([child.exitCode]);
    child.kill('SIGTERM');
    return (await ended)[0];
  };
  return { stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

const gather = (t: Test) => gatherSite(t, { '/': page('Borrowed words', []) });

/** Starts the gatherd of a gathered site, and writes a Broker that collects from it. */
async function collecting(t: Test, { data, directory }: GatheredSite, conf: string) {
  const port = await freePort();
  const daemon = await cli('gatherd', '--detach', '-d', data, String(port));
  t.equal(daemon.code, 0, daemon.stderr);
  t.teardown(() => cli('kill-gatherd', '-d', data));
  return writeBroker(
    directory,
    conf,
    `localhost ${port} 3
`,
  );
}

t.test('own-socket: a server listens where its owner wants', async (t) => {
  const { directory, data, url } = await gather(t);
  const path = join(directory, 's');
  await using program = await start('own-socket.mjs', [data, path]);
  const socket = connect(path);
  socket.end('HELLO x\r\nSEND-UPDATE 0\r\nQUIT\r\n');
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += chunk;
  t.match(text, /^000 - HELLO/);
  t.match(text, url);
  t.equal(await program.stop(), 0, 'a signal ends it');
});

t.test('own-objects: the objects of a program, collected as from any Gatherer', async (t) => {
  const port = await freePort();
  await using program = await start('own-objects.mjs', [String(port)]);
  const { stdout } = await cli('gather', '127.0.0.1', String(port));
  t.match(stdout, /@BOOK \{ http:\/\/books\.example\.org\/emma\n/);
  t.match(stdout, /Gatherer-Name\{10\}:\tmy catalog\n/);
  t.equal(await program.stop(), 0, 'a signal ends it');
});

t.test('own-application: the pages of a Broker below a prefix, behind hooks of an application', async (t) => {
  const gathered = await gather(t);
  const { url } = gathered;
  const [port, own] = [await freePort(), await freePort()];
  const { broker } = await collecting(t, gathered, `Broker-Port ${port}\nBroker-Name own\n`);
  await using program = await start('own-application.mjs', [broker], { PORT: String(own) });

  const get = async (path: string, headers: Record<string, string> = {}) => {
    const { statusCode, body, headers: found } = await request(`http://127.0.0.1:${own}${path}`, { headers });
    return { status: statusCode, text: await body.text(), headers: found };
  };
  t.equal((await get('/search/')).status, 401, 'the hook of the application decides first');
  const login = { authorization: `Basic ${Buffer.from('guest:sesame').toString('base64')}` };
  t.match(await get('/', login), { status: 200, text: '<a href="/search/">Search</a>' });
  const first = await get('/search/', login);
  t.equal(first.status, 200);
  t.match(first.headers['content-security-policy'], /default-src/, 'the pages have their headers');
  t.notMatch((await get('/', login)).headers, { 'content-security-policy': /./ }, 'and only the pages');
  for (const [, link = ''] of first.text.matchAll(/(?:href|src|action)="(\/[^"?]*)/g)) {
    t.match(link, /^\/search\//, link);
    if (!link.endsWith('.cgi')) t.equal((await get(link, login)).status, 200, link);
  }
  let results = '';
  await waitUntil(async () => {
    results = (await get('/search/Harvest/cgi-bin/BrokerQuery.cgi?query=borrowed', login)).text;
    return results.includes(url);
  });
  const [, summary = ''] =
    /href="(\/search\/Harvest\/cgi-bin\/DisplayObject\.cgi\?[^"]*)"/.exec(results) ?? [];
  t.match((await get(summary, login)).text, 'Borrowed words');
  t.match(await get('/search/nothing', login), { status: 404, text: /There is no such page/ });
  t.match(await get('/nothing', login), { status: 404, text: /Route GET:\/nothing not found/ });
  t.match(await get('/search/Harvest/suggestions?query=borr', login), { status: 200, text: /^\[/ });
  t.equal(await program.stop(), 0, 'a signal ends it');
});

t.test('BRK-8.5 own-indexer: the engine that broker.conf names by a path answers the queries', async (t) => {
  const gathered = await gather(t);
  const { url } = gathered;
  const port = await freePort();
  const engine = join(PROGRAMS, 'own-indexer.mjs');
  const lines = `Broker-Port ${port}\nBroker-Name own\nIndexer-Type ${engine}\nGlimpseServer-Host false\n`;
  const { conf } = await collecting(t, gathered, lines);
  for (const start of ['collects', 'starts again: the engine has kept nothing, and gets all objects']) {
    const server = new CliProcess(['broker', conf]);
    t.teardown(() => server.child.kill('SIGKILL'));
    let found = '';
    await waitUntil(async () => {
      found = (await cli('query', `127.0.0.1:${port}`, 'borrowed')).stdout;
      return found.includes(url) || server.child.exitCode !== null;
    });
    t.match(found, url, start);
    server.child.kill('SIGTERM');
    t.equal((await server.finished).code, 0, server.stderr);
  }
  writeFileSync(conf, `Broker-Port ${port}\nBroker-Name own\nIndexer-Type ./none.mjs\n`);
  t.match(await cli('broker', conf), { code: 2, stderr: /none\.mjs: Indexer-Type: cannot be loaded/ });
});

t.test('own-indexer-conformance: the suite of the contract runs on it', (t) => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--test', join(PROGRAMS, 'own-indexer-conformance.mjs')],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, stdout);
  t.match(stdout, /pass [1-9]/);
  t.end();
});
