// Parses `broker.conf`, the configuration of a Broker (BRK-7.1 to 7.3).
import { z } from 'zod';
import { ConfigError } from '../errors.js';
import { parseAddressRange } from './addresses.js';
import {
  baseNameOf,
  databaseUrl,
  directoryOf,
  INT_MAX,
  integer,
  joinPath,
  parsed,
  parseInteger,
  port,
  readLines,
  seconds,
  secureHostAndPort,
  text,
  ValueError,
  variable,
  words,
  wordsOf,
  yesNo,
} from './values.js';
import { type Assignment, VariableTable } from './variables.js';

/** `HH:MM`, as seconds since midnight. */
const timeOfDay = parsed((value) => {
  const match = /^(\d{1,2}):(\d{2})$/.exec(value);
  if (match === null) throw new ValueError('must be a time of day, HH:MM');
  return parseInteger(match[1]!, 0, 23) * 3600 + parseInteger(match[2]!, 0, 59) * 60;
});

const opaqueMode = parsed((value) => {
  const mode = value.toLowerCase();
  if (mode !== 'suppress' && mode !== 'show') throw new ValueError('must be suppress or show');
  return mode;
});

/** An absolute URL of a directory; without the final slash. */
const publicUrl = parsed((value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new ValueError('must be an address such as https://search.example.org/harvest/');
  if (url.username !== '' || url.password !== '') throw new ValueError('must have no login');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
});

/** Nodes of a cluster; a login is elsewhere. */
const nodeUrls = parsed((value) => {
  const nodes = wordsOf(value);
  for (const node of nodes) {
    const url = URL.canParse(node) ? new URL(node) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
      throw new ValueError('must be addresses such as http://127.0.0.1:9200');
    if (url.username !== '' || url.password !== '')
      throw new ValueError('must have no login: OpenSearch-Login names a file with it');
  }
  return nodes;
}).meta({ syntax: 'words' });

/** Addresses and ranges such as `10.0.0.0/8`. */
const addressRanges = parsed((value) => {
  const ranges = wordsOf(value);
  const wrong = ranges.find((range) => parseAddressRange(range) === undefined);
  if (wrong !== undefined)
    throw new ValueError('must be addresses or ranges such as 127.0.0.1 and 10.0.0.0/8');
  return ranges;
}).meta({ syntax: 'words' });

/**
 * The variables of BRK-7.3, then those of this kit. `withDerived` adds defaults that depend on other variables.
 */
const schema = z.object({
  brokerDirectory: variable('Broker-Directory', 'the directory with its data', text.optional()),
  brokerHost: text.optional().meta({ title: 'Broker-Host', description: 'name used in URLs' }),
  brokerPort: variable('Broker-Port', 'TCP port; 0 = any free one', integer(0, 65_535).default(8501)),
  brokerName: text.optional().meta({ title: 'Broker-Name', description: 'name shown and used in URLs' }),
  adminPassword: variable('Admin-Password', 'password of #ADMIN; empty = refused', text.default('')),
  httpHost: text.optional().meta({ title: 'HTTP-Host', description: 'web server that serves objects/' }),
  httpPort: port.default(80).meta({ title: 'HTTP-Port', description: 'its port' }),
  homePage: text.optional().meta({ title: 'Home-Page', description: 'the URL of result line 126' }),
  registryFile: text.default('admin/Registry').meta({ title: 'Registry-File', description: 'Registry' }),
  collectionFile: variable('Collection-File', 'collection points', text.default('admin/Collection.conf')),
  logFile: text.default('admin/LOG').meta({ title: 'Log-File', description: 'log' }),
  logTypes: words
    .default(['Update', 'Delete', 'Refresh', 'Query', 'Collection', 'Admin'])
    .meta({ title: 'Log-Types', description: 'logged types' }),
  collectionTime: timeOfDay
    .default(3 * 3600)
    .meta({ title: 'Collection-Time', description: 'time of day of the daily collection' }),
  collectionInterval: variable('Collection-Interval', 'seconds between collections', seconds.default(86_400)),
  cleanInterval: variable('Clean-Interval', 'seconds between cleanings', seconds.default(86_400)),
  compressPercent: integer(0, 100)
    .default(50)
    .meta({ title: 'Compress-Percent', description: 'compress when this share of the records is deleted' }),
  indexerType: text
    .default('Embedded')
    .meta({ title: 'Indexer-Type', description: 'back end: a name, or the file of a module' }),
  glimpseMaxLife: variable('Glimpse-MaxLife', 'seconds a query may run', seconds.default(900)),
  glimpseIndexOption: variable('GlimpseIndex-Option', 'size of the index', text.default('-b')),
  glimpseServerHost: variable('GlimpseServer-Host', '`false` turns glimpseserver off', text.optional()),
  glimpseServerPort: variable('GlimpseServer-Port', 'port of glimpseserver', port.default(2001)),
  maxResults: variable('Max-Results', 'cap of a query’s results', integer(1, INT_MAX).default(1000)),
  maxQueries: variable('Max-Queries', 'queries at one time', integer(1, 10_000).default(20)),
  maxWork: integer(1, INT_MAX)
    .default(10)
    .meta({ title: 'Max-Work', description: 'seconds of processor time that a query may use' }),
  opaqueMode: variable('Opaque-Mode', 'meaning of #opaque (BRK-3.2)', opaqueMode.default('suppress')),
  // Variables of this kit.
  bulkCacheSize: integer(0, INT_MAX).default(1024).meta({
    title: 'Bulk-Cache-Size',
    description: 'MiB of a complete bulk transfer that is kept in a file for the next one; 0 keeps none',
  }),
  collectionMaxSize: integer(1, INT_MAX).default(65_536).meta({
    title: 'Collection-Max-Size',
    description: 'MiB that one collection point may send in one collection',
  }),
  collectionMaxTime: seconds.default(86_400).meta({
    title: 'Collection-Max-Time',
    description: 'seconds that a collection from one point may take',
  }),
  storeUrl: databaseUrl.optional().meta({
    title: 'Store-URL',
    description: 'postgres:// URL of a database that keeps the objects; default the directory `store`',
  }),
  openSearchUrl: nodeUrls.default([]).meta({
    title: 'OpenSearch-URL',
    description: 'nodes of OpenSearch; default http://127.0.0.1:9200',
  }),
  openSearchIndex: text.optional().meta({
    title: 'OpenSearch-Index',
    description: 'alias of the index in OpenSearch; default Broker-Name',
  }),
  openSearchAuthority: text.optional().meta({
    title: 'OpenSearch-CA',
    description: 'file with the certificates that sign those of the nodes; default those of the system',
  }),
  openSearchLogin: text.optional().meta({
    title: 'OpenSearch-Login',
    description: 'file whose first line is user:password, for OpenSearch',
  }),
  referencesServer: secureHostAndPort.optional().meta({
    title: 'References-Server',
    description: 'host:port of a refererd, or tls://host:port: results say how many documents link to them',
  }),
  referencesUrl: publicUrl.optional().meta({
    title: 'References-URL',
    description: 'address of its pages for browsers; default that of References-Server',
  }),
  referencesRank: yesNo.optional().meta({
    title: 'References-Rank',
    description: 'result pages raise documents with many links to them; default no',
  }),
  publicUrl: publicUrl.optional().meta({
    title: 'Public-URL',
    description:
      'address at which visitors reach the pages, e.g. behind a proxy; results, feeds and forms use it',
  }),
  trustedProxies: addressRanges.default([]).meta({
    title: 'Trusted-Proxies',
    description: 'addresses and ranges of proxies whose X-Forwarded-For and -Proto are believed',
  }),
  webNames: words.default([]).meta({
    title: 'Web-Names',
    description: 'names of the web pages, besides Broker-Host, HTTP-Host, localhost and IP addresses',
  }),
});

/** The rows of BRK-7.3. */
export const BROKER_VARIABLES = new VariableTable(schema, 'last');

export type BrokerVariables = z.output<typeof schema>;
type Derived =
  | 'brokerDirectory'
  | 'brokerHost'
  | 'brokerName'
  | 'httpHost'
  | 'homePage'
  | 'glimpseServerHost';

/** A Broker's configuration (BRK-7.3). Relative file names are joined to Broker-Directory. */
export interface BrokerConfig extends Readonly<Omit<BrokerVariables, Derived>> {
  readonly brokerDirectory: string;
  readonly brokerHost: string;
  readonly brokerName: string;
  readonly httpHost: string;
  readonly homePage: string;
  /** `false`: glimpseserver is turned off. */
  readonly glimpseServerHost: string | false;
}

/**
 * Parses a broker.conf (BRK-7.1 to 7.3): a name, blanks or a colon, the value to the end of the line.
 *
 * @param file its name; the default of Broker-Directory is the parent of its directory
 * @param defaults replace the table's defaults, e.g. by values of the command line or the host; values of the
 *   file win
 * @returns warnings for unknown names and for second values (the last one applies)
 * @throws ConfigError for an unusable value; its message never shows the value
 */
export function parseBrokerConf(
  content: string,
  file: string,
  defaults: Partial<BrokerConfig> = {},
): { config: BrokerConfig; warnings: ConfigError[] } {
  const assignments = readLines(content).map(({ text, line }) => readAssignment(text, file, line));
  const { values, assigned, warnings } = BROKER_VARIABLES.read(assignments, file);
  const overrides = { ...defaults };
  for (const key of assigned) Reflect.deleteProperty(overrides, key);
  return { config: withDerived({ ...values, ...overrides }, file), warnings };
}

function withDerived(
  values: Omit<BrokerVariables, Derived> & Partial<Record<Derived, string | false | undefined>>,
  file: string,
): BrokerConfig {
  const brokerDirectory = values.brokerDirectory || directoryOf(directoryOf(file));
  const brokerHost = values.brokerHost || 'localhost';
  const brokerName = values.brokerName || baseNameOf(brokerDirectory) || 'broker';
  const httpHost = values.httpHost || brokerHost;
  const glimpseServerHost = values.glimpseServerHost ?? brokerHost;
  return {
    ...values,
    brokerDirectory,
    brokerHost,
    brokerName,
    httpHost,
    homePage: values.homePage || defaultHomePage(httpHost, values.httpPort, brokerName),
    registryFile: joinPath(brokerDirectory, values.registryFile),
    collectionFile: joinPath(brokerDirectory, values.collectionFile),
    logFile: joinPath(brokerDirectory, values.logFile),
    glimpseServerHost: glimpseServerHost === 'false' ? false : glimpseServerHost,
  };
}

/** BRK-7.3: the default of `Home-Page`. */
export function defaultHomePage(httpHost: string, httpPort: number, brokerName: string): string {
  const authority = httpPort === 80 ? httpHost : `${httpHost}:${httpPort}`;
  return `http://${authority}/Harvest/brokers/${encodeURIComponent(brokerName)}/`;
}

/** BRK-7.2. */
function readAssignment(text: string, file: string, line: number): Assignment {
  const match = /^([A-Za-z][\w-]*)(?:\s*:|\s+|$)(.*)$/s.exec(text);
  if (match === null)
    throw new ConfigError(file, line, '', 'a line must be a variable at its start, then its value');
  return { name: match[1]!, value: match[2]!.trim(), line };
}
