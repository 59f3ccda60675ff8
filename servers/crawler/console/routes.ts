import type { FastifyInstance, FastifyReply } from 'fastify';
import { removedCookie, sessionCookie } from '../../web/cookies.js';
import { queryFields } from '../../web/form-fields.js';
import type { Html } from '../../web/html.js';
import { sendPage } from '../../web/replies.js';
import { isCrossOrigin } from '../../web/request-origin.js';
import { visitorOf } from '../../web/visitor.js';
import type { Caller } from './access.js';
import { fieldsOf } from './actions.js';
import type { ConsoleContext } from './context.js';
import { eventText } from './feed.js';
import { consolePage, loginPage, messagePage } from './page.js';
import { readView, renderSections, type Sections } from './sections.js';

/** Sections that are long or read from disk are sent with every third snapshot only. */
const SNAPSHOTS_PER_SLOW_SECTIONS = 3;

/** Adds the routes of the page, its events, login and logout. */
export function addPageRoutes(app: FastifyInstance, context: ConsoleContext): void {
  const { control, feed, access, name } = context;

  app.get('/', async (request, reply) => {
    const caller = context.callerOf(request);
    if (caller.by !== 'session') {
      const text = 'This page requires a login in a browser; programs use the paths below /api/.';
      return sendUncached(reply, 403, messagePage('Not available', text));
    }
    const view = readView(queryFields(request));
    const snapshot = control.overview();
    const { sections, next } = await renderSections(context, snapshot, view);
    const { session } = caller;
    const page = consolePage({ name, session, state: snapshot.state, sections, view, next });
    caller.session.outcome = undefined;
    return sendUncached(reply, 200, page);
  });

  // A snapshot each second; with `parts` also the sections of the page in this view.
  app.get('/events', (request, reply) => {
    const caller = context.callerOf(request);
    const query = queryFields(request);
    const view = readView(query);
    const wantsSections = query.has('parts');
    const { raw } = reply;
    const follower = {
      sink: raw,
      address: request.ip,
      allowed: () => isAllowed(caller, context),
      moreEvents: async (snapshot: ReturnType<typeof control.snapshot>, index: number) => {
        if (!wantsSections) return '';
        const all = index % SNAPSHOTS_PER_SLOW_SECTIONS === 0;
        return sectionsEvent((await renderSections(context, snapshot, view, all)).sections);
      },
    };
    reply.hijack();
    for (const [key, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) raw.setHeader(key, value);
    // The connection ends with the stream: kept open, it would hold a place for nothing.
    raw.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      connection: 'close',
    });
    raw.write('retry: 2000\n\n');
    raw.on('close', () => feed.leave(raw));
    raw.on('error', () => feed.leave(raw));
    feed.follow(follower);
    return reply;
  });

  app.get('/login', (_request, reply) => sendUncached(reply, 200, loginPage(name, '')));

  app.post('/login', (request, reply) => {
    if (isCrossOrigin(request.headers))
      return sendUncached(
        reply,
        403,
        loginPage(name, 'The form came from another site. Log in on this page.'),
      );
    const attempt = access.tryPassword(visitorOf(request), fieldsOf(request).get('password') ?? '');
    if (attempt.outcome === 'throttled') {
      reply.header('retry-after', String(attempt.waitSeconds));
      const text = `Too many wrong passwords: wait ${Math.ceil(attempt.waitSeconds / 60)} minutes.`;
      return sendUncached(reply, 429, loginPage(name, text));
    }
    if (attempt.outcome === 'wrong') {
      if (context.lines.allows(request.ip)) {
        context.log.warn({ address: request.ip }, 'console: wrong password');
      }
      return sendUncached(reply, 403, loginPage(name, 'The password is wrong.'));
    }
    const { id } = access.begin();
    return reply
      .header('set-cookie', sessionCookie(context.cookieName(request), id, { secure: context.secure }))
      .redirect('/', 303);
  });

  app.post('/logout', (request, reply) => {
    const caller = context.callerOf(request);
    if (caller.by === 'session') access.end(caller.session);
    return reply.header('set-cookie', removedCookie(context.cookieName(request))).redirect('/login', 303);
  });
}

/** Whether the client still has access: a stream of events ends with its session. */
function isAllowed(caller: Caller, { access }: ConsoleContext): boolean {
  return caller.by !== 'session' || access.session(caller.session.id) !== undefined;
}

function sectionsEvent(sections: Sections): string {
  const texts = Object.entries(sections).map(([key, { text }]) => [key, text]);
  return eventText('parts', Object.fromEntries(texts));
}

/** Sends a page that must not be cached. */
export function sendUncached(reply: FastifyReply, status: number, content: Html): FastifyReply {
  return sendPage(reply.header('cache-control', 'no-store'), status, content);
}
