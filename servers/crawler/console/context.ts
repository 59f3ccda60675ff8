import type { FastifyRequest } from 'fastify';
import type { Logger, LogLimiter } from '../../host/index.js';
import type { CrawlControl } from '../controller.js';
import type { Caller, ConsoleAccess } from './access.js';
import type { SnapshotFeed } from './feed.js';

/** The objects that the routes share. */
export interface ConsoleContext {
  readonly control: CrawlControl;
  readonly feed: SnapshotFeed;
  readonly access: ConsoleAccess;
  readonly name: string;
  readonly log: Logger;
  /** Cookies are sent with TLS only. */
  readonly secure: boolean;
  /** Bounds the lines that clients without access cause. */
  readonly lines: LogLimiter;
  /** Returns the client of a request. Every request except those for the login page and the assets has one. */
  callerOf(request: FastifyRequest): Caller;
  /**
   * Returns the name of the session cookie. It contains the port, because browsers send a cookie to every port
   * of a host.
   */
  cookieName(request: FastifyRequest): string;
}
