// The URL of a PostgreSQL database, as libpq reads it: several hosts, and parameters.
import { UsageError } from '../../protocols/errors.js';

/** How the connection is encrypted; `verify-full` also verifies the server's certificate and name. */
type SslMode = 'disable' | 'require' | 'verify-full';

/** What a database's URL says. */
export interface DatabaseAddress {
  /** The hosts, in the order in which they are tried. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly user: string | undefined;
  /** Default: that of `PGPASSWORD` or of `~/.pgpass`. */
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** The schema that contains the tables; undefined: that of the kind of store. */
  readonly schema: string | undefined;
  /** Whether only a server that can be written to is good: the primary, which a standby becomes. */
  readonly readWrite: boolean;
  readonly sslMode: SslMode;
  /** A file with the certificates of the authorities that `verify-full` trusts; undefined: those of Node. */
  readonly sslRootCertificate: string | undefined;
  /** Seconds for one attempt to connect. */
  readonly connectTimeout: number;
  /** The URL without its password, for messages. */
  readonly shown: string;
}

const DEFAULT_PORT = 5432;
const DEFAULT_CONNECT_SECONDS = 10;
const SSL_MODES: readonly SslMode[] = ['disable', 'require', 'verify-full'];
const PARAMETERS = ['schema', 'target_session_attrs', 'sslmode', 'sslrootcert', 'connect_timeout'];
/** A name that needs no quoting, so that it is the same in every tool. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const FORM = /^postgres(?:ql)?:\/\/(?:([^@/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;

/**
 * Reads `postgres://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/DATABASE[?NAME=VALUE&...]`. The parameters are those
 * of libpq, `target_session_attrs` (`read-write`, the default, or `any`), `sslmode`, `sslrootcert` and
 * `connect_timeout`, and `schema`.
 *
 * @throws UsageError without the password in its message
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const found = FORM.exec(url);
  if (found === null)
    throw new UsageError('the URL of a database has the form postgres://USER@HOST/DATABASE');
  const [, login = '', hosts = '', database = '', query = ''] = found;
  const shown = `postgres://${login === '' ? '' : `${login.split(':')[0]}@`}${hosts}/${database}${query === '' ? '' : `?${query}`}`;
  const wrong = (problem: string): UsageError => new UsageError(`${shown}: ${problem}`);
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys())
    if (!PARAMETERS.includes(name)) throw wrong(`${name} is not one of ${PARAMETERS.join(', ')}`);
  const oneOf = <T extends string>(name: string, values: readonly T[], otherwise: T): T => {
    const text = parameters.get(name) ?? otherwise;
    const value = values.find((known) => known === text);
    if (value === undefined) throw wrong(`${name}: ${text} is not one of ${values.join(', ')}`);
    return value;
  };
  const schema = parameters.get('schema') ?? undefined;
  if (schema !== undefined && !SCHEMA.test(schema))
    throw wrong('schema: a name has small letters, digits and _, and at most 63 of them');
  const seconds = Number(parameters.get('connect_timeout') ?? DEFAULT_CONNECT_SECONDS);
  if (!(seconds > 0)) throw wrong('connect_timeout: a number of seconds above 0');
  const [user, ...password] = login.split(':').map((text) => decoded(text, wrong));
  return {
    hosts: hosts.split(',').map((text) => hostOf(text, wrong)),
    user: user || undefined,
    password: password.length === 0 ? undefined : password.join(':'),
    database: decoded(database, wrong) || undefined,
    schema,
    readWrite: oneOf('target_session_attrs', ['read-write', 'any'], 'read-write') === 'read-write',
    sslMode: oneOf('sslmode', SSL_MODES, 'disable'),
    sslRootCertificate: parameters.get('sslrootcert') ?? undefined,
    connectTimeout: seconds,
    shown,
  };
}

function hostOf(text: string, wrong: (problem: string) => UsageError): { host: string; port: number } {
  const found = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text);
  const port = Number(found?.[3] ?? DEFAULT_PORT);
  const host = decoded(found?.[1] ?? found?.[2] ?? '', wrong);
  if (found === null || host === '' || port < 1 || port > 65_535) throw wrong(`${text} is no HOST[:PORT]`);
  return { host, port };
}

function decoded(text: string, wrong: (problem: string) => UsageError): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('a % must be followed by two hexadecimal digits');
  }
}
