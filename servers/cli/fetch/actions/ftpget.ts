import { entryUrl } from '../../../../clients/fetch/entry-names.js';
import type { FetchResult } from '../../../../clients/fetch/types.js';
import { UsageError } from '../../../../protocols/errors.js';
import { readFirstLine } from '../../options/hidden-answer.js';
import { documentOf, retrieve } from '../retrieve.js';

interface FtpgetOptions {
  readonly passwordFile?: string;
  readonly raw: boolean;
  readonly htmlify: boolean;
  readonly json: boolean;
}

/** The action of `harvest ftpget`. */
export async function ftpget(
  file: string,
  server: string,
  name: string,
  type: string,
  user: string,
  given: string | undefined,
  options: FtpgetOptions,
): Promise<number> {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:/?@]+)(?::(\d{1,5}))?$/i.exec(server) ?? [];
  if (host === undefined) throw new UsageError(`ftpget: ${server} is not HOST or HOST:PORT`);
  const password = await passwordOf(given, options);
  const escaped = name.replace(/^\/+/, '%2F').split('/').map(escapeOnce).join('/');
  return await retrieve({
    command: 'ftpget',
    url: `ftp://${host}${port === undefined ? '' : `:${port}`}/${escaped}${type === 'A' ? ';type=a' : ''}`,
    fetcher: { ftpAuth: [{ host: host.replace(/^\[|\]$/g, ''), ...portOf(port), user, password }] },
    file,
    json: options.json,
    raw: options.raw,
    render: options.htmlify ? htmlOf : documentOf,
  });
}

/** Environment variable that may contain the password. */
const PASSWORD_VARIABLE = 'HARVEST_FTP_PASSWORD';

async function passwordOf(given: string | undefined, { passwordFile }: FtpgetOptions): Promise<string> {
  if (given !== undefined && passwordFile !== undefined)
    throw new UsageError('ftpget: the password and --password-file are mutually exclusive');
  if (passwordFile !== undefined) return readFirstLine(passwordFile);
  return given ?? process.env[PASSWORD_VARIABLE] ?? 'harvest@';
}

function portOf(port: string | undefined): { readonly port?: number | undefined } {
  return { port: port === undefined ? undefined : Number(port) };
}

function escapeOnce(segment: string): string {
  const [, slash = '', rest = ''] = /^(%2F)?(.*)$/s.exec(segment)!;
  return slash + encodeURIComponent(rest);
}

function htmlOf(result: FetchResult): Uint8Array {
  if (result.entries === undefined) return result.body;
  const title = `Directory ${escapeHtml(result.url)}`;
  const items = result.entries.map(
    (entry) => `<li><a href="${escapeHtml(entryUrl(result.url, entry))}">${escapeHtml(entry)}</a></li>\n`,
  );
  return Buffer.from(
    `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>${title}</title></head>\n<body><h1>${title}</h1>\n` +
      `<ul>\n${items.join('')}</ul>\n</body></html>\n`,
  );
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
