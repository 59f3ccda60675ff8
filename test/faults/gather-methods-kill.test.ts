// kill -9 during gathering over FTP and NNTP: the next run continues, and in the end every document is exported
// once.
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { cli, killCli } from '../helpers/cli.js';
import { scratchDirectory } from '../helpers/daemon.js';
import { EventCount } from '../helpers/event-count.js';
import { readExport, renderConfiguration, unlimitedRoot, urlsOf } from '../helpers/gather-peers/gather.js';
import { ftpServer } from '../helpers/gather-peers/scripted-ftp.js';
import { newsServer } from '../helpers/gather-peers/scripted-news.js';
import { IS_ROOT, startVsftpd, VSFTPD } from '../helpers/gather-peers/servers.js';
import { createTree } from '../helpers/gather-peers/tree.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { waitUntil } from '../helpers/wait-until.js';

const KILLS = byTier(2, 4);
const DIRECTORIES = 8;
const FILES = 25;
const ARTICLES = 150;

interface Site {
  readonly root: string;
  /** The URLs of all documents, sorted. */
  readonly expected: readonly string[];
  /** The requests for documents. */
  readonly requests: Pick<EventCount, 'count' | 'reached'>;
}

/**
 * Runs `harvest gatherer` and kills it after a random number of requests, several times; the last run ends.
 * Only requests in flight at a kill are repeated, so their number is bounded.
 */
async function checkKilledRuns(t: Test, { root, expected, requests }: Site): Promise<void> {
  const directory = scratchDirectory(t);
  const file = join(directory, 'test.cf');
  writeFileSync(file, renderConfiguration({ roots: [unlimitedRoot(root)] }));
  const args = ['gatherer', file, '--no-daemon', '--json', '--data', join(directory, 'data')];
  const random = new Random(SEED);
  for (let round = 0; round < KILLS; round++) {
    const target = requests.count + random.between(3, Math.floor(expected.length / (KILLS + 1)));
    t.ok(await killCli(requests.reached(target), ...args), 'a run is killed before its end');
  }
  const last = await cli(...args);
  t.equal(last.code, 0, last.stderr.split('\r').at(-1) ?? '');
  t.equal(
    JSON.parse(last.stdout).gathered.resumed,
    true,
    'G-171: the last run continues the interrupted one',
  );
  const exported = await readExport(join(directory, 'data', 'generations'));
  t.strictSame(urlsOf({ exported }), expected, `each of ${expected.length} documents is exported once`);
  const repeated = requests.count - expected.length;
  t.ok(
    repeated >= 0 && repeated <= expected.length / 2,
    `${repeated} documents were requested again, because they were not stored before a kill`,
  );
}

t.test(`G-171: kill -9 over FTP (seed ${SEED})`, async (t) => {
  const files = new Map<string, Buffer>();
  for (let d = 0; d < DIRECTORIES; d++)
    for (let f = 0; f < FILES; f++)
      files.set(`d${d}/f${f}.txt`, Buffer.from(`file ${f} of directory ${d}\n`));
  const requests = new EventCount();
  const { port } = await ftpServer(t, {
    files,
    onCommand: (line) => {
      if (line.startsWith('RETR')) requests.add();
    },
  });
  const root = `ftp://127.0.0.1:${port}/`;
  await checkKilledRuns(t, {
    root,
    expected: [...files.keys()].map((path) => root + path).sort(),
    requests,
  });
});

t.test(`G-171: kill -9 over NNTP (seed ${SEED})`, async (t) => {
  const group = 'test.group';
  const requests = new EventCount();
  const { port } = await newsServer(t, {
    groups: {
      [group]: Array.from(
        { length: ARTICLES },
        (_, n) => `From: a@example.net\r\nSubject: ${n}\r\n\r\nArticle ${n}.\r\n`,
      ),
    },
    onCommand: (line) => {
      if (line.startsWith('ARTICLE')) requests.add();
    },
  });
  const root = `nntp://127.0.0.1:${port}/${group}`;
  const expected = Array.from({ length: ARTICLES }, (_, n) => `${root}/${n + 1}`).sort();
  await checkKilledRuns(t, { root, expected, requests });
});

const hasVsftpd = existsSync(VSFTPD) && IS_ROOT;
const skip = hasVsftpd ? byTier<string | false>('in verify only', false) : 'needs vsftpd and root';
t.test(`G-171: kill -9 over FTP from vsftpd (seed ${SEED})`, { skip }, async (t) => {
  let ended = false;
  t.teardown(() => {
    ended = true;
  });
  const directory = scratchDirectory(t);
  chmodSync(directory, 0o755);
  const names = Array.from({ length: FILES }, (_, n) => `f${n}.txt`);
  const files = createTree(join(directory, 'site'), names);
  const server = await startVsftpd(t, directory, join(directory, 'site'));
  const root = `ftp://127.0.0.1:${server.port}/`;
  await checkKilledRuns(t, {
    root,
    expected: [...files.keys()].map((path) => root + path.replaceAll(' ', '%20')).sort(),
    requests: {
      get count() {
        return server.log().filter((line) => line.includes('", "RETR')).length;
      },
      reached(target) {
        return waitUntil(() => ended || this.count >= target);
      },
    },
  });
});
