import { ConnectionError } from '../../protocols/errors.js';

/** What the codes of undici and Node mean, for people. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused: nothing listens on that port',
  ECONNRESET: 'the server broke the connection',
  EPIPE: 'the server broke the connection',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'host is unreachable',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'the connection could not be made in time',
  ERR_STREAM_PREMATURE_CLOSE: 'the server broke the connection',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be made in time',
  UND_ERR_HEADERS_TIMEOUT: 'the server did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'the server stopped sending',
  UND_ERR_SOCKET: 'the server broke the connection',
  UND_ERR_HEADERS_OVERFLOW: 'the header of the answer is too long',
};

/** A failure of the network as a sentence that names the host. */
export function asConnectionError(host: string, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const detail = error instanceof Error ? error.message : 'the transfer failed';
  return new ConnectionError(`${host}: ${REASONS[code] ?? detail}`, { cause: error });
}

/** An abort signal's reason as an error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
