// Fetches spartan: URLs: one line with host, path and length of the data, then a line with a status, then the document.
import { connect } from 'node:net';

/** @returns {import('harvest-kit/clients/fetch').OwnFetcher} */
export function createFetcher() {
  return {
    async fetch({ url, maxBytes, signal }) {
      const { hostname, port, pathname } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port || 300), signal });
      socket.write(`${hostname} ${pathname} 0\r\n`);
      const chunks = [];
      let length = 0;
      for await (const chunk of socket) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > maxBytes + 1024) break;
      }
      const reply = Buffer.concat(chunks);
      const end = reply.indexOf('\r\n');
      const [, status, meta] = /^([2-5]) (.*)$/s.exec(reply.toString('latin1', 0, Math.max(end, 0))) ?? [];
      switch (status) {
        case '2': // success: the media type
          return { contentType: meta, body: reply.subarray(end + 2) };
        case '3': // redirect: the path
          return { status: 302, location: meta };
        case '4': // the client's error
          return { status: 404 };
        case '5': // the server's error: it is asked again later
          return { status: 503 };
        default:
          throw new Error('the reply has no status'); // the attempt is repeated
      }
    },
  };
}
