// Fetches the common configuration lists from a dispatcher (S-50 to S-54).
import { ConnectionError, KitError, ProtocolError } from '../../protocols/errors.js';
import { CODES, DEFAULT_DISPATCHER_PORT, HEADERS, replyError } from '../../protocols/sstp/index.js';
import { checkOptions, milliseconds, optional, PEER_OPTIONS, secret, text } from '../connection/arguments.js';
import type { PeerOptions } from '../connection/index.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import { ReferencesClient } from './client.js';

/** One list of the common configuration: its text, or the reason to use the local file instead (S-53). */
export type ConfigurationList =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: KitError };

/** The lists that a References Server requests from a dispatcher (S-51). */
export interface CommonConfiguration {
  /** Code 017: the allowed hosts. */
  readonly allow: ConfigurationList;
  /** Code 016: the user base. */
  readonly users: ConfigurationList;
}

/** The port is 3320 by default (S-15). */
export interface CommonConfigurationOptions extends PeerOptions {
  /** Must not contain a colon (S-43). */
  readonly user: string;
  readonly password: string;
  /** For one whole list, from its request. Default 30 000 ms. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Fetches the lists from a dispatcher (S-50 to S-54). Each has its own connection, because a refusal closes the
 * connection and the lists are independent. An empty list is valid (S-54). Rejects only with the signal's
 * reason and with UsageError for wrong options: a failure is in the result.
 */
export async function fetchCommonConfiguration(
  options: CommonConfigurationOptions,
): Promise<CommonConfiguration> {
  checkOptions('fetchCommonConfiguration', options, {
    ...PEER_OPTIONS,
    user: text,
    password: secret,
    timeoutMs: optional(milliseconds),
  });
  const [allow, users] = await Promise.all([
    fetchList(CODES.getAllow.number, options),
    fetchList(CODES.getPasswords.number, options),
  ]);
  return { allow, users };
}

async function fetchList(code: number, options: CommonConfigurationOptions): Promise<ConfigurationList> {
  const { user, password, port = DEFAULT_DISPATCHER_PORT, signal } = options;
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const deadline = new AbortController();
  let cancelTimer: (() => void) | undefined;
  try {
    const { user: _user, password: _password, ...peer } = options;
    await using client = new ReferencesClient({ ...peer, port, timeoutMs });
    await client.connect();
    cancelTimer = (options.clock ?? monotonicClock).setTimer(() => {
      deadline.abort(new ConnectionError(`no complete reply within ${timeoutMs} ms`));
    }, timeoutMs);
    // S-43
    const authorization = `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
    const message = { code, headers: [[HEADERS.authorization.name, authorization] as const] };
    const anySignal = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]);
    const reply = await client.exchange(message, anySignal);
    if (reply.code !== code) return { ok: false, error: replyError(reply.code) };
    if (!reply.headers.some(([name]) => name === HEADERS.contentLength.name))
      return { ok: false, error: unreadable(`${HEADERS.contentLength.name} is missing`) };
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(reply.body);
    return { ok: true, text };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof KitError) return { ok: false, error };
    if (error instanceof TypeError) return { ok: false, error: unreadable('the list is not UTF-8') };
    throw error;
  } finally {
    cancelTimer?.();
  }
}

function unreadable(message: string): ProtocolError {
  return new ProtocolError(message, { protocol: 'sstp', rule: 'S-52', offset: 0 });
}
