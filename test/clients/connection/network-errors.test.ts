// What the error codes of the network mean: the message for the user, and whether the server was contacted.
import t from 'tap';
import { asConnectionError, failedBeforeConnection } from '../../../clients/connection/index.js';

/** Returns the error of a connection that failed with this code of the system, Node or OpenSSL. */
function failure(code: string) {
  return asConnectionError('h.test', Object.assign(new Error('raw'), { code }));
}

t.test('gatherer.md 14: messages about network failures name the remedy', async (t) => {
  const messageFor = (code: string): string => failure(code).message;
  t.equal(messageFor('ENOTFOUND'), 'h.test: unknown host: the name is not in DNS');
  t.equal(
    messageFor('ECONNREFUSED'),
    'h.test: connection refused: nothing listens on that port; is the server running?',
  );
  t.match(messageFor('EHOSTUNREACH'), /^h\.test: host is unreachable: .*no route, or a firewall/);
  t.match(messageFor('ENETUNREACH'), /^h\.test: network is unreachable: .*no route, or a firewall/);
  t.match(
    messageFor('CERT_HAS_EXPIRED'),
    /certificate is not accepted: it has expired \(CERT_HAS_EXPIRED\)$/,
  );
  t.match(messageFor('DEPTH_ZERO_SELF_SIGNED_CERT'), /self-signed: to trust it, set NODE_EXTRA_CA_CERTS/);
  t.match(
    messageFor('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
    /authority is not known here: to trust it, set NODE_EXTRA_CA_CERTS/,
  );
  t.match(messageFor('ERR_TLS_CERT_ALTNAME_INVALID'), /it is for another name/);
  t.match(messageFor('ERR_SSL_WRONG_VERSION_NUMBER'), /is this an https port\?$/);
  t.equal(messageFor('EWHATEVER'), 'h.test: raw', 'an unknown error keeps its message');
});

t.test('CRAWL-8.6: a failure before there is a connection contacts no server', async (t) => {
  for (const code of [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
  ])
    t.ok(failedBeforeConnection(failure(code)), code);
  for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'CERT_HAS_EXPIRED', 'EPROTO', 'EWHATEVER'])
    t.notOk(failedBeforeConnection(failure(code)), code);
  t.notOk(failedBeforeConnection(failure('ETIMEDOUT')), 'it may end a connection whose packets are lost');
});
