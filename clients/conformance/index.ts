export {
  type CaseDescription,
  type ConformanceCase,
  check,
  type Level,
  Mismatch,
  NotApplicable,
} from './case.js';
export { loadSuite, suiteNames } from './catalog.js';
export { printable } from './printable.js';
export { json, junit, type ReportOptions, tap } from './report.js';
export {
  type BoundCase,
  CASE_TIMEOUT_MS,
  type CaseResult,
  matchesPattern,
  type PreparedSuite,
  type RunOptions,
  runSuite,
  type Suite,
  type SuiteOptions,
  selectCases,
} from './runner.js';
export { Tally } from './tally.js';
export { Transcript, type TranscriptEntry } from './transcript.js';
