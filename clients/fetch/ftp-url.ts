import { UsageError } from '../../protocols/errors.js';

/** What an FTP URL asks for. */
export interface FtpAddress {
  readonly host: string;
  readonly port: number;
  /** From `user:password@` in the URL (G-81). */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /**
   * One UTF-16 unit from 0 to 255 a byte, relative to the directory of the login unless it begins with a slash (`%2F` in the
   * URL); '' is that directory itself. `undefined` when no file can have the name.
   */
  readonly path: string | undefined;
  /** The URL ends with a slash or `;type=d`: only a directory will do. */
  readonly isDirectory: boolean;
  /** `;type=a`: as text, the server converts line ends. */
  readonly isText: boolean;
}

const FTP_PORT = 21;

/** @throws UsageError when it is no canonical `ftp:` URL (RFC 1738 3.2) */
export function parseFtpUrl(url: string): FtpAddress {
  const match = /^ftp:\/\/(?:([^/@]*)@)?(\[[^\]]*\]|[^/:?]+)(?::(\d{1,5}))?(\/.*)?$/s.exec(url);
  if (match === null) throw new UsageError('not a canonical ftp URL');
  const [, userInfo, host = '', port = String(FTP_PORT), rest = '/'] = match;
  const [user, password] = userInfo?.split(/:(.*)/s) ?? [];
  const typed = /;type=([aid])$/i.exec(rest);
  const type = typed?.[1]?.toLowerCase();
  const path = rest.slice(1, typed === null ? undefined : -typed[0].length);
  const bytes = unescapeBytes(path).replace(/\/{2,}/g, '/');
  const isDirectory = type === 'd' || bytes === '' || bytes.endsWith('/');
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    user: user === undefined ? undefined : asText(unescapeBytes(user)),
    password: password === undefined ? undefined : asText(unescapeBytes(password)),
    // A line end would begin another command.
    path: /[\r\n\0]/.test(bytes) ? undefined : bytes.replace(/(?<=.)\/$/, ''),
    isDirectory,
    isText: type === 'a',
  };
}

function unescapeBytes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** @throws UsageError when it would break a command line */
function asText(bytes: string): string {
  if (/[\r\n\0]/.test(bytes)) throw new UsageError('a user or password cannot hold line ends');
  return bytes;
}
