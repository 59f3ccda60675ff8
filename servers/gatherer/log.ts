import type { Logger } from 'pino';
import { type DocumentEvent, documentChannel } from './events.js';

/**
 * Writes what becomes of each document: G-145's two logs, in the lines of G-148. `log` gets one line a URL: URL, type, status, and
 * `[L]` for what was read locally (G-77), `[N]` for what was not modified; `errors` gets the failures and warnings.
 *
 * @returns ends the logging when disposed
 */
export function logDocuments(log: Logger, errors: Logger): Disposable {
  const listen = (message: unknown): void => {
    const event = message as DocumentEvent;
    if (event.disposition === 'failed') {
      errors.error(`${event.url}: ${event.reason} (status ${event.status})`);
      return;
    }
    for (const warning of event.warnings) errors.warn(`${event.url}: ${warning}`);
    if (event.disposition !== 'retry' && event.disposition !== 'kept') log.info(line(event));
  };
  documentChannel.subscribe(listen);
  return {
    [Symbol.dispose]() {
      documentChannel.unsubscribe(listen);
    },
  };
}

function line({ url, type, status, disposition, reason, local }: DocumentEvent): string {
  const marks = `${local ? ' [L]' : ''}${disposition === 'unchanged' ? ' [N]' : ''}`;
  const what = disposition === 'summarized' || disposition === 'unchanged' ? type : disposition;
  return `${url} ${what} ${status}${marks}${reason === '' ? '' : `: ${reason}`}`;
}
