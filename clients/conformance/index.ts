export type { BrokerBehavior, BrokerBench, BrokerRun, ReplyCheck, SentText } from './broker-bench.js';
export {
  type CaseDescription,
  type ConformanceCase,
  check,
  type Level,
  Mismatch,
  NotApplicable,
} from './case.js';
export { loadSuite, suiteNames } from './catalog.js';
export type { ClientContext, ClientRun } from './client-bench.js';
export type { Address, ClientEnd, ClientUnderTest } from './client-under-test.js';
export { printable } from './printable.js';
export type { Delivery, Recorder } from './recorder.js';
export type { Report, Results } from './report.js';
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
export type { ClientLine, ClientSession } from './scripted-server.js';
export { Tally } from './tally.js';
export { Transcript, type TranscriptEntry } from './transcript.js';
