// Loads the lists of allowed hosts and of users.
import { readFile } from 'node:fs/promises';
import { fetchCommonConfiguration } from '../../clients/references/index.js';
import type { RefererConfig } from '../../protocols/config/index.js';
import { messageOf } from '../../protocols/errors.js';
import { AllowedHosts, type AllowedHostsOptions } from './allowed-hosts.js';
import { LEVEL, type RefererLog } from './log.js';
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
}

/**
 * loads the allowed hosts and the users from the dispatcher; a list that it does not provide comes from the local file
 * (S-54). A list that is not available is empty: without the list of hosts no host is admitted, which is logged as critical.
 * Rejects only if the signal is aborted.
 */
export async function loadCommonLists(
  config: ListsConfig,
  log: RefererLog,
  signal?: AbortSignal,
  hosts?: AllowedHostsOptions,
): Promise<CommonLists> {
  const fetched = await queryDispatcher(config, log, signal);
  const find = async (from: string | undefined, file: string, what: string): Promise<FoundList> => {
    if (from !== undefined) return { text: from, source: 'dispatcher' };
    const text = await readLocal(file, what, log);
    return { text, source: text === undefined ? 'none' : 'file' };
  };
  const [allow, users] = await Promise.all([
    find(fetched.allow, config.allowdb, 'the allowed hosts'),
    find(fetched.users, config.pwfile, 'the users'),
  ]);
  if (allow.text === undefined) {
    log.write(LEVEL.critical, 'there is no list of allowed hosts: every host is refused');
  }
  log.write(LEVEL.notice, `allowed hosts: ${allow.source}, users: ${users.source}`);
  return {
    allowed: new AllowedHosts(allow.text, hosts),
    allowSource: allow.source,
    users: UserBase.parse(users.text ?? ''),
    pwSource: users.source,
  };
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
      replyTimeoutMs: milliseconds,
      ...(signal === undefined ? {} : { signal }),
    });
    for (const [list, what] of [
      [allow, 'the allowed hosts'],
      [users, 'the users'],
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

async function readLocal(file: string, what: string, log: RefererLog): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    log.write(LEVEL.warning, `${what} cannot be read from ${file}: ${why}`);
    return undefined;
  }
}
