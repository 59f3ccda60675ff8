// The suite `broker`.

import { readFile } from 'node:fs/promises';
import { ConfigError, messageOf, UsageError } from '../../../protocols/errors.js';
import { DEFAULT_BROKER_PORT } from '../../broker/index.js';
import type { Suite } from '../runner.js';
import { factsOf, prepareServer } from '../server-context.js';
import { targetOf } from '../wire.js';
import { adminCases } from './admin-cases.js';
import { attributeCases } from './attribute-cases.js';
import { assertBroker, type BrokerCase, BrokerContext, type SharedFacts } from './context.js';
import { FixtureData } from './fixture-data.js';
import { fixtureMatchingCases } from './fixture-matching.js';
import { fixtureQueryCases } from './fixture-queries.js';
import { fixtureTagCases } from './fixture-tags.js';
import { fixtureValueCases } from './fixture-values.js';
import { flagCases } from './flag-cases.js';
import { grammarCases } from './grammar-cases.js';
import { enduranceCases, messageCases } from './message-cases.js';
import { queryCases } from './query-cases.js';
import { replyCases } from './reply-cases.js';

const CASES: readonly BrokerCase[] = [
  ...messageCases,
  ...queryCases,
  ...attributeCases,
  ...grammarCases,
  ...flagCases,
  ...replyCases,
  ...fixtureQueryCases,
  ...fixtureTagCases,
  ...fixtureMatchingCases,
  ...fixtureValueCases,
  ...adminCases,
  ...enduranceCases,
];

/** Checks a Broker from outside, on its own data and on the fixture, which should not change during the run. */
export const suite: Suite = {
  name: 'broker',
  title: 'a Broker: messages, queries, flags, replies, administration, endurance',
  usage: 'HOST[:PORT] [--password-file FILE]',
  cases: CASES,
  async prepare(args, options) {
    const { address, passwordFile } = parseArguments(args);
    const facts = factsOf(targetOf(address, DEFAULT_BROKER_PORT), options);
    const password = passwordFile === undefined ? undefined : await readPassword(passwordFile);
    const shared: SharedFacts = { ...facts, password, survey: undefined, fixture: new FixtureData() };
    return prepareServer('broker', CASES, BrokerContext, shared, options, assertBroker);
  },
};

/** The arguments of the suite. */
interface SuiteArguments {
  /** HOST, HOST:PORT, or HOST PORT. */
  readonly address: readonly string[];
  readonly passwordFile: string | undefined;
}

const OPTION = '--password-file';

/**
 * Reads `HOST[:PORT] [--password-file FILE]`.
 * @throws UsageError for an unknown option
 */
function parseArguments(args: readonly string[]): SuiteArguments {
  const address: string[] = [];
  let passwordFile: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === OPTION) {
      at++;
      passwordFile = args[at] ?? '';
    } else if (word.startsWith(`${OPTION}=`)) passwordFile = word.slice(OPTION.length + 1);
    else if (word.startsWith('-')) throw new UsageError(`unknown option ${word}`);
    else address.push(word);
  }
  if (passwordFile === '') throw new UsageError(`${OPTION} needs the name of a file`);
  return { address, passwordFile };
}

/**
 * Reads the first line of the file. Rejects with ConfigError when the file cannot be read or the line is empty.
 */
async function readPassword(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const why = messageOf(cause);
    throw new ConfigError(file, 0, '', `the password cannot be read: ${why}`);
  });
  const password = text.split(/\r?\n/)[0] ?? '';
  if (password === '') throw new ConfigError(file, 1, '', 'no password');
  return password;
}
