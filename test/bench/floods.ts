// Benchmark `floods`: a cheap request of each server of `harvest run` beside floods of what the grammars allow, input that
// yields nothing included. Prints the processor milliseconds of the servers' thread from the request to its reply,
// which other programs of the machine change little: the mean, and its quotient by that without a flood. A single value
// says nothing: Linux brings the time of a running thread up to date every 4 ms.
//   npm run bench -- floods [--connections N] [--requests N] [--sentences N] [--only TEXT]
// Needs /proc (Linux).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../architecture/sources.js';
import { type Flood, grammarFloods, HTTP_FLOODS } from '../attacks/grammar-floods.js';
import { ask } from '../attacks/sockets.js';
import { ANY_PORTS, CliProcess } from '../helpers/cli.js';
import { print, readNumbers, scratchDirectory, writeResult } from './harness.js';

const FLOOD = fileURLToPath(new URL('../attacks/flood.js', import.meta.url));
/** Milliseconds for which a flood runs before requests are measured. */
const WARM_UP_MS = 200;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const at = args.indexOf('--only');
  const [, only = ''] = at < 0 ? [] : args.splice(at, 2);
  const { connections, requests, sentences } = readNumbers(args, {
    connections: 1,
    requests: 100,
    sentences: 1,
  });
  using scratch = scratchDirectory();
  const server = new CliProcess([
    ...['run', '--data', join(scratch.path, 'data'), '--documents-port', '0', ...ANY_PORTS],
    join(ROOT, 'docs'),
  ]);
  try {
    const [, gatherd, broker, web] = await server.output(
      /^ready gatherd=.*:(\d+) broker=.*:(\d+) web=.*:(\d+)\//m,
    );
    const [, references] = await server.output(/^ready refererd=.*:(\d+)/m);
    const ports = { gatherd, broker, web, references };
    const probes = await openProbes(ports);
    // The first requests find code that is not yet compiled.
    await measure(probes, server.child, 2 * requests);
    const alone = await measure(probes, server.child, requests);
    report('no flood', alone, alone);
    const results: Record<string, Costs> = { 'no flood': alone };
    for (const [name, port, floods] of [
      ['gatherd', gatherd, grammarFloods('gatherd', sentences)],
      ['broker', broker, grammarFloods('broker', sentences)],
      ['references', references, new Map([...grammarFloods('sstp', sentences), ...HTTP_FLOODS])],
      ['web', web, HTTP_FLOODS],
    ] as const)
      for (const [kind, flood] of floods) {
        if (!`${name}, ${kind}`.includes(only)) continue;
        const costs = await beside(port ?? '', { ...flood, connections }, () =>
          measure(probes, server.child, requests),
        );
        results[`${name}, ${kind}`] = costs;
        report(`${name}, ${kind}`, costs, alone);
      }
    await writeResult('floods', { setup: { connections, requests, sentences }, results });
  } finally {
    server.kill('SIGKILL');
    await server.finished;
  }
}

/** Processor milliseconds of a request. */
interface Cost {
  readonly mean: number;
}

/** By server. */
type Costs = Readonly<Record<string, Cost>>;
type Probes = Readonly<Record<string, () => Promise<unknown>>>;

async function dial(port: string | undefined): Promise<Socket> {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function openProbes(ports: Readonly<Record<string, string | undefined>>): Promise<Probes> {
  const gatherd = await dial(ports.gatherd);
  await ask(gatherd, '', /\n$/);
  const references = await dial(ports.references);
  const web = await dial(ports.web);
  return {
    gatherd: () => ask(gatherd, 'HELLO me\n', /^100 - .*\n$/),
    broker: async () => {
      const socket = await dial(ports.broker);
      await ask(socket, '#USER #END (\r\n', /\n111 - .*\n$/);
      socket.destroy();
    },
    references: () => ask(references, 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 999999\r\n\r\n', /\r\n\r\n$/),
    web: () => ask(web, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', /<\/html>/),
  };
}

/** Processor milliseconds of the main thread of a process. */
function cpuOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
}

async function measure(probes: Probes, server: ChildProcess, requests: number): Promise<Costs> {
  const costs: Record<string, Cost> = {};
  for (const [name, request] of Object.entries(probes)) {
    let sum = 0;
    for (let i = 0; i < requests; i++) {
      const before = cpuOf(server);
      await request();
      sum += cpuOf(server) - before;
      await sleep(2);
    }
    costs[name] = { mean: sum / requests };
  }
  return costs;
}

async function beside(
  port: string,
  flood: Flood & { readonly connections: number },
  work: () => Promise<Costs>,
): Promise<Costs> {
  const child = spawn(process.execPath, [FLOOD, port, JSON.stringify(flood)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    await once(child.stdout, 'data');
    await sleep(WARM_UP_MS);
    return await work();
  } finally {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

function report(name: string, costs: Costs, alone: Costs): void {
  const columns = Object.entries(costs).map(
    ([server, cost]) =>
      `${server} ${cost.mean.toFixed(2)} (${(cost.mean / (alone[server] ?? cost).mean).toFixed(1)})`,
  );
  print(`${name.padEnd(44)} ${columns.join('  ')}`);
}
