// The variables of a Gatherer's configuration file: syntax, defaults, descriptions (G-18).
import { z } from 'zod';
import { DEFAULT_REFRESH_RATE, DEFAULT_TIME_TO_LIVE } from '../time.js';
import { canonicalUrl, withoutUserInfo } from '../urls/index.js';
import { parseEssenceOptions } from './essence-options.js';
import { DEFAULT_DELAY } from './root-node-defaults.js';
import {
  databaseUrl,
  delay,
  hostAndPort,
  integer,
  parsed,
  port,
  publishPlace,
  seconds,
  text,
  ValueError,
  variable,
  words,
  wordsOf,
  yesNo,
} from './values.js';
import { VariableTable } from './variables.js';

/**
 * G-71: a URL that begins with `prefix` is read from the file whose name is `path` plus the rest of the URL.
 */
export interface LocalMapping {
  readonly prefix: string;
  readonly path: string;
}

/** G-82: user and password for HTTP documents of one realm. */
export interface HttpBasicAuth {
  /**
   * Canonical; the login is for documents below this URL. Undefined: for the servers of the RootNodes and
   * LeafNodes.
   */
  readonly url?: string;
  readonly realm: string;
  readonly user: string;
  readonly password: string;
}

/** G-83: login for one FTP server. */
export interface FtpAuth {
  readonly host: string;
  readonly port?: number;
  readonly user: string;
  readonly password: string;
}

/** G-86: bytes of one retrieval. */
export const DEFAULT_MAX_RETRIEVAL_SIZE = 10 * 1024 * 1024;

const localMapping = parsed((value): LocalMapping => {
  const match = /^(\S+)[ \t]+(.+)$/.exec(value);
  if (match === null) throw new ValueError('needs a URL prefix and a path prefix');
  if (canonicalUrl(match[1]!) === undefined) throw new ValueError('the first word must be a URL prefix');
  return { prefix: match[1]!, path: match[2]! };
});

/** A module that fetches the URLs of a scheme. */
export interface FetcherModule {
  /** In lower case, without the colon. */
  readonly scheme: string;
  /** The file, absolute or relative to Top-Directory. */
  readonly module: string;
  /** The default port of the scheme; 0 for none. */
  readonly port: number;
}

const fetcherModule = parsed((value): FetcherModule => {
  const [, scheme = '', module = '', port = '0'] =
    /^([A-Za-z][A-Za-z0-9+.-]*):?[ \t]+(\S+)(?:[ \t]+(\d{1,5}))?$/.exec(value) ?? [];
  if (scheme === '') throw new ValueError('needs a scheme, a module and perhaps its default port');
  if (Number(port) > 65_535) throw new ValueError('the port must be 0 to 65535');
  return { scheme: scheme.toLowerCase(), module, port: Number(port) };
});

const httpBasicAuth = parsed((value): HttpBasicAuth => {
  const [, prefix, rest = value] = /^(https?:\/\/\S+)[ \t]+(\S.*)$/i.exec(value) ?? [];
  const match = /^(?:"([^"]*)"|([^\s"]\S*))[ \t]+(\S+)[ \t]+(\S.*)$/.exec(rest);
  if (match === null)
    throw new ValueError('needs a URL or none, realm, user name and password; a realm with blanks in quotes');
  const login = { realm: match[1] ?? match[2] ?? '', user: match[3]!, password: match[4]! };
  if (prefix === undefined) return login;
  const url = canonicalUrl(prefix);
  if (url === undefined || url !== withoutUserInfo(url) || url.includes('?'))
    throw new ValueError('the URL must be that of a server or directory, without a login or a question mark');
  return { url, ...login };
});

const ftpAuth = parsed((value): FtpAuth => {
  const match = /^([\w.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?[ \t]+(\S+)[ \t]+(\S.*)$/.exec(value);
  if (match === null) throw new ValueError('needs host[:port], user name and password');
  const login = { host: match[1]!.toLowerCase(), user: match[3]!, password: match[4]! };
  return match[2] === undefined ? login : { ...login, port: Number(match[2]) };
});

/** G-18: the variables of table 2.1, then those of this kit. */
const schema = z.object({
  accessDelay: delay
    .default(DEFAULT_DELAY)
    .meta({ title: 'Access-Delay', description: 'seconds between contacts with a server' }),
  dataDirectory: text.optional().meta({
    title: 'Data-Directory',
    syntax: 'directory',
    shown: '<Top-Directory>/data',
    description: 'where the database is written',
  }),
  debugOptions: words.default([]).meta({
    title: 'Debug-Options',
    syntax: '-Dsection,level ...',
    description: 'debugging options for child programs',
  }),
  errorlogFile: text
    .default('log.errors')
    .meta({ title: 'Errorlog-File', syntax: 'file', description: 'file for errors' }),
  essenceOptions: parsed(parseEssenceOptions)
    .default({})
    .meta({ title: 'Essence-Options', syntax: 'options', description: 'extra options for essence' }),
  fetchers: z.array(fetcherModule).default([]).meta({
    title: 'Fetcher',
    syntax: 'scheme module [port]',
    many: true,
    description: 'module of one’s own that fetches the URLs of a scheme, with its default port (G-177)',
  }),
  ftpAuth: z.array(ftpAuth).default([]).meta({
    title: 'FTP-Auth',
    syntax: 'host[:port] user password',
    many: true,
    description:
      'login for documents of this host, by default at port 21 and the ports of its RootNodes; used before that of a Secrets-File (G-83)',
  }),
  gatherdInetd: variable('Gatherd-Inetd', 'gatherd is run from inetd', yesNo.default(false)),
  gathererHost: text.optional().meta({
    title: 'Gatherer-Host',
    syntax: 'name',
    shown: 'full name of this host',
    description: 'full name of the Gatherer’s host',
  }),
  gathererName: text.meta({
    title: 'Gatherer-Name',
    shown: 'none: required',
    description: 'unique name of the Gatherer; required',
  }),
  gathererOptions: words
    .default([])
    .meta({ title: 'Gatherer-Options', syntax: 'options', description: 'extra options for the Gatherer' }),
  gathererPort: port.default(8500).meta({ title: 'Gatherer-Port', description: 'TCP port of gatherd' }),
  gathererVersion: variable('Gatherer-Version', 'version of the Gatherer', text.default('1.0')),
  httpBasicAuth: z.array(httpBasicAuth).default([]).meta({
    title: 'HTTP-Basic-Auth',
    syntax: '[URL] realm user password',
    many: true,
    description:
      'login for documents of this realm below the URL, by default on the servers of the RootNodes and LeafNodes; used before that of a Secrets-File (G-82)',
  }),
  // G-106: off in the original, on in this kit.
  httpIfModifiedSince: variable('HTTP-If-Modified-Since', 'send conditional requests', yesNo.default(true)),
  httpProxy: hostAndPort.optional().meta({ title: 'HTTP-Proxy', description: 'host:port of the HTTP proxy' }),
  keepCache: yesNo.default(false).meta({ title: 'Keep-Cache', description: 'keep the local disk cache' }),
  libDirectory: text.optional().meta({
    title: 'Lib-Directory',
    syntax: 'directory',
    shown: 'the shipped files',
    description: 'configuration files of essence',
  }),
  localMappings: z.array(localMapping).default([]).meta({
    title: 'Local-Mapping',
    syntax: 'URL-prefix path-prefix',
    many: true,
    description: 'documents read from files; the first mapping whose prefix matches applies (G-71)',
  }),
  logFile: text
    .default('log.gatherer')
    .meta({ title: 'Log-File', syntax: 'file', description: 'file for progress messages' }),
  postSummarizing: text
    .optional()
    .meta({ title: 'Post-Summarizing', syntax: 'file', description: 'rules for post-summarizing' }),
  refreshRate: seconds.default(DEFAULT_REFRESH_RATE).meta({
    title: 'Refresh-Rate',
    description: 'seconds until an object is summarized again; a run that comes a tenth early updates it too',
  }),
  timeToLive: seconds
    .default(DEFAULT_TIME_TO_LIVE)
    .meta({ title: 'Time-To-Live', description: 'seconds until an object expires' }),
  topDirectory: text.optional().meta({
    title: 'Top-Directory',
    syntax: 'directory',
    shown: 'the directory of the file',
    description: 'top directory of the Gatherer',
  }),
  workingDirectory: text.optional().meta({
    title: 'Working-Directory',
    syntax: 'directory',
    shown: '<Top-Directory>/tmp',
    description: 'temporary files and local disk cache',
  }),

  annotations: z
    .array(words)
    .transform((lines) => lines.flat())
    .default([])
    .meta({
      title: 'Annotations',
      many: true,
      syntax: 'files',
      description:
        'files of manual data merged into the database; the first that names an attribute wins (G-186)',
    }),
  crawlOrder: text.optional().meta({
    title: 'Crawl-Order',
    syntax: 'file',
    description: 'order of the crawl engine: settings, sheets, scope (G-176)',
  }),
  ftpProxy: hostAndPort.optional().meta({
    title: 'FTP-Proxy',
    shown: '$ftp_proxy, $FTP_PROXY',
    description: 'host:port of the HTTP proxy through which FTP documents are fetched (G-178)',
  }),
  hiddenFiles: yesNo.default(true).meta({
    title: 'Hidden-Files',
    description:
      'gather hidden files of this machine (.name), and copies of editors (name~); no: only if a RootNode or LeafNode names them, or a directory that they are in (G-179)',
  }),
  httpFrom: variable('HTTP-From', 'mail address sent with requests (G-180)', text.optional()),
  httpImmediateDelete: yesNo.default(false).meta({
    title: 'HTTP-Immediate-Delete',
    description:
      'objects of documents that no longer exist (404, 410, missing files) are deleted at once, instead of when they expire (G-181)',
  }),
  httpUserAgent: variable('HTTP-User-Agent', 'User-Agent of requests (G-180)', text.optional()),
  indexDuplicates: yesNo.default(true).meta({
    title: 'Index-Duplicates',
    description:
      'summarize the page of a directory under each of its URLs, e.g. / and /index.html; no: with equal content only under the first that a run reaches (G-182)',
  }),
  maxRetrievalSize: integer(1, 2_147_483_647)
    .default(DEFAULT_MAX_RETRIEVAL_SIZE)
    .meta({ title: 'Max-Retrieval-Size', description: 'bytes of one document (G-183)' }),
  publish: publishPlace.optional().meta({
    title: 'Publish',
    description:
      's3://BUCKET/PREFIX, or a directory, to which each generation is published, too, for servers on other machines (G-188)',
  }),
  references: variable('References', 'publish who links to whom, for refererd (G-184)', yesNo.default(true)),
  secretsFile: text.optional().meta({
    title: 'Secrets-File',
    syntax: 'file',
    description: 'file with HTTP-Basic-Auth and FTP-Auth lines (G-185)',
  }),
  storeUrl: databaseUrl.optional().meta({
    title: 'Store-URL',
    syntax: 'URL',
    description:
      'postgres:// URL of a database that keeps the store; default the directory `working` of Data-Directory (G-187)',
  }),
});

export const GATHERER_VARIABLES = new VariableTable(schema, 'error');

/** The values of the variables as the file gives them, defaults filled in. */
export type GathererVariables = z.output<typeof schema>;

const secretsSchema = z.object({ httpBasicAuth: schema.shape.httpBasicAuth, ftpAuth: schema.shape.ftpAuth });

/** G-25: the two variables of a secrets file. */
export const SECRET_VARIABLES = new VariableTable(secretsSchema, 'error');

export type GathererSecrets = z.output<typeof secretsSchema>;

/** G-23: whether `--save-space` is set, the only Gatherer option on record. */
export function savesSpace(config: { readonly gathererOptions: readonly string[] }): boolean {
  return config.gathererOptions.flatMap(wordsOf).includes('--save-space');
}
