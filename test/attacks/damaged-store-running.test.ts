// Tables that are damaged while a process has them open, after their checksums were compared: no damaged object
// is ever sent as a sound one.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { monitoredGatherd } from '../../servers/gatherd/figures.js';
import { GathererStore } from '../../storage/index.js';
import { cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { exchange } from '../servers/broker/helpers.js';
import { entry, exchange as gatherdExchange, startGatherd } from '../servers/gatherd/helpers.js';
import { put, summary } from '../storage/helpers.js';

const ADVICE = /`harvest store check \S+` lists the damage/;
/** A complete #BULK: the end of the last object, and of the section. */
const COMPLETE = /\n\}\n\}\n144 - /;

/** Starts the Broker; the end of the test ends it. */
async function startBroker(test: Test) {
  const directory = await temporaryDirectory(test);
  const program = fileURLToPath(new URL('./damaged-broker.js', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  test.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  if (child.stdout === null) throw new Error('no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as unknown;
  const { port, web } = (await next()) as { port: number; web: number };
  const ask = async (what: 'log' | 'problems') => {
    child.stdin?.write(`${what}\n`);
    return ((await next()) as string[]).join('');
  };
  const log = () => ask('log');
  const problems = () => ask('problems');
  return { directory, child, port, web, log, problems, store: join(directory, 'store') };
}

/** Overwrites the first letter of each `text` in the table files; returns how many there were. */
async function damageTables(store: string, text: RegExp, letter = 'N'): Promise<number> {
  let found = 0;
  for (const name of await readdir(store)) {
    if (!name.endsWith('.ldb')) continue;
    const path = join(store, name);
    const content = (await readFile(path)).toString('latin1');
    await using handle = await open(path, 'r+');
    for (const { index } of content.matchAll(text)) {
      await handle.write(letter, index);
      found++;
    }
  }
  return found;
}

t.test('a query, a page and #BULK tell that an object is damaged', async (t) => {
  const broker = await startBroker(t);
  const { port, web, store } = broker;
  const path = (await exchange(port, '#USER #END word17\n')).match(/\/Harvest\/\S+/)?.[0] ?? '';
  t.match(path, /objects/);
  t.ok(COMPLETE.test(await exchange(port, '#BULK #interface 2 #END #ALLB\n')));
  t.ok((await damageTables(store, /needle-\d*7-needle/g)) > 500, 'objects in every table are damaged');
  // All of them come from the file of the transfer before, which is sound.
  t.ok(COMPLETE.test(await exchange(port, '#BULK #interface 2 #END #ALLB\n')));

  const reply = await exchange(port, '#USER #desc #END word17\n');
  t.match(reply, /^111 - ERROR: The Broker cannot answer now: the store in \S+ is damaged: object \d+/m);
  t.match(reply, ADVICE);
  t.notMatch(reply, /Needle/);
  t.match(
    await exchange(port, '#USER #desc #index matchword #END word18\n'),
    /needle-18-needle/,
    'a sound one is sent',
  );

  const bulk = await exchange(port, '#BULK #interface 2 #SINCE 1 #END #ALLB\n');
  t.notOk(COMPLETE.test(bulk), 'the reply does not end as a complete one');
  t.notOk(/Needle/.test(bulk));
  t.match(await exchange(port, '#BULK #END word17\n'), /^(?![\s\S]*Needle)/, 'nor one of some objects');

  const page = await fetch(`http://127.0.0.1:${web}${path}`);
  t.equal(page.status, 503);
  t.match(await page.text(), /cannot read its files now/);
  const search = `http://127.0.0.1:${web}/Harvest/cgi-bin/BrokerQuery.pl.cgi?query=word17&descflag=on`;
  t.equal((await fetch(search)).status, 503);

  const { code, stdout, stderr } = await cli('query', `127.0.0.1:${port}`, 'word17');
  t.equal(code, 3, stdout);
  t.match(stderr, /The Broker cannot answer now: the store in \S+ is damaged/);
  t.match(await broker.log(), /ERROR: .*is damaged: object \d+/);
  t.match(
    await broker.problems(),
    /is damaged: object \d+|\.ldb is not as it was written/,
    'the server is not ready',
  );
  t.ok((await damageTables(store, /Needle-\d*7-needle/g, 'n')) > 500, 'they are as they were');
  await waitUntil(async () => (await broker.problems()) === '');
  t.match(await broker.log(), /object \d+ of the store is whole again/);
});

t.test('#BULK that runs while its store is damaged does not end as a complete one', async (t) => {
  const { port, store } = await startBroker(t);
  const socket = connect(port, '127.0.0.1');
  socket.write('#BULK #interface 2 #END #ALLB\n');
  await once(socket, 'readable');
  t.ok((await damageTables(store, /needle-4\d\d\d-needle/g)) > 500);
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
  t.ok(/needle-1-needle/.test(text));
  t.notOk(/Needle/.test(text));
  t.notOk(COMPLETE.test(text));
});

t.test('a damaged summary is neither sent nor exported', async (t) => {
  const entries = Array.from({ length: 300 }, (_, n) =>
    entry(`http://${n}.test/`, 1000 + n, `needle-${n}-needle ${randomBytes(3000).toString('base64')}`),
  );
  const { port, log, database } = await startGatherd(t, entries);
  t.match(await gatherdExchange(t, port, 'SEND-OBJECT http://17.test/\nQUIT\n'), /needle-17-needle/);
  const [generation = ''] = (await readdir(database.generations)).filter((name) => /^\d+$/.test(name));
  // The tables of the generation are links to those of the working store and of gatherd.
  t.equal(await damageTables(join(database.generations, generation), /needle-\d*7-needle/g), 30);

  const reply = await gatherdExchange(t, port, 'SEND-OBJECT http://17.test/\nQUIT\n');
  t.notMatch(reply, /Needle/);
  t.match(log.join(''), /ERROR: .*is damaged: the summary of http:\/\/17\.test\/ has another checksum/);
  t.match(log.join(''), ADVICE);
});

t.test('a damaged summary of an open store is not published', async (t) => {
  const directory = await temporaryDirectory(t);
  const working = join(directory, 'working');
  {
    await using store = await GathererStore.open(working);
    await put(
      store,
      ...Array.from({ length: 300 }, (_, n) =>
        summary(`http://${n}.test/`, 1000 + n, `needle-${n}-needle ${randomBytes(3000).toString('base64')}`),
      ),
    );
  }
  // Opened again, the rows of the log become a table.
  await using store = await GathererStore.open(working);
  t.equal(await damageTables(working, /needle-\d*7-needle/g), 30);
  const exported = async () => {
    for await (const { bytes } of store.summaries.exportSince(0))
      t.notMatch(Buffer.from(bytes).toString('latin1'), /Needle/);
  };
  await t.rejects(exported(), {
    name: 'StorageError',
    message: /the summary of http:\/\/7\.test\/ has another checksum/,
  });
  const generations = join(directory, 'generations');
  await t.rejects(store.publish(generations), { name: 'StorageError', message: ADVICE });
  t.same(
    (await readdir(generations)).filter((name) => /^\d+$/.test(name)),
    [],
    'nothing is published',
  );
});

t.test(
  'a compressed export that is damaged meanwhile is not sent as a sound one, and the next one is',
  async (t) => {
    const entries = Array.from({ length: 300 }, (_, n) =>
      entry(`http://${n}.test/`, 1000 + n, randomBytes(3000).toString('base64')),
    );
    const { log, database, server, port } = await startGatherd(t, entries);
    await gatherdExchange(t, port, 'INFO\nQUIT\n');
    const { problems } = monitoredGatherd(server);
    t.same(problems(), []);
    const path = join(database.generations, '1', 'All-Templates.gz');
    const { length } = await readFile(path);
    {
      await using file = await open(path, 'r+');
      await file.write('damage', length >> 1);
    }
    const damage =
      /1 is damaged: All-Templates\.gz does not match its checksum; `harvest store check \S+` lists/;
    for (const options of [[], ['--no-compress']]) {
      const { code, stdout } = await cli('gather', ...options, '127.0.0.1', String(server.address.port));
      t.not(code, 0, 'the client hears of it');
      t.ok((stdout.match(/^@FILE/gm) ?? []).length < entries.length);
    }
    t.match(log.join(''), damage, 'the sentence of a start');
    t.match(problems(), [damage], 'the server is not ready');

    await database.publish([]);
    const { code, stdout, stderr } = await cli('gather', '127.0.0.1', String(server.address.port));
    t.equal(code, 0, stderr);
    t.equal(stdout.match(/^@FILE/gm)?.length, entries.length, 'nothing damaged was taken over');
    t.same(problems(), []);
  },
);
