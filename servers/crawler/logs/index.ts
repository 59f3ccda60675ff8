export { crawlLogLine, parseCrawlLogLine } from './crawl-log.js';
export { CrawlLogs } from './crawl-logs.js';
export { makeReport, type ReportOptions, writeEndReports } from './end-reports.js';
export { outcomeOf } from './outcome.js';
export { PROGRESS_LEGEND, progressLine } from './progress.js';
export { frontierLine, queuesReport, REPORT_KINDS } from './reports.js';
export { CrawlStatistics } from './statistics.js';
export { recoverEvents, StoredEvents, type StoredEventsOptions, savedFigures } from './stored-events.js';
export { humanBytes, humanSeconds, reportJson, reportLines } from './table.js';
