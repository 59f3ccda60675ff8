// Floods that try to fill the disk with log lines, and the memory of a server after floods.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { CliProcess } from '../helpers/cli.js';
import { steady, until } from '../helpers/manual-clock.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { usedMemory } from '../helpers/used-memory.js';
import { Database, entry, startGatherd } from '../servers/gatherd/helpers.js';
import { serveFixture } from '../servers/refererd/helpers.js';
import { startFlood } from './fairness.js';
import { ask, dial } from './sockets.js';

/**
 * Bytes that the log of a server may grow by in a flood: the bursts of the limits, some hundred bytes a line.
 */
const MAX_LOG_BYTES = 1 << 20;

/** Without limits, as many answers would be a log of several megabytes. */
const FLOODS = {
  commands: { connections: 10, text: 'HELLO me\nnonsense\n', answers: 100_000 },
  'connections with a command': { connections: 20, text: 'HELP\nQUIT\n', reconnect: true, answers: 100_000 },
  'empty connections above the limit': { connections: 40, text: '', reconnect: true, answers: 20_000 },
};

for (const [name, flood] of Object.entries(FLOODS)) {
  t.test(`gatherd: ${name} do not fill the log`, async (t) => {
    const directory = await temporaryDirectory(t);
    await new Database(directory).publish([entry('http://a.example/', 100, 'a')]);
    const log = join(directory, 'gatherd.log');
    const server = new CliProcess([
      'gatherd',
      ...['-d', directory, '--log', log, '--max-connections', '30', '--grace', '0', '0'],
    ]);
    t.teardown(() => server.kill('SIGKILL'));
    const [, port] = await server.output(/^ready gatherd=127\.0\.0\.1:(\d+)/m);
    const stop = await startFlood(t, Number(port), flood);
    await stop();
    server.kill('SIGTERM');
    await server.finished;
    const { size } = await stat(log);
    t.ok(size < MAX_LOG_BYTES, `the log has ${size} bytes`);
  });
}

const countResources = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'TCPSocketWrap').length;

t.test('after floods a server holds no more memory, timers and sockets than before', async (t) => {
  const entries = Array.from({ length: 100 }, (_, i) =>
    entry(`http://${i}.example/`, 100 + i, 'x'.repeat(20_000)),
  );
  const gatherd = await startGatherd(t, entries, { drainTimeoutMs: 1000 });
  const refererd = await serveFixture(t);
  refererd.memory.lines.length = 0;
  const sstp = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 10\r\n\r\n';
  const floods = [
    [gatherd.port, { connections: 50, text: 'SEND-UPDATE 0\nINFO\nHELP\n', answers: 50_000 }],
    [
      gatherd.port,
      { connections: 50, text: 'SET compression\nSEND-UPDATE 0\n', reconnect: true, answers: 100 },
    ],
    [refererd.address.port, { connections: 50, text: sstp.repeat(1000), answers: 1_000_000 }],
    [
      refererd.address.port,
      { connections: 50, text: 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', reconnect: true, answers: 1000 },
    ],
  ] as const;
  const round = async (): Promise<void> => {
    for (const [port, flood] of floods) {
      const stop = await startFlood(t, port, flood);
      await stop();
    }
    await until(() => gatherd.server.connections === 0 && refererd.service.clients === 0);
    gatherd.log.length = 0;
    refererd.memory.lines.length = 0;
  };
  // The first round fills caches and compiles code.
  await round();
  const before = await usedMemory();
  const resources = await steady(countResources);
  await round();
  const after = await usedMemory();
  t.ok(after - before < 8 << 20, `${after - before} bytes more than before, of ${before}`);
  await until(() => countResources() <= resources);
  t.pass('timers and sockets are as many as before');
  const client = await dial(t, gatherd.port);
  t.match(await ask(client, 'HELLO me\n', /100 - HELLO me\n/), /100 - HELLO me\n/, 'the server serves');
});
