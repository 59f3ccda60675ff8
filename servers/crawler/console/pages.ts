import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Html } from '../../web/html.js';
import { type Caller, isFromElsewhere } from './access.js';
import { fieldsOf, queryOf } from './api.js';
import type { ConsoleContext } from './console.js';
import { eventText } from './feed.js';
import { quickParts, slowParts } from './live.js';
import { consolePage, loginPage, messagePage, readView } from './page.js';

/** Ticks between the longer parts of the page. */
const SLOW_TICKS = 3;

/** The page, its events, and logging in and out. */
export function addPages(app: FastifyInstance, context: ConsoleContext): void {
  const { control, feed, access, name } = context;

  app.get('/', async (request, reply) => {
    const caller = context.callerOf(request);
    if (caller.by !== 'session') {
      const text = 'The page is for browsers that log in; programs ask below /api/.';
      return page(reply, 403, messagePage('Not here', text));
    }
    const view = readView(queryOf(request));
    const snapshot = control.snapshot();
    const slow = await slowParts(control, snapshot, feed.history, view);
    const shown = consolePage({
      name,
      session: caller.session,
      state: snapshot.state,
      parts: { ...quickParts(control, snapshot), ...slow.parts },
      view,
      next: slow.next,
    });
    caller.session.outcome = undefined;
    return page(reply, 200, shown);
  });

  // A snapshot each second; with `parts` also the pieces of the page, as this view shows them.
  app.get('/events', (request, reply) => {
    const caller = context.callerOf(request);
    const query = queryOf(request);
    const view = readView(query);
    const wantsParts = query.has('parts');
    const { raw } = reply;
    const follower = {
      sink: raw,
      allowed: () => isAllowed(caller, context),
      more: async (snapshot: ReturnType<typeof control.snapshot>, tick: number) => {
        if (!wantsParts) return '';
        const quick = quickParts(control, snapshot);
        if (tick % SLOW_TICKS !== 0) return partsText(quick);
        const slow = await slowParts(control, snapshot, feed.history, view);
        return partsText({ ...quick, ...slow.parts });
      },
    };
    if (feed.isFull) return reply.code(503).send({ ok: false, error: 'too many follow already' });
    reply.hijack();
    for (const [key, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) raw.setHeader(key, value);
    raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    raw.write('retry: 2000\n\n');
    raw.on('close', () => feed.leave(raw));
    raw.on('error', () => feed.leave(raw));
    feed.follow(follower);
    return reply;
  });

  app.get('/login', (_request, reply) => page(reply, 200, loginPage(name, '')));

  app.post('/login', (request, reply) => {
    if (isFromElsewhere(request.headers))
      return page(reply, 403, loginPage(name, 'The form did not come from here. Log in on this page.'));
    const wait = access.tryPassword(request.ip, fieldsOf(request).get('password') ?? '');
    if (wait > 0) {
      reply.header('retry-after', String(wait));
      const text = `Too many wrong passwords: wait ${Math.ceil(wait / 60)} minutes.`;
      return page(reply, 429, loginPage(name, text));
    }
    if (wait < 0) {
      context.log.warn({ address: request.ip }, 'console: a wrong password');
      return page(reply, 403, loginPage(name, 'That is not the password.'));
    }
    const { id } = access.begin();
    const cookie = `${context.cookieName(request)}=${id}; Path=/; HttpOnly; SameSite=Strict`;
    return reply.header('set-cookie', cookie).redirect('/', 303);
  });

  app.post('/logout', (request, reply) => {
    const caller = context.callerOf(request);
    if (caller.by === 'session') access.end(caller.session);
    const cookie = `${context.cookieName(request)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
    return reply.header('set-cookie', cookie).redirect('/login', 303);
  });
}

/** A stream of events ends with the session that asked for it. */
function isAllowed(caller: Caller, { access }: ConsoleContext): boolean {
  return caller.by !== 'session' || access.session(caller.session.id) !== undefined;
}

function partsText(parts: Readonly<Record<string, Html>>): string {
  return eventText('parts', Object.fromEntries(Object.entries(parts).map(([key, { text }]) => [key, text])));
}

/** One page; nobody keeps a copy of it. */
export function page(reply: FastifyReply, status: number, content: Html): FastifyReply {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(content.text);
}
