import { type ConformanceCase, NotApplicable } from '../case.js';
import { ServerContext, type ServerFacts, withSurvey } from '../server-context.js';
import type { Wire } from '../wire.js';
import { type Survey, Surveyor } from './survey.js';
import { type OnObject, readTransfer, requireTransfer, type Transfer } from './transfer.js';

/*
 * The context of the cases for bulk transfers: sends requests and holds the survey of the transfer of
 * everything.
 */

export type BulkCase = ConformanceCase<BulkContext>;

/** The request of deployed clients for everything (BT-3). */
export const EVERYTHING = '#BULK #SINCE 0 #END #ALLB';
/** Time limit of a case that may transfer a large database; a server that sends nothing fails it earlier. */
export const TRANSFER_MS = 600_000;

/** Facts that the cases of a run share. */
export interface SharedFacts extends ServerFacts {
  /** `failed`: there is no transfer of everything. */
  survey: Survey | 'failed' | undefined;
  /** Whether the Broker answers `#interface 2` in this interface (BP-29); undefined: not known yet. */
  proposed: boolean | undefined;
}

/** Context of a case. Its connections are closed when it ends. */
export class BulkContext extends ServerContext<SharedFacts> {
  /** Opens a connection and reads the version line (BT-9). */
  async session(recorded = true): Promise<Wire> {
    const wire = await this.connect(recorded);
    await wire.expect(200, 'the connection');
    return wire;
  }

  /** Sends bytes unchanged on a new connection and reads the whole answer. */
  async exchange(bytes: string | Uint8Array, onObject?: OnObject): Promise<Transfer> {
    const wire = await this.session();
    await wire.send(bytes);
    return readTransfer(wire, onObject);
  }

  /** As {@link exchange} with CR LF after the message (BT-3). */
  ask(message: string, onObject?: OnObject): Promise<Transfer> {
    return this.exchange(`${message}\r\n`, onObject);
  }

  /**
   * Returns the survey of the transfer of everything, which is made once.
   * @throws Mismatch if the first call fails; later calls throw NotApplicable, so that only one case of the run
   *   fails for it
   */
  async survey(): Promise<Survey> {
    const { survey } = this.shared;
    if (survey === 'failed')
      throw new NotApplicable('there is no transfer of everything: see transfer/everything');
    if (survey !== undefined) return survey;
    this.shared.survey = 'failed';
    const surveyor = new Surveyor();
    const transfer = await this.ask(EVERYTHING, (object) => surveyor.add(object));
    const taken = surveyor.survey(requireTransfer(transfer, EVERYTHING));
    this.shared.survey = taken;
    return taken;
  }
}

/** Compares answers with the survey. */
export const surveyed = withSurvey<Survey, BulkContext>(TRANSFER_MS);
