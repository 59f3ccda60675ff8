// Benchmark `essence`: documents per second that Essence summarizes.
//   npm run bench -- essence [--html DIRECTORY]... [--pages N] [--files N] [--runs N] [--type T]...
// HTML in worker threads and in the calling thread is compared with htmlparser2 extracting the links of the
// same pages, as a simple crawler does. Then every other type with files on this machine (see
// essence/documents.ts) is compared with Debian's program for it, started once per file. Essence reads from
// memory, the programs read files. Programs that are not installed are skipped.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { Parser } from 'htmlparser2';
import { EssencePool } from '../../servers/essence/index.js';
import {
  type BenchDocument,
  HTML_DIRECTORIES,
  KINDS,
  type Kind,
  readDocuments,
} from './essence/documents.js';
import {
  type Contestant,
  compare,
  median,
  print,
  scratchDirectory,
  type Work,
  writeResult,
} from './harness.js';

const execute = promisify(execFile);

const OPTIONS = {
  gathererName: 'bench',
  gathererHost: 'localhost',
  gathererVersion: '0',
  refreshRate: 604_800,
  timeToLive: 2_592_000,
};

/** Concurrent documents per worker, as in a Gatherer. */
const DOCUMENTS_PER_WORKER = 4;
/** Maximum size of the output of a program. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      html: { type: 'string', multiple: true, default: HTML_DIRECTORIES },
      pages: { type: 'string', default: '1000' },
      files: { type: 'string', default: '60' },
      runs: { type: 'string', default: '5' },
      type: { type: 'string', multiple: true },
    },
  });
  const runs = Number(values.runs);
  const isSelected = (type: string) => values.type === undefined || values.type.includes(type);
  await using pools = await Pools.create();
  if (isSelected('HTML'))
    await benchHtml(await readDocuments(values.html, /\.html$/, Number(values.pages)), pools, runs);
  const rows: TypeRow[] = [];
  for (const kind of KINDS.filter(({ type }) => isSelected(type))) {
    const documents = await readDocuments(kind.directories, kind.names, Number(values.files));
    if (documents.length === 0) print(`${kind.type}: no files on this machine`);
    else rows.push(await benchType(kind, documents, pools, runs));
  }
  if (rows.length > 0) await writeResult('essence-types', { runs, types: rows });
}

/** Pools with no, one and two worker threads. */
class Pools implements AsyncDisposable {
  private constructor(
    readonly callingThread: EssencePool,
    readonly one: EssencePool,
    readonly two: EssencePool,
  ) {}

  static async create(): Promise<Pools> {
    const [callingThread, one, two] = await Promise.all(
      [0, 1, 2].map((workers) => EssencePool.create({ ...OPTIONS, workers })),
    );
    return new Pools(callingThread!, one!, two!);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.callingThread.close(), this.one.close(), this.two.close()]);
  }
}

async function benchHtml(pages: readonly BenchDocument[], pools: Pools, runs: number): Promise<void> {
  if (pages.length === 0) {
    print(`HTML: no pages in ${HTML_DIRECTORIES.join(', ')}`);
    return;
  }
  const ours = (label: string, pool: EssencePool): Contestant => ({
    label,
    run: () => summarizeAll(pool, pages, 'text/html'),
  });
  await compare({
    name: 'essence-html',
    ours: ours('Essence, 2 workers', pools.two),
    rival: { label: 'htmlparser2, links only, 1 thread', run: () => extractLinks(pages) },
    variants: [ours('Essence, 1 worker', pools.one), ours('Essence, calling thread', pools.callingThread)],
    runs,
    setup: { pages: pages.length },
  });
}

/** Extracts the links of pages, as a simple crawler does. */
function extractLinks(pages: readonly BenchDocument[]): Work {
  let bytes = 0;
  let links = 0;
  for (const { name, body } of pages) {
    const seen = new Set<string>();
    const base = new URL(`http://localhost${encodeURI(name)}`);
    const parser = new Parser({
      onopentag(tag, { href, src }) {
        const reference =
          tag === 'a' || tag === 'area' ? href : tag === 'frame' || tag === 'iframe' ? src : undefined;
        if (reference !== undefined && URL.canParse(reference, base.href)) {
          const url = new URL(reference, base);
          url.hash = '';
          seen.add(url.href);
        }
      },
    });
    parser.end(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
    bytes += body.length;
    links += seen.size;
  }
  return { bytes, records: pages.length, check: links };
}

/** Summarizes every document once; the check is the total length of the objects. */
async function summarizeAll(
  pool: EssencePool,
  documents: readonly BenchDocument[],
  contentType?: string,
): Promise<Work> {
  let next = 0;
  let bytes = 0;
  let check = 0;
  const work = async (): Promise<void> => {
    for (let document = documents[next++]; document !== undefined; document = documents[next++]) {
      bytes += document.body.length;
      const output = await pool.summarize({
        url: `http://localhost${encodeURI(document.name)}`,
        // The pool transfers the buffer to a worker, so each run needs a copy.
        body: new Uint8Array(document.body),
        contentType,
        lastModificationTime: 0,
        updateTime: 0,
      });
      check += output.soif?.length ?? 0;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, pool.workers) * DOCUMENTS_PER_WORKER }, work));
  return { bytes, records: documents.length, check };
}

/** The result for one type. */
interface TypeRow {
  readonly type: string;
  readonly documents: number;
  readonly bytes: number;
  /** Milliseconds of each run. */
  readonly oneWorker: readonly number[];
  readonly twoWorkers: readonly number[];
  readonly program?: { readonly name: string; readonly milliseconds: readonly number[] };
  /** Median time of the program over that of Essence with one worker: above 1, Essence is faster. */
  readonly ratio?: number;
}

async function benchType(
  kind: Kind,
  documents: readonly BenchDocument[],
  pools: Pools,
  runs: number,
): Promise<TypeRow> {
  using scratch = scratchDirectory(tmpdir());
  const files = documents.map((_, i) => join(scratch.path, String(i)));
  await Promise.all(documents.map(({ body }, i) => writeFile(files[i]!, body)));
  const oneWorker: number[] = [];
  const twoWorkers: number[] = [];
  const programs: number[] = [];
  // The first round is not counted: it compiles.
  for (let round = 0; round <= runs; round++) {
    const one = await timed(() => summarizeAll(pools.one, documents));
    const two = await timed(() => summarizeAll(pools.two, documents));
    const theirs = kind.oracle === undefined ? undefined : await timedProgram(kind.oracle, files);
    if (round === 0) continue;
    oneWorker.push(one);
    twoWorkers.push(two);
    if (theirs !== undefined) programs.push(theirs);
  }
  const bytes = documents.reduce((sum, { body }) => sum + body.length, 0);
  const name = kind.oracle?.('')[0];
  const row: TypeRow = {
    type: kind.type,
    documents: documents.length,
    bytes,
    oneWorker,
    twoWorkers,
    ...(name === undefined || programs.length === 0
      ? {}
      : {
          program: { name, milliseconds: programs },
          ratio: median(programs) / median(oneWorker),
        }),
  };
  printRow(row);
  return row;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** Returns undefined if the program is not installed. Its failures on broken files are ignored. */
async function timedProgram(
  oracle: NonNullable<Kind['oracle']>,
  files: readonly string[],
): Promise<number | undefined> {
  const before = performance.now();
  for (const file of files) {
    const [program, ...args] = oracle(file);
    try {
      await execute(program, args, { maxBuffer: MAX_OUTPUT_BYTES, timeout: 60_000 });
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    }
  }
  return performance.now() - before;
}

function printRow({ type, documents, bytes, oneWorker, twoWorkers, program, ratio }: TypeRow): void {
  const rate = (milliseconds: readonly number[]): string => {
    const seconds = median(milliseconds) / 1000;
    return `${(documents / seconds).toFixed(0).padStart(6)} documents/s ${(bytes / 1e6 / seconds).toFixed(1).padStart(6)} MB/s`;
  };
  const size = `${String(documents).padStart(4)} documents, ${(bytes / 1e6).toFixed(1).padStart(5)} MB`;
  const theirs =
    program === undefined
      ? ''
      : `  ${program.name} ${rate(program.milliseconds)}  (${(ratio ?? 0).toFixed(2)} times its speed with one worker)`;
  print(`${type.padEnd(11)} ${size}  1 worker ${rate(oneWorker)}  2 workers ${rate(twoWorkers)}${theirs}`);
}
