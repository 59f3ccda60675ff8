import { createServer } from 'node:net';
import { errorCode, messageOf } from '../../protocols/errors.js';

/**
 * The code of the error that keeps a program from listening on a port of the loopback address; undefined if it
 * can.
 */
export function listenProblem(port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error) => done(errorCode(error) ?? messageOf(error)));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => done(undefined)));
  });
}
