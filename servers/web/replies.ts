import type { FastifyReply } from 'fastify';
import type { Html } from './html.js';

/** Sends one page. */
export function sendPage(reply: FastifyReply, status: number, page: Html): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(page.text);
}

/** Sends one line of text. */
export function sendLine(reply: FastifyReply, status: number, line: string): FastifyReply {
  return reply.code(status).type('text/plain; charset=utf-8').send(`${line}\n`);
}
