// Renders the administration page (BRK-9.10).
import { type Content, type Html, html } from '../../web/html.js';
import { COMMAND_GROUPS } from './admin-commands.js';

/** Contents of the administration form. */
export interface AdminForm {
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
export function renderOutcome(title: string, lines: readonly string[], failure: string | undefined): Html {
  return html`<section class="outcome" aria-labelledby="outcome" role="status">
<h2 id="outcome">${title}</h2>
${failure === undefined ? '' : html`<p class="error"><strong>Failed:</strong> ${failure}</p>\n`}${lines.length === 0 ? '' : html`<pre>${lines.join('\n')}</pre>\n`}${lines.length === 0 && failure === undefined ? html`<p>Done.</p>\n` : ''}</section>`;
}
