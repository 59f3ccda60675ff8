// What the error codes of the network mean: messages for users, and whether the server was contacted.
import { ConnectionError, errorCode } from '../../protocols/errors.js';

interface Failure {
  readonly reason: string;
  /**
   * Whether the error occurs only before a connection exists. ETIMEDOUT also ends a connection whose packets
   * are lost, so it does not show whether the server was contacted.
   */
  readonly beforeConnection?: true;
}

const BROKEN = 'the server broke the connection';
const FORBIDDEN = "the connection is forbidden: this machine's firewall refuses it";
const CONNECT_TIMEOUT = 'the connection could not be made in time: the host is down, or a firewall drops it';

/** The failures with the error codes of the system, Node and undici (gatherer.md 14). */
const FAILURES: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: {
    reason: 'connection refused: nothing listens on that port; is the server running?',
    beforeConnection: true,
  },
  ENOTFOUND: { reason: 'unknown host: the name is not in DNS', beforeConnection: true },
  EAI_AGAIN: {
    reason: 'unknown host: the name server does not answer (/etc/resolv.conf)',
    beforeConnection: true,
  },
  EHOSTUNREACH: {
    reason: 'host is unreachable: it is down, there is no route, or a firewall is in between',
    beforeConnection: true,
  },
  ENETUNREACH: {
    reason: 'network is unreachable: there is no route, or a firewall is in between',
    beforeConnection: true,
  },
  UND_ERR_CONNECT_TIMEOUT: { reason: CONNECT_TIMEOUT, beforeConnection: true },
  ETIMEDOUT: { reason: CONNECT_TIMEOUT },
  EACCES: { reason: FORBIDDEN },
  EPERM: { reason: FORBIDDEN },
  ECONNRESET: { reason: BROKEN },
  EPIPE: { reason: BROKEN },
  ERR_STREAM_PREMATURE_CLOSE: { reason: BROKEN },
  UND_ERR_SOCKET: { reason: BROKEN },
  UND_ERR_HEADERS_TIMEOUT: { reason: 'the server did not answer in time' },
  UND_ERR_BODY_TIMEOUT: { reason: 'the server stopped sending' },
  UND_ERR_HEADERS_OVERFLOW: { reason: 'the header of the answer is too long' },
};

const ADD_AUTHORITY_HINT =
  'to trust it, set NODE_EXTRA_CA_CERTS to the name of a file with the certificate of its authority';

/** Why a server's certificate is not accepted, by the codes of OpenSSL and Node. */
const CERTIFICATE_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet (is the clock right?)',
  CERT_REVOKED: 'it was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: `it is self-signed: ${ADD_AUTHORITY_HINT}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its authority is not known here: ${ADD_AUTHORITY_HINT}`,
  UNABLE_TO_GET_ISSUER_CERT: `its authority is not known here: ${ADD_AUTHORITY_HINT}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its authority is not known here: ${ADD_AUTHORITY_HINT}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the server does not send the chain to an authority that is known here: ${ADD_AUTHORITY_HINT}`,
};

/**
 * Turns a network failure into an error whose message names the peer and, where there is one, the remedy.
 * @param hints more about an errno, by its code
 */
export function asConnectionError(
  name: string,
  error: unknown,
  hints: Readonly<Record<string, string>> = {},
): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const hint = hints[errorCode(error) ?? ''];
  const message = `${name}: ${reasonOf(error)}`;
  return new ConnectionError(hint === undefined ? message : `${message} (${hint})`, { cause: error });
}

/** Whether the server was certainly not contacted: the error occurred before there was a connection. */
export function failedBeforeConnection({ cause }: ConnectionError): boolean {
  return FAILURES[errorCode(cause) ?? '']?.beforeConnection === true;
}

/** Code of a response that ends in order before its announced end: Node's code of a stream that ends so. */
export const EARLY_END = 'ERR_STREAM_PREMATURE_CLOSE';

/** Whether the host name has no address, or the resolver did not answer. */
export function isUnresolved({ cause }: ConnectionError): boolean {
  const code = errorCode(cause);
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN';
}

/** Whether the head of an HTTP answer is longer than the limit. */
export function isHeaderTooLong({ message }: ConnectionError): boolean {
  return /header is longer than \d+ bytes/.test(message);
}

function reasonOf(error: unknown): string {
  const code = errorCode(error) ?? '';
  const certificate = CERTIFICATE_REASONS[code];
  if (certificate !== undefined) return `the certificate is not accepted: ${certificate} (${code})`;
  // OpenSSL's own texts contain file names and line numbers of its source.
  if (/^ERR_SSL_|^EPROTO$/.test(code)) return `no TLS connection: ${code}; is this an https port?`;
  const known = FAILURES[code];
  if (known !== undefined) return known.reason;
  return error instanceof Error ? error.message : 'the transfer failed';
}

/** Returns an abort signal's reason as an error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
