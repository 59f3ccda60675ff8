// Mail about faults, sent through a scripted SMTP relay.
import t, { type Test } from 'tap';
import { type Mail, sendMail } from '../../../servers/refererd/index.js';
import { tcpServer } from '../../helpers/tcp-server.js';

interface Relay {
  readonly port: number;
  /** Returns all received text. */
  received(): string;
}

/** Starts a relay that sends the next prepared reply after the connect and after each command or message. */
async function startRelay(t: Test, replies: readonly string[]): Promise<Relay> {
  let received = '';
  const port = await tcpServer(t, (socket) => {
    const remaining = [...replies];
    const sendReply = (): void => {
      const next = remaining.shift();
      if (next !== undefined) socket.write(next);
    };
    sendReply();
    let inMessage = false;
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      // A message gets one reply, at its end.
      if (inMessage && !received.endsWith('\r\n.\r\n')) return;
      inMessage = /^DATA\r\n/m.test(text);
      sendReply();
    });
  });
  return { port, received: () => received };
}

/** Returns a mail whose subject contains a line break. */
function mail(port: number): Mail {
  return {
    host: '127.0.0.1',
    port,
    clientName: 'rs.example',
    from: 'refererd@rs.example',
    to: 'admin@example.org',
    subject: 'refererd: SIGSEGV\r\nX-Evil: 1',
    body: 'pid: 7\n.dot\n',
    date: new Date('2001-02-03T04:05:06Z'),
    timeoutMs: 1000,
  };
}

/** The commands before the message. */
const ENVELOPE = ['MAIL FROM:<refererd@rs.example>', 'RCPT TO:<admin@example.org>', 'DATA', ''].join('\r\n');

t.test('R-61: mail is sent by plain SMTP, even if the relay offers TLS', async (t) => {
  const { port, received } = await startRelay(t, [
    '220-a\r\n220 b\r\n',
    '250-b\r\n250-8BITMIME\r\n250 STARTTLS\r\n',
    '250 ok\r\n',
    '251 ok\r\n',
    '354 go\r\n',
    '250 ok\r\n',
  ]);
  await sendMail(mail(port));
  while (!received().endsWith('QUIT\r\n')) await new Promise((resolve) => setTimeout(resolve, 5));
  const text = received();
  t.ok(text.startsWith(`EHLO rs.example\r\n${ENVELOPE}`), text);
  const [header = '', body] = text.slice(text.indexOf('DATA\r\n') + 6).split('\r\n\r\n');
  const fields = header.split('\r\n');
  for (const field of [
    'Date: Sat, 03 Feb 2001 04:05:06 +0000',
    'From: refererd@rs.example',
    'To: admin@example.org',
    'Subject: refererd: SIGSEGV X-Evil: 1',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
  ])
    t.ok(fields.includes(field), `the header has ${field}`);
  t.notOk(
    fields.some((field) => field.startsWith('X-Evil')),
    'the subject adds no header',
  );
  t.equal(body, ['pid: 7', '..dot', '.', 'QUIT', ''].join('\r\n'));
});

t.test('R-61: a relay that does not know EHLO is greeted with HELO', async (t) => {
  const { port, received } = await startRelay(t, [
    '220 b\r\n',
    '500 what?\r\n',
    '250 ok\r\n',
    '250 ok\r\n',
    '250 ok\r\n',
    '354 go\r\n',
    '250 ok\r\n',
  ]);
  await sendMail(mail(port));
  t.ok(received().startsWith(`EHLO rs.example\r\nHELO rs.example\r\n${ENVELOPE}`), received());
});

t.test('R-61: sending fails: relays that refuse, stall or never end; bad addresses; abort', async (t) => {
  const refusing = await startRelay(t, ['220 b\r\n', '250 ok\r\n', '250 ok\r\n', '550 no\r\n']);
  await t.rejects(sendMail(mail(refusing.port)), { code: 'ERR_PEER', status: 550, message: /550 no/ });
  const ok = '250 ok\r\n';
  const full = await startRelay(t, ['220 b\r\n', ok, ok, ok, '354 go\r\n', '452 full\r\n']);
  await t.rejects(sendMail(mail(full.port)), { code: 'ERR_PEER', status: 452 });
  const silent = await startRelay(t, []);
  await t.rejects(sendMail({ ...mail(silent.port), timeoutMs: 20 }), { code: 'ERR_CONNECTION' });
  const endless = await startRelay(t, [`220-${'x'.repeat(70_000)}`]);
  await t.rejects(sendMail(mail(endless.port)), { code: 'ERR_CONNECTION' });
  await t.rejects(sendMail({ ...mail(silent.port), to: 'a@b\r\nRCPT TO:<c@d>' }), { code: 'ERR_PEER' });
  await t.rejects(sendMail({ ...mail(silent.port), signal: AbortSignal.abort() }), {
    code: 'ERR_CONNECTION',
  });
  const port = await tcpServer(t, (socket) => {
    const timer = setInterval(() => socket.write('2'), 10);
    socket.on('close', () => clearInterval(timer));
  });
  await t.rejects(sendMail({ ...mail(port), timeoutMs: 50 }), { code: 'ERR_CONNECTION' });
});
