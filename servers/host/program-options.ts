import type { DebugFlags } from './debug-flags.js';
import type { LogRotation } from './logger.js';
import type { CertificateFiles } from './tls.js';

/** Options that the programs of this package have in common. */
export interface ProgramOptions {
  /**
   * Serves with TLS only. SIGHUP reads the files again, if the user of the process may; so does a look each
   * minute. Default: without TLS.
   */
  readonly tls?: CertificateFiles | undefined;
  /** Whether the log has JSON lines instead of the original's. Default false. */
  readonly jsonLog?: boolean;
  /** Rotation of a named log by its size. Default: none; SIGHUP opens the file by its name again. */
  readonly rotation?: LogRotation | undefined;
  readonly debug?: DebugFlags;
  /** Milliseconds in which replies and transfers may finish when the program stops. Default 5000. */
  readonly graceMs?: number;
  /**
   * Milliseconds after a request to stop after which the process ends in any case, with status 1. Default: no
   * limit.
   */
  readonly stopLimitMs?: number;
}
