// Runs one of the clients as a program: main.js CLIENT PORT [info]
import { once } from 'node:events';
import { GATHERD_MISTAKES, gatherdClient } from './gatherd-client.js';
import { roadsClient } from './historic-clients.js';

const [name, port, task] = process.argv.slice(2);
const write = async (piece: Uint8Array): Promise<void> => {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
};
const mistake = GATHERD_MISTAKES.find((known) => known === name);
if (mistake !== undefined) {
  process.exitCode = await gatherdClient(mistake, task === 'info' ? 'info' : 'update', Number(port), write);
} else if (name === 'roads') {
  process.exitCode = await roadsClient(Number(port), write);
} else throw new Error(`no client ${name}`);
