// Serves one session on standard input and output (GATHERD-11.2).

import { runSession } from '../host/run-session.js';
import { openStandardConnection, type StandardConnectionOptions } from '../host/standard-connection.js';
import { GatherdService, type GatherdServiceOptions } from './service.js';

export interface GatherdInetdOptions
  extends GatherdServiceOptions,
    Pick<StandardConnectionOptions, 'drainTimeoutMs' | 'minBytesPerSecond' | 'lingerMs' | 'lookup'> {
  /** Stops a session that waits for its peer. A session that is sending may finish within `graceMs`. */
  readonly signal?: AbortSignal;
  /** Default 2000. */
  readonly graceMs?: number;
}

/** GATHERD-11.2: serves one session on standard input and output. Resolves when the session has ended, even after an error. */
export async function serveInetd(options: GatherdInetdOptions): Promise<void> {
  const { signal, graceMs = 2000 } = options;
  await using service = new GatherdService(options);
  const { connection, localPort } = openStandardConnection(options);
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => {
    connection.stop();
    grace = setTimeout(() => connection.cut(), graceMs);
  };
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await runSession(connection, (session) => service.serve(session, localPort ?? 0));
  } finally {
    signal?.removeEventListener('abort', stop);
    clearTimeout(grace);
  }
}
