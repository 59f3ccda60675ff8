// Starts a references server in this process, without a configuration file.
import { readFile } from 'node:fs/promises';
import { CloseStack } from '../../protocols/close-stack.js';
import { messageOf, rethrowAs, StorageError } from '../../protocols/errors.js';
import { authorityOf } from '../../protocols/urls/parse-url.js';
import type { Replica, ReplicaOptions } from '../../storage/publishing/replica.js';
import { CurrentReferences } from '../../storage/references/current.js';
import { connectionsWithinLimit } from '../host/fd-limit.js';
import { passwordFileWarning } from '../host/password-file.js';
import { AllowedHosts } from './allowed-hosts.js';
import { LEVEL } from './level.js';
import type { RefererLog } from './log.js';
import { rankOrder } from './rank-order.js';
import { RefererServer, type RefererServerOptions } from './server.js';
import { type CommonLists, RefererService, type RefererSettings } from './service.js';
import { UserBase } from './user-base.js';

/** Version of the program in statistics and mail without a configuration (9.2). */
const VERSION = '1.0';

/**
 * Options of {@link startRefererd}. Defaults: `maxClients` 8192, lowered to what the limit of open files
 * allows; `readTimeoutMs` and `sendTimeoutMs` 60 000; names of the web pages `localhost`, the name of this
 * machine and IP addresses.
 */
export interface StartRefererdOptions
  extends Partial<Omit<RefererSettings, 'program' | 'version'>>,
    Pick<RefererServerOptions, 'listen' | 'clock' | 'fairShare'> {
  /** Directory that contains the published `references/`. */
  readonly data: string;
  /**
   * Where a Gatherer of another machine publishes (G-188): `data` gets copies of its references. Default: they are
   * published in `data`.
   */
  readonly copies?: Pick<ReplicaOptions, 'from' | 'pollIntervalMs'> | undefined;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 3324 (S-15); 0 selects a free port. */
  readonly port?: number;
  readonly log: RefererLog;
  /** Whether that socket has TLS, for the address of the pages. Default false. */
  readonly isSecure?: boolean;
  /** Patterns of the hosts that may connect. Default: all. */
  readonly allowFile?: string | undefined;
  /** Users of the statistics. Default: none. */
  readonly passwordFile?: string | undefined;
  /** highest PageRank first. Default false. */
  readonly rankOrder?: boolean;
  /** Bytes of links held in memory. Default: that of the store. */
  readonly residentBytes?: number;
}

/** A references server that runs in this process. */
export interface RunningRefererd extends AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number };
  /** Address of its page of links. */
  readonly url: string;
  readonly service: RefererService;
  /** What an operator must know although links are served: the place of the copies does not answer. */
  readonly notes: readonly string[];
  /** Looks for new links at the place of the copies. */
  copy(): Promise<void>;
  /** Reads the two files again. */
  reload(): Promise<void>;
  /** refuses new connections; resolves when all requests are answered. {@link close} ends the waiting. */
  stop(): Promise<void>;
  /** Drops all connections. */
  close(): Promise<void>;
}

/**
 * Starts a references server over a data directory, without a configuration file. A generation that is
 * published later is served from then on.
 *
 * @throws StorageError when the links are damaged or a file cannot be read; ConnectionError when the port is
 *   not available
 */
export async function startRefererd(options: StartRefererdOptions): Promise<RunningRefererd> {
  const { data, host = '127.0.0.1', port = 3324, log, clock } = options;
  await using parts = new CloseStack();
  const replica = options.copies && parts.use(await openCopies(data, options.copies, log));
  // What an earlier start has copied is served at once.
  if (replica !== undefined && replica.number === undefined) await replica.refresh();
  const references = await openReferences(data, log, options.residentBytes);
  parts.defer(() => references.close());
  void replica?.refresh();
  replica?.follow();
  const settings: RefererSettings = {
    program: 'refererd',
    version: VERSION,
    hostNames: options.hostNames ?? { names: [] },
    maxClients: connectionsWithinLimit(options.maxClients ?? 8192),
    maxPerAddress: options.maxPerAddress,
    graceMs: options.graceMs,
    admissionWaitMs: options.admissionWaitMs,
    readTimeoutMs: options.readTimeoutMs ?? 60_000,
    sendTimeoutMs: options.sendTimeoutMs ?? 60_000,
  };
  const service: RefererService = new RefererService({
    settings,
    lists: await readLists(options),
    references,
    log,
    reload: async () => {
      service.lists = await readLists(options);
      return [];
    },
    ...(options.rankOrder === true ? { pager: rankOrder() } : {}),
  });
  const server = parts.use(
    await RefererServer.listen({
      service,
      addresses: [host],
      port,
      listen: options.listen,
      clock,
      fairShare: options.fairShare,
    }),
  );
  server.open();
  const opened = parts.move();
  const close = () => opened[Symbol.asyncDispose]();
  return {
    address: { host, port: server.port },
    url: `${options.isSecure === true ? 'https' : 'http'}://${authorityOf(host, server.port)}/`,
    service,
    get notes() {
      const { failure, address } = replica ?? {};
      return failure === undefined ? [] : [`no copy from ${address}: ${failure}`];
    },
    copy: async () => void (await replica?.refresh()),
    reload: async () => void (await service.reload()),
    stop: () => server.stop(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Opens the copies of what is published elsewhere. A reader of the directory follows them. */
async function openCopies(
  data: string,
  options: Pick<ReplicaOptions, 'from' | 'pollIntervalMs'>,
  log: RefererLog,
): Promise<Replica> {
  // Only who copies pays for it.
  const { Replica } = await import('../../storage/publishing/replica.js');
  const replica: Replica = await Replica.open({
    ...options,
    area: 'references',
    directory: data,
    onGeneration: ({ number, local, fetchedBytes }) => {
      const here = number === local ? '' : `, here ${local}`;
      const what = `links ${number} were copied from ${replica.address}${here}: ${fetchedBytes} bytes`;
      log.write(LEVEL.notice, what);
    },
    onFailure: (error) => log.write(LEVEL.error, `no copy from ${replica.address}: ${messageOf(error)}`),
    onRecovery: () => log.write(LEVEL.notice, `${replica.address} answers again`),
  });
  return replica;
}

/** Opens the newest generation of a data directory, and each later one. */
export async function openReferences(
  data: string,
  log: RefererLog,
  residentBytes?: number,
): Promise<CurrentReferences> {
  const references = await CurrentReferences.open(data, {
    residentBytes,
    onOpen: ({ generation, counts }) => {
      const { documents, links } = counts;
      log.write(LEVEL.notice, `serving generation ${generation}: ${documents} documents, ${links} links`);
    },
    onError: (error) => {
      const why = messageOf(error);
      log.write(LEVEL.error, `the new links cannot be opened, the old ones are still served: ${why}`);
    },
  });
  if (references.current === undefined) log.write(LEVEL.warning, `no links are published in ${data} yet`);
  return references;
}

async function readLists({
  allowFile,
  passwordFile,
  log,
}: Pick<StartRefererdOptions, 'allowFile' | 'passwordFile' | 'log'>): Promise<CommonLists> {
  const readable = passwordFile === undefined ? undefined : passwordFileWarning(passwordFile, '--pwfile');
  if (readable !== undefined) log.write(LEVEL.warning, readable.message);
  return {
    allowed: allowFile === undefined ? AllowedHosts.all() : new AllowedHosts(await readList(allowFile)),
    allowSource: allowFile === undefined ? 'all' : 'file',
    users: passwordFile === undefined ? UserBase.empty : UserBase.parse(await readList(passwordFile)),
    pwSource: passwordFile === undefined ? 'none' : 'file',
  };
}

async function readList(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(rethrowAs(StorageError, `${file} cannot be read`));
}
