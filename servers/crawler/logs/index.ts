export { crawlLogLine, parseCrawlLogLine } from './crawl-log.js';
export { CrawlLogs } from './crawl-logs.js';
export { writeEndReports } from './end-reports.js';
export { outcomeOf } from './outcome.js';
export { PROGRESS_LEGEND, progressLine } from './progress.js';
export { frontierLine, makeReport, queueRows, REPORT_KINDS, REPORTS, type ReportOptions } from './reports.js';
export { CrawlStatistics } from './statistics.js';
export { recoverEvents, StoredEvents, type StoredEventsOptions, savedFigures } from './stored-events.js';
export { reportLines } from './table.js';
