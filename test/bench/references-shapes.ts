// Benchmark `references-shapes`: processor time of refererd for a first page, by the shape of its connections,
// compared with another version of the program. Both are new processes in every round, in alternating order.
//   npm run bench -- references-shapes --against DIR [--shapes 64x1,16xendless] [--seconds N] [--rounds N] [--missing]
// DIR is a compiled checkout of the other version; --missing requests documents that are not in the database. Needs gcc for the load client.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ReferencesReader } from '../../storage/references/index.js';
import { PROGRAM } from '../helpers/cli.js';
import { median, print, scratchDirectory, writeResult } from './harness.js';
import { measureServer } from './references/pages.js';
import { ServerProcess } from './references/processes.js';
import { compile, harvest, runMeasured } from './references/programs.js';
import { drawKeys, pageRequest, writeRequests } from './references/requests.js';
import { documentTexts, linkTexts, writeTexts } from './references-graph.js';

const GRAPH = { documents: 20_000, links: 200_000, servers: 50, seed: 7 };
const REQUESTS = 50_000;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      against: { type: 'string' },
      shapes: { type: 'string', default: '64x1,64x16,1x64,1xendless,16xendless' },
      seconds: { type: 'string', default: '1.5' },
      rounds: { type: 'string', default: '7' },
      missing: { type: 'boolean', default: false },
    },
  });
  if (values.against === undefined) throw new Error('--against DIR is required: a compiled checkout');
  const other = join(values.against, 'dist', 'servers', 'cli', 'harvest.js');
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
  using scratch = scratchDirectory();
  const work = scratch.path;
  const loadClient = compile(work, 'load-client');
  const costMeter = compile(work, 'cost-meter');
  if (loadClient === undefined || costMeter === undefined) throw new Error('gcc and libc6-dev are required');
  const data = join(work, 'data');
  const [documents, links] = [join(work, 'documents.jsonl'), join(work, 'links.txt')];
  await writeTexts(documents, documentTexts(GRAPH));
  await writeTexts(links, linkTexts(GRAPH));
  const load = harvest(
    ...['links', 'load', '--documents', documents, '--refs', links, '--data', data, '--json'],
  );
  runMeasured(costMeter, work, load);
  await using reader = await ReferencesReader.openCurrent(data, { residentBytes: 0 });
  const keys = drawKeys(reader.keys('hubs'), 'uniform', REQUESTS, GRAPH.seed);
  const firstMissing = 2 ** 31;
  const requests = writeRequests(
    work,
    'pages',
    Array.from(keys, (key) => pageRequest(values.missing ? firstMissing + key : key)),
  );

  const results: object[] = [];
  for (const shape of values.shapes.split(',')) {
    const [connections, depth] = shape.split('x');
    const measure = async (program: string): Promise<number> => {
      await using server = await ServerProcess.refererd(data, program);
      const run = (time: number) =>
        measureServer(
          ...([server, 'sstp', Number(connections), depth === 'endless' ? 0 : Number(depth)] as const),
          ...([time, requests, loadClient] as const),
        );
      // The first one warms up.
      await run(seconds / 2);
      return 1e6 / (await run(seconds)).perCpuSecond;
    };
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const order = [() => measure(PROGRAM).then((each) => void ours.push(each))];
      order.push(() => measure(other).then((each) => void theirs.push(each)));
      for (const each of round % 2 === 0 ? order : order.reverse()) await each();
    }
    const speed = median(theirs.map((each, i) => each / ours[i]!));
    print(
      `  ${shape.padEnd(10)}  ${median(ours).toFixed(3)} µs of processor time a request, other ${median(theirs).toFixed(3)} µs; speed ${speed.toFixed(2)}`,
    );
    results.push({ shape, ours, theirs, speed });
  }
  await writeResult('references-shapes', { results });
}
