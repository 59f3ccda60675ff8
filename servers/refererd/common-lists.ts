// Loads the lists of allowed hosts and of users.
import { readFile } from 'node:fs/promises';
import { fetchCommonConfiguration } from '../../clients/references/configuration.js';
import type { RefererConfig } from '../../protocols/config/referer-conf.js';
import { errorCode, messageOf } from '../../protocols/errors.js';
import { passwordFileWarning } from '../host/password-file.js';
import { AllowedHosts } from './allowed-hosts.js';
import { LEVEL } from './level.js';
import type { RefererLog } from './log.js';
import type { CommonLists } from './service.js';
import type { ListSource } from './statistics.js';
import { UserBase } from './user-base.js';

/** The configuration parameters for the lists. */
export type ListsConfig = Pick<
  RefererConfig,
  'dispatchername' | 'port' | 'scanuser' | 'scanpass' | 'connectimeout' | 'allowdb' | 'pwfile'
>;

interface FoundList {
  readonly text: string | undefined;
  readonly source: ListSource;
  readonly problem?: UnreadableList;
}

/** A local list that is needed and cannot be read. */
export interface UnreadableList {
  readonly list: 'hosts' | 'users';
  /** False: the file exists. */
  readonly missing: boolean;
  readonly sentence: string;
}

/** Options of {@link loadCommonLists}. */
export interface LoadListsOptions {
  readonly signal?: AbortSignal;
  /** The lists in use, when they are loaded again: each stays in use if it cannot be read. */
  readonly former?: CommonLists;
}

/** The result of {@link loadCommonLists}. */
export interface LoadedLists {
  readonly lists: CommonLists;
  readonly unreadable: readonly UnreadableList[];
}

const NAMES = { hosts: 'the allowed hosts', users: 'the users' } as const;

/**
 * loads the allowed hosts and the users from the dispatcher; a list that it does not provide comes from
 * the local file (S-54). A list that is not available is empty: without the list of hosts no host is admitted,
 * which is logged as critical. Rejects only if the signal is aborted.
 */
export async function loadCommonLists(
  config: ListsConfig,
  log: RefererLog,
  { signal, former }: LoadListsOptions = {},
): Promise<LoadedLists> {
  const fetched = await queryDispatcher(config, log, signal);
  const find = async (
    from: string | undefined,
    file: string,
    list: UnreadableList['list'],
  ): Promise<FoundList> => {
    if (from !== undefined) return { text: from, source: 'dispatcher' };
    try {
      const text = await readFile(file, 'utf8');
      const readable = list === 'users' ? passwordFileWarning(file, 'pwfile') : undefined;
      if (readable !== undefined) log.write(LEVEL.warning, readable.message);
      return { text, source: 'file' };
    } catch (error) {
      const code = errorCode(error) ?? String(error);
      const kept = former === undefined ? '' : '; the old list stays in use';
      const sentence = `${NAMES[list]} cannot be read from ${file}: ${code}${kept}`;
      log.write(LEVEL.warning, sentence);
      return { text: undefined, source: 'none', problem: { list, missing: code === 'ENOENT', sentence } };
    }
  };
  const [allow, users] = await Promise.all([
    find(fetched.allow, config.allowdb, 'hosts'),
    find(fetched.users, config.pwfile, 'users'),
  ]);
  if (allow.text === undefined && former === undefined) {
    log.write(LEVEL.critical, 'there is no list of allowed hosts: every host is refused');
  }
  const lists: CommonLists = {
    ...(allow.text === undefined && former !== undefined
      ? { allowed: former.allowed, allowSource: former.allowSource }
      : { allowed: new AllowedHosts(allow.text), allowSource: allow.source }),
    ...(users.text === undefined && former !== undefined
      ? { users: former.users, pwSource: former.pwSource }
      : { users: UserBase.parse(users.text ?? ''), pwSource: users.source }),
  };
  log.write(LEVEL.notice, `allowed hosts: ${lists.allowSource}, users: ${lists.pwSource}`);
  return { lists, unreadable: [allow, users].flatMap(({ problem }) => problem ?? []) };
}

/** Fetches the lists from the dispatcher. S-53: after any failure the local files are used. */
async function queryDispatcher(
  config: ListsConfig,
  log: RefererLog,
  signal: AbortSignal | undefined,
): Promise<{ readonly allow?: string; readonly users?: string }> {
  const { dispatchername: host, port, scanuser: user, scanpass: password } = config;
  if (user === undefined || password === undefined) {
    log.write(LEVEL.notice, 'scanuser or scanpass is not set: the dispatcher is not queried');
    return {};
  }
  try {
    const milliseconds = config.connectimeout * 1000;
    const { allow, users } = await fetchCommonConfiguration({
      host,
      port,
      user,
      password,
      connectTimeoutMs: milliseconds,
      timeoutMs: milliseconds,
      signal,
    });
    for (const [list, what] of [
      [allow, NAMES.hosts],
      [users, NAMES.users],
    ] as const) {
      if (!list.ok)
        log.write(LEVEL.warning, `the dispatcher does not provide ${what}: ${list.error.message}`);
    }
    return {
      ...(allow.ok ? { allow: allow.text } : {}),
      ...(users.ok ? { users: users.text } : {}),
    };
  } catch (error) {
    signal?.throwIfAborted();
    const why = messageOf(error);
    log.write(LEVEL.warning, `the dispatcher cannot be queried: ${why}`);
    return {};
  }
}
