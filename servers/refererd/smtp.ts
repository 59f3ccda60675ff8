// Delivers one message by plain SMTP.
import type { Readable } from 'node:stream';
import type MailComposer from 'nodemailer/lib/mail-composer';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { ConnectionError, messageOf, PeerError } from '../../protocols/errors.js';

/** A message and the relay that delivers it. */
export interface Mail {
  readonly host: string;
  readonly port: number;
  /** Our name in EHLO. */
  readonly clientName: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** Lines end with LF; they are sent with CR LF. */
  readonly body: string;
  readonly date: Date;
  /** Milliseconds for connecting and for every reply. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Longest reply that is accepted. */
const MAX_REPLY_BYTES = 64 * 1024;

/**
 * Connecting, greeting, EHLO, HELO for a relay that does not know EHLO, MAIL, RCPT, DATA, message: each may
 * take the timeout.
 */
const MAX_STEPS = 8;

/**
 * Delivers one message by plain SMTP: no TLS, no login. nodemailer's transport closes without QUIT, so
 * its connection is used directly.
 *
 * @throws ConnectionError when the relay is not reachable, closes the connection or takes too long; PeerError
 *   when it refuses
 */
export async function sendMail(mail: Mail): Promise<void> {
  for (const address of [mail.from, mail.to]) {
    // A line break in an address would start another command.
    if (!/^[^\s<>\0-\x1f\x7f]+$/.test(address)) throw new PeerError('not a mail address', 501);
  }
  // Loaded when there is a message: nodemailer is large, and faults are rare.
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const { host, port, clientName, timeoutMs } = mail;
  const connection = new SMTPConnection({
    host,
    port,
    name: clientName,
    secure: false,
    ignoreTLS: true,
    connectionTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    maxResponseSize: MAX_REPLY_BYTES,
  });
  // The other timeouts restart with each byte. This one stops a relay that sends a byte now and then.
  const deadline = AbortSignal.timeout(MAX_STEPS * timeoutMs);
  const signal = mail.signal === undefined ? deadline : AbortSignal.any([mail.signal, deadline]);
  try {
    await deliver(connection, mail, () => messageStream(mail, MailComposer), signal);
    connection.quit();
  } catch (error) {
    throw mailError(error);
  } finally {
    // The relay has accepted the message or refused it: its answer to QUIT does not matter.
    connection.close();
  }
}

/** Sends the message and resolves when the relay has accepted it. */
function deliver(
  connection: SMTPConnection,
  mail: Mail,
  message: () => Readable,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    connection.on('error', reject);
    connection.once('end', () => reject(new Error('the relay closed the connection')));
    connection.connect((error) => {
      if (error) reject(error);
      else {
        const envelope = { from: mail.from, to: [mail.to] };
        connection.send(envelope, message(), (refusal) => (refusal ? reject(refusal) : resolve()));
      }
    });
  });
}

function messageStream({ from, to, subject, body, date }: Mail, Composer: typeof MailComposer): Readable {
  const composer = new Composer({
    // Objects, because a comma in a string would separate two addresses.
    from: { name: '', address: from },
    to: { name: '', address: to },
    subject: subject.replace(/[^\x20-\x7e]+/g, ' '),
    date,
    text: body,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().createReadStream();
}

function mailError(cause: unknown): ConnectionError | PeerError {
  const text = `mail: ${messageOf(cause)}`;
  const status: unknown = cause instanceof Error && 'responseCode' in cause ? cause.responseCode : undefined;
  return typeof status === 'number' ? new PeerError(text, status) : new ConnectionError(text, { cause });
}
