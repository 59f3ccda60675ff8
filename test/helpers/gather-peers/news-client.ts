// A small NNTP client that shares no code with the kit.
import { connect } from 'node:net';

/** Posts articles. Each must end with CR LF, and the caller must double leading dots. */
export async function postArticles(port: number, articles: readonly string[]): Promise<void> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const pending = [...articles];
  let rest = '';
  let greeted = false;
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject).on('data', (text) => {
        const lines = (rest + String(text)).split('\r\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const code = line.slice(0, 3);
          if (code === '205') resolve();
          else if (code === '340') socket.write(`${pending.shift()}.\r\n`);
          else if (code === '200' && !greeted) {
            greeted = true;
            socket.write('MODE READER\r\n');
          } else if (code === '200' || code === '240')
            socket.write(pending.length > 0 ? 'POST\r\n' : 'QUIT\r\n');
          else reject(new Error(line));
        }
      });
    });
  } finally {
    socket.destroy();
  }
}

/** Returns the number and the message-id of each article of a group, by `XOVER`. */
export async function listArticles(port: number, group: string): Promise<{ number: string; id: string }[]> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let reply = '';
  try {
    await new Promise<void>((resolve, reject) => {
      // INN discards input that arrives before its reader has started, so each command waits for the previous
      // answer.
      const commands = ['MODE READER', `GROUP ${group}`, 'XOVER 1-\r\nQUIT'];
      socket
        .once('error', reject)
        .on('data', (text) => {
          reply += String(text);
          if (/^(?:200|201|211) .*\r\n$/m.test(String(text))) {
            const next = commands.shift();
            if (next !== undefined) socket.write(`${next}\r\n`);
          }
        })
        .once('end', resolve);
    });
  } finally {
    socket.destroy();
  }
  return [...reply.matchAll(/^(\d+)\t[^\t]*\t[^\t]*\t[^\t]*\t<([^>]*)>/gm)].map(
    ([, number = '', id = '']) => ({
      number,
      id,
    }),
  );
}
