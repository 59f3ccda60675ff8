// Commands on a disk that fails from the nth change on: a sentence and status 1, and the next run completes the
// work.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { writeDocuments } from '../attacks/documents.js';
import { CRASH, FAULT_SENTENCE, FaultSweep, sample } from '../disk/sweep.js';
import { byTier } from '../helpers/seed.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

// Each point starts two processes.
const DOCUMENTS = 12;
const PORTS = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];

/** A command whose runs begin with an empty directory. */
interface Subject {
  readonly args: readonly string[];
  /** What a run prints that has done the whole work. */
  readonly complete: RegExp;
  /** Files of the directory before the command. */
  prepare?(): Promise<void>;
}

async function examine(t: Test, sweep: FaultSweep, { args, complete, prepare }: Subject) {
  const begin = async () => {
    await rm(sweep.root, { recursive: true, force: true });
    await mkdir(sweep.root);
    await prepare?.();
  };
  const count = async (reads: boolean) => {
    await begin();
    return sweep.changesOf(args, reads);
  };
  const counts = new Map<boolean, number>();
  const kinds = [
    { fault: 'ENOSPC', reads: false, points: byTier(1, 3) },
    { fault: 'EIO', reads: false, points: 1 },
    { fault: 'EIO', reads: true, points: byTier(0, 1) },
  ] as const;
  for (const { fault, reads, points } of kinds) {
    if (points === 0) continue;
    const of = counts.get(reads) ?? (await count(reads));
    counts.set(reads, of);
    for (const at of sample(of, points)) {
      const name = `${fault} from ${reads ? 'read' : 'change'} ${at} of ${of}`;
      await begin();
      const { code, signal, stderr, stdout } = await sweep.run(args, { fault, at, reads });
      t.equal(signal, null, name);
      t.notMatch(stderr, CRASH, name);
      // The last changes are files without which it can do its work: console.json, the pid file.
      if (code === 0) t.match(stdout, complete, name);
      else {
        // The status of a configuration that cannot be read is 2.
        t.ok(code === 1 || code === 2, `${name}: ${stderr}`);
        t.match(stderr, FAULT_SENTENCE, name);
        t.match(stderr, dirname(sweep.root), `${name}: the sentence names a file`);
      }
      const again = await sweep.run(args);
      t.equal(again.code, 0, `${name}, the next run: ${again.stderr}`);
      t.match(again.stdout, complete, name);
    }
  }
}

const sweep = await FaultSweep.create(t);
if (sweep !== undefined) {
  const place = await temporaryDirectory(t);
  const documents = await writeDocuments(join(place, 'documents'), DOCUMENTS);
  const configuration = join(sweep.root, 'example.cf');

  t.test('harvest gatherer', (t) =>
    examine(t, sweep, {
      args: ['gatherer', '--no-daemon', '--json', '--low-disk', '0', configuration],
      complete: new RegExp(`"objects":${DOCUMENTS}\\b`),
      prepare: () =>
        writeFile(
          configuration,
          `Gatherer-Name: example
Top-Directory: ${dirname(configuration)}
Data-Directory: ${join(dirname(configuration), 'data')}
<RootNodes>
file://${documents}/ URL=100
</RootNodes>
`,
        ),
    }),
  );

  t.test('harvest run --once', (t) =>
    examine(t, sweep, {
      args: ['run', '--once', '--low-disk', '0', '--data', join(sweep.root, 'data'), ...PORTS, documents],
      complete: new RegExp(`"objects":${DOCUMENTS}\\b`),
    }),
  );

  t.test('harvest links load', async (t) => {
    const objects = join(place, 'documents.jsonl');
    const refs = join(place, 'refs');
    const lines = Array.from({ length: 300 }, (_, i) =>
      JSON.stringify({ id: i + 1, url: `http://a.example/${i}` }),
    );
    await writeFile(objects, `${lines.join('\n')}\n`);
    await writeFile(refs, Array.from({ length: 299 }, (_, i) => `${i + 1} ${i + 2}\n`).join(''));
    await examine(t, sweep, {
      args: ['links', 'load', '--json', '--documents', objects, '--refs', refs, '--data', sweep.root],
      complete: /"links":299\b/,
    });
  });
}
