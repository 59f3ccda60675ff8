// `npm run soak`: the soak as a program.
import { parseArgs } from 'node:util';
import { runSoak } from './run-soak.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    clients: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    measurements: { type: 'string', default: '12' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const HELP = `npm run soak -- [--minutes N] [--clients N] [--seed N] [--measurements N] [--json]

Runs all servers in one process, gathers a changing site again and again, and uses every server well and badly at the same time.
Prints memory, open files and active resources at every measurement, taken when no client is connected.

Exit status: 0 everything stayed flat and every good client got a right answer; 1 something grew or failed.
`;

if (values.help) process.stdout.write(HELP);
else {
  const number = (name: 'minutes' | 'clients' | 'seed' | 'measurements'): number => {
    const parsed = Number(values[name]);
    if (!(parsed > 0)) throw new RangeError(`--${name} must be a positive number, not ${values[name]}`);
    return parsed;
  };
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
