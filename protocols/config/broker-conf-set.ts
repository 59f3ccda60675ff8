// Changes the configuration of a running Broker: `#set` and `#restart` (BRK-5.1, 5.3).
import { ConfigError, UsageError } from '../errors.js';
import { BROKER_VARIABLES, type BrokerConfig, defaultHomePage } from './broker-conf.js';
import { joinPath, keepBound } from './values.js';

/** Variables that a running Broker cannot change, because it has opened or published what they name. */
const BOUND_AT_START: readonly (keyof BrokerConfig)[] = [
  'brokerDirectory',
  'brokerHost',
  'brokerPort',
  'brokerName',
  'registryFile',
  'logFile',
  'indexerType',
  'glimpseIndexOption',
  'glimpseServerHost',
  'glimpseServerPort',
  'storeUrl',
  'openSearchUrl',
  'openSearchIndex',
  'openSearchAuthority',
  'openSearchLogin',
];

/** Whether a variable, by its key in {@link BrokerConfig}, cannot change until the program ends. */
export function isBoundAtStart(key: string): boolean {
  return BOUND_AT_START.some((bound) => bound === key);
}

/**
 * BRK-5.1 `#set`: the configuration with one variable changed for this run (BRK-5.3).
 *
 * @param name as in the file, in any case
 * @param value as in the file; '' sets the variable's default
 * @throws UsageError for an unknown variable, one that is bound at the start, or an unusable value. Its message
 *   never shows the value, which may be a password.
 */
export function setBrokerVariable(
  config: BrokerConfig,
  name: string,
  value: string,
): { readonly config: BrokerConfig; readonly variable: string } {
  const row = variableNamed(name);
  if (isBoundAtStart(row.key)) {
    throw new UsageError(`${row.name} cannot be set while the broker runs: change broker.conf and restart`);
  }
  return withVariable(config, row, value);
}

type VariableRow = ReturnType<typeof BROKER_VARIABLES.describe>[number];

function variableNamed(name: string): VariableRow {
  const row = BROKER_VARIABLES.describe().find((known) => known.name.toLowerCase() === name.toLowerCase());
  if (row === undefined) throw new UsageError('there is no such variable');
  return row;
}

function withVariable(
  config: BrokerConfig,
  row: VariableRow,
  value: string,
): { readonly config: BrokerConfig; readonly variable: string } {
  const values = readOne(row.name, value.trim());
  const changed = { ...config, [row.key]: Reflect.get(values, row.key) };
  const httpHost = changed.httpHost || config.brokerHost;
  const homePageOf = (host: string, port: number): string => defaultHomePage(host, port, config.brokerName);
  // A derived home page changes with the values that it is derived from.
  const derived = config.homePage === homePageOf(config.httpHost, config.httpPort);
  const homePage = derived && row.key !== 'homePage' ? undefined : changed.homePage;
  return {
    variable: row.name,
    config: {
      ...changed,
      httpHost,
      homePage: homePage || homePageOf(httpHost, changed.httpPort),
      collectionFile: joinPath(config.brokerDirectory, changed.collectionFile),
    },
  };
}

/**
 * The configuration with variables of the command line, which precede those of the file.
 *
 * @param settings values by names of variables
 * @throws UsageError for an unknown variable or an unusable value, see {@link setBrokerVariable}
 */
export function withBrokerSettings(
  config: BrokerConfig,
  settings: Readonly<Record<string, string>>,
): BrokerConfig {
  let changed = config;
  for (const [name, value] of Object.entries(settings))
    changed = withVariable(changed, variableNamed(name), value).config;
  return changed;
}

/**
 * BRK-5.1 `#restart`: the configuration read again, except for variables that are bound at the start.
 *
 * @returns also the names of the variables whose new values take effect at the next start
 */
export function rereadBrokerConfig(
  running: BrokerConfig,
  read: BrokerConfig,
): { readonly config: BrokerConfig; readonly waiting: readonly string[] } {
  const { config, waiting } = keepBound(running, read, BOUND_AT_START);
  const rows = BROKER_VARIABLES.describe().filter(({ key }) => waiting.some((one) => one === key));
  return { config, waiting: rows.map(({ name }) => name) };
}

function readOne(name: string, value: string): object {
  try {
    return BROKER_VARIABLES.read([{ name, value, line: 0 }], '').values;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(`${error.variable}: ${error.problem}`);
  }
}
