// `Brokers.cf`: the other Brokers that a query page offers, one on each line: name, host and port (BRK-9.3).
import { ConfigError } from '../errors.js';
import { readLines, wordsOf } from './lines.js';

/** A Broker that the page offers. */
export interface ListedBroker {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** Parses the file. A line that is not valid is skipped and becomes a warning. */
export function parseBrokersCf(
  text: string,
  file: string,
): { readonly brokers: readonly ListedBroker[]; readonly warnings: readonly ConfigError[] } {
  const brokers: ListedBroker[] = [];
  const warnings: ConfigError[] = [];
  for (const { text: content, line } of readLines(text)) {
    const [name, host, portText = ''] = wordsOf(content);
    const port = /^\d{1,5}$/.test(portText) ? Number(portText) : 0;
    if (name === undefined || host === undefined || port < 1 || port > 65_535) {
      warnings.push(new ConfigError(file, line, '', 'skipped: a line is a name, a host and a port'));
    } else {
      brokers.push({ name, host, port });
    }
  }
  return { brokers, warnings };
}
