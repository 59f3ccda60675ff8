// The context of the cases for a Broker: sends messages, and takes the survey: words of the Broker's data with
// the URLs that they find.
import { ConnectionError } from '../../../protocols/errors.js';
import { type ConformanceCase, Mismatch, NotApplicable, type Procedure } from '../case.js';
import { printable } from '../printable.js';
import { ServerContext, type ServerFacts, withSurvey } from '../server-context.js';
import type { Wire } from '../wire.js';
import { checkNotRefused, checkRefused, checkSameUrls, type OnRefusal, urlsOf } from './checks.js';
import type { FixtureData, FixtureValues } from './fixture-data.js';
import { formatReply, type Reply, type ReplyLimits, readReply, textsOf } from './reply.js';
import { intersect, minus, pickOverlapping, SURVEY_MS, type Survey, union } from './survey.js';
import { takeSurvey } from './take-survey.js';

export type BrokerCase = ConformanceCase<BrokerContext>;

/**
 * Flags that make every engine match a word in the same way: as a whole word, in upper or lower case. `#opaque`
 * suppresses matched lines, unless the Broker's `Opaque-Mode` is `show` (BRK-3.2).
 */
export const PLAIN_FLAGS = '#opaque #index case insensitive #index matchword';

/** Facts that the cases of a run share. */
export interface SharedFacts extends ServerFacts {
  /** The password of `#ADMIN`, when the run was given one. */
  readonly password: string | undefined;
  /** The survey, or why it failed. */
  survey: Survey | Mismatch | undefined;
  readonly fixture: FixtureData;
}

/** Context of a case. Its connections are closed when it ends. */
export class BrokerContext extends ServerContext<SharedFacts> {
  /** Opens a connection and reads the version line (BRK-1.3). */
  async session(recorded = true): Promise<Wire> {
    const wire = await this.connect(recorded);
    await wire.expect(200, 'the connection');
    return wire;
  }

  /** Sends bytes unchanged on a new connection and reads the whole reply. */
  async exchange(bytes: string | Uint8Array, limits: ReplyLimits = {}): Promise<Reply> {
    const wire = await this.session();
    await wire.send(bytes);
    return readReply(wire, limits);
  }

  /** As {@link exchange} with CR LF after the message, as real clients send it (BRK-1.7). */
  ask(message: string, limits: ReplyLimits = {}): Promise<Reply> {
    return this.exchange(`${message}\r\n`, limits);
  }

  /**
   * Sends an administrative message with the password of the run, which the report does not show.
   * @throws NotApplicable without a password, and while the Broker makes the address wait (BRK-5.2)
   */
  async command(command: string, keyword = '#password'): Promise<Reply> {
    const reply = await this.administer(this.requirePassword(), command, keyword);
    const wait = textsOf(reply, 111).find((text) => /\bwait\b/i.test(text));
    if (wait !== undefined)
      throw new NotApplicable(`wrong passwords make this address wait: ${printable(wait)}`);
    return reply;
  }

  /** Returns the password of the run. @throws NotApplicable without one */
  requirePassword(): string {
    const { password } = this.shared;
    if (password === undefined) throw new NotApplicable('no password is given (--password-file)');
    return password;
  }

  /** Sends an administrative message with a password that the report does not show. */
  async administer(password: string, command: string, keyword = '#password'): Promise<Reply> {
    this.transcript.note(`sent with a password: #ADMIN ${keyword} ... ${command}`);
    const wire = await this.session(false);
    const id = `"${password.replaceAll('"', '\\"')}"`;
    await wire.send(Buffer.from(`#ADMIN ${keyword} ${id} ${command}\r\n`));
    const reply = await readReply(wire);
    this.transcript.note(`the reply: ${formatReply(reply)}`);
    return reply;
  }

  /**
   * Returns the URLs of the objects that a query finds.
   * @throws Mismatch or NotApplicable if the Broker refuses it
   */
  async found(query: string, onRefusal: OnRefusal, flags = PLAIN_FLAGS): Promise<ReadonlySet<string>> {
    const reply = await this.ask(`#USER ${flags} #END ${query}`);
    checkNotRefused(reply, query, onRefusal);
    return urlsOf(reply);
  }

  /**
   * Checks that a query finds these URLs and no others.
   * @throws Mismatch if it does not; NotApplicable if the Broker refuses it and may
   */
  async checkFinds(
    query: string,
    urls: ReadonlySet<string>,
    onRefusal: OnRefusal,
    flags = PLAIN_FLAGS,
  ): Promise<void> {
    const found = await this.found(query, onRefusal, flags);
    checkSameUrls(urls, found, await this.survey(), query);
  }

  /**
   * Returns the survey of the Broker's data; the first call of a run takes it.
   * @throws NotApplicable if it failed, so that only the case about it fails for it ({@link requireSurvey})
   */
  async survey(): Promise<Survey> {
    const survey = await this.#surveyed();
    if (survey instanceof Mismatch) throw new NotApplicable('no words were found in the data: see query/all');
    return survey;
  }

  /** As {@link survey}, for the case about it. @throws Mismatch if it failed */
  async requireSurvey(): Promise<Survey> {
    const survey = await this.#surveyed();
    if (survey instanceof Mismatch) throw survey;
    return survey;
  }

  /** Returns the objects of the fixture, as {@link FixtureData.found}. */
  fixture(): Promise<Reply> {
    return this.shared.fixture.found((message, limits) => this.ask(message, limits));
  }

  /** Returns what the Broker sends of the fixture, as {@link FixtureData.values}. */
  fixtureValues(): Promise<FixtureValues> {
    return this.shared.fixture.values((message, limits) => this.ask(message, limits));
  }

  async #surveyed(): Promise<Survey | Mismatch> {
    this.shared.survey ??= await takeSurvey((message) => this.ask(message)).catch((error: unknown) => {
      // A connection that breaks is a defect too, and it must not be met again in every case.
      if (error instanceof Mismatch) return error;
      if (!(error instanceof ConnectionError)) throw error;
      return new Mismatch(error.message, { expected: 'a dump of the data', received: 'none' });
    });
    return this.shared.survey;
  }
}

/**
 * Rejects with ConnectionError when no server listens, or when the server is a Gatherer (BRK-1.4). Accepts a
 * server that sends nothing or breaks the connection: the cases show its defects.
 */
export async function assertBroker(context: ServerContext<ServerFacts>): Promise<void> {
  const wire = await context.connect();
  const first = await wire.line().catch((error: unknown) => {
    if (error instanceof ConnectionError) return '';
    throw error;
  });
  if (/^000 - HELLO/.test(first)) {
    throw new ConnectionError(`${context.target} is a gatherd, not a Broker: ${printable(first)}`);
  }
}

/** Compares replies with the survey of the Broker's data. */
export const surveyed = withSurvey<Survey, BrokerContext>(SURVEY_MS);

/** Sends messages that must be refused. */
export function refused(...messages: readonly string[]): Procedure<BrokerContext> {
  return async (context) => {
    for (const message of messages) checkRefused(await context.ask(message), message);
  };
}

/** Sends queries that must not be refused, whatever they find. */
export function accepted(flags: string, ...queries: readonly string[]): Procedure<BrokerContext> {
  return async (context) => {
    for (const query of queries) checkNotRefused(await context.ask(`#USER ${flags} #END ${query}`), query);
  };
}

const MEANINGS = { and: intersect, or: union, except: minus } as const;

/**
 * Sends spellings of `a and b`, `a or b` or `a except b`, for two words of the data, and compares what they
 * find.
 * @param queries with `{a}` and `{b}` for the words
 */
export function finds(
  onRefusal: OnRefusal,
  ...queries: readonly (readonly [query: string, meaning: keyof typeof MEANINGS])[]
): Procedure<BrokerContext> {
  return surveyed(async (survey, context) => {
    const [a, b] = pickOverlapping(survey);
    for (const [query, meaning] of queries) {
      const spelled = query.replaceAll('{a}', a.text).replaceAll('{b}', b.text);
      await context.checkFinds(spelled, MEANINGS[meaning](a.urls, b.urls), onRefusal);
    }
  });
}
