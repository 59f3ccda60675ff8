// An NNTP server whose answers a test defines.
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import { onLines, type Scripted, scripted } from '../../clients/fetch/scripted.js';

export interface NewsSite {
  /** Articles by group, from number 1; each line ends with CR LF, dots are doubled. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** May answer a command instead of the server; returns whether it did. */
  readonly intercept?: (line: string, socket: Socket) => boolean;
  /** Called with each command before it is answered. */
  readonly onCommand?: (line: string) => void;
}

const messageId = (group: string, number: number): string => `<${number}.${group}@news.example.net>`;

/** Starts the server on loopback. It knows the commands that a Gatherer sends: GROUP, OVER, ARTICLE, STAT. */
export function newsServer(t: Test, site: NewsSite): Promise<Scripted> {
  return scripted(t, (socket) => {
    let group = '';
    const reply = (text: string): void => {
      socket.write(`${text}\r\n`);
    };
    socket.setNoDelay(true);
    reply('200 scripted');
    onLines(socket, (line) => {
      site.onCommand?.(line);
      if (site.intercept?.(line, socket) === true) return;
      const [command = '', argument = ''] = line.split(' ');
      const articles = site.groups[command === 'GROUP' ? argument : group] ?? [];
      const number = Number(/^(?:<)?(\d+)/.exec(argument)?.[1] ?? 0);
      const article = articles[number - 1];
      if (command === 'MODE') reply('200 go');
      else if (command === 'GROUP') {
        if (site.groups[argument] === undefined) return reply('411 no such group');
        group = argument;
        reply(`211 ${articles.length} 1 ${articles.length} ${group}`);
      } else if (command === 'OVER') {
        const lines = articles.map((_, n) => `${n + 1}\tS\tF\tD\t${messageId(group, n + 1)}\t\t10\t1\r\n`);
        reply(`224 overview\r\n${lines.join('')}.`);
      } else if (article === undefined) reply(argument.startsWith('<') ? '430 none' : '423 none');
      else if (command === 'STAT') reply(`223 ${number} ${messageId(group, number)}`);
      else if (command === 'ARTICLE') reply(`220 ${number} ${messageId(group, number)}\r\n${article}.`);
      else reply('500 what?');
    });
  });
}
