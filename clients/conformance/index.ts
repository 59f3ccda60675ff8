export type { BrokerBehavior, BrokerBench, BrokerRun, ReplyCheck, SentText } from './broker-bench.js';
export {
  type CaseDescription,
  type ConformanceCase,
  check,
  type Level,
  Mismatch,
  NotApplicable,
} from './case.js';
export type { ClientContext, ClientRun } from './client-context.js';
export type { Address, ClientEnd, ClientUnderTest } from './command-client.js';
export { addRun, htmlReport, type ReportedRun, runsOf } from './html-report.js';
export { printable } from './printable.js';
export { json, junit, type Report, type ReportOptions, type Results, Tally, tap } from './report.js';
export { allRules, type BookedRule, findRule, rulesNamed } from './rule-book.js';
export * from './runner.js';
export type { ClientLine, ClientSession } from './scripted-server.js';
export { type Delivery, type Recorder, Transcript, type TranscriptEntry } from './transcript.js';
