// A Broker on a disk that fails from the nth change on: it ends with a sentence or answers, ends when it is
// told to, and has all objects after the disk is mended.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { GatherdServer } from '../../servers/gatherd/index.js';
import { createLogger } from '../../servers/host/index.js';
import { BrokerStore } from '../../storage/index.js';
import { writeDocuments } from '../attacks/documents.js';
import { CRASH, FAULT_SENTENCE, type FaultPoint, FaultSweep, printed, sample } from '../disk/sweep.js';
import { cli } from '../helpers/cli.js';
import { byTier } from '../helpers/seed.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

// Each point starts three processes. `SWEEP_POINTS=1000 node dist/test/peers/disk-faults-broker.js` tries every
// change.
const DOCUMENTS = 12;
const PORTS = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];
const COMPLETE = new RegExp(`${DOCUMENTS} in all`);
/** Points of each kind of fault. After ENOSPC a Broker waits for seconds before it looks for space. */
const POINTS = byTier({ ENOSPC: 1, EIO: 2, reads: 1 }, { ENOSPC: 3, EIO: 4, reads: 3 });
const PASSWORD = 'sesame';

/** Serves the summaries of some documents. @returns the port */
async function serveSummaries(): Promise<number> {
  const place = await temporaryDirectory(t);
  const documents = await writeDocuments(join(place, 'documents'), DOCUMENTS);
  const data = join(place, 'data');
  const gathered = await cli('run', '--once', '--low-disk', '0', '--data', data, ...PORTS, documents);
  if (gathered.code !== 0) throw new Error(gathered.stderr);
  const server = await GatherdServer.listen({
    generationsDirectory: join(data, 'gatherer', 'generations'),
    host: '127.0.0.1',
    port: 0,
    log: createLogger({ program: 'gatherd', level: 'silent' }),
  });
  t.teardown(() => server.close({ graceMs: 0 }));
  return server.address.port;
}

const sweep = await FaultSweep.create(t);
if (sweep !== undefined) {
  const gatherd = await serveSummaries();
  const directory = join(sweep.root, 'broker');
  const file = join(directory, 'admin', 'broker.conf');
  const args = ['broker', file, '--web-port', '0', '--stop-limit', '60'];
  const begin = async () => {
    await rm(directory, { recursive: true, force: true });
    await mkdir(join(directory, 'admin'), { recursive: true });
    const text = `Broker-Name small\nBroker-Port 0\nLog-Types All\nAdmin-Password ${PASSWORD}\n`;
    await writeFile(file, text, { mode: 0o600 });
    await writeFile(join(directory, 'admin', 'Collection.conf'), `127.0.0.1 ${gatherd} 3 --\n`);
  };
  const stored = async () => {
    await using store = await BrokerStore.open(join(directory, 'store'), { create: false });
    return store.count;
  };
  const start = async (t: Test, point?: FaultPoint, reads?: boolean) => {
    const program = await sweep.start(args, point, reads);
    t.teardown(() => program.kill('SIGKILL'));
    return program;
  };
  /** The number of changes, or of reads, of a life without failures. */
  const count = async (reads: boolean) => {
    await begin();
    const program = await start(t, undefined, reads);
    if (!(await printed(program, COMPLETE))) throw new Error(program.stderr);
    program.kill('SIGTERM');
    await program.finished;
    return sweep.counted();
  };

  /** One life on a disk that fails, and one on the same disk after it is mended. */
  const live = async (t: Test, point: FaultPoint, name: string) => {
    await begin();
    const program = await start(t, point);
    if (await printed(program, /ready broker=/)) {
      t.ok(await printed(program, /Collection failed|in all/), `${name}: it tells the outcome`);
      const [, address = ''] = /ready broker=(\S+)/.exec(program.stdout) ?? [];
      const answer = await cli('query', address, 'document');
      // An index that cannot be read is told.
      t.ok(
        answer.code === 0 || answer.code === 1 || /cannot answer now/.test(answer.stderr),
        `${name}: answers`,
      );
      t.notMatch(answer.stderr, CRASH, name);
      // There is space again, and it goes on; a device with errors is not tried again by itself.
      if (point.fault === 'ENOSPC') {
        await sweep.mend();
        t.ok(await printed(program, COMPLETE), `${name}: it goes on`);
      }
      program.kill('SIGTERM');
      // After its own limit it would kill itself.
      const { signal } = await program.finished;
      t.not(signal, 'SIGKILL', name);
      if (point.fault === 'ENOSPC') t.equal(await stored(), DOCUMENTS, `${name}: all objects`);
    } else {
      const { code } = await program.finished;
      t.ok(code === 1 || code === 2, `${name}: it ends with status ${code}`);
      t.match(program.stderr, FAULT_SENTENCE, name);
      t.match(program.stderr, sweep.root, `${name}: the sentence names a file`);
    }
    t.notMatch(program.stderr, CRASH, name);
    await sweep.mend();
    const again = await start(t);
    // The collection of the first life may have been complete.
    t.ok(await printed(again, /in all|nothing new|0 objects received/), `${name}: it starts again`);
    again.kill('SIGTERM');
    t.equal((await again.finished).code, 0, again.stderr);
    t.equal(await stored(), DOCUMENTS, `${name}: all objects after the restart`);
  };

  t.test('a broker whose disk cannot be written', async (t) => {
    const changes = await count(false);
    for (const fault of ['ENOSPC', 'EIO'] as const) {
      for (const at of sample(changes, POINTS[fault]))
        await live(t, { fault, at }, `${fault} from change ${at} of ${changes}`);
    }
  });

  t.test('a broker whose disk cannot be read', async (t) => {
    const reads = await count(true);
    for (const at of sample(reads, POINTS.reads))
      await live(t, { fault: 'EIO', at, reads: true }, `EIO from read ${at} of ${reads}`);
  });

  t.test('administrative commands while the disk fails', async (t) => {
    await begin();
    const program = await start(t);
    t.ok(await printed(program, COMPLETE));
    const [, port = ''] = /ready broker=\S+?:(\d+)/.exec(program.stdout) ?? [];
    const object = join(await temporaryDirectory(t), 'one.soif');
    await writeFile(
      object,
      '@FILE { http://a.example/1\nGatherer-Name{1}:\tg\nGatherer-Host{1}:\th\nGatherer-Version{1}:\t1\nTitle{5}:\thello\n}\n',
    );
    for (const fault of ['ENOSPC', 'EIO'] as const) {
      for (const at of byTier([1], [1, 3])) {
        for (const command of [
          `#add-object ${object}`,
          '#rem-object-path "http://a.example/1"',
          '#compress-registry',
          '#clean-broker',
          '#rem-dups',
          '#full-index',
          '#incremental-index',
          '#rotate-log',
          '#open-log LOG',
          '#restart',
          '#collection',
        ]) {
          const name = `${command}, ${fault} from change ${at}`;
          await sweep.fail({ fault, at });
          const reply = await ask(Number(port), command);
          t.match(reply, /^200 - .*\n(101|111) - /, `${name}: ${reply}`);
          t.notMatch(reply, CRASH, name);
          if (/ERROR/.test(reply))
            t.match(reply, new RegExp(`${FAULT_SENTENCE.source}|no object of that name`), name);
          await jobsEnd(Number(port));
          await sweep.mend();
          t.match(await ask(Number(port), command), /^200 - .*\n(101|111) - /, `${name}: again`);
          await jobsEnd(Number(port));
        }
      }
    }
    t.notMatch(program.stderr, CRASH);
    t.match(program.stderr, /Index corpus failed|Restart failed/);
    const answer = await cli('query', `127.0.0.1:${port}`, 'document');
    t.equal(answer.code, 0, answer.stderr);
    program.kill('SIGTERM');
    t.equal((await program.finished).code, 0, program.stderr);
    t.ok((await stored()) >= DOCUMENTS, 'all objects');
  });
}

/** Sends an administrative command. @returns the reply */
async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8').write(`#ADMIN #Password ${PASSWORD} ${command}\n`);
  let reply = '';
  for await (const text of socket) reply += String(text);
  return reply;
}

/** Waits until no command runs in the background. */
function jobsEnd(port: number): Promise<void> {
  return waitUntil(async () => !/ - Running: /.test(await ask(port, '#do-stats')));
}
