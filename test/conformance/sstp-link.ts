// Reads the replies of the kit's own References Server one by one, so that a mutant can change one of them.
import type { Link, Sent, Weakness } from './proxy.js';

/** Changes of a References Server. */
export interface SstpChange {
  /** Changes a request, up to and with its empty line. */
  request?(request: string): string;
  /** Changes the received bytes as they come. */
  chunk?(text: string): string;
  /** Changes a reply, up to and with its empty line. @param request the request that it answers */
  reply?(reply: string, request: string): string | Sent;
  /** Changes all replies that came together. */
  replies?(replies: readonly string[]): readonly string[];
  /** Changes the first bytes of an HTTP answer. */
  http?(answer: string): string;
  readonly greeting?: string;
  readonly staysOpen?: boolean;
  readonly weakness?: Weakness;
}

const END = /\r?\n\r?\n/;

/** Returns the link of one connection of a References Server with this change. */
export function sstpLink(change: SstpChange): Link {
  let input = '';
  let output = '';
  let isHttp = false;
  /** Whether the first octets are not those of SSTP. */
  let isOther = false;
  const requests: string[] = [];
  /** Octets of a body that have not come yet. */
  let body = 0;
  const takeBody = (): string => {
    const taken = input.slice(0, body);
    body -= taken.length;
    input = input.slice(taken.length);
    return taken;
  };
  return {
    staysOpen: change.staysOpen === true,
    greeting: change.greeting,
    fromClient(chunk, ended) {
      input += change.chunk?.(chunk) ?? chunk;
      let out = takeBody();
      for (let end = END.exec(input); end !== null; end = END.exec(input)) {
        const length = end.index + end[0].length;
        const request = input.slice(0, length);
        requests.push(request);
        out += change.request?.(request) ?? request;
        input = input.slice(length);
        body = Number(/^HEADER_CONTENT_LENGTH: *(\d+)\r?$/im.exec(request)?.[1] ?? 0);
        out += takeBody();
      }
      if (isOther) {
        out += input;
        input = '';
      }
      isOther ||= requests.length === 0 && /^(?!SSTP)[\s\S]{4}/.test(input);
      // A request that never ends is answered too.
      const rest = ended || input.length > 200 || /^(?!SSTP)[\s\S]{4}|\r[^\n]/.test(input) ? input : '';
      if (rest === '') return out;
      requests.push(rest);
      input = '';
      return out + (change.request?.(rest) ?? rest);
    },
    fromServer(chunk, ended) {
      output += chunk;
      isHttp ||= output.startsWith('HTTP/');
      if (isHttp) {
        const answer = output;
        output = '';
        return change.http?.(answer) ?? answer;
      }
      const replies: string[] = [];
      for (let end = output.indexOf('\r\n\r\n'); end >= 0; end = output.indexOf('\r\n\r\n')) {
        replies.push(output.slice(0, end + 4));
        output = output.slice(end + 4);
      }
      let out = '';
      for (const reply of change.replies?.(replies) ?? replies) {
        const sent = change.reply?.(reply, requests.shift() ?? '') ?? reply;
        if (typeof sent !== 'string') return { text: out + sent.text, action: sent.action };
        out += sent;
      }
      return ended ? out + output : out;
    },
  };
}
