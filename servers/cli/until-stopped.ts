import { DaemonSignals } from '../host/index.js';

/** Resolves at SIGINT or SIGTERM. A second signal, of either kind, ends the process at once, as people expect of Ctrl-C. */
export async function untilStopped(): Promise<void> {
  await new DaemonSignals().stopped;
}
