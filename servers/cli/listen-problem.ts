import { createServer } from 'node:net';
import { listenFailure } from '../host/port-holder.js';

/**
 * Why a program cannot listen on a port of the loopback address, in words; undefined if it can.
 */
export function listenProblem(port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error) => done(listenFailure(error, port)));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => done(undefined)));
  });
}
