import type { FastifyRequest } from 'fastify';
import type { Logger } from '../../host/index.js';
import type { CrawlControl } from '../control.js';
import type { Caller, ConsoleAccess } from './access.js';
import type { SnapshotFeed } from './feed.js';

/** What the routes work with. */
export interface ConsoleContext {
  readonly control: CrawlControl;
  readonly feed: SnapshotFeed;
  readonly access: ConsoleAccess;
  readonly name: string;
  readonly log: Logger;
  /** Who asks; every request but those for the login page has been let in. */
  callerOf(request: FastifyRequest): Caller;
  /** Cookies do not know ports: two consoles of one machine have two names. */
  cookieName(request: FastifyRequest): string;
}
