// The context of the cases for a References Server.
import { type ConformanceCase, NotApplicable } from '../case.js';
import { ServerContext, type ServerFacts } from '../server-context.js';
import { checkCode, type Reply, readReply, resultOf } from './reply.js';

export type SstpCase = ConformanceCase<SstpContext>;

/** A request for the links of a document, which every References Server answers with its code or with 404. */
export const PLAIN = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 5\r\n\r\n';

/** Facts that the cases of a run share. */
export interface SharedFacts extends ServerFacts {
  /** Whether the server serves the fixture of references-server.md 13; undefined: not known yet. */
  fixture: boolean | undefined;
}

/** Context of a case. Its connections are closed when it ends. */
export class SstpContext extends ServerContext<SharedFacts> {
  /** Sends octets on a new connection and reads one reply. */
  async ask(request: string, recorded = true): Promise<Reply> {
    const wire = await this.connect(recorded);
    await wire.send(request);
    return readReply(wire);
  }

  /** Checks that the server answers 400 and closes the connection (S-39). @throws Mismatch */
  async checkRefused(request: string, what: string, code = 400): Promise<void> {
    const wire = await this.connect();
    await wire.send(request);
    checkCode(await readReply(wire), code, what);
    await wire.expectEnd(`the ${code}`);
  }

  /** @throws NotApplicable if the server does not serve the fixture */
  async requireFixture(): Promise<void> {
    if (this.shared.fixture === undefined) {
      const known = 'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\nHEADER_URL: http://a.example:81/\r\n\r\n';
      const [links, described] = [await this.ask(PLAIN, false), await this.ask(known, false)];
      // One correct reply is enough: the cases check the other.
      this.shared.fixture = resultOf(links).endsWith(': 11 20 12') || described.code === 8;
    }
    if (!this.shared.fixture) throw new NotApplicable('the server does not serve the fixture');
  }
}
