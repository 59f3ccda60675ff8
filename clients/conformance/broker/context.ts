import { type ConformanceCase, NotApplicable } from '../case.js';
import { ServerContext, type ServerFacts } from '../server-context.js';
import type { Wire } from '../wire.js';
import { notRefused, type OnRefusal, urlsOf } from './judgments.js';
import { type Reply, type ReplyLimits, readReply, shown } from './reply.js';
import type { Survey } from './survey.js';
import { takeSurvey } from './take-survey.js';

export type BrokerCase = ConformanceCase<BrokerContext>;

/** Flags under which a word means the same to every engine: a whole word, in any case, without matched lines where they can be left out. */
export const PLAIN_FLAGS = '#opaque #index case insensitive #index matchword';

/** Facts that the cases of a run share. */
export interface SharedFacts extends ServerFacts {
  /** The password of `#ADMIN`, when the run was given one. */
  readonly password: string | undefined;
  /** `failed`: the survey was tried and failed. */
  survey: Survey | 'failed' | undefined;
}

/** What a case works with. Its connections are dropped when it ends. */
export class BrokerContext extends ServerContext<SharedFacts> {
  /** A new connection, the version line read (BRK-1.3). */
  async session(recorded = true): Promise<Wire> {
    const wire = await this.connect(recorded);
    await wire.expect(200, 'the connection');
    return wire;
  }

  /** Sends bytes as they are in a connection of their own and reads the whole reply. */
  async exchange(bytes: string | Uint8Array, limits: ReplyLimits = {}): Promise<Reply> {
    const wire = await this.session();
    await wire.send(bytes);
    return readReply(wire, limits);
  }

  /** As {@link exchange} with CR LF after the message, as real clients send it (BRK-1.7). */
  ask(message: string, limits: ReplyLimits = {}): Promise<Reply> {
    return this.exchange(`${message}\r\n`, limits);
  }

  /** Sends an administrative message with the password of the run; the report shows neither. @throws NotApplicable without a password */
  async command(command: string, keyword = '#password'): Promise<Reply> {
    const { password } = this.shared;
    if (password === undefined) throw new NotApplicable('no password is given (--password-file)');
    this.transcript.note(`sent with the password: #ADMIN ${keyword} ... ${command}`);
    const wire = await this.session(false);
    const id = `"${password.replaceAll('"', '\\"')}"`;
    await wire.send(Buffer.from(`#ADMIN ${keyword} ${id} ${command}\r\n`));
    const reply = await readReply(wire);
    this.transcript.note(`the reply: ${shown(reply)}`);
    return reply;
  }

  /**
   * URLs of the objects that a query finds.
   * @throws Mismatch or NotApplicable if the Broker refuses it
   */
  async found(query: string, onRefusal: OnRefusal, flags = PLAIN_FLAGS): Promise<ReadonlySet<string>> {
    const reply = await this.ask(`#USER ${flags} #END ${query}`);
    notRefused(reply, query, onRefusal);
    return urlsOf(reply);
  }

  /** Words of the Broker's own data, and the objects that they find. @throws NotApplicable if there are none; another case judges that */
  async survey(): Promise<Survey> {
    const { survey } = this.shared;
    if (survey === 'failed') throw new NotApplicable('no words could be learned: see query/all');
    if (survey !== undefined) return survey;
    this.shared.survey = 'failed';
    const taken = await takeSurvey((message) => this.ask(message));
    this.shared.survey = taken;
    return taken;
  }
}
