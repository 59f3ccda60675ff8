import type { CaseResult } from './runner.js';

/** How many cases came to what. */
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

  /** Whether any case came to a verdict: an empty stream, or a peer that gives no occasion for anything, proves nothing. */
  get decided(): boolean {
    return this.total > this.skip;
  }

  /** Failures that decide the verdict. @param strict a SHOULD counts like a MUST */
  failures(strict: boolean): number {
    return this.failedMust + (strict ? this.failedShould : 0);
  }

  /** One line for people. */
  toString(): string {
    const { total, pass, failedMust, failedShould, skip } = this;
    return `${total} cases: ${pass} passed, ${failedMust} MUST failed, ${failedShould} SHOULD failed, ${skip} skipped`;
  }
}
