// Runs the ROADS client as a program: main.js PORT
import { once } from 'node:events';
import { roadsClient } from './historic-clients.js';

process.exitCode = await roadsClient(Number(process.argv[2]), async (piece) => {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
});
