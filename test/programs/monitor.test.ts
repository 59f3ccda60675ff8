// The monitors of servers as processes: health, readiness, metrics that count what was done.
import { get } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { ANY_PORTS, CliProcess, cli, jsonLines, startServer } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { words } from '../helpers/words.js';
import { gatherSite, writeBroker } from './gathered-site.js';

/** Starts a server with a monitor; returns its first line and the port of the monitor. */
async function start(t: Test, ready: RegExp, ...args: readonly string[]) {
  const port = await freePort();
  const { found } = await startServer(t, ready, [...args, '--monitor', String(port)]);
  return { found, port };
}

async function ask(port: number, path: string): Promise<{ status: number; text: string }> {
  const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`);
  return { status: statusCode, text: await body.text() };
}

/** The values of the metrics of this project, by name and labels. */
async function metrics(port: number): Promise<ReadonlyMap<string, number>> {
  const { status, text } = await ask(port, '/metrics');
  if (status !== 200) throw new Error(text);
  const values = new Map<string, number>();
  for (const line of text.trim().split('\n')) {
    if (line.startsWith('#') || line === '') continue;
    const [, name = '', value = ''] = /^([a-z_A-Z0-9:]+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    // A mean of nothing is no number.
    if (name === '' || !/^(?:-?[\d.]+(?:e[+-]?\d+)?|nan)$/i.test(value))
      throw new Error(`not a metric: ${line}`);
    if (values.has(name)) throw new Error(`twice: ${name}`);
    values.set(name, Number(value));
  }
  return values;
}

const gather = (t: Test) =>
  gatherSite(t, { '/': page('Measured words', ['/two']), '/two': page('Second', []) });

t.test('gatherd: not ready without a generation; sessions, commands, objects', async (t) => {
  const empty = await temporaryDirectory(t);
  const waiting = await start(t, /^ready gatherd=127\.0\.0\.1:(\d+)$/m, 'gatherd', '-d', empty, '0');
  t.match(await ask(waiting.port, '/healthz'), { status: 200, text: '{"status":"ok"}' });
  t.match(await ask(waiting.port, '/readyz'), { status: 503, text: /gatherd: no generation is published/ });
  t.match(await ask(waiting.port, '/other'), { status: 404 });

  const { data } = await gather(t);
  const { found, port } = await start(t, /^ready gatherd=127\.0\.0\.1:(\d+)$/m, 'gatherd', '-d', data, '0');
  await waitUntil(async () => (await ask(port, '/readyz')).status === 200);
  t.match(await ask(port, '/readyz'), { status: 200, text: '{"status":"ready","problems":[]}' });
  t.equal((await cli('gather', 'localhost', found[0] ?? '')).code, 0);
  await waitUntil(async () => (await metrics(port)).get('harvest_gatherd_sessions_total') === 1);
  const values = await metrics(port);
  for (const [name, value] of [
    ['harvest_gatherd_sessions_total', 1],
    ['harvest_gatherd_connections', 0],
    ['harvest_gatherd_commands_total{command="update"}', 1],
    ['harvest_gatherd_transfers_total', 1],
    ['harvest_gatherd_sent_objects_total', 2],
    ['harvest_gatherd_objects', 2],
    ['harvest_gatherd_generation', 1],
  ] as const)
    t.equal(values.get(name), value, name);
  t.ok((values.get('harvest_gatherd_sent_bytes_total') ?? 0) > 100);
  t.ok((values.get('process_resident_memory_bytes') ?? 0) > 1e6, 'and the process');
  t.ok(values.has('nodejs_eventloop_lag_p99_seconds'));
});

t.test('broker: queries by their end, collections by point, the lag of the index', async (t) => {
  const { directory, data, url } = await gather(t);
  const gatherd = await start(t, /^ready gatherd=127\.0\.0\.1:(\d+)$/m, 'gatherd', '-d', data, '0');
  const point = `localhost:${gatherd.found[0]}`;
  const points = `localhost ${gatherd.found[0]} 3\nlocalhost ${await freePort()} 3\n`;
  const { conf } = writeBroker(directory, 'Broker-Port 0\nBroker-Name m\n', points);
  const { found, port } = await start(t, /^ready broker=127\.0\.0\.1:(\d+)/m, 'broker', conf);
  const server = `localhost:${found[0]}`;
  await waitUntil(async () => (await cli('query', server, 'measured')).stdout.includes(url));
  const values = await metrics(port);
  t.equal(values.get('harvest_broker_objects'), 2);
  t.equal(values.get('harvest_broker_index_lag'), 0);
  t.ok((values.get('harvest_broker_queries_total{end="answered"}') ?? 0) >= 1);
  t.ok((values.get('harvest_broker_query_objects_total') ?? 0) >= 1);
  t.ok((values.get('harvest_broker_messages_total{kind="user"}') ?? 0) >= 1);
  t.equal(values.get(`harvest_broker_collected_objects_total{point="${point}"}`), 2);
  const now = Date.now() / 1000;
  t.ok(now - (values.get(`harvest_broker_collected_seconds{point="${point}"}`) ?? 0) < 600);
  t.equal((await ask(port, '/readyz')).status, 200);
});

t.test('refererd: the counters of its statistics; on a socket of the file system', async (t) => {
  const { directory, data, url } = await gather(t);
  const path = join(directory, 'monitor');
  const args = ['refererd', '--data', data, '-p', '0', '--monitor', path];
  const { found } = await startServer(t, /^ready refererd=127\.0\.0\.1:(\d+)$/m, args);
  t.equal((await cli('references', `localhost:${found[0]}`, '--to', '--ids', `${url}two`)).code, 0);
  const text = await new Promise<string>((resolve, reject) => {
    get({ socketPath: path, path: '/metrics', headers: { host: 'localhost' } }, async (reply) => {
      let body = '';
      for await (const chunk of reply.setEncoding('utf8')) body += chunk;
      resolve(body);
    }).on('error', reject);
  });
  t.match(text, /^harvest_refererd_events_total\{event="REQ_GET_REFERERS"\} 1$/m);
  t.match(text, /^harvest_refererd_links 1$/m);
});

t.test('logs as JSON lines: the lines of a session have its number, also those of refererd', async (t) => {
  const { data, url } = await gather(t);
  const gatherd = new CliProcess(['gatherd', '-d', data, '--json-log', '0']);
  const [, port = ''] = await gatherd.output(/^ready gatherd=127\.0\.0\.1:(\d+)$/m);
  for (let i = 0; i < 2; i++) t.equal((await cli('gather', 'localhost', port)).code, 0);
  gatherd.kill('SIGTERM');
  const sessions = jsonLines((await gatherd.finished).stderr).filter(({ session }) => session !== undefined);
  t.same([...new Set(sessions.map(({ session }) => session))], [1, 2]);
  t.match(sessions[0], { level: 'info', name: 'gatherd', msg: /connection/ });
  const refererd = new CliProcess(words`refererd --data ${data} -p 0 --json-log --debuglevel 50`);
  const [, other = ''] = await refererd.output(/^ready refererd=127\.0\.0\.1:(\d+)$/m);
  t.equal((await cli('references', `localhost:${other}`, '--to', '--ids', `${url}two`)).code, 0);
  refererd.kill('SIGTERM');
  const lines = jsonLines((await refererd.finished).stderr);
  t.ok(
    lines.some(({ msg }) => /REQ_GET_REFERERS/.test(String(msg))),
    'the request',
  );
  for (const line of lines)
    t.match(line, { level: /^(?:info|debug)$/, name: 'refererd', time: Number, pid: Number });
});

t.test('run and gatherer: one monitor for all; wrong addresses', async (t) => {
  const directory = await temporaryDirectory(t);
  await using site = await Site.start({ '/': page('All of them', []) });
  const { port } = await start(
    t,
    /^ready /m,
    ...['run', `${site.url}/`, '--delay', '0', '--data', join(directory, 'data'), ...ANY_PORTS],
  );
  await waitUntil(async () => (await metrics(port)).get('harvest_broker_objects') === 1);
  const values = await metrics(port);
  for (const name of ['harvest_gatherer_objects', 'harvest_gatherd_objects', 'harvest_broker_objects'])
    t.equal(values.get(name), 1, name);
  t.ok([...values.keys()].some((name) => name.startsWith('harvest_crawl_uris_succeeded_total')));
  const files = t.testdir({ site: { 'a.txt': 'words', 'b.txt': 'more words' } });
  const own = await start(
    t,
    /^ready /m,
    'run',
    join(files, 'site'),
    '--data',
    join(files, 'data'),
    ...ANY_PORTS,
  );
  await waitUntil(async () => (await metrics(own.port)).get('harvest_broker_objects') === 2);
  t.match(await ask(own.port, '/readyz'), { status: 200 }, 'files have no links, and it is ready');
  for (const address of ['0.0.0.0', 'x:y', '70000'])
    t.equal((await cli('gatherd', '-d', directory, '--monitor', address, '0')).code, 2, address);
});
