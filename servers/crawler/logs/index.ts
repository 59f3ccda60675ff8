export { type CrawlLogEntry, crawlLogLine, parseCrawlLogLine } from './crawl-log.js';
export { CRAWL_LOG_FILES, CrawlLogs, type CrawlLogsOptions } from './crawl-logs.js';
export { makeReport, type ReportOptions, writeEndReports } from './end-reports.js';
export { type Outcome, outcomeOf } from './outcome.js';
export { PROGRESS_LEGEND, progressLine } from './progress.js';
export {
  crawlReport,
  errorsReport,
  frontierLine,
  frontierReport,
  hostsReport,
  mimeTypesReport,
  processorsReport,
  queuesReport,
  REPORT_KINDS,
  type ReportKind,
  responseCodesReport,
  robotsReport,
  seedsReport,
  seenReport,
  sourceReport,
  workersReport,
} from './reports.js';
export {
  CrawlStatistics,
  type CrawlStatisticsOptions,
  type NoveltyCounts,
  type SeedFate,
  type StatisticsFigures,
  type StoredStatistics,
} from './statistics.js';
export {
  type Cell,
  type Column,
  humanBytes,
  humanSeconds,
  type Report,
  type ReportLinesOptions,
  reportJson,
  reportLines,
} from './table.js';
