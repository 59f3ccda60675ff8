// The routes of the administration page: checks the form and sends the command to the Broker.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  ADMIN_COMMANDS,
  type AdminCommand,
  buildAdminCommand,
  errorSentence,
} from '../../../protocols/broker/index.js';
import { ProtocolError, UsageError } from '../../../protocols/errors.js';
import { bodyFields } from '../../web/form-fields.js';
import { FormTokens } from '../../web/form-tokens.js';
import { type Content, type Html, html } from '../../web/html.js';
import { visitorOf } from '../../web/visitor.js';
import { administer } from '../admin-commands.js';
import { COMMAND_GROUPS } from './admin-commands.js';
import type { SiteLinks } from './layout.js';
import { renderNotice } from './results-page.js';
import type { PageReply, RouteContext } from './route-context.js';

/** Lines of a reply that are shown. */
const MAX_REPLY_LINES = 5000;

/** The outcome of a command. */
interface Outcome {
  readonly status: number;
  readonly lines: readonly string[];
  readonly failure?: string;
}

/** The fields of the form. */
interface Submitted {
  readonly keyword: string;
  readonly parameters: string;
  readonly password: string;
}

/**
 * The administration page and its program (BRK-9.4, 9.10). The Broker checks the password as for a message to
 * its port (BRK-5.1), in the name of the browser's address: wrong passwords count for that address. The page
 * stores nothing.
 */
export class AdminRoutes {
  readonly #context: RouteContext;
  readonly #site: SiteLinks;
  readonly #send: (reply: FastifyReply, page: PageReply) => FastifyReply;
  readonly #tokens = new FormTokens();

  constructor(
    context: RouteContext,
    site: SiteLinks,
    send: (reply: FastifyReply, page: PageReply) => FastifyReply,
  ) {
    this.#context = context;
    this.#site = site;
    this.#send = send;
  }

  /** @param program - path of the program, as routes have it */
  add(app: FastifyInstance, program: string, paths: readonly string[]): void {
    for (const path of [...paths, program]) {
      app.get(path, (request, reply) =>
        this.#page(request, reply, 200, { keyword: 'do-stats', parameters: '' }),
      );
    }
    app.post(program, (request, reply) => this.#command(request, reply));
  }

  async #command(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const fields = bodyFields(request);
    const sent = {
      keyword: fields.get('command') ?? '',
      parameters: (fields.get('parameters') ?? '').replace(/\s+/g, ' ').trim(),
      password: fields.get('password') ?? '',
    };
    const refuse = (status: number, lead: string, text: string) =>
      this.#page(request, reply, status, sent, renderNotice('error', lead, text));

    if (!this.#tokens.accepts(request.headers, fields.get('token') ?? '')) {
      const text = 'The page was too old, or the command did not come from it. Send it again from here.';
      return refuse(403, 'Not sent:', text);
    }
    const wait = this.#context.broker.passwords.secondsToWait(visitorOf(request));
    if (wait > 0) {
      reply.header('retry-after', String(wait));
      return refuse(429, 'Too many wrong passwords:', `wait ${Math.ceil(wait / 60)} minutes.`);
    }
    if (!this.#isOwnBroker(fields.get('host'), fields.get('port'))) {
      return refuse(400, 'Not sent:', 'this page administers its own broker only.');
    }
    let command: AdminCommand;
    try {
      command = buildAdminCommand(sent.keyword, sent.parameters === '' ? [] : sent.parameters.split(' '));
    } catch (error) {
      if (!(error instanceof UsageError || error instanceof ProtocolError)) throw error;
      return refuse(400, 'Not sent:', error instanceof ProtocolError ? error.problem : error.message);
    }
    const outcome = await this.#run(sent.password, command, visitorOf(request));
    const title = ADMIN_COMMANDS.find(({ kind }) => kind === command.kind)?.title ?? command.kind;
    const part = renderOutcome(title, outcome.lines, outcome.failure);
    return this.#page(request, reply, outcome.status, sent, part);
  }

  async #run(password: string, command: AdminCommand, address: string): Promise<Outcome> {
    const lines: string[] = [];
    for await (const item of administer(this.#context.broker, { password, command, address })) {
      if (item.kind === 'fatal') {
        const failure = errorSentence(item.text);
        return { status: /invalid password/i.test(failure) ? 403 : 400, lines, failure };
      }
      if ((item.kind === 'message' || item.kind === 'error') && lines.length < MAX_REPLY_LINES)
        lines.push(item.text);
    }
    return { status: 200, lines };
  }

  /**
   * BRK-9.10 has fields for host and port. Only our own are accepted, so that no password goes to another host.
   */
  #isOwnBroker(host: string | null, port: string | null): boolean {
    const { brokerAddress, broker } = this.#context;
    const hosts = [brokerAddress.host, broker.config.brokerHost, ''].map((name) => name.toLowerCase());
    const ports = [brokerAddress.port, broker.config.brokerPort].map(String);
    return hosts.includes((host ?? '').trim().toLowerCase()) && [...ports, ''].includes((port ?? '').trim());
  }

  #page(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    sent: Omit<Submitted, 'password'>,
    outcome?: Content,
  ): FastifyReply {
    const { config } = this.#context.broker;
    const { token, cookie } = this.#tokens.issue(request.headers);
    if (cookie !== undefined) reply.header('set-cookie', cookie);
    // With `no-referrer`, browsers send the form without its origin.
    reply.header('referrer-policy', 'same-origin').header('cache-control', 'no-store');
    const form = {
      command: sent.keyword,
      parameters: sent.parameters,
      token,
      action: this.#site.adminAction,
      help: this.#site.adminHelp,
      host: config.brokerHost,
      port: this.#context.brokerAddress.port,
      enabled: config.adminPassword !== '',
    };
    const content = renderAdminForm(form, outcome);
    const title = `Administration of ${this.#site.brokerName}`;
    return this.#send(reply, { status, title, content, noindex: true, current: 'admin' });
  }
}

/** Contents of the administration form. */
interface AdminForm {
  readonly command: string;
  readonly parameters: string;
  readonly token: string;
  /** Path that the form is sent to. */
  readonly action: string;
  readonly help: string;
  /** The Broker that is administered. */
  readonly host: string;
  readonly port: number;
  /** False if no Admin-Password is configured, so that every command is refused (BRK-5.2). */
  readonly enabled: boolean;
}

/** Renders the administration page: the outcome of the last command above the fields of BRK-9.10. */
export function renderAdminForm(form: AdminForm, outcome: Content = ''): Html {
  return html`<h1>Administration</h1>
${outcome}
${form.enabled ? '' : html`<p class="note">No <code>Admin-Password</code> is set in <code>broker.conf</code>: every command is refused.</p>`}
<form class="admin" method="post" action="${form.action}" autocomplete="off">
<input type="hidden" name="token" value="${form.token}">
<p class="field"><label for="command">Command</label>
<select id="command" name="command" required>
${COMMAND_GROUPS.map(({ title, commands }) => html`<optgroup label="${title}">\n${commands.map((command) => html`<option value="${command.kind}"${command.kind === form.command ? html` selected` : ''}${command.parameter === undefined ? '' : html` data-parameter="${command.parameter}"`}${command.destructive ? html` data-destructive="yes"` : ''}>${command.title}</option>\n`)}</optgroup>\n`)}</select></p>
<p class="field"><label for="parameters">Parameters</label>
<input type="text" id="parameters" name="parameters" value="${form.parameters}" autocapitalize="none" spellcheck="false" maxlength="8192" aria-describedby="parameters-hint"></p>
<p class="hint" id="parameters-hint">The command's parameters: a query, names of files, numbers of objects. <a href="${form.help}">What each command does</a></p>
<p class="field"><label for="password">Password</label>
<input type="password" id="password" name="password" autocomplete="current-password" required maxlength="1000"></p>
<div class="pair">
<p class="field"><label for="host">Broker Host</label> <input type="text" id="host" name="host" value="${form.host}" readonly></p>
<p class="field"><label for="port">Broker Port</label> <input type="text" id="port" name="port" value="${form.port}" inputmode="numeric" readonly></p>
</div>
<p class="actions"><button type="submit">Send command</button></p>
</form>`;
}

/** Renders the outcome of a command. */
function renderOutcome(title: string, lines: readonly string[], failure: string | undefined): Html {
  return html`<section class="outcome" aria-labelledby="outcome" role="status">
<h2 id="outcome">${title}</h2>
${failure === undefined ? '' : html`<p class="error"><strong>Failed:</strong> ${failure}</p>\n`}${lines.length === 0 ? '' : html`<pre>${lines.join('\n')}</pre>\n`}${lines.length === 0 && failure === undefined ? html`<p>Done.</p>\n` : ''}</section>`;
}
