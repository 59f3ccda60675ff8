// The context of the cases for a gatherd: opens sessions and holds the survey of its database.
import { type ConformanceCase, NotApplicable } from '../case.js';
import { ServerContext, type ServerFacts } from '../server-context.js';
import type { Wire } from '../wire.js';
import { type Survey, Surveyor } from './survey.js';
import { readUpdate } from './transfer.js';

export type GatherdCase = ConformanceCase<GatherdContext>;

/** A time stamp after every Update-Time (year 2286). */
export const FAR_FUTURE = 9_999_999_999;

/** Facts that the cases of a run share. */
export interface SharedFacts extends ServerFacts {
  /** `failed`: the full transfer was tried and failed. */
  survey: Survey | 'failed' | undefined;
}

/** Context of a case. Its connections are closed when it ends. */
export class GatherdContext extends ServerContext<SharedFacts> {
  /** Opens a connection and reads the greeting. */
  async session(recorded = true): Promise<Wire> {
    const wire = await this.connect(recorded);
    await wire.expect(0, 'the connection');
    return wire;
  }

  /** Opens a session in which compression is on. @throws NotApplicable if the server has none (GATHERD-6.9) */
  async compressedSession(): Promise<Wire> {
    const wire = await this.session();
    await this.set(wire, 'compression');
    return wire;
  }

  /** Switches a setting on. @throws NotApplicable if the server does not answer 500 */
  async set(wire: Wire, what: 'compression' | 'changes'): Promise<void> {
    await wire.send(`SET ${what}\n`);
    const { code, line } = await wire.status();
    if (code !== 500) throw new NotApplicable(`the server refuses SET ${what}: ${line}`);
  }

  /**
   * Returns the survey of the first full transfer of the run.
   * @throws Mismatch if the first call fails; later calls throw NotApplicable, so that only one case of the run
   *   fails for it
   */
  async survey(): Promise<Survey> {
    const { survey } = this.shared;
    if (survey === 'failed')
      throw new NotApplicable('the full transfer does not work: see update/everything');
    if (survey !== undefined) {
      this.transcript.note('checked by the full transfer of the run');
      return survey;
    }
    this.shared.survey = 'failed';
    const wire = await this.session();
    await wire.send('SEND-UPDATE 0\n');
    const surveyor = new Surveyor();
    const transfer = await readUpdate(wire, 'SEND-UPDATE 0', (object) => surveyor.add(object));
    await wire.close();
    const taken = surveyor.survey(transfer);
    this.shared.survey = taken;
    return taken;
  }

  /**
   * Returns the survey of a database with at least this many objects. @throws NotApplicable if there are fewer
   */
  async surveyWith(objects: number): Promise<Survey> {
    const survey = await this.survey();
    if (survey.transfer.objects >= objects) return survey;
    throw new NotApplicable(`needs ${objects} objects, the database has ${survey.transfer.objects}`);
  }
}
