// The part of the thread that a query has.
import type { CandidateOptions } from '../external/candidate-search.js';
import { TimeSlice } from '../scheduling/time-slice.js';

/** What a query does besides waiting for OpenSearch and matching: it gives the thread to others often. */
export class Turn implements AsyncDisposable {
  private constructor(readonly slice: TimeSlice) {}

  static async begin({ lifetimeMs }: CandidateOptions): Promise<Turn> {
    const turn = new Turn(new TimeSlice({ sliceMs: 2, lifetimeMs }));
    await turn.slice.begin();
    return turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.slice.end();
  }
}
