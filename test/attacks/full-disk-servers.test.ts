// Servers on a disk that is full or mounted read-only: each serves what is stored, or says in a sentence why it
// cannot; SIGTERM ends it, and when the disk can be written it goes on.
import { appendFile, cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CRASH } from '../disk/sweep.js';
import { cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { publishFixture } from '../storage/references/fixture.js';
import { gatherDocuments, start, terminate } from './disk-scene.js';

const DOCUMENTS = 80;
const STOP = ['--stop-limit', '60'];

const { data } = await gatherDocuments(t, DOCUMENTS);

/** Where a server runs. */
interface Scene {
  /** A directory of the disk, in which its data are. */
  readonly directory: string;
  /** A directory of another disk. */
  readonly elsewhere: string;
  readonly port: number;
}

interface Server {
  /** Writes its data and configuration. */
  prepare(scene: Scene): Promise<void>;
  args(scene: Scene): readonly string[];
  /** Asks for everything that it serves. */
  ask(t: Test, port: number): Promise<void>;
}

const gatherd: Server = {
  prepare: ({ directory }) => cp(join(data, 'gatherer'), directory, { recursive: true }),
  args: ({ directory, port }) => ['gatherd', '-d', directory, ...STOP, String(port)],
  async ask(t, port) {
    const { code, stdout, stderr } = await cli('gather', '127.0.0.1', String(port));
    t.equal(code, 0, stderr);
    t.equal(stdout.match(/^@FILE /gm)?.length, DOCUMENTS, 'all objects');
  },
};

const broker: Server = {
  async prepare({ directory, port }) {
    await cp(join(data, 'broker'), directory, { recursive: true });
    await appendFile(join(directory, 'admin', 'broker.conf'), `Broker-Port ${port}\n`);
  },
  args: ({ directory }) => [
    'broker',
    join(directory, 'admin', 'broker.conf'),
    '-nocol',
    '--web-port',
    '0',
    ...STOP,
  ],
  async ask(t, port) {
    const answer = await cli('query', '--json', `127.0.0.1:${port}`, 'document');
    t.equal(answer.code, 0, answer.stderr);
    t.ok(answer.stdout.split('\n').length > 50);
    const { code, stdout, stderr } = await cli('bulk', `127.0.0.1:${port}`);
    t.equal(code, 0, stderr);
    t.equal(stdout.match(/^@FILE /gm)?.length, DOCUMENTS, 'all objects');
  },
};

/** A references server whose log and pid file are in `logs`, which is below the directory of a scene. */
function refererd(logs: (scene: Scene) => string): Server {
  return {
    async prepare(scene) {
      const { directory, elsewhere, port } = scene;
      await publishFixture(join(directory, 'base'));
      await mkdir(logs(scene), { recursive: true });
      await mkdir(join(elsewhere, 'conf'));
      await writeFile(join(elsewhere, 'conf', 'hosts.allow'), '127.0.0.*\n');
      await writeFile(
        join(elsewhere, 'referer.cf'),
        `rootdir = ${elsewhere}
referername = 127.0.0.1
refererport = ${port}
logfile = ${logs(scene)}/refererd.log
pidfile = ${logs(scene)}/refererd.pid
debuglevel = 80
refdb = ${directory}/base/refs.db
urldb = ${directory}/base/url.db
${process.getuid?.() === 0 ? 'user = root\ngroup = root\n' : ''}`,
      );
    },
    args: ({ elsewhere }) => ['refererd', '-c', join(elsewhere, 'referer.cf'), '--foreground', ...STOP],
    async ask(t, port) {
      for (let i = 0; i < 3; i++) {
        const answer = await cli('references', `127.0.0.1:${port}`, '10');
        t.equal(answer.code, 0, answer.stderr);
      }
    },
  };
}

interface Row {
  readonly name: string;
  readonly server: Server;
  readonly disk: 'full' | 'read-only';
  /** It is killed when the disk has become full, and not ended by SIGTERM. */
  readonly killed?: true;
  /** What it says on its standard error when it is started on that disk; undefined if nothing must be said. */
  readonly says?: RegExp;
  /** It does not start, and says this. */
  readonly refuses?: RegExp;
}

const onDisk = ({ directory }: Scene): string => join(directory, 'logs');
const elsewhere = ({ elsewhere }: Scene): string => join(elsewhere, 'logs');

const ROWS: readonly Row[] = [
  {
    name: 'gatherd',
    server: gatherd,
    disk: 'full',
    says: /gatherd\.pid(\.lock)? cannot be written: ENOSPC; gatherd runs without it/,
  },
  {
    name: 'gatherd',
    server: gatherd,
    disk: 'read-only',
    says: /gatherd\.pid(\.lock)? cannot be written: EROFS; gatherd runs without it/,
  },
  {
    name: 'broker',
    server: broker,
    disk: 'full',
    killed: true,
    says: /broker\.pid(?:\.lock)? cannot be written: ENOSPC; broker runs without it[\s\S]*the disk of \S+ is full; the broker serves the stored objects/,
  },
  {
    name: 'broker',
    server: broker,
    disk: 'read-only',
    refuses: /^harvest: .*([Rr]ead-only file system|EROFS)/m,
  },
  {
    name: 'broker whose log is elsewhere',
    server: {
      ...broker,
      async prepare(scene) {
        await broker.prepare(scene);
        await appendFile(join(scene.directory, 'admin', 'broker.conf'), `Log-File ${scene.elsewhere}/LOG\n`);
      },
    },
    disk: 'read-only',
    refuses: /^harvest: .*([Rr]ead-only file system|EROFS)/m,
  },
  {
    name: 'refererd',
    server: refererd(onDisk),
    disk: 'full',
    refuses: /cannot start: .*refererd\.pid cannot be written: ENOSPC/,
  },
  { name: 'refererd whose log is elsewhere', server: refererd(elsewhere), disk: 'read-only' },
  {
    name: 'refererd',
    server: refererd(onDisk),
    disk: 'read-only',
    refuses: /cannot start: the log .* cannot be opened: EROFS/,
  },
];

for (const { name, server, disk: state, killed, says, refuses } of ROWS) {
  t.test(`${name} on a ${state} disk`, async (t) => {
    const disk = await smallDisk(t, 64);
    if (disk === undefined) return;
    const scene: Scene = {
      directory: join(disk.directory, 'data'),
      elsewhere: await temporaryDirectory(t),
      port: await freePort(),
    };
    await server.prepare(scene);
    const args = server.args(scene);
    const begin = async () => {
      const program = start(t, ...args);
      await program.output(/ready/);
      return program;
    };
    if (state === 'full') {
      // The disk becomes full while it runs.
      const first = await begin();
      await disk.fill();
      await server.ask(t, scene.port);
      if (killed === true) {
        first.kill('SIGKILL');
        await first.finished;
      } else t.equal(await terminate(t, first), 0, first.stderr);
      await disk.fill();
    } else disk.remount('ro');
    const files = await readdir(scene.directory);
    if (refuses === undefined) {
      const program = await begin();
      // Others take what is left of the space.
      if (state === 'full') await disk.fill();
      await server.ask(t, scene.port);
      t.equal(await terminate(t, program), 0, program.stderr);
      if (says !== undefined) {
        t.match(program.stderr, says);
        if (server === gatherd)
          t.same((await readdir(scene.directory)).sort(), files.sort(), 'it leaves no file');
      }
    } else {
      const { code, stderr } = await cli(...args);
      t.equal(code, 1, stderr);
      t.match(stderr, refuses);
      t.notMatch(stderr, CRASH);
    }
    if (state === 'full') await disk.free();
    else disk.remount('rw');
    const again = await begin();
    await server.ask(t, scene.port);
    t.equal(await terminate(t, again), 0, again.stderr);
    t.notMatch(again.stderr, /\bfull\b(?!-)|ENOSPC|EROFS/, 'it goes on');
  });
}
