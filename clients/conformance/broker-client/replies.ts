// Builds the replies of a scripted Broker, and runs a client of the Broker against it.
import { type BrokerBehavior, BrokerBench, type SentText, urlOf } from '../broker-bench.js';
import type { ConformanceCase } from '../case.js';
import type { ClientContext as Context } from '../client-context.js';
import type { Address } from '../command-client.js';

/**
 * The texts of an object that a client may show. Every text is one plain word or URL, so that it is found in
 * any output.
 */
export type Kind = 'url' | 'description' | 'line' | 'attribute';

/** The flags of the client's message that the scripts use. */
export interface Requested {
  readonly desc: boolean;
  /** The first `#attribute`, as the client spells it. */
  readonly attribute: string | undefined;
}

/** Parses the flags of the client's message. */
function requestedBy(message: string): Requested {
  const [, quoted, plain] = /#attribute\s+(?:"([^"]*)"|([^\s"]+))/i.exec(message) ?? [];
  return { desc: /#desc\b/i.test(message), attribute: quoted ?? plain };
}

export const END = '130 - object end\n';

/** `124`, if the client requests it (BRK-4.5); `terminator` follows the counted bytes (BRK-4.4). */
export function description({ desc }: Requested, value: string, terminator = '\n'): string {
  return desc ? `124 - ${value.length}\n${value}${terminator}` : '';
}

/** `127`, if the client requests it (BRK-4.6). */
export function attribute({ attribute }: Requested, value: string, terminator = '\n'): string {
  return attribute === undefined ? '' : `127 - ${attribute} ${value.length}\n${value}${terminator}`;
}

/** `120`, `125`, `126` of an object (BRK-4.3). */
export function head(name: string): string {
  return `120 - ${urlOf(name)}\n125 - http://broker.example.org/Harvest/brokers/x/objects/0/OBJ${name.length}\n126 - http://broker.example.org/Harvest/brokers/x/\n`;
}

export function matchedLine(text: string): string {
  return `122 - Matched line: title# ${text}\n`;
}

/** An object with every item; its texts are made of its name. */
export function full(name: string, requested: Requested): string {
  const parts = [
    description(requested, `${name}desc`),
    attribute(requested, `${name}attr`),
    matchedLine(`${name}line`),
  ];
  return `${head(name)}${parts.join('')}${END}`;
}

/** The texts of {@link full} objects. */
export function fullTexts(...names: readonly string[]): SentText<Kind>[] {
  return names.flatMap((name): SentText<Kind>[] => [
    { kind: 'url', text: urlOf(name) },
    { kind: 'description', text: `${name}desc` },
    { kind: 'attribute', text: `${name}attr` },
    { kind: 'line', text: `${name}line` },
  ]);
}

export type ClientContext = Context<Bench>;
export type ClientCase = ConformanceCase<ClientContext>;

/** The client's task: the Broker's address and the query. */
export interface QueryTask extends Address {
  readonly query: string;
}

/** Behavior of the scripted Broker. Its reply depends on what the client requests. */
export interface Behavior extends BrokerBehavior<(requested: Requested) => string> {
  /** The query that the client has to send. Default {@link QUERY}. */
  readonly query?: string;
}

export const QUERY = 'lighthouse';

/** Runs the client under test. The ordinary reply has two objects with all kinds of texts. */
export class Bench extends BrokerBench<QueryTask, Behavior, Kind> {
  readonly ordinaryTexts = fullTexts('walrus', 'penguin');
  protected readonly ordinaryBehavior: Behavior = {
    reply: (requested) => full('walrus', requested) + full('penguin', requested),
    watch: true,
  };
  protected readonly essential = { kind: 'url', name: 'URLs' } as const;

  protected taskOf(address: Address, behavior: Behavior | undefined): QueryTask {
    return { ...address, query: behavior?.query ?? QUERY };
  }

  protected replyTo(behavior: Behavior, message: string): string {
    return behavior.reply(requestedBy(message));
  }
}
