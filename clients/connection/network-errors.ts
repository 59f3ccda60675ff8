// Turns network errors into messages for users.
import { ConnectionError, errorCode } from '../../protocols/errors.js';

/** Messages for the error codes of the system, Node and undici (gatherer.md 14). */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused: nothing listens on that port',
  ECONNRESET: 'the server broke the connection',
  EPIPE: 'the server broke the connection',
  ENOTFOUND: 'unknown host: the name is not in DNS',
  EAI_AGAIN: 'unknown host: the name server does not answer (/etc/resolv.conf)',
  EHOSTUNREACH: 'host is unreachable: it is down, there is no route, or a firewall is in between',
  ENETUNREACH: 'network is unreachable: there is no route, or a firewall is in between',
  EACCES: "the connection is forbidden: this machine's firewall refuses it",
  EPERM: "the connection is forbidden: this machine's firewall refuses it",
  ETIMEDOUT: 'the connection could not be made in time: the host is down, or a firewall drops it',
  ERR_STREAM_PREMATURE_CLOSE: 'the server broke the connection',
  UND_ERR_CONNECT_TIMEOUT:
    'the connection could not be made in time: the host is down, or a firewall drops it',
  UND_ERR_HEADERS_TIMEOUT: 'the server did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'the server stopped sending',
  UND_ERR_SOCKET: 'the server broke the connection',
  UND_ERR_HEADERS_OVERFLOW: 'the header of the answer is too long',
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

function reasonOf(error: unknown): string {
  const code = errorCode(error) ?? '';
  const certificate = CERTIFICATE_REASONS[code];
  if (certificate !== undefined) return `the certificate is not accepted: ${certificate} (${code})`;
  // OpenSSL's own texts hold file names and line numbers of its source.
  if (/^ERR_SSL_|^EPROTO$/.test(code)) return `no TLS connection: ${code}; is this an https port?`;
  const known = REASONS[code];
  if (known !== undefined) return known;
  return error instanceof Error ? error.message : 'the transfer failed';
}

/** Returns an abort signal's reason as an error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
