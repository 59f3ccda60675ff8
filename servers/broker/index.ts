export type { Address } from '../web/application.js';
export type { PasswordThrottle } from '../web/password-throttle.js';
export { EventLog, type EventLogOptions, LOG_TYPES, type LogType } from './admin/event-log.js';
export type { IndexKeeper, IndexKeeperOptions } from './admin/index-keeper.js';
export type { JobOutcome, Jobs } from './admin/jobs.js';
export type { AddReport, Maintenance, MaintenanceContext } from './admin/maintenance.js';
export { isDueForRefresh, type RefreshMarks } from './admin/refresh-marks.js';
export type { RequestLog } from './admin/request-log.js';
export type { BrokerStatistics, Count, StatisticsOptions } from './admin/statistics.js';
export type { TimetableRow } from './admin/timetable.js';
export {
  type AdministeredBroker,
  type AdminOptions,
  type AdminRequest,
  administer,
  executeAdmin,
  passwordMatches,
} from './admin-commands.js';
export { Broker, type StartMode } from './broker.js';
export type { ReadConfiguration } from './broker-files.js';
export { brokerPidFile, readBrokerConf } from './broker-files.js';
export type { BrokerOptions } from './broker-parts.js';
export type { BrokerDescription } from './bulk/object-list.js';
export type { BulkPage } from './bulk/ready-objects.js';
export type { BulkServingBroker } from './bulk/reply.js';
export type { BulkCaller, BulkRefusal, BulkTransfer } from './bulk/transfer.js';
export type { CollectionReport } from './collect/collection.js';
export { pointKey } from './collect/collector.js';
export type { CollectLimits } from './collect/context.js';
export { type CollectEvent, collectChannel, type PointReport } from './collect/report.js';
export { type BrokerProgramOptions, runBroker } from './daemon.js';
export { monitoredBroker } from './figures.js';
export type { SearchCaller } from './query/limited-search.js';
export type { Endpoint, LocalCallers } from './query/local-callers.js';
export { brokerPath, objectPath, oidOfPath } from './query/object-path.js';
export type { PageItem } from './query/page-items.js';
export type { QuerySlot, SlotRequest } from './query/query-slots.js';
export type { ReplyOwner, ReplyProgress, ReplyShare } from './query/reply-memory.js';
export { type SearchContext, type SearchSummary, search } from './query/search.js';
export type { RunBrokerOptions } from './script.js';
export { writeRunBroker } from './script.js';
export {
  type BrokerCounts,
  BrokerServer,
  type BrokerServerOptions,
  portLimits,
  type QueryEnd,
  type ServedBroker,
} from './server.js';
export type { FacetLimits } from './web/facets.js';
export type { RouteContext } from './web/route-context.js';
export {
  type BrokerPagesOptions,
  brokerPages,
  createWebApp,
  pageLimits,
  type WebAppOptions,
  WebServer,
  type WebServerOptions,
} from './web/server.js';
export { type StatsFileOptions, statsFile } from './web/stats-file.js';
