// State and answers that the connections of a references server share.
import { messageOf, StorageError } from '../../protocols/errors.js';
import { CODES, type ReplyWriter, type ServerRequest } from '../../protocols/sstp/index.js';
import type { CurrentReferences } from '../../storage/references/current.js';
import type { NewcomerCounts } from '../host/newcomers.js';
import type { HostNames } from '../web/own-host.js';
import { PasswordThrottle } from '../web/password-throttle.js';
import { AllowedHosts } from './allowed-hosts.js';
import { answerDescription, answerLinks, counterOf, type Pager } from './answers.js';
import { LEVEL } from './level.js';
import { PeerLogs, type RefererLog, withoutPasswords } from './log.js';
import { type ListSource, Statistics } from './statistics.js';
import { UserBase } from './user-base.js';

/** Settings of the configuration that a reload may change. */
export interface RefererSettings {
  readonly program: string;
  readonly version: string;
  /** Names of the web pages. */
  readonly hostNames: HostNames;
  /** concurrent connections. */
  readonly maxClients: number;
  /**
   * Concurrent connections of one IPv4 address or IPv6 /64. Default: a quarter of `maxClients`; for this
   * machine all of them.
   */
  readonly maxPerAddress?: number | undefined;
  /** milliseconds in which a connection is never closed for a newcomer. Default 5000. */
  readonly graceMs?: number | undefined;
  /** milliseconds for which a newcomer waits for a place. Default 10 000. */
  readonly admissionWaitMs?: number | undefined;
  /** S-45 */
  readonly readTimeoutMs: number;
  readonly sendTimeoutMs: number;
}

/**
 * The hosts that may connect and the users of the statistics, with the source of both lists
 * (R-47).
 */
export interface CommonLists {
  readonly allowed: AllowedHosts;
  readonly allowSource: ListSource;
  readonly users: UserBase;
  readonly pwSource: ListSource;
}

/** Facts about a connection for the HTTP server that takes it over. */
export interface HttpClient {
  readonly address: string;
  readonly log: RefererLog;
  readonly allowed: boolean;
  /** To be called when the request has arrived: ends the read timeout and starts the send timeout (S-45). */
  readonly requested: () => void;
}

export interface RefererServiceOptions {
  readonly settings: RefererSettings;
  readonly lists: CommonLists;
  readonly references: CurrentReferences;
  readonly log: RefererLog;
  /** Default: the natural order. */
  readonly pager?: Pager;
  /**
   * reads the configuration and the lists again; throws when the old ones stay in use. Returns warnings
   * for the operator.
   */
  readonly reload: () => Promise<readonly string[]>;
}

/** Admits no host and no user; used until the lists are loaded. */
export const NO_LISTS: CommonLists = {
  allowed: new AllowedHosts(undefined),
  allowSource: 'none',
  users: UserBase.empty,
  pwSource: 'none',
};

/** State that all connections of a references server share, and the answers to requests. */
export class RefererService {
  settings: RefererSettings;
  lists: CommonLists;
  /** Number of open connections. */
  clients = 0;
  /** What became of the connections that the server accepted; undefined before it listens. */
  newcomers: (() => NewcomerCounts) | undefined;
  /** The published links, which follow new generations. */
  references: CurrentReferences;
  /** Limits the guessing of passwords of the statistics. */
  readonly passwords = new PasswordThrottle();
  readonly statistics = new Statistics();
  readonly log: RefererLog;
  /** The lines that peers cause. */
  readonly peerLogs: PeerLogs;
  readonly #pager: Pager | undefined;
  readonly #reload: () => Promise<readonly string[]>;
  #reloading: Promise<readonly string[]> | undefined;
  #damage: { readonly message: string; readonly generation: number | undefined } | undefined;

  constructor(options: RefererServiceOptions) {
    this.settings = options.settings;
    this.lists = options.lists;
    this.references = options.references;
    this.log = options.log;
    this.peerLogs = new PeerLogs(options.log);
    this.#pager = options.pager;
    this.#reload = options.reload;
  }

  /** What a request found damaged in the present generation; undefined if it is sound as far as it was read. */
  get damage(): string | undefined {
    const damage = this.#damage;
    return damage?.generation === this.references.current?.generation ? damage?.message : undefined;
  }

  answer(request: ServerRequest, replies: ReplyWriter, log: RefererLog): void {
    const { counts } = this.statistics;
    counts.requests_total += 1;
    const before = replies.length;
    try {
      switch (request.kind) {
        case 'malformed':
          if (request.code === CODES.badRequest.number) counts.bad_request += 1;
          else counts.version_not_supported += 1;
          break;
        case 'unserved':
          counts.not_implemented += 1;
          break;
        case 'url-by-name':
          counts.REQ_GET_URL_BYNAME += 1;
          if (!answerDescription(this.references.current, request, replies)) counts.not_found += 1;
          break;
        default:
          counts[counterOf(request.kind)] += 1;
          if (!answerLinks(this.references.current, request, replies, this.#pager)) counts.not_found += 1;
      }
    } catch (error) {
      counts.internal_errors += 1;
      if (error instanceof StorageError)
        this.#damage = { message: error.message, generation: this.references.current?.generation };
      log.write(LEVEL.error, `request failed: ${messageOf(error)}`);
      if (replies.length === before) replies.writeError(CODES.internalError.number);
    }
    if (log.writes(LEVEL.request)) log.write(LEVEL.request, describeRequest(request));
  }

  /**
   * for `/reload` and SIGHUP. Concurrent calls share one reload. Resolves with warnings for the operator.
   */
  reload(): Promise<readonly string[]> {
    this.#reloading ??= this.#reload()
      .then((warnings) => {
        this.statistics.counts.reloads += 1;
        return warnings;
      })
      .finally(() => {
        this.#reloading = undefined;
      });
    return this.#reloading;
  }

  /** */
  statisticsText(): string {
    const { program, version, maxClients } = this.settings;
    const { allowSource, pwSource } = this.lists;
    return this.statistics.text({
      program,
      version,
      clients: this.clients,
      maxclients: maxClients,
      allowSource,
      pwSource,
      generation: this.references.current?.generation,
    });
  }
}

/** Describes a request for the log (R-66, level 50). */
function describeRequest(request: ServerRequest): string {
  switch (request.kind) {
    case 'malformed':
      return `${request.code}: ${withoutPasswords(request.error.message)}`;
    case 'unserved':
      return `${String(request.code).padStart(3, '0')} is not served`;
    case 'url-by-name':
      return `${CODES.urlByName.symbol} ${request.url}`;
    default: {
      const what = request.id === 0 ? request.name : request.id;
      return `${counterOf(request.kind)} ${what} ${request.start}+${request.count ?? 'all'}`;
    }
  }
}
