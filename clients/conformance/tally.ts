import type { CaseResult } from './runner.js';

/** Counts the verdicts. */
export class Tally {
  pass = 0;
  skip = 0;
  /** Failures of cases that are a MUST. */
  failedMust = 0;
  /** Failures of cases that are a SHOULD. */
  failedShould = 0;

  add({ verdict, level }: CaseResult): void {
    if (verdict === 'pass') this.pass++;
    else if (verdict === 'skip') this.skip++;
    else if (level === 'MUST') this.failedMust++;
    else this.failedShould++;
  }

  get total(): number {
    return this.pass + this.skip + this.failedMust + this.failedShould;
  }

  /** Whether any case was decided: a run in which every case was skipped proves nothing. */
  get decided(): boolean {
    return this.total > this.skip;
  }

  /** Returns the number of failures that count. @param strict whether a SHOULD counts like a MUST */
  failures(strict: boolean): number {
    return this.failedMust + (strict ? this.failedShould : 0);
  }

  /** The counts as one line. */
  toString(): string {
    const { total, pass, failedMust, failedShould, skip } = this;
    return `${total} cases: ${pass} passed, ${failedMust} MUST failed, ${failedShould} SHOULD failed, ${skip} skipped`;
  }
}
