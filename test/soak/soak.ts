// `npm run soak`: the soak as a program.
import { parseArgs } from 'node:util';
import { LOADED, type Loaded, MEMORY_BUDGET, megabytes, runMemory } from './memory.js';
import { runSoak } from './run-soak.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    clients: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    measurements: { type: 'string', default: '12' },
    memory: { type: 'boolean', default: false },
    server: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '7' },
    rest: { type: 'string', default: '300' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const HELP = `npm run soak -- [--minutes N] [--clients N] [--seed N] [--measurements N] [--json]
npm run soak -- --memory [--server NAME]... [--rounds N] [--rest SECONDS] [--json]

Runs all servers in one process, gathers a changing site again and again, and uses every server well and badly at the same time.
Prints memory, open files and active resources at every measurement, taken when no client is connected.

With --memory, loads each server (gatherd, broker, web, references) of a process of its own by slow readers and large requests, and
compares its private memory before with that after a rest.

Exit status: 0 everything stayed flat and every good client got a right answer; 1 something grew or failed, or a server holds more than
${MEMORY_BUDGET} of the memory of its start after the rest.
`;

type NumberName = 'minutes' | 'clients' | 'seed' | 'measurements' | 'rounds' | 'rest';

function number(name: NumberName): number {
  const parsed = Number(values[name]);
  if (!(parsed > 0)) throw new RangeError(`--${name} must be a positive number, not ${values[name]}`);
  return parsed;
}

/** The servers of the names; all if none is given. */
function loaded(names: readonly string[]): readonly Loaded[] {
  const unknown = names.find((name) => !LOADED.some((server) => server === name));
  if (unknown !== undefined)
    throw new RangeError(`--server must be one of ${LOADED.join(', ')}, not ${unknown}`);
  return names.length === 0 ? LOADED : LOADED.filter((server) => names.includes(server));
}

async function measureMemory(servers: readonly Loaded[]): Promise<void> {
  let isWithin = true;
  for (const server of servers) {
    const result = await runMemory(server, {
      rounds: number('rounds'),
      restSeconds: number('rest'),
      onProgress: (line) => process.stderr.write(`${line}\n`),
    });
    const { start, most, rest, ratio } = result;
    isWithin &&= ratio <= MEMORY_BUDGET;
    const line = `${server}: ${megabytes(start)} at the start, ${megabytes(most)} at most, ${megabytes(rest)} after the rest: ${ratio.toFixed(2)}`;
    process.stdout.write(`${values.json ? JSON.stringify(result) : line}\n`);
  }
  process.exitCode = isWithin ? 0 : 1;
}

async function soak(): Promise<void> {
  const result = await runSoak({
    minutes: number('minutes'),
    clients: number('clients'),
    seed: number('seed'),
    measurements: number('measurements'),
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else {
    for (const [name, { count, failures }] of Object.entries(result.uses).sort())
      process.stdout.write(`${String(count).padStart(8)}  ${name}${failures[0] ? `: ${failures[0]}` : ''}\n`);
    for (const problem of result.problems) process.stdout.write(`PROBLEM: ${problem}\n`);
    if (result.problems.length === 0) process.stdout.write('everything stayed flat\n');
  }
  process.exitCode = result.problems.length === 0 ? 0 : 1;
}

if (values.help) process.stdout.write(HELP);
else if (values.memory) await measureMemory(loaded(values.server));
else await soak();
