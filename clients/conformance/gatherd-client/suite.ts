// The suite `gatherd-client`.
import { prepareClients as prepare } from '../client-bench.js';
import type { ClientUnderTest } from '../client-under-test.js';
import { CommandClient } from '../command-client.js';
import type { PreparedSuite, Suite } from '../runner.js';
import { parseArguments } from './arguments.js';
import { Bench } from './bench.js';
import { COMPRESSION_CASES } from './compression-cases.js';
import { INCOMPLETE_CASES, SECTION_CASES, VALUE_CASES } from './data-cases.js';
import { INFO_CASES } from './info-cases.js';
import type { ClientCase } from './procedures.js';
import { DELIVERY_CASES, LINE_CASES, REFUSAL_CASES, SESSION_CASES } from './session-cases.js';

export const CLIENT_CASES: readonly ClientCase[] = [
  ...SESSION_CASES,
  ...LINE_CASES,
  ...VALUE_CASES,
  ...SECTION_CASES,
  ...DELIVERY_CASES,
  ...INCOMPLETE_CASES,
  ...REFUSAL_CASES,
  ...COMPRESSION_CASES,
  ...INFO_CASES,
];

/** The clients under test, as programs or as functions. */
export interface ClientsUnderTest {
  /** Fetches everything; the cases about SEND-UPDATE are skipped without it. */
  readonly client?: ClientUnderTest;
  /** Fetches the description; the cases about INFO are skipped without it. */
  readonly infoClient?: ClientUnderTest;
  /** Whether their output is what they received. Default true. */
  readonly checksOutput?: boolean;
}

/** Binds the cases to clients. The command line does it by {@link suite}. */
export function prepareClients(clients: ClientsUnderTest): PreparedSuite {
  const target = [clients.client?.name, clients.infoClient?.name]
    .filter((name) => name !== undefined)
    .join(' | ');
  return prepare(suite.name, target, CLIENT_CASES, new Bench(clients));
}

/** Checks a gatherd client: runs its commands against scripted servers. */
export const suite: Suite = {
  name: 'gatherd-client',
  title: 'a client that collects from gatherd: what it sends, understands and writes out',
  usage:
    '[--no-output] [--info COMMANDLINE] -- COMMAND [ARG...]  ({host} and {port} are replaced, or appended)',
  cases: CLIENT_CASES,
  async prepare(args) {
    const { command, info, checksOutput } = parseArguments(args);
    return prepareClients({
      ...(command.length === 0 ? {} : { client: await CommandClient.of(command) }),
      ...(info.length === 0 ? {} : { infoClient: await CommandClient.of(info) }),
      checksOutput,
    });
  },
};
export type { Bench, ClientContext, Observation } from './bench.js';
export type { Behavior, Step } from './dialogue.js';
export type { Content, Section, SectionObject, WireObject } from './objects.js';
export type { OutputReader } from './output.js';
export type { ClientCase } from './procedures.js';
