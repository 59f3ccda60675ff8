// Runs a correct client behind a proxy, so that it becomes a client with one defect.
import type { Address, ClientUnderTest } from '../../clients/conformance/command-client.js';
import { type CaseResult, type PreparedSuite, runSuite } from '../../clients/conformance/index.js';
import type { Mutant, RunReport, RunRequest, Variant } from './mutant.js';
import { type Sent, startProxy } from './proxy.js';

/** Changes of a client. */
export interface ClientChange {
  /** Changes what the client sends, as it comes; mostly a line. */
  sent?(text: string): string | Sent;
  /** Changes what the client receives, as it comes. `ended`: the server has closed, and `text` is empty. */
  received?(text: string, ended: boolean): string | Sent;
  /** Changes the whole reply of a Broker, which ends with the connection. */
  reply?(reply: string): string | Sent;
  /** Changes the whole standard output. */
  output?(text: string): string;
  /** Changes standard error. */
  diagnostics?(text: string): string;
  /** Changes the exit status. */
  status?(status: number | undefined): number | undefined;
  /** Whether the client leaves its connection open, and ends when the server closes it. */
  readonly neverLeaves?: boolean;
}

/** Returns the change for one run of the client, which may count what it sees. */
export type ClientChanges = () => ClientChange;
export type ClientMutant = Mutant<ClientChanges>;
export type ClientVariant = Variant<ClientChanges>;

/** Wraps a client. @param onChange is called when a byte was altered */
export function changedClient<Task extends Address>(
  client: ClientUnderTest<Task>,
  changes: ClientChanges,
  onChange: () => void,
): ClientUnderTest<Task> {
  return {
    name: client.name,
    async run(task, output, signal) {
      const change = changes();
      await using proxy = await startProxy(task.port, () => linkOf(change));
      const pieces: Buffer[] = [];
      const end = await client.run(
        { ...task, port: proxy.port },
        (piece) => void pieces.push(Buffer.from(piece)),
        signal,
      );
      if (change.neverLeaves === true) await proxy.settled(signal);
      const shown = Buffer.concat(pieces).toString('latin1');
      const changed = change.output?.(shown) ?? shown;
      await output(Buffer.from(changed, 'latin1'));
      const status = change.status === undefined ? end.status : change.status(end.status);
      const diagnostics = change.diagnostics?.(end.diagnostics) ?? end.diagnostics;
      if (proxy.changed || changed !== shown || status !== end.status || diagnostics !== end.diagnostics)
        onChange();
      return { status, diagnostics };
    },
  };
}

function linkOf(change: ClientChange) {
  let greeting: string | undefined;
  let reply = '';
  return {
    neverLeaves: change.neverLeaves === true,
    ...(change.sent === undefined ? {} : { fromClient: (text: string) => change.sent?.(text) ?? text }),
    fromServer(text: string, ended: boolean): string | Sent {
      if (change.reply === undefined) return change.received?.(text, ended) ?? text;
      if (greeting === undefined && text !== '') {
        // The greeting comes before the client has sent its message.
        const end = text.indexOf('\n') + 1;
        greeting = text.slice(0, end);
        reply = text.slice(end);
        return greeting;
      }
      reply += text;
      return ended ? change.reply(reply) : '';
    },
  };
}

/** Runs cases of a suite about clients. */
export async function runClientCases(
  prepared: PreparedSuite,
  { only, timeoutMs }: RunRequest,
  changed: () => boolean,
): Promise<RunReport> {
  await using suite = prepared;
  const results: CaseResult[] = [];
  for await (const result of runSuite(suite, { only, timeoutMs })) results.push(result);
  return { results, changed: changed() };
}

/** A client that closes when it receives something, as if it could not read it. */
export function givesUp(
  name: string,
  rule: string,
  at: RegExp | ((text: string) => boolean),
  fails: readonly string[],
  only?: readonly string[],
): ClientMutant {
  const sees = typeof at === 'function' ? at : (text: string) => at.test(text);
  const change: ClientChange = { received: (text) => (sees(text) ? { text: '', action: 'reset' } : text) };
  const mutant = { name: `the client gives up at ${name}`, rule, change: () => change, fails };
  return only === undefined ? mutant : { ...mutant, only };
}

/** A client with other behavior, the same in every run. */
export function changing(
  name: string,
  rule: string,
  change: ClientChange,
  fails: readonly string[],
  only?: readonly string[],
): ClientMutant {
  const mutant = { name: `the client ${name}`, rule, change: () => change, fails };
  return only === undefined ? mutant : { ...mutant, only };
}

/** A client that reads a reply otherwise. */
export function reading(
  name: string,
  rule: string,
  reply: (text: string) => string,
  fails: readonly string[],
): ClientMutant {
  return changing(name, rule, { reply }, fails);
}

/** A client that stops reading at something. */
export function stopsAt(name: string, rule: string, at: RegExp, fails: readonly string[]): ClientMutant {
  const cut = (text: string) => {
    const found = at.exec(text);
    return found === null ? text : text.slice(0, found.index);
  };
  return reading(`stops at ${name}`, rule, cut, fails);
}

/** A client that sends another message. */
export function sending(
  name: string,
  rule: string,
  sent: (text: string) => string,
  fails: readonly string[],
): ClientMutant {
  return changing(name, rule, { sent }, fails);
}

/** A client that closes its side as soon as it has sent its message, and hears nothing. */
export function halfCloses(rule: string): ClientMutant {
  const sent = (text: string): Sent => ({ text, action: 'close' });
  const fails = ['session/keeps-open'];
  return changing('closes its side after the message', rule, { sent }, fails, fails);
}

/** A client in which a delivery of single bytes, or one with pauses, breaks something. */
export function deliveryMutants(
  fails: { readonly bytes: readonly string[]; readonly slow: readonly string[] },
  rule: string,
): readonly ClientMutant[] {
  const counting =
    (most: number): ClientChanges =>
    () => {
      let chunks = 0;
      return {
        received: (text, ended) => (!ended && ++chunks > most ? { text: '', action: 'reset' } : text),
      };
    };
  return [
    { name: 'the client gives up at many small pieces', rule, change: counting(12), fails: fails.bytes },
    {
      name: 'the client gives up when a reply comes in pieces',
      rule,
      change: counting(7),
      fails: fails.slow,
    },
  ];
}

export function clientVariant(
  name: string,
  rule: string,
  change: ClientChange,
  skips?: readonly string[],
): ClientVariant {
  const variant = { name: `a client ${name}`, rule, change: () => change };
  return skips === undefined ? variant : { ...variant, skips };
}
