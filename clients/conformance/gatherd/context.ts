// The context of the cases for a gatherd: opens sessions and holds the survey of its database.
import { type ConformanceCase, NotApplicable, type Procedure, within } from '../case.js';
import { ServerContext, type ServerFacts, withSurvey } from '../server-context.js';
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
  async set(wire: Wire, what: 'compression' | 'changes' | 'sequence'): Promise<void> {
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

/** Time limit of a case that may transfer a large database; a server that sends nothing fails it earlier. */
export const TRANSFER_MS = 600_000;

/** An update without objects. */
export const NOTHING_NEW = `SEND-UPDATE ${FAR_FUTURE}`;

/** Compares answers with the first full transfer of the run. */
export const surveyed = withSurvey<Survey, GatherdContext>(TRANSFER_MS);

/** As {@link surveyed}; skips the case if the database has fewer objects. */
export function surveyedWith(
  objects: number,
  run: (survey: Survey, context: GatherdContext) => void | Promise<void>,
): Procedure<GatherdContext> {
  return within(TRANSFER_MS, async (context) => run(await context.surveyWith(objects), context));
}

/** Runs a session, after its greeting. */
export function inSession(
  run: (wire: Wire, context: GatherdContext) => Promise<unknown>,
): Procedure<GatherdContext> {
  return async (context) => run(await context.session(), context);
}

/** Sends a command and checks the number of the answer. @throws Mismatch */
export async function exchange(
  wire: Wire,
  command: string,
  code: number,
  described = command,
): Promise<void> {
  await wire.send(`${command}\n`);
  await wire.expect(code, described);
}

/**
 * Sends commands in one session, each after the answer to the one before it, and checks the numbers of the
 * answers.
 */
export function answers(
  ...exchanges: readonly (readonly [command: string, code: number, described: string])[]
): Procedure<GatherdContext> {
  return inSession(async (wire) => {
    for (const one of exchanges) await exchange(wire, ...one);
  });
}

/** Sends a line that is the command {@link NOTHING_NEW} in another form, and reads the update. */
export function updates(line: string): Procedure<GatherdContext> {
  return inSession(async (wire) => {
    await wire.send(line);
    await readUpdate(wire, NOTHING_NEW);
  });
}
