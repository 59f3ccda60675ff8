export type { Address } from '../web/application.js';
export type { PasswordThrottle } from '../web/password-throttle.js';
export {
  type AdministeredBroker,
  type AdminOptions,
  type AdminRequest,
  administer,
  executeAdmin,
  passwordMatches,
} from './admin.js';
export { Broker, type StartMode } from './broker.js';
export type { ReadConfiguration } from './broker-files.js';
export { brokerPidFile, readBrokerConf } from './broker-files.js';
export type { BrokerOptions } from './broker-parts.js';
export type { BrokerDescription } from './bulk-list.js';
export type { BulkServingBroker } from './bulk-reply.js';
export type { BulkCaller, BulkRefusal, BulkTransfer } from './bulk-transfer.js';
export type { CollectLimits } from './collect-context.js';
export { type CollectEvent, collectChannel, type PointReport } from './collect-report.js';
export type { CollectionReport } from './collection.js';
export { pointKey } from './collector.js';
export { type BrokerProgramOptions, runBroker } from './daemon.js';
export { EventLog, type EventLogOptions, LOG_TYPES, type LogType } from './event-log.js';
export { monitoredBroker } from './figures.js';
export type { IndexKeeper, IndexKeeperOptions } from './index-keeper.js';
export type { JobOutcome, Jobs } from './jobs.js';
export type { SearchCaller } from './limited-search.js';
export type { Endpoint, LocalCallers } from './local-callers.js';
export type { AddReport, Maintenance, MaintenanceContext } from './maintenance.js';
export { brokerPath, objectPath, oidOfPath } from './object-path.js';
export type { PageItem } from './page-items.js';
export type { QuerySlot, SlotRequest } from './query-slots.js';
export type { BulkPage } from './ready-objects.js';
export { isDueForRefresh, type RefreshMarks } from './refresh-marks.js';
export type { ReplyOwner, ReplyProgress, ReplyShare } from './reply-memory.js';
export type { RequestLog } from './request-log.js';
export type { RunBrokerOptions } from './script.js';
export { writeRunBroker } from './script.js';
export { type SearchContext, type SearchSummary, search } from './search.js';
export {
  type BrokerCounts,
  BrokerServer,
  type BrokerServerOptions,
  portLimits,
  type QueryEnd,
  type ServedBroker,
} from './server.js';
export type { BrokerStatistics, Count, StatisticsOptions } from './statistics.js';
export type { TimetableRow } from './timetable.js';
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
