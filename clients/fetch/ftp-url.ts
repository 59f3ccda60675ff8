// Parses `ftp:` URLs.
import { UsageError } from '../../protocols/errors.js';
import { unescapeBytes, withoutBrackets } from '../../protocols/urls/index.js';

/** The parts of an FTP URL. */
export interface FtpAddress {
  readonly host: string;
  readonly port: number;
  /** From `user:password@` in the URL (G-81). */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /**
   * One UTF-16 unit from 0 to 255 per byte, relative to the login's directory unless it begins with a slash
   * (`%2F` in the URL); '' is that directory. Undefined if no file can have the name.
   */
  readonly path: string | undefined;
  /** The URL ends with a slash or `;type=d` and so names a directory. */
  readonly isDirectory: boolean;
  /** `;type=a`: a text, whose line ends the server converts. */
  readonly isText: boolean;
}

/** The default port. */
export const FTP_PORT = 21;

/** @throws UsageError for anything that is not a canonical `ftp:` URL (RFC 1738 3.2) */
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
    host: withoutBrackets(host),
    port: Number(port),
    user: user === undefined ? undefined : checkLine(unescapeBytes(user)),
    password: password === undefined ? undefined : checkLine(unescapeBytes(password)),
    // A line end would start another command.
    path: /[\r\n\0]/.test(bytes) ? undefined : bytes.replace(/(?<=.)\/$/, ''),
    isDirectory,
    isText: type === 'a',
  };
}

/** @throws UsageError if the text would break a command line */
function checkLine(bytes: string): string {
  if (/[\r\n\0]/.test(bytes)) throw new UsageError('a user or password cannot contain line ends');
  return bytes;
}
